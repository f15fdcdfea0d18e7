import { expect, test } from 'vitest'
import { nearest, suggestion } from './nearest.ts'

test.each([
  ['sett', ['set', 'get_all'], 'set'],
  ['inptu', ['input', 'nodes'], 'input'],
  ['Name', ['name'], 'name'],
  ['fo', ['for', 'forty'], 'for'],
  ['ab', ['xyz', 'cd'], undefined],
  ['quantity', ['price', 'total'], undefined],
  ['', ['a'], undefined],
  ['b', ['a'], undefined],
  ['x'.repeat(65), ['x'.repeat(65)], undefined],
])('%s among %j is %s', (word, candidates, found) => {
  expect(nearest(word, candidates)).toBe(found)
})

test('a suggestion is a clause, or an empty text', () => {
  expect(suggestion('sett', ['set'])).toBe('; did you mean "set"?')
  expect(suggestion('sett', [])).toBe('')
})
