import { createHash, createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileCel, evaluateCel } from './cel.ts'
import { momentOf } from './cel-runtime.ts'
import type { Json } from './definition.ts'
import { checkExpression, ExpressionFailure } from './expressions.ts'
import { endsNearMatch } from './pattern.ts'
import { hexOf, hmacSha256, sha256 } from './sha256.ts'

// Functions beyond the core of CEL: what each function refuses, and that no function does more work than it spends
// steps for. The examples in cel-help-table.ts, which are also tests, cover the results.

const ROOTS = new Set(['input', 'execution'])
const input = {
  t: 'x'.repeat(100_000),
  l: Array.from({ length: 50_000 }, (_, n) => n),
  none: null,
  m: { a: 1, 'b-c': 2 },
}
const outcome = (cel: string, steps = 100_000, given: Json = input): Json => {
  try {
    const moment = momentOf(Date.UTC(2026, 0, 2, 3, 4, 5), 'run:node')
    return evaluateCel(compileCel(cel, ROOTS), { input: given, execution: {} }, { steps, size: 1_000_000 }, moment)
  } catch (error) {
    if (error instanceof ExpressionFailure) return `! ${error.code}: ${error.message}`
    throw error
  }
}
const FAILS = expect.stringMatching(/^! expression_failed: /)
const INVALID = expect.stringMatching(/^! expression_invalid: /)
const COSTLY = expect.stringMatching(/^! expression_too_costly: /)
const LARGE = expect.stringMatching(/^! expression_too_(large|costly): /)

describe('syntax', () => {
  test.each<[string, Json]>([
    ['input.m.`b-c`', 2],
    ['input?.m?.a.orElse(0)', 1],
    ['input.?m.?x.orElse(0)', 0],
    ['input?.none.x.orElse(0)', 0],
    ['input?.x.y[0].z.hasValue()', false],
    ['input.m[?"a"].value()', 1],
    ['[1, 2][?5].hasValue()', false],
    ['input?.x', null],
    ['input?.m.a', 1],
    ['has(input?.m.a)', true],
    ['{?"a": input?.x, ?"b": input.m?.a}', { b: 1 }],
    ['[?input?.x, 1]', [1]],
    ['{?"a": 1}', FAILS],
    ['input?.x.value()', FAILS],
    ['input.m.orElse(1)', FAILS],
    ['true?.5:1', 0.5],
    ['true ? input.m.a : 0', 1],
    ['[1].map(x, [2].map(x, [3].map(y, x + y)))', [[[5]]]],
    ['[1, 2,]', [1, 2]],
    ["r'\\d' + '''a\nb'''", '\\da\nb'],
    ['"\\u00e4\\x41\\101\\U0001F600"', 'äAA😀'],
    ['0x1F + .5 + 1e2', 131.5],
    ['1 + 1 // one more', 2],
    ['"\\q"', INVALID],
    ['"\\ud800"', INVALID],
    ['"a', INVALID],
    ['"a\nb"', INVALID],
    ['`a`', INVALID],
    ['while', INVALID],
    ['1 2', INVALID],
    ['(1', INVALID],
    ['[1, 2', INVALID],
    ['{"a" 1}', INVALID],
    ['input.', INVALID],
    ['1e999', INVALID],
    ['a.b{c: 1}', INVALID],
    ['§', INVALID],
    [`${'('.repeat(61)}1${')'.repeat(61)}`, INVALID],
    [`[${'1,'.repeat(1_001)}]`, INVALID],
    [`math.greatest(${'1,'.repeat(9)}1)`, INVALID],
    [`${'1+'.repeat(2_001)}1`, INVALID],
    ['[1].all(x, x, true)', INVALID],
    ['[1].transformMap(k, 1)', INVALID],
    ['{"a": 1}.transformMapEntry(k, v, 1)', FAILS],
    ['[1, 2].transformMapEntry(k, v, {"a": v})', FAILS],
    ['{"a": 1}.transformMap(k, v, "__proto__" == k, v)', {}],
    ['["__proto__"].group(x, x)', FAILS],
  ])('%s', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })

  test.each(['item', 'index', 'nodes', 'vars', 'record'])('a macro cannot bind %s in any saved expression', (name) => {
    expect(checkExpression(`[1].map(${name}, ${name})`, new Set(['input']))).toMatch(/is taken/)
  })
})

