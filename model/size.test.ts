import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resolveValue } from './expressions.ts'
import { jsonSize } from './size.ts'

test('the size of a value is the length of its JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { length } = JSON.stringify(value)
      expect(jsonSize(value, 1_000_000)).toBe(length)
      expect(jsonSize(structuredClone(value), length)).toBe(length)
      expect(jsonSize(structuredClone(value), length - 1)).toBeGreaterThan(length - 1)
    }),
  )
})

test('a value that is referenced twice counts twice, and a billion references are measured at once', () => {
  let value: unknown = 'x'.repeat(1_000)
  for (let n = 0; n < 30; n += 1) value = [value, value]
  expect(jsonSize(value, 8_000_000)).toBeGreaterThan(8_000_000)
})

test('escapes count with their written length', () => {
  expect(jsonSize('\u0001'.repeat(100), 1_000)).toBe(602)
})

test('a value may have 8 MiB of JSON, and no further reference', () => {
  const scope = { input: { big: 'x'.repeat(1024 * 1024 - 2) }, nodes: {}, execution: {} }
  const value = (count: number) => Array.from({ length: count }, () => ({ $ref: 'input.big' }))
  expect(resolveValue(value(8), scope)).toHaveLength(8)
  expect(() => resolveValue(value(9), scope)).toThrow(expect.objectContaining({ code: 'result_too_large' }))
})
