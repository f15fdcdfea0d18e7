import { expect, test } from 'vitest'
import type { WaitingFor } from '../ports.ts'
import { shortenWaits } from './shorten-waits.ts'

const question = (n: number, length: number): WaitingFor => ({
  kind: 'clarification',
  node_id: `each[${n}].q`,
  since: '2026-01-01T00:00:00.000Z',
  clarification_id: `clr_${n}`,
  question: 'Which?',
  schema: { description: 'x'.repeat(length) },
})

test('a few waits are not shortened', () => {
  const waits = [question(0, 500_000), question(1, 1_000), question(2, 1_000)]
  expect(shortenWaits(waits)).toEqual(waits)
})

test('of many waits, those beyond the limit lose the text of their questions and keep their ids', () => {
  const waits = Array.from({ length: 1_000 }, (_, n) => question(n, 2_000))
  const short = shortenWaits(waits)
  expect(JSON.stringify(short).length).toBeLessThan(300_000)
  expect(short.slice(0, 25)).toEqual(waits.slice(0, 25))
  expect(short[999]).toEqual({
    kind: 'clarification',
    node_id: 'each[999].q',
    since: '2026-01-01T00:00:00.000Z',
    clarification_id: 'clr_999',
    left_out: ['question', 'schema'],
  })
})
