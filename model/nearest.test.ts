import { expect, test } from 'vitest'
import { nearest, suggestion, suggestType } from './nearest.ts'

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

test.each([
  ['http.requst', '; did you mean "http.request"?'],
  ['http', '; did you mean "http.request"?'],
  ['generate', '; did you mean "llm.generate"?'],
  ['HTTP', '; did you mean "http.request"?'],
  ['teleport', ''],
])('the suggestion for the node type %s is %j', (word, expected) => {
  expect(suggestType(word, ['set', 'http.respond', 'http.request', 'llm.generate'])).toBe(expected)
})
