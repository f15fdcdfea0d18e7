import { expect, it } from 'vitest'
import { newRow, rowsOf, toMapping } from './mapping.ts'

it('rows become a mapping and come back the same', () => {
  const mapping = {
    email: { $ref: 'record.email' },
    name: { $cel: 'record["full name"]' },
    score: { $cel: 'record.a + record.b' },
    limit: 5,
    note: 'plain',
  }
  const rows = rowsOf(mapping)
  expect(rows.map(({ from, value }) => [from, value])).toEqual([
    ['column', 'email'],
    ['column', 'full name'],
    ['cel', 'record.a + record.b'],
    ['fixed', '5'],
    ['fixed', 'plain'],
  ])
  expect(toMapping(rows)).toEqual(mapping)
})

it('a field given twice, or without a column, is told', () => {
  expect(() => toMapping([newRow('a', 'fixed', '1'), newRow('a', 'fixed', '2')])).toThrow('given twice')
  expect(() => toMapping([newRow('a')])).toThrow('Choose a column')
})
