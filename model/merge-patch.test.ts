import { describe, expect, test } from 'vitest'
import { mergePatch, patchBetween } from './merge-patch.ts'

describe('a merge patch', () => {
  test.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('follows the examples of RFC 7396: %j with %j is %j', (present, patch, merged) => {
    expect(mergePatch(present, patch)).toEqual(merged)
  })

  test.each([
    [
      { a: 1, b: { c: 1, d: 2 } },
      { b: { d: 3 }, e: [1] },
    ],
    [{ a: { b: 1 } }, { a: 1 }],
    [{ a: 1 }, { a: { b: 1 } }],
    [{ constructor: 1 }, { toString: 2 }],
    [
      { a: null, b: 1 },
      { a: null, b: 2 },
    ],
  ])('between %j and %j turns the first into the second', (before, after) => {
    expect(mergePatch(before, patchBetween(before, after))).toEqual(after)
  })
})
