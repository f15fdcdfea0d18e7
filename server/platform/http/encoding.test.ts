import { expect, test } from 'vitest'
import { addVary, chooseEncoding, etagFor, isSameEtag } from './encoding.ts'

test.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP, deflate', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br ; q=0.5 , gzip ; q=0.5', 'br'],
  ['br;q=0, gzip;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['identity', undefined],
  ['identity;q=0.5, gzip;q=0.2', undefined],
  ['identity;q=0.2, gzip;q=0.5', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['gzip;q=2', undefined],
  ['gzip;q=high', undefined],
  ['deflate', undefined],
  ['bro, agzip', undefined],
  [`${'x,'.repeat(300)}gzip`, undefined],
])('chooseEncoding returns the coding for %j: %s', (header, chosen) => {
  expect(chooseEncoding(header)).toBe(chosen)
})

test('each coding has its own ETag, and isTag accepts all of them', () => {
  const tags = ['"abc"', etagFor('"abc"', 'gzip'), etagFor('"abc"', 'br')]
  expect(tags).toEqual(['"abc"', '"abc-gzip"', '"abc-br"'])
  expect(tags.map((tag) => isSameEtag(tag, '"abc"'))).toEqual([true, true, true])
  expect(isSameEtag('"ab"', '"ab-br"')).toBe(false)
  expect(etagFor('W/"abc"', 'gzip')).toBe('W/"abc"')
})

test.each([
  [undefined, 'Accept-Encoding'],
  ['Origin', 'Origin, Accept-Encoding'],
  ['accept-encoding', 'accept-encoding'],
  ['*', '*'],
])('Vary %j becomes %j', (present, wanted) => expect(addVary(present, 'Accept-Encoding')).toBe(wanted))
