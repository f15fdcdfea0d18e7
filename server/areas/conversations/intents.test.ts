import { expect, test } from 'vitest'
import { findIntent, isNoWish } from './intents.ts'

const words = (count: number, letters: string): string =>
  Array.from(
    { length: count },
    (_, at) => `q${[...String(at).padStart(7, '0')].map((digit) => letters[Number(digit)]).join('')}`,
  ).join(' ')

test('long descriptions that are nearly alike do not take long', () => {
  const choices = Array.from({ length: 50 }, (_, at) => ({
    workflow_id: `w${at}`,
    name: `Task ${at}`,
    description: words(1000, 'abcdefghij'),
    topics: [],
  }))
  const before = process.threadCpuUsage()
  expect(findIntent(words(300, 'klmnopqrst'), choices, [])).toEqual({ kind: 'none' })
  const { user, system } = process.threadCpuUsage(before)
  // Without the limit on the effort it took more than ten seconds.
  expect((user + system) / 1000).toBeLessThan(2000)
})

test('a long number is not searched for a negation from each digit', () => {
  expect([isNoWish("I don't want coffee"), isNoWish('coffee for 12 people')]).toEqual([true, false])
  const before = process.threadCpuUsage()
  expect(isNoWish(`coffee ${'1'.repeat(100_000)}`)).toBe(false)
  const { user, system } = process.threadCpuUsage(before)
  // It took 16 s.
  expect((user + system) / 1000).toBeLessThan(2000)
})

test('a name with a typing error is still found', () => {
  const choices = [
    { workflow_id: 'tea', name: 'Order tea', description: null, topics: [] },
    { workflow_id: 'coffee', name: 'Order coffee', description: null, topics: [] },
  ]
  expect(findIntent('a cofee please', choices, [])).toMatchObject({ kind: 'chosen', workflowId: 'coffee' })
})
