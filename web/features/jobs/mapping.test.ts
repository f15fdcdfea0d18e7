import { expect, it } from 'vitest'
import { newRow, rowsOf, toMapping } from './mapping.ts'

it('a mapping is converted to rows and back unchanged', () => {
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

it('a duplicate field, or a field without a column, is reported', () => {
  expect(() => toMapping([newRow('a', 'fixed', '1'), newRow('a', 'fixed', '2')])).toThrow('given twice')
  expect(() => toMapping([newRow('a')])).toThrow('Choose a column')
})
