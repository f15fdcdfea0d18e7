import { describe, expect, test } from 'vitest'
import { compileCel, evaluateCel } from './cel.ts'
import { momentOf } from './cel-runtime.ts'
import type { Json } from './definition.ts'
import { ExpressionFailure } from './expressions.ts'

// The cost of each operation and function. A lower price lets a tenant do more work than allowed; a higher price
// refuses saved expressions that work now. Both changes must be deliberate.

const input = {
  t: 'ab '.repeat(400),
  l: Array.from({ length: 200 }, (_, n) => (n * 7) % 200),
  w: Array.from({ length: 50 }, (_, n) => `w${n % 10}`),
  m: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, n])),
  j: JSON.stringify(Array.from({ length: 100 }, (_, n) => n)),
  b: btoa('x'.repeat(600)),
  u: `https://example.com/p?${'a=1&'.repeat(30)}b=2#f`,
}
const STEPS = 1_000_000
const ROOTS = new Set(['input', 'execution'])

function evaluate(cel: string, steps = STEPS): { value: Json; price: number } {
  const budget = { steps, size: 1_000_000 }
  const value = evaluateCel(compileCel(cel, ROOTS), { input, execution: {} }, budget, momentOf(0, 'seed'))
  return { value, price: steps - budget.steps }
}

test.each<[string, number]>([
  ['input.t', 153],
  ['1 + 2 * 3', 3],
  ['input.l[5] + input.l[6]', 8],
  ['input.m.k1 == 1 && input.m.k2 == 2', 12],
  ['input.m.k1 == 2 || input.m.k2 == 2', 15],
  ['input.m.k1 > 0 ? 1 : 2', 6],
  ['!(1 in input.l)', 578],
  ['300 in input.l', 804],
  ['"k1" in input.m', 4],
  ['-input.m.k1', 5],
  ['[1, 2, 3]', 12],
  ['{"a": 1, "b": 2}', 10],
  ['[?input?.x, 1]', 11],
  ['input?.m.k1.orElse(0)', 5],
  ['has(input.m.k1)', 4],
  ['cel.bind(x, input.m.k1, x + x)', 8],
  ['input?.m.optMap(x, x.k1).value()', 7],
  ['input.t == input.t', 82],
  ['input.l == input.l', 7],
  ['input.m == input.m', 7],
  ['input.t < input.t', 81],
  ['input.t + input.t', 906],
  ['input.l + input.l', 810],
  ['size(input.t)', 154],
  ['size(input.l)', 4],
  ['string(input.m.k1)', 5],
  ['int("12")', 2],
  ['type(input.l)', 4],
  ['uuid()', 66],
  ['input.t.contains("c")', 155],
  ['input.t.startsWith("ab")', 155],
  ['input.t.endsWith("b ")', 155],
  ['input.t.indexOf("z")', 192],
  ['input.t.lastIndexOf("z")', 192],
  ['input.t.charAt(3)', 41],
  ['input.t.substring(10, 400)', 137],
  ['input.t.replace("a", "xyz")', 805],
  ['input.t.split(" ")', 1760],
  ['input.w.join(",")', 108],
  ['input.t.trim()', 302],
  ['input.t.lowerAscii()', 304],
  ['input.t.upperAscii()', 304],
  ['input.t.lower()', 304],
  ['input.t.upper()', 304],
  ['input.t.reverse()', 1504],
  ['input.l.reverse()', 408],
  ['"%s %d %.2f %x".format([input.t, 5, 1.5, 255])', 470],
  ['"%s".format([input.l])', 631],
  ['"%s".format([input.m])', 213],
  ['strings.quote(input.t)', 1504],
  ['input.t.matches("a+b")', 3014],
  ['regex.replace(input.t, "a", "b")', 18_995],
  ['regex.replace(input.t, "b (a)?", "x")', 977_699],
  ['regex.extract(input.t, "b").value()', 45],
  ['regex.extractAll(input.t, "a")', 18_448],
  ['input.l.map(x, x + 1)', 807],
  ['input.l.map(x, x > 100, x)', 805],
  ['input.l.filter(x, x > 100)', 706],
  ['input.l.all(x, x >= 0)', 603],
  ['input.l.exists(x, x == 199)', 548],
  ['input.l.exists_one(x, x == 7)', 1400],
  ['input.l.transformList(i, x, i + x)', 1007],
  ['input.m.transformMap(k, v, v + 1)', 167],
  ['input.m.transformMapEntry(k, v, {k: v})', 287],
  ['input.w.group(x, x)', 207],
  ['input.l.sortBy(x, -x)', 2607],
  ['input.l.sort()', 2008],
  ['input.w.distinct()', 118],
  ['input.l.slice(10, 60)', 108],
  ['input.l.zip(input.l)', 2010],
  ['[input.l, input.l].flatten()', 818],
  ['input.l.first().value()', 5],
  ['input.l.last().value()', 5],
  ['input.l.sum()', 204],
  ['input.l.avg()', 204],
  ['input.l.min()', 204],
  ['input.l.max()', 204],
  ['lists.range(100)', 206],
  ['now()', 2],
  ['timestamp("2026-03-05T14:27:39.250Z").format("yyyy-MM-dd EEEE", "Europe/Berlin")', 135],
  ['timestamp.parse("2026-03-05 14:27", "yyyy-MM-dd HH:mm", "Europe/Berlin")', 238],
  ['timestamp("2026-03-05T14:27:39Z").add(1, "month", "Europe/Berlin")', 303],
  ['timestamp("2026-03-05T14:27:39Z").difference(timestamp("2025-01-01T00:00:00Z"), "day", "Europe/Berlin")', 204],
  ['timestamp("2026-03-05T14:27:39Z").startOf("week", "Europe/Berlin")', 303],
  ['timestamp("2026-03-05T14:27:39Z").getHours("Europe/Berlin")', 103],
  ['timestamp("2026-03-05T14:27:39Z").getHours()', 3],
  ['duration("90s") + duration("1h")', 4],
  ['math.greatest([1, 5, 3])', 9],
  ['math.bitAnd(6, 3)', 2],
  ['json.encode(input.m)', 133],
  ['json.decode(input.j)', 253],
  ['base64.encode(input.t)', 704],
  ['base64.encodeUrl(input.t)', 704],
  ['base64.decode(input.b)', 554],
  ['url.encode(input.t)', 1104],
  ['url.decode(input.t)', 904],
  ['url.query(input.m)', 183],
  ['url.parse(input.u)', 219],
  ['sha256(input.t)', 652],
  ['hmac(input.t, input.t)', 1294],
])('%s costs %i', (cel, price) => {
  expect(evaluate(cel).price).toBe(price)
})