describe('extension functions refuse wrong arguments', () => {
  test.each<[string, Json]>([
    ['[].avg()', FAILS],
    ['[].min()', FAILS],
    ['[null].max()', FAILS],
    ['[].sum()', 0],
    ['[duration("1s"), duration("2s")].sum()', '3s'],
    ['[duration("1s"), 2].sum()', FAILS],
    ['[1, "a"].sort()', FAILS],
    ['[[1], [1]].distinct()', [[1]]],
    ['[1, "1"].distinct()', [1, '1']],
    ['[1].slice(0.5)', FAILS],
    ['[1, 2, 3].slice(1, 10)', [2, 3]],
    ['[1].flatten(-1)', FAILS],
    ['[1].zip(2)', FAILS],
    ['lists.range(-1)', []],
    ['"abc".charAt(4)', FAILS],
    ['"abc".charAt(3)', ''],
    ['"a😀b".charAt(1)', '😀'],
    ['"a😀b".indexOf("b")', 2],
    ['"a😀b".substring(1, 2)', '😀'],
    ['"abc".substring(2, 1)', FAILS],
    ['"a-b-c".replace("-", "+", 1)', 'a+b-c'],
    ['"a-b".replace("-", "$&")', 'a$&b'],
    ['"a b".split(" ", 0)', []],
    ['"%d".format([1.5])', FAILS],
    ['"%s".format([])', FAILS],
    ['"%q".format([1])', FAILS],
    ['"%".format([1])', FAILS],
    ['"100%% %s".format([["a", {"b": null}]])', '100% [a, {b: null}]'],
    ['regex.replace("a", "(", "b")', FAILS],
    ['regex.replace("a", "a", "\\\\1")', FAILS],
    ['regex.replace("aaa", "a", "b", 2)', 'bba'],
    ['regex.replace("aaa", "a", "b", 0)', 'aaa'],
    ['regex.replace("abc", "", "-")', '-a-b-c-'],
    ['regex.extract("ab", "(a)(b)")', FAILS],
    ['regex.extract("x", "a").hasValue()', false],
    ['math.bitShiftLeft(1, -1)', FAILS],
    ['math.bitShiftLeft(1, 60)', FAILS],
    ['math.bitAnd(1.5, 1)', FAILS],
    ['json.decode("{")', FAILS],
    [`json.decode("${'['.repeat(70)}${']'.repeat(70)}")`, FAILS],
    ['json.decode("{\\"__proto__\\": 1}")', {}],
    ['base64.decode("%")', FAILS],
    ['base64.decode("/w==")', FAILS],
    ['base64.decode("w6Q")', 'ä'],
    ['url.decode("%")', FAILS],
    ['url.parse("nothing")', FAILS],
    ['url.query({"a": [1]})', FAILS],
    ['sha256("a", "binary")', FAILS],
    ['sha256(1)', FAILS],
    ['now()', '2026-01-02T03:04:05.000Z'],
    ['uuid() == uuid()', false],
    ['now(1)', INVALID],
    ['duration("1000000000000s")', FAILS],
    ['timestamp("2026-01-01T00:00:00Z") + duration("87660000h")', FAILS],
    ['timestamp("2026-02-29T00:00:00Z")', FAILS],
    ['timestamp("2026-01-01T24:00:00Z")', FAILS],
    ['timestamp("2028-02-29T23:59:59Z")', '2028-02-29T23:59:59.000Z'],
  ])('%s', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })
})

