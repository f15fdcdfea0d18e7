import { expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { cases } from './messages/all.ts'
import { type Case, DEFAULT_ZONE, SENT_AT } from './messages/case.ts'
import { harderCases } from './messages/harder.ts'
import { laterCases } from './messages/later.ts'
import { splitList } from './readers.ts'
import { extractByRules } from './rules.ts'

const extract = ({ message, wants, known, asked, timeZone = DEFAULT_ZONE }: Case) =>
  extractByRules({
    message,
    requirements: wants,
    timeZone,
    now: SENT_AT,
    ...(known ? { known } : {}),
    ...(asked ? { asked } : {}),
  })

const show = (value: Json | undefined) => JSON.stringify(value)

test.each([
  ['two hundred messages', cases, 200],
  ['a hundred messages meant to mislead', harderCases, 100],
  ['sixty of everyday conversations', laterCases, 60],
])('%s: nearly all give exactly the values that a careful person would enter', (what, table, least) => {
  const wrong: string[] = []
  const overconfident: string[] = []
  for (const each of table) {
    const { values, confidence } = extract(each)
    const names = new Set([...Object.keys(values), ...Object.keys(each.values)])
    const differing = [...names].filter((name) => show(values[name]) !== show(each.values[name]))
    if (differing.length > 0) wrong.push(`${show(each.message)}: ${show(values)} instead of ${show(each.values)}`)
    for (const name of differing)
      if ((confidence[name] ?? 0) >= 0.9) overconfident.push(`${show(each.message)}: ${name} ${confidence[name]}`)
  }
  const accuracy = 1 - wrong.length / table.length
  console.log(`rules extractor, ${what}: ${(accuracy * 100).toFixed(1)} % of ${table.length} exactly right`)
  for (const line of wrong) console.log(`  not: ${line}`)
  expect(table.length).toBeGreaterThanOrEqual(least)
  expect(accuracy).toBeGreaterThanOrEqual(0.95)
  expect(overconfident).toEqual([])
})

const at = { timeZone: DEFAULT_ZONE, now: SENT_AT }
const date = { type: 'string', format: 'date' }

test('an extraction lists the required names without a value, the confidence of each value and the name of the extractor', () => {
  const requirements = [{ name: 'day', schema: date }, { name: 'note', required: false }, 'email', 'guests']
  const extraction = extractByRules({ message: 'on Friday for 3 guests', requirements, ...at })
  expect(extraction).toEqual({
    values: { day: '2025-11-14', guests: 3 },
    missing: ['email'],
    confidence: { day: expect.any(Number), guests: expect.any(Number) },
    extracted_by: 'rules',
  })
})

test('a single letter is a yes or a no only if it is the whole message', () => {
  const requirements = [{ name: 'breakfast', schema: { type: 'boolean' } }]
  const answer = (message: string) => extractByRules({ message, requirements, asked: 'breakfast', ...at }).values
  expect([answer('n is 3'), answer('y = 4'), answer('n'), answer('y.')]).toEqual([
    {},
    {},
    { breakfast: false },
    { breakfast: true },
  ])
})

test('one value is never used for two requirements unless the message names both', () => {
  const requirements = [
    { name: 'pickup', schema: date },
    { name: 'delivery', schema: date },
  ]
  expect(extractByRules({ message: '5 December', requirements, ...at }).missing).toEqual(['pickup', 'delivery'])
  expect(extractByRules({ message: 'pickup: 5 December', requirements, ...at }).values).toEqual({
    pickup: '2025-12-05',
  })
  expect(extractByRules({ message: 'pickup: 5 December, delivery: 5 December', requirements, ...at }).missing).toEqual(
    [],
  )
})

test('a value that violates its schema is reported as missing, not adjusted', () => {
  const requirements = [{ name: 'guests', schema: { type: 'integer', minimum: 1, maximum: 8 } }]
  for (const message of ['12 guests', '0 guests', '2.5 guests'])
    expect(extractByRules({ message, requirements, ...at }).values).toEqual({})
})

test('a known value is kept unless the message names it again', () => {
  const request = { requirements: ['guests', 'email'], known: { guests: 4 }, ...at }
  expect(extractByRules({ ...request, message: 'a@example.com' })).toMatchObject({
    values: { guests: 4, email: 'a@example.com' },
    confidence: { guests: 1 },
  })
  expect(extractByRules({ ...request, message: 'guests: 6' }).values).toEqual({ guests: 6 })
})

test('a relative day uses the date in the time zone of the caller', () => {
  const late = new Date('2025-11-12T23:30:00Z')
  const ask = (timeZone: string) =>
    extractByRules({ message: 'tomorrow', requirements: ['date'], timeZone, now: late }).values
  expect(ask('Europe/London')).toEqual({ date: '2025-11-13' })
  expect(ask('Europe/Berlin')).toEqual({ date: '2025-11-14' })
})

test('malicious names and messages cause no harm', () => {
  const requirements = ['__proto__', 'constructor', 'toString', '', '(', { name: 'a'.repeat(5000) }]
  const messages = [
    '__proto__: polluted',
    '\0\ud800',
    '\u0001'.repeat(100),
    '{"__proto__": 1}',
    '{"a":',
    '('.repeat(5000),
    '1 '.repeat(50_000),
  ]
  for (const message of messages) expect(extractByRules({ message, requirements, ...at }).extracted_by).toBe('rules')
  expect(extractByRules({ message: '__proto__: polluted', requirements, ...at }).values).not.toHaveProperty('polluted')
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

// With quadratic or cubic complexity this takes hours, and the test times out.
test('a list is split quickly, even with very long runs of spaces', () => {
  expect(splitList(`red,${' '.repeat(100_000)}green  and   light${' '.repeat(100_000)}blue\n\n & pink`)).toEqual([
    'red',
    'green',
    'light blue',
    'pink',
  ])
})

test('a pattern designed to backtrack forever ends quickly', () => {
  const requirements = [{ name: 'code', schema: { type: 'string', pattern: '^(a+)+$' } }]
  expect(
    extractByRules({ message: `${'a'.repeat(60)}! ${'a'.repeat(60)}b`, requirements, ...at }).missing,
  ).toBeDefined()
})

/**
 * Returns the CPU time of this thread, which all requests share, in ms. Other load on the machine does not affect it.
 */
const costOf = (work: () => void): number => {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

const slips = (count: number, letters: string): string[] =>
  Array.from({ length: count }, (_, at) => `q${[6, 5, 4, 3, 2, 1, 0].map((i) => letters[(at >> i) & 1]).join('')}${at}`)

// Before reading had a limit these messages took 2 to 35 seconds. Now they take a hundredth of that; the rest of the
// allowed time is for slow machines.
test.each<[string, string, object[]]>([
  ['slips of thousands of options', slips(1000, 'ab').join(' '), [{ name: 'x', schema: { enum: slips(8000, 'cd') } }]],
  [
    'a hundred numbers for a hundred fields',
    'one hundred and '.repeat(625),
    Array.from({ length: 100 }, (_, at) => ({ name: `n${at}`, schema: { type: 'integer' } })),
  ],
])('%s do not block the thread', (_, message, requirements) => {
  const read = () => void extractByRules({ message, requirements: requirements as Case['wants'], ...at })
  expect(costOf(read)).toBeLessThan(500)
})

test('the named options are found even among very many options', () => {
  const options = Array.from({ length: 1500 }, (_, at) => `Branch ${at} Street`)
  const ask = (message: string, more: object) =>
    extractByRules({ message, requirements: [{ name: 'branch', schema: { enum: options } }], ...at, ...more }).values
  expect(ask('to Branch 1401 Street please', {})).toEqual({ branch: 'Branch 1401 Street' })
  const all = options.concat(Array.from({ length: 20_000 }, (_, at) => `Office ${at}`))
  const requirements = [{ name: 'branch', schema: { enum: all } }]
  expect(extractByRules({ message: 'Office 19999', requirements, asked: 'branch', ...at }).values).toEqual({
    branch: 'Office 19999',
  })
})
