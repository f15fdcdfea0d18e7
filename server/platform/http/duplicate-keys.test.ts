import { describe, expect, test } from 'vitest'
import { parseJson } from './body.ts'
import { countKeys, findDuplicate } from './duplicate-keys.ts'

const refusalOf = (text: string): unknown => {
  try {
    return parseJson(Buffer.from(text), 64)
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return [code, message]
  }
}

test.each([
  ['{"a":1,"a":2}', '/a'],
  ['{"a":1,"a":1}', '/a'],
  ['{"a":1,"\\u0061":2}', '/a'],
  [' { "b" : [ 1 , { "c" : { } , "c" : [ ] } ] } ', '/b/1/c'],
  ['{"a":{"x":1},"b":{"x":1},"a":{"x":1}}', '/a'],
  ['[{"n":1},{"n":1,"m":"}","n":2}]', '/1/n'],
  ['{"a/b":{"~":1,"~":2}}', '/a~1b/~0'],
  ['{"":1,"":2}', '/'],
  ['{"a":"\\\\","b":"\\"","a":0}', '/a'],
  ['{"1":1,"1":2}', '/1'],
  ['{"constructor":1,"constructor":2}', '/constructor'],
  ['{"a":1e5,"b":true,"c":null,"d":-0.5,"c":false}', '/c'],
])('%s is refused at %s', (text, path) => {
  expect(refusalOf(text)).toEqual(['duplicate_key', `The key at ${path} is a duplicate.`])
})

test('a long path is truncated in the error', () => {
  const key = 'k'.repeat(5000)
  const [, message] = refusalOf(`{"${key}":1,"${key}":2}`) as [string, string]
  expect(message.length).toBeLessThan(600)
})

describe('a text without duplicate keys is accepted unchanged', () => {
  test.each([
    '{}',
    '[]',
    '"a:b:c"',
    '12',
    'null',
    '{"a":":","b:":"{\\":","c":[":",{"d":":"}]}',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
    '{"hasOwnProperty":1,"toString":2,"length":3}',
  ])('%s', (text) => expect(refusalOf(text)).toEqual(JSON.parse(text)))

  test('random texts have the same number of keys and colons, and no duplicate is found', () => {
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    const texts = ['', ':', '"', '\\', '{', '}', '\u00e9', '\n', ',']
    const make = (depth: number): unknown => {
      const kind = random(depth > 4 ? 3 : 5)
      if (kind === 0) return random(1000) / 7
      if (kind === 1) return texts[random(texts.length)]
      if (kind === 2) return [null, true, false][random(3)]
      const inner = Array.from({ length: random(4) }, () => make(depth + 1))
      return kind === 3 ? inner : Object.fromEntries(inner.map((one) => [`${texts[random(9)]}${random(50)}`, one]))
    }
    for (let n = 0; n < 500; n += 1) {
      const value = make(0)
      const text = JSON.stringify(value, null, random(3))
      expect(parseJson(Buffer.from(text), 64)).toEqual(value)
      expect(findDuplicate(text)).toBeUndefined()
      // The reviver also visits the value itself, as a key of an object around it.
      let keys = -1
      JSON.parse(text, function (this: unknown, _key, one) {
        if (!Array.isArray(this)) keys += 1
        return one
      })
      expect(countKeys(value)).toBe(keys)
    }
  })
})
