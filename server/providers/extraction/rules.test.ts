import { expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { type Case, cases, SAID_AT, USUAL_ZONE } from './messages.ts'
import { extractByRules } from './rules.ts'

const extract = ({ message, wants, known, asked, timeZone = USUAL_ZONE }: Case) =>
  extractByRules({
    message,
    requirements: wants,
    timeZone,
    now: SAID_AT,
    ...(known ? { known } : {}),
    ...(asked ? { asked } : {}),
  })

const show = (value: Json | undefined) => JSON.stringify(value)

test('two hundred messages: how many give exactly the values a careful person would take', () => {
  const wrong: string[] = []
  const overconfident: string[] = []
  for (const each of cases) {
    const { values, confidence } = extract(each)
    const names = new Set([...Object.keys(values), ...Object.keys(each.values)])
    const differing = [...names].filter((name) => show(values[name]) !== show(each.values[name]))
    if (differing.length > 0) wrong.push(`${show(each.message)}: ${show(values)} instead of ${show(each.values)}`)
    for (const name of differing)
      if ((confidence[name] ?? 0) >= 0.9) overconfident.push(`${show(each.message)}: ${name} ${confidence[name]}`)
  }
  const accuracy = 1 - wrong.length / cases.length
  console.log(`rules extractor: ${(accuracy * 100).toFixed(1)} % of ${cases.length} messages exactly right`)
  for (const line of wrong) console.log(`  not: ${line}`)
  expect(cases.length).toBeGreaterThanOrEqual(200)
  expect(accuracy).toBeGreaterThanOrEqual(0.95)
  expect(overconfident).toEqual([])
})
