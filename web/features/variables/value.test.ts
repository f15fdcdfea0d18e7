import { expect, test } from 'vitest'
import { readValue, showValue } from './value.ts'

test.each([
  ['eu-west-1', 'eu-west-1'],
  ['12', 12],
  ['"12"', '12'],
  ['true', true],
  ['{"a": [1]}', { a: [1] }],
  ['{not json', '{not json'],
  ['', ''],
])('the text %s is parsed as %j, and its displayed text is parsed as the same value', (text, value) => {
  expect(readValue(text)).toEqual(value)
  expect(readValue(showValue(value))).toEqual(value)
})
