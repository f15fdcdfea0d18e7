import { describe, expect, test } from 'vitest'
import { readTraceparent, writeTraceparent } from './traceparent.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

describe('a traceparent', () => {
  test.each([
    [`00-${trace}-${span}-01`, { traceId: trace, spanId: span, sampled: true }],
    [`00-${trace}-${span}-00`, { traceId: trace, spanId: span, sampled: false }],
    [` 00-${trace}-${span}-03 `, { traceId: trace, spanId: span, sampled: true }],
    [`cc-${trace}-${span}-01-what-comes-later`, { traceId: trace, spanId: span, sampled: true }],
  ])('%s is parsed', (header, read) => expect(readTraceparent(header)).toEqual(read))

  test.each([
    undefined,
    '',
    'x',
    ['00'],
    `00-${trace}-${span}`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `ff-${trace}-${span}-01`,
    `00-${trace}-${span}-01-more`,
    `cc-${trace}-${span}-01-${'x'.repeat(600)}`,
  ])('%j is ignored', (header) => expect(readTraceparent(header)).toBeUndefined())

  test('is formatted as it was parsed', () => {
    const header = `00-${trace}-${span}-01`
    expect(writeTraceparent(readTraceparent(header)!)).toBe(header)
  })
})
