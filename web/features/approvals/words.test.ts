import { expect, test } from 'vitest'
import { shapeOf } from './payload-shape.ts'
import { quorumInWords } from './policy-words.ts'

test('the condition of a gate is described in words', () => {
  const said = (quorum: unknown) => quorumInWords({ quorum })
  expect(said('any')).toBe('One approval is enough.')
  expect(said({ n_of: 3 })).toBe('Requires 3 approvals.')
  expect(said({ $cel: 'approvals.human >= 2 && approvals.agent >= 1' })).toBe(
    'Approved when 2 people approve and 1 agent approves.',
  )
  expect(said({ $cel: 'approvals.human >= 1 && rejections.total == 0' })).toBe(
    'Approved when 1 person approves and nobody rejects.',
  )
})

test('a rule that counts cannot express is shown as written', () => {
  const $cel = 'approvals.total > outstanding.total || approvals.human >= 2'
  expect(quorumInWords({ quorum: { $cel } })).toBe(`Approved when ${$cel}.`)
})

test('a payload is shown as fields and rows', () => {
  expect(shapeOf({ amount: 12, paid: false, tags: ['a', 'b'], note: null, lines: [{ item: 'yarn', n: 2 }] })).toEqual([
    { name: 'amount', text: '12' },
    { name: 'paid', text: 'no' },
    { name: 'tags', text: 'a, b' },
    { name: 'note', text: '–' },
    { name: 'lines', rows: [{ item: 'yarn', n: '2' }] },
  ])
})

test('a payload that fields cannot show completely stays JSON', () => {
  const deep = [
    { a: { b: { c: 1 } } },
    { list: [{ a: [1] }] },
    { many: Array.from({ length: 50 }, () => ({ a: 1 })) },
    {},
    7,
  ]
  for (const value of deep) expect(shapeOf(value)).toBeNull()
})
