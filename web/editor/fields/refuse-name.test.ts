import { expect, test } from 'vitest'
import { refuseName } from './refuse-name.ts'

test.each([
  ['city', null],
  [' city ', null],
  ['', 'A field needs a name.'],
  ['  ', 'A field needs a name.'],
  ['name', 'Another field has this name.'],
  [' name', 'Another field has this name.'],
  ['Name', null],
])('beside a field "name", the name "%s" has the problem: %s', (text, problem) => {
  expect(refuseName(text, ['name'])).toBe(problem)
})