describe('zones', () => {
  const spring = 'timestamp("2026-03-29T00:30:00Z")'
  test.each<[string, Json]>([
    // Clocks in Berlin change from 02:00 to 03:00 on 29 March 2026, and from 03:00 to 02:00 on 25 October.
    [`${spring}.getHours("Europe/Berlin")`, 1],
    [`(${spring} + duration("1h")).getHours("Europe/Berlin")`, 3],
    [
      `${spring}.startOf("day", "Europe/Berlin").difference(${spring}.add(1, "day", "Europe/Berlin").startOf("day", "Europe/Berlin"), "hour")`,
      -23,
    ],
    ['timestamp.parse("2026-03-29 02:30", "yyyy-MM-dd HH:mm", "Europe/Berlin")', '2026-03-29T01:30:00.000Z'],
    ['timestamp.parse("2026-10-25 02:30", "yyyy-MM-dd HH:mm", "Europe/Berlin")', '2026-10-25T00:30:00.000Z'],
    ['timestamp.parse("2026-10-25 04:30", "yyyy-MM-dd HH:mm", "Europe/Berlin")', '2026-10-25T03:30:00.000Z'],
    ['timestamp("2026-10-24T00:30:00Z").add(1, "day", "Europe/Berlin")', '2026-10-25T00:30:00.000Z'],
    ['timestamp("2026-10-25T00:30:00Z").add(1, "day", "Europe/Berlin")', '2026-10-26T01:30:00.000Z'],
    ['timestamp("2024-02-29T12:00:00Z").add(1, "year")', '2025-02-28T12:00:00.000Z'],
    ['timestamp("2026-03-31T12:00:00Z").add(-1, "month")', '2026-02-28T12:00:00.000Z'],
    ['timestamp("2026-03-05T12:00:00Z").startOf("week")', '2026-03-02T00:00:00.000Z'],
    ['timestamp("2026-03-01T12:00:00Z").startOf("week")', '2026-02-23T00:00:00.000Z'],
    ['timestamp("2026-05-05T12:00:00Z").startOf("quarter")', '2026-04-01T00:00:00.000Z'],
    ['timestamp("2026-05-05T12:50:00Z").startOf("hour", "Asia/Kolkata")', '2026-05-05T12:30:00.000Z'],
    ['timestamp("2026-03-31T00:00:00Z").difference(timestamp("2026-02-28T00:00:00Z"), "month")', 1],
    ['timestamp("2026-03-27T00:00:00Z").difference(timestamp("2026-02-28T00:00:00Z"), "month")', 0],
    ['timestamp("2026-02-28T00:00:00Z").difference(timestamp("2026-03-31T00:00:00Z"), "month")', -1],
    ['timestamp("2026-01-02T03:04:05Z").format()', '2026-01-02T03:04:05Z'],
    ['timestamp("2026-01-02T15:04:05Z").format("h:mm a, EEEE d MMMM yy", "+02:00")', '5:04 PM, Friday 2 January 26'],
    ['timestamp("2026-01-02T15:04:05Z").format("yyyy \'at\' HH \'\'")', "2026 at 15 '"],
    ['timestamp.parse("2 Jan 2026 3:04 pm", "d MMM yyyy h:mm a")', '2026-01-02T15:04:00.000Z'],
    [
      'timestamp.parse("2026-01-02T15:04:05-08:00", "yyyy-MM-dd\'T\'HH:mm:ssXXX", "Europe/Berlin")',
      '2026-01-02T23:04:05.000Z',
    ],
    ['timestamp.parse("30.02.2026", "dd.MM.yyyy")', FAILS],
    ['timestamp.parse("01.01.2026x", "dd.MM.yyyy")', FAILS],
    ['timestamp.parse("x", "constructor")', FAILS],
    ['timestamp("2026-01-01T00:00:00Z").getHours("Nowhere/At_all")', FAILS],
    ['timestamp("2026-01-01T00:00:00Z").getHours("-08:00")', 16],
    ['timestamp("2026-01-01T00:00:00Z").getDayOfYear("America/New_York")', 364],
    ['timestamp("2026-01-01T00:00:00Z").startOf("constructor")', FAILS],
    ['timestamp("2026-01-01T00:00:00Z").add(0.5, "day")', FAILS],
    ['timestamp("2026-01-01T00:00:00Z").add(1e9, "year")', FAILS],
    ['"a".startOf("day")', FAILS],
  ])('%s', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })
})

