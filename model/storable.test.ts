import { expect, test } from 'vitest'
import { isStorable, toStorableText } from './storable.ts'

const many = (last: unknown): unknown[] => [...Array.from({ length: 100 }, (_, n) => n), last]

test.each([
  [true, null],
  [true, 7],
  [true, ''],
  [true, 'ü 😀 \u0001 \uffff'],
  [true, { a: ['b', { c: 'd' }] }],
  [false, 'a\u0000'],
  [false, '\ud83d'],
  [false, '\ude00\ud83d'],
  [false, ['a', 'b\u0000']],
  [false, { a: { b: ['\u0000'] } }],
  [false, { 'a\u0000': 1 }],
  [false, many('\u0000')],
])('returns %j for %j', (expected, value) => {
  expect(isStorable(value)).toBe(expected)
})

test('a value is searched again if it was not clean, and is clean as a part of another value', () => {
  const [bad, good] = [many('\u0000'), many('a')]
  expect([isStorable(bad), isStorable(bad), isStorable({ bad })]).toEqual([false, false, false])
  expect([isStorable(good), isStorable(good), isStorable({ good }), isStorable({ good, b: '\u0000' })]).toEqual([
    ...[true, true, true],
    false,
  ])
})

test('a text is cleaned of what cannot be stored, and is not cut through a surrogate pair', () => {
  expect(toStorableText('a\u0000b\ud83d')).toBe('ab\ufffd')
  expect(toStorableText('ab😀', 3)).toBe('ab')
  expect(toStorableText('ab😀', 4)).toBe('ab😀')
  expect(toStorableText('\u0000abcd', 3)).toBe('abc')
})