test('an evaluation succeeds with exactly enough steps and fails with one step less', () => {
  expect(evaluate('input.l.sum()', 204).value).toBe(19_900)
  expect(() => evaluate('input.l.sum()', 203)).toThrow(ExpressionFailure)
})

describe('encodings', () => {
  test.each<[string, Json]>([
    [
      'url.parse("https://a.example:8443/x?y=1&y=2#z")',
      { scheme: 'https', host: 'a.example', port: 8443, path: '/x', query: { y: '2' }, fragment: 'z' },
    ],
    ['url.parse("https://a.example").port', null],
    ['url.parse("mailto:a@b.example").host', ''],
    ['base64.encode("??>>")', 'Pz8+Pg=='],
    ['base64.encodeUrl("??>>")', 'Pz8-Pg'],
    ['base64.decode("Pz8-Pg")', '??>>'],
    ['uuid().matches("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")', true],
    ['[uuid(), uuid()].distinct().size()', 2],
  ])('%s', (cel, value) => {
    expect(evaluate(cel).value).toEqual(value)
  })
})

describe('format', () => {
  test.each<[string, Json]>([
    ['"%b %b".format([true, false])', '1 0'],
    ['"%b %o %d %x %X".format([10, 10, 10, 255, 255])', '1010 12 10 ff FF'],
    ['"%x".format(["hi"])', '6869'],
    ['"%f %f %f".format(["NaN", "Infinity", "-Infinity"])', 'NaN Infinity -Infinity'],
    ['"%f %.0f %e".format([1.5, 2.5, 1234.5])', '1.500000 3 1.234500e+03'],
    ['"%d %f".format([double("NaN"), double("-Infinity")])', 'NaN -Infinity'],
    ['"%s %s".format([timestamp(0), duration("90s")])', '1970-01-01T00:00:00Z 90s'],
    ['"%s".format([{"b": [1, "x"], "a": null}])', '{a: null, b: [1, x]}'],
  ])('%s', (cel, value) => {
    expect(evaluate(cel).value).toEqual(value)
  })

  test.each([
    '"%.101f".format([1])',
    '"%o".format([true])',
    '"%d".format(["1"])',
    '"%f".format(["1"])',
    '"%x".format([1.5])',
  ])('%s is refused', (cel) => {
    expect(() => evaluate(cel)).toThrow(ExpressionFailure)
  })
})
