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
])('the text %s is the value %j, and shown it is read as the same', (text, value) => {
  expect(readValue(text)).toEqual(value)
  expect(readValue(showValue(value))).toEqual(value)
})