describe('functions that amplify their input stop within the budget', () => {
  const nested = (wrap: (inner: string) => string, times: number, start: string): string =>
    times === 0 ? start : wrap(nested(wrap, times - 1, start))
  test.each<[string, string]>([
    ['sort', 'input.l.sort()'],
    ['sortBy', 'input.l.sortBy(x, -x)'],
    ['distinct', 'input.l.distinct()'],
    ['flatten', nested((x) => `cel.bind(v${x.length}, ${x}, [v${x.length}, v${x.length}].flatten())`, 18, '[1, 2]')],
    ['zip', 'input.l.zip(input.l)'],
    ['range', 'lists.range(1000000000)'],
    ['sum', '[input.l, input.l, input.l].map(x, x.sum())'],
    ['format', '"%s%s%s".format([input.l, input.l, input.l])'],
    ['replace', 'input.t.replace("x", input.t)'],
    ['regex.replace', 'regex.replace(input.t, "x", input.t)'],
    ['a pattern that reads the whole rest of the text', 'regex.replace(input.t.substring(0, 5000), "x(.*y)?", "z")'],
    ['json', 'json.encode([input.l, input.l])'],
    ['base64', nested((x) => `base64.encode(${x})`, 20, 'input.t')],
    ['hmac', nested((x) => `hmac(input.t, ${x})`, 20, '"a"')],
    ['reverse', nested((x) => `${x}.reverse()`, 20, 'input.l')],
    ['time zones', 'input.l.map(x, timestamp(x).getHours("Europe/Berlin"))'],
    ['uuid', 'input.l.map(x, uuid())'],
  ])('%s', (_name, cel) => {
    expect(outcome(cel)).toEqual(LARGE)
  })

  test('a pattern that reads only nearby characters costs no more than its text', () => {
    const words = 'ab cd '.repeat(700)
    expect(outcome('size(regex.replace(input, "\\\\s+", ""))', 100_000, words)).toBe(2800)
    expect(outcome('size(regex.replace(input, "(\\\\s)+x?", ""))', 100_000, words)).toEqual(COSTLY)
  })

  test.each<[string, boolean]>([
    ['\\s+', true],
    ['[^a-z]*', true],
    ['abc', true],
    [',\\s*', true],
    ['\\d{1,3}x', true],
    ['a(.*b)?', false],
    ['<[^>]*>', false],
    ['a*b', false],
    ['a|b+', false],
    ['a{2,}b', false],
    ['(ab)+', false],
    ['\\Qa*b\\E', false],
  ])('%s reads only nearby characters: %s', (source, near) => {
    expect(endsNearMatch(source)).toBe(near)
  })
})

test('digests match those of node:crypto', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 200 }), (length, keyLength) => {
      const [message, key] = [randomBytes(length), randomBytes(keyLength)]
      expect(hexOf(sha256(message))).toBe(createHash('sha256').update(message).digest('hex'))
      expect(hexOf(hmacSha256(key, message))).toBe(createHmac('sha256', key).update(message).digest('hex'))
    }),
    { numRuns: 200 },
  )
})

test('functions that need an execution are refused where there is none', () => {
  expect(checkExpression('now()', new Set(['record']))).toMatch(/not available here/)
  expect(checkExpression('uuid()', new Set(['approvals', 'votes']))).toMatch(/not available here/)
  expect(checkExpression('now() > timestamp(0)')).toBeNull()
})
