import { expect, test } from 'vitest'
import { readConditions } from '../check/read-conditions.ts'
import { readValue, shownValue, writeConditions } from './conditions.ts'

test.each([
  'true',
  'input.total > 100',
  'input.total >= -1.5 && input.name == "Ada"',
  'item.name.contains("a") || !has(item.mail)',
  'has(nodes.get.output["content-type"])',
  'nodes.a.output.list[0].x != null',
  'input.ok == true && input.a != false && input.b < 3',
])('%s is converted to rows and back unchanged', (cel) => {
  expect(writeConditions(readConditions(cel)!)).toBe(cel)
})

test.each([
  'input.a > input.b',
  'size(input.a) > 1',
  'input.a == 1 && (input.b == 2 || input.c == 3)',
  'input.a',
  'input.a +',
  '!input.a',
  'false',
  'input.a.contains(input.b)',
])('%s cannot be expressed as rows', (cel) => {
  expect(readConditions(cel)).toBeNull()
})

test.each([
  ['Ada', 'Ada'],
  ['12', 12],
  ['"12"', '12'],
  ['-1.5', -1.5],
  ['true', true],
  ['null', null],
  ['', ''],
  ['1.', '1.'],
])('%j as typed text is the value %j', (text, value) => {
  expect(readValue(text)).toBe(value)
  expect(readValue(shownValue(value))).toBe(value)
})
