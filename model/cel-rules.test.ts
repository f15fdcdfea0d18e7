import { describe, expect, test } from 'vitest'
import { compileCel, evaluateCel } from './cel.ts'
import { parseCel } from './cel-parser.ts'
import { children, memberOf } from './cel-tree.ts'
import type { Json } from './definition.ts'
import {
  checkExpression,
  ExpressionFailure,
  evaluateCondition,
  resolveArgs,
  resolveValue,
  type Scope,
} from './expressions.ts'
import { makeLru } from './lru.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { parseReference } from './reference.ts'

// docs/expressions.md, function by function: what each function returns, what it refuses, and how many steps it takes.

const ROOTS = new Set(['input'])
const input = { n: 7, t: 'text', l: [1, 2, 3], m: { a: 1, b: 2 }, none: null, b: true, long: 'x'.repeat(800) }
const scope: Scope = { input, nodes: {}, execution: {} }
const outcome = (cel: string, given: Json = input): Json => {
  try {
    return evaluateCel(compileCel(cel, ROOTS), { input: given }, { steps: 100_000, size: 100_000 })
  } catch (error) {
    if (error instanceof ExpressionFailure) return `! ${error.code}: ${error.message}`
    throw error
  }
}
const FAILS = expect.stringMatching(/^! expression_failed: /)
const UNDEFINED = expect.stringMatching(/^! expression_failed: .* is not defined/)
const INVALID = expect.stringMatching(/^! expression_invalid: /)

describe('functions', () => {
  test.each<[string, Json]>([
    ['size("")', 0],
    ['size("a😀b")', 3],
    ['size([])', 0],
    ['size([1, 2])', 2],
    ['size({"a": 1})', 1],
    ['"abc".size()', 3],
    ['size(1)', '! expression_failed: a double has no size'],
    ['size(null)', FAILS],
    ['string("a")', 'a'],
    ['string(1.5)', '1.5'],
    ['string(true)', 'true'],
    ['string(timestamp("2026-01-01T00:00:00Z"))', '2026-01-01T00:00:00.000Z'],
    ['string(duration("1500ms"))', '1.5s'],
    ['string([1])', '! expression_failed: a list has no text form'],
    ['string(null)', FAILS],
    ['double("1.5")', 1.5],
    ['double(" -.5e1 ")', -5],
    ['double("+3.")', 3],
    ['double("1e3")', 1000],
    ['double(2)', 2],
    ['double(timestamp("1970-01-01T00:00:02.500Z"))', 2.5],
    ['double("x")', '! expression_failed: the text is not a number'],
    ['double("1x")', FAILS],
    ['double("x1")', FAILS],
    ['double("")', FAILS],
    ['double(true)', '! expression_failed: a text is expected, not a bool'],
    ['int("3.9")', 3],
    ['int(-3.9)', -3],
    ['bool("true")', true],
    ['bool("false")', false],
    ['bool(true)', true],
    ['bool("yes")', '! expression_failed: the text is neither "true" nor "false"'],
    ['bool(1)', FAILS],
    ['dyn(1)', 1],
    [
      '[type(1), type(""), type(true), type([]), type({}), type(null)]',
      ['double', 'string', 'bool', 'list', 'map', 'null_type'],
    ],
    ['[type(timestamp(0)), type(duration("1s"))]', ['timestamp', 'duration']],
    ['type(1) == int && type(1) == double && type(1) == uint', true],
    ['[string, bool, list, map, null_type]', ['string', 'bool', 'list', 'map', 'null_type']],
    ['timestamp("2026-01-01T12:30:00+01:00")', '2026-01-01T11:30:00.000Z'],
    ['timestamp("2026-01-01T12:30Z")', '2026-01-01T12:30:00.000Z'],
    ['timestamp(1.5)', '1970-01-01T00:00:01.500Z'],
    ['timestamp(timestamp(1))', '1970-01-01T00:00:01.000Z'],
    ['timestamp("2026-01-01")', FAILS],
    ['timestamp("2026-13-01T00:00:00Z")', FAILS],
    ['timestamp("x 2026-01-01T12:30:00Z")', FAILS],
    ['timestamp(1e300)', FAILS],
    ['timestamp(true)', FAILS],
    ['duration("90s")', '90s'],
    ['duration("1h30m")', '5400s'],
    ['duration("1.5s")', '1.5s'],
    ['duration("-2m")', '-120s'],
    ['duration("5ms")', '0.005s'],
    ['duration(duration("1s"))', '1s'],
    ['duration("5")', FAILS],
    ['duration("")', FAILS],
    ['duration("5d")', FAILS],
    ['duration(5)', FAILS],
    ['nothing(1)', '! expression_invalid: unknown function nothing() (at character 1)'],
    ['size()', INVALID],
    ['size(1, 2)', INVALID],
  ])('%s is %j', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })
})

describe('methods', () => {
  test.each<[string, Json]>([
    ['"abc".contains("b")', true],
    ['"abc".contains("d")', false],
    ['"abc".startsWith("ab")', true],
    ['"abc".startsWith("b")', false],
    ['"abc".endsWith("bc")', true],
    ['"abc".endsWith("b")', false],
    ['"abca".indexOf("a")', 0],
    ['"abca".lastIndexOf("a")', 3],
    ['"abc".indexOf("d")', -1],
    ['"abc".contains(1)', '! expression_failed: a text is expected, not a double'],
    ['input.n.contains("a")', '! expression_failed: a text is expected, not a double'],
    ['"abc".matches("^a.c$")', true],
    ['"abc".matches("^b")', false],
    ['"abc".matches("(")', FAILS],
    ['"aBc".lowerAscii()', 'abc'],
    ['"aBc".upperAscii()', 'ABC'],
    ['" a ".trim()', 'a'],
    ['"abcd".substring(1)', 'bcd'],
    ['"abcd".substring(1, 3)', 'bc'],
    ['"abcd".substring(0, 4)', 'abcd'],
    ['"abcd".substring(4)', ''],
    ['"abcd".substring(5)', '! expression_failed: position 5 is outside the text'],
    ['"abcd".substring(-1)', FAILS],
    ['"abcd".substring(0.5)', FAILS],
    ['"abcd".substring(0, 5)', FAILS],
    ['"abcd".substring("0")', '! expression_failed: a number is expected, not a string'],
    ['"aXbX".replace("X", "--")', 'a--b--'],
    ['"abc".replace("d", "e")', 'abc'],
    ['"abc".replace("", "e")', '! expression_failed: replace() needs a text to look for'],
    ['"a,b".split(",")', ['a', 'b']],
    ['"ab".split("")', ['a', 'b']],
    ['["a", "b"].join("-")', 'a-b'],
    ['["a", "b"].join()', 'ab'],
    ['[].join("-")', ''],
    ['[1].join("-")', '! expression_failed: a text is expected, not a double'],
    ['"ab".join("-")', '! expression_failed: a list is expected, not a string'],
    ['"ab".nothing()', '! expression_invalid: unknown function .nothing() (at character 1)'],
    ['"ab".trim(1)', INVALID],
    ['["a"].join("a", "b")', INVALID],
  ])('%s is %j', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })

  const time = 'timestamp("2026-03-05T14:27:39.250Z")'
  test.each<[string, number]>([
    ['getFullYear', 2026],
    ['getMonth', 2],
    ['getDate', 5],
    ['getDayOfMonth', 4],
    ['getDayOfWeek', 4],
    ['getDayOfYear', 63],
    ['getHours', 14],
    ['getMinutes', 27],
    ['getSeconds', 39],
    ['getMilliseconds', 250],
  ])('%s of a time', (name, expected) => {
    expect(outcome(`${time}.${name}()`)).toBe(expected)
    expect(outcome(`"2026".${name}()`)).toBe('! expression_failed: a timestamp is expected, not a string')
  })

  test.each<[string, number]>([
    ['getHours', 1],
    ['getMinutes', 90],
    ['getSeconds', 5430],
    ['getMilliseconds', 5430500],
  ])('%s of a duration counts all of it', (name, expected) => {
    expect(outcome(`duration("1h30m30s500ms").${name}()`)).toBe(expected)
  })

  test.each<[string, Json]>([
    ['math.floor(1.7)', 1],
    ['math.ceil(1.2)', 2],
    ['math.round(1.5)', 2],
    ['math.abs(-3)', 3],
    ['math.greatest(1, 3, 2)', 3],
    ['math.greatest([1, 3, 2])', 3],
    ['math.least(2, 1, 3)', 1],
    ['math.least([2])', 2],
    ['math.greatest(5)', 5],
    ['math.greatest([])', '! expression_failed: the list is empty'],
    ['math.greatest([1], 2)', FAILS],
    ['math.greatest(1, "2")', FAILS],
    ['math.floor("1")', FAILS],
    ['math.nothing(1)', INVALID],
    ['input.floor(1)', INVALID],
    ['math.floor(1, 2)', INVALID],
  ])('%s is %j', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })
})

test.each<[string, number]>([
  ['duration("2h").getHours()', 2],
  ['duration("2h").getMinutes()', 120],
  ['duration("200h").getSeconds()', 720_000],
  ['duration("200h").getMilliseconds()', 720_000_000],
  ['duration("-90s").getMinutes()', -1],
])('%s is %i', (cel, expected) => {
  expect(outcome(cel)).toBe(expected)
})

describe('operators', () => {
  const t = (seconds: number) => `timestamp(${seconds})`
  test.each<[string, Json]>([
    ['1 + 2', 3],
    ['"a" + "b"', 'ab'],
    ['[1] + [2]', [1, 2]],
    [`${t(1)} + duration("1s")`, '1970-01-01T00:00:02.000Z'],
    [`duration("1s") + ${t(1)}`, '1970-01-01T00:00:02.000Z'],
    ['duration("1s") + duration("2s")', '3s'],
    ['1 + "a"', '! expression_failed: double + string is not defined; use string() to join a number to a text'],
    ['"a" + 1', UNDEFINED],
    ['[1] + 1', UNDEFINED],
    ['1 + [1]', UNDEFINED],
    [`${t(1)} + 1`, UNDEFINED],
    [`1 + ${t(1)}`, UNDEFINED],
    ['duration("1s") + 1', UNDEFINED],
    ['1 + duration("1s")', UNDEFINED],
    [`${t(1)} + ${t(1)}`, UNDEFINED],
    [`${t(8640000000000)} + duration("1s")`, '! expression_failed: the time is out of range'],
    ['5 - 2', 3],
    [`${t(5)} - ${t(2)}`, '3s'],
    [`${t(5)} - duration("2s")`, '1970-01-01T00:00:03.000Z'],
    ['duration("5s") - duration("2s")', '3s'],
    [`duration("5s") - ${t(2)}`, '! expression_failed: duration - timestamp is not defined'],
    ['5 - "a"', UNDEFINED],
    ['"a" - 5', UNDEFINED],
    ['2 * 3', 6],
    ['7 / 2', 3.5],
    ['7 % 4', 3],
    ['1 / 0', '! expression_failed: division by zero'],
    ['1 % 0', FAILS],
    ['2 * "a"', '! expression_failed: double * string is not defined'],
    ['"a" * 2', UNDEFINED],
    ['-input.n', -7],
    ['-duration("1s")', '-1s'],
    ['-"a"', '! expression_failed: a string cannot be negated'],
    ['!true', false],
    ['!1', '! expression_failed: true or false is expected, not a double'],
    ['1 in [1, 2]', true],
    ['3 in [1, 2]', false],
    ['[1] in [[1]]', true],
    ['"a" in {"a": 1}', true],
    ['1 in {"1": 1}', true],
    ['"b" in {"a": 1}', false],
    ['"a" in "abc"', '! expression_failed: "in" needs a list or a map, not a string'],
    ['true ? 1 : 2', 1],
    ['false ? 1 : 2', 2],
    ['1 ? 1 : 2', FAILS],
    ['true || input.absent', true],
    ['input.absent || true', true],
    ['input.absent || false', '! expression_failed: no such key: absent; check with has() or read it with ?.'],
    ['false || input.absent', FAILS],
    ['false || false', false],
    ['false && input.absent', false],
    ['input.absent && false', false],
    ['input.absent && true', FAILS],
    ['true && input.absent', FAILS],
    ['true && true', true],
    ['1 || false', FAILS],
    ['input.absent || input.other', '! expression_failed: no such key: other; check with has() or read it with ?.'],
  ])('%s is %j', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })

  const ORDERED = [
    ['1', '2'],
    ['"a"', '"b"'],
    ['false', 'true'],
    [t(1), t(2)],
    ['duration("1s")', 'duration("2s")'],
  ]
  test.each(ORDERED)('%s comes before %s', (a, b) => {
    const all = (x: string, y: string) => ['<', '<=', '>', '>=', '==', '!='].map((op) => outcome(`${x} ${op} ${y}`))
    expect(all(a as string, b as string)).toEqual([true, true, false, false, false, true])
    expect(all(b as string, a as string)).toEqual([false, false, true, true, false, true])
    expect(all(a as string, a as string)).toEqual([false, true, false, true, true, false])
  })

  test.each([
    ['1', '"1"'],
    ['[1]', '[1]'],
    ['null', '1'],
    [t(1), 'duration("1s")'],
    ['true', '1'],
    ['"a"', 'true'],
  ])('%s cannot be compared with %s', (a, b) => {
    expect([outcome(`${a} < ${b}`), outcome(`${b} > ${a}`)]).toEqual([FAILS, FAILS])
  })

  test.each<[string, boolean]>([
    ['[1, [2]] == [1, [2]]', true],
    ['[1] == [1, 2]', false],
    ['[1, 2] == [1]', false],
    ['[1] == [2]', false],
    ['{"a": 1, "b": 2} == {"b": 2, "a": 1}', true],
    ['{"a": 1} == {"a": 2}', false],
    ['{"a": 1} == {"b": 1}', false],
    ['{"a": 1} == {"a": 1, "b": 2}', false],
    ['{"a": 1, "b": 2} == {"a": 1}', false],
    ['[1] == {"0": 1}', false],
    ['{"0": 1} == [1]', false],
    ['null == null', true],
    ['null == {}', false],
    ['{} == null', false],
    ['1 == "1"', false],
    ['"1" == 1', false],
    ['true == 1', false],
    ['"ab" == "ac"', false],
    ['"ab" == "abc"', false],
    [`${t(1)} == duration("1s")`, false],
    [`${t(1)} == {}`, false],
    [`duration("1s") == ${t(1)}`, false],
    ['duration("1s") == {}', false],
    [`{} == ${t(1)}`, false],
  ])('%s is %s', (cel, expected) => {
    expect(outcome(cel)).toBe(expected)
  })
})

describe('reading', () => {
  test.each<[string, Json]>([
    ['input.m.a', 1],
    ['input.m["a"]', 1],
    ['input.l[0]', 1],
    ['input.l[2]', 3],
    ['input.l[3]', '! expression_failed: no such key: 3; check with has() or read it with ?.'],
    ['input.l[-1]', FAILS],
    ['input.l[0.5]', FAILS],
    ['input.l["0"]', '! expression_failed: a list is read by number, not by string'],
    ['input.t.x', '! expression_failed: "x" cannot be read from a string'],
    ['input.none.x', FAILS],
    ['input.m[null]', '! expression_failed: a null_type cannot be a key'],
    ['{1: "a"}[1]', 'a'],
    ['{true: "a"}[true]', 'a'],
    ['{"a": 1, "a": 2}', { a: 2 }],
    ['{[1]: 2}', FAILS],
    ['input.toString', FAILS],
    ['input.__proto__', '! expression_invalid: "__proto__" is not allowed as a key'],
    ['input["__pro" + "to__"]', '! expression_failed: "__proto__" is not allowed as a key'],
    ['has(input.m.a)', true],
    ['has(input.m.c)', false],
    ['has(input.none)', true],
    ['has(input.none.x)', false],
    ['has(input.t.x)', FAILS],
    ['has(input)', '! expression_invalid: has() takes a path, such as has(input.name)'],
    ['has(input.a, input.b)', INVALID],
    ['has(input.constructor)', INVALID],
    ['other', '! expression_invalid: unknown name "other" (at character 1); known are input'],
    ['1 + other', '! expression_invalid: unknown name "other" (at character 5); known are input'],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', INVALID],
    ['3u', 3],
    ['b"x"', '! expression_invalid: bytes are not supported'],
    ['null', null],
  ])('%s is %j', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })

  test('a name that has no value is not available', () => {
    expect(() => evaluateCel(compileCel('input', ROOTS), {}, { steps: 100, size: 100 })).toThrow(
      '"input" is not available here',
    )
    expect(() => evaluateCel(compileCel('toString', new Set(['toString'])), {}, { steps: 100, size: 100 })).toThrow(
      'not available',
    )
  })
})

describe('macros', () => {
  test.each<[string, Json]>([
    ['[1, 2].all(x, x > 0)', true],
    ['[1, 2].all(x, x > 1)', false],
    ['[].all(x, x > 1)', true],
    ['[1, 2].exists(x, x > 1)', true],
    ['[1, 2].exists(x, x > 2)', false],
    ['[].exists(x, true)', false],
    ['[1, 2].exists_one(x, x > 1)', true],
    ['[1, 2].exists_one(x, x > 0)', false],
    ['[1, 2].exists_one(x, x > 2)', false],
    ['[1, 2, 3].filter(x, x != 2)', [1, 3]],
    ['[1, 2].map(x, x * 2)', [2, 4]],
    ['[1, 2, 3].map(x, x > 1, x * 2)', [4, 6]],
    ['{"a": 1, "b": 2}.map(k, k)', ['a', 'b']],
    ['{"a": 1}.all(k, k == "a")', true],
    ['"ab".map(x, x)', '! expression_failed: a list or a map is expected, not a string'],
    ['[1].filter(x, x)', FAILS],
    ['[1].map(x, x, x)', FAILS],
    ['[1].all(x, x)', FAILS],
    [
      '[1, 2].map(x, [3, 4].map(y, x * y))',
      [
        [3, 4],
        [6, 8],
      ],
    ],
    ['[1].map(x, [2].map(x, x))', [[2]]],
    ['[1].map(input, 1)', '! expression_invalid: "input" is taken; use another name for the variable'],
    ['[1].map(x + 1, 1)', INVALID],
    ['[1].map(x)', INVALID],
    ['[1].all(x, x, x)', INVALID],
    ['[1].map(x, y)', INVALID],
    // An operand that decides the result wins over a failure of the others; if none decides, the first failure is
    // reported.
    ['[1, 2].exists(x, x == 1 ? input.absent : true)', true],
    ['[1, 2].all(x, x == 1 ? input.absent : false)', false],
    [
      '[1, 2].exists(x, x == 1 ? input.first : input.second)',
      '! expression_failed: no such key: first; check with has() or read it with ?.',
    ],
    [
      '[1, 2].all(x, x == 2 ? input.second : true)',
      '! expression_failed: no such key: second; check with has() or read it with ?.',
    ],
    ['cel.bind(x, 2, x * x)', 4],
    ['cel.bind(x, 2, cel.bind(y, x + 1, x * y))', 6],
    ['cel.bind(x, 2)', '! expression_invalid: cel.bind() takes a name, a value and an expression'],
    ['cel.bind(x, 2, x, x)', INVALID],
    ['cel.bind(1, 2, 3)', INVALID],
    ['input.bind(x, 2, x)', INVALID],
    ['cel.nothing(1)', INVALID],
  ])('%s is %j', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })

  test.each([
    '[1].all(x, input.l.all(y, false) || true)',
    'input.absent || input.l.all(y, y > 0)',
    '[1].exists(x, input.l.all(y, y > 0))',
  ])('a spent budget is never treated as a failure of an operand: %s', (cel) => {
    const program = compileCel(cel, ROOTS)
    expect(() => evaluateCel(program, { input }, { steps: 6, size: 100 })).toThrow('too much work')
  })
})

describe('results', () => {
  test.each<[string, Json]>([
    ['1e308 * 10', '! expression_failed: the result is not a finite number'],
    ['[timestamp(0), duration("1s")]', ['1970-01-01T00:00:00.000Z', '1s']],
    ['{"a": timestamp(0)}', { a: '1970-01-01T00:00:00.000Z' }],
    ['input', { ...input }],
  ])('of %s: %j', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })

  test('replace half a surrogate pair', () => {
    expect(outcome('input', '\ud83d')).toBe('\ufffd')
  })

  const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)])
  test('can be nested at most 64 deep', () => {
    expect(outcome('input', nested(64))).toEqual(nested(64))
    expect(outcome('input', nested(65))).toBe('! expression_failed: the result is nested too deeply')
  })

  test('omit a key that would change a prototype', () => {
    expect(outcome('input', JSON.parse('{"__proto__": 1, "a": 2}'))).toEqual({ a: 2 })
  })

  test('contain texts of at most a million characters', () => {
    const doubled = (times: number): string =>
      times === 0 ? 'input' : `cel.bind(x${times}, ${doubled(times - 1)}, x${times} + x${times})`
    const run = (length: number, times: number) => {
      try {
        evaluateCel(compileCel(doubled(times), ROOTS), { input: 'x'.repeat(length) }, { steps: 10_000_000, size: 1 })
        return 'made'
      } catch (error) {
        return (error as ExpressionFailure).code
      }
    }
    expect([run(512 * 1024, 1), run(512 * 1024 + 1, 1)]).toEqual(['made', 'expression_too_large'])
  })
})

describe('steps', () => {
  const cost = (cel: string): number => {
    const budget = { steps: 100_000, size: 100_000 }
    evaluateCel(compileCel(cel, ROOTS), { input }, budget)
    return 100_000 - budget.steps
  }
  // The result costs one step for each of its values, four more for a list or a map, and an eighth of the length of its
  // texts.
  test.each<[string, number]>([
    ['1', 1],
    ['input', 126],
    ['input.n', 3],
    ['input.long', 103],
    ['input.l', 10],
    ['input.m', 9],
    ['1 + 2', 2],
    ['1 - 2', 2],
    ['-input.n', 4],
    ['!true', 2],
    ['true ? 1 : 2', 2],
    ['true || false', 2],
    ['false || false', 2],
    ['1 == 1', 3],
    ['1 == 2', 6],
    ['"ab" == "abc"', 3],
    ['"abcdefghijklmnopqrstuvwxyzabcdef" == "abcdefghijklmnopqrstuvwxyzabcdeg"', 5],
    ['[1, 2] == [1, 2]', 14],
    ['{"a": 1, "b": 2} == {"a": 1, "b": 2}', 16],
    ['"a" < "b"', 2],
    ['input.long < input.long', 56],
    ['input.long + input.long == ""', 408],
    ['[1] + [2, 3]', 17],
    ['[1, 2, 3]', 12],
    ['{"a": 1}', 8],
    ['has(input.n)', 3],
    ['size(input.l)', 4],
    ['size(input.m)', 4],
    ['size(input.long)', 104],
    ['size("a") == 1', 4],
    ['string(1)', 2],
    ['input.l.all(x, x > 0)', 12],
    ['input.l.exists(x, x > 1)', 10],
    ['input.l.filter(x, x > 1)', 18],
    ['input.l.map(x, x)', 16],
    ['input.l.map(x, x > 1, x)', 20],
    ['cel.bind(x, 1, x + x)', 5],
    ['math.greatest(1, 2)', 4],
    ['math.greatest(input.l)', 7],
    ['input.long.contains("y")', 105],
    ['input.long.matches("y")', 1214],
    ['input.long.trim() == ""', 106],
    ['input.long.upperAscii() == ""', 106],
    ['input.long.substring(8) == ""', 130],
    ['input.long.replace("x", "xy") == ""', 507],
    ['input.long.replace("y", "xy") == ""', 207],
    ['input.long.split("x").size()', 906],
    ['["aaaaaaaa", "bbbbbbbb"].join("--------")', 17],
    ['[input.long, input.long].join() == ""', 413],
    ['{"aaaaaaaaaaaaaaaa": 1}', 10],
    ['1 in input.l', 5],
    ['"a" in input.m', 4],
  ])('%s takes %i', (cel, steps) => {
    expect(cost(cel)).toBe(steps)
  })

  test('may use up the budget exactly, but not exceed it', () => {
    const program = compileCel('1 + 2', ROOTS)
    expect(evaluateCel(program, {}, { steps: 2, size: 9 })).toBe(3)
    expect(() => evaluateCel(program, {}, { steps: 1, size: 9 })).toThrow('too much work')
  })
})

describe('the text of an expression', () => {
  test.each<[string, string, RegExp]>([
    ['has at most 4,096 characters', `1${' '.repeat(4_096)}`, /at most 4096 characters/],
    ['has at most 50 unary operators in a row', `${'!'.repeat(51)}true`, /too many unary operators/],
    ['has at most 50 unary operators in a row, spaces included', `${'- '.repeat(51)}1`, /too many unary operators/],
    ['has an error message with the position of the error', '1 +', /character/],
    ['is nested at most 200 levels deep', `input${'.a'.repeat(201)}`, /nested too deeply|depth/i],
  ])('%s', (_what, cel, message) => {
    expect(checkExpression(cel, ROOTS)).toMatch(message)
  })

  test.each([`1${' '.repeat(4_095)}`, `${'!'.repeat(50)}true`, '1'])('is accepted: %.10s…', (cel) => {
    expect(checkExpression(cel, ROOTS)).toBeNull()
  })

  const ids = (cel: string): unknown[] => children(parseCel(cel)).map(({ op, args }) => (op === 'id' ? args : op))
  test.each<[string, unknown[]]>([
    ['a + b', ['a', 'b']],
    ['[a, b]', ['a', 'b']],
    ['{a: b}', ['a', 'b']],
    ['a ? b : c', ['a', 'b', 'c']],
    ['!a', ['a']],
    ['a.f(b)', ['a', 'b']],
    ['f(a)', ['a']],
    ['a.b', ['a']],
    ['"a"', []],
    ['1', []],
  ])('the parts of %s are %j', (cel, expected) => {
    expect(ids(cel)).toEqual(expected)
  })

  test.each<[string, string | undefined]>([
    ['a.b', 'b'],
    ['a["b"]', 'b'],
    ['a[b]', undefined],
    ['a[1]', undefined],
    ['a', undefined],
    ['a + b', undefined],
  ])('%s reads the member %s', (cel, key) => {
    expect(memberOf(parseCel(cel))?.key).toBe(key)
  })
})

describe('references', () => {
  test.each<[string, unknown]>([
    ['input', ['input']],
    ['input.a-b.$c', ['input', 'a-b', '$c']],
    ['input[0][12].x', ['input', 0, 12, 'x']],
    ['input["a b"]', ['input', 'a b']],
    ['input["a\\"b\\u0041"]', ['input', 'a"bA']],
    ['', 'a reference starts with a name, such as input or nodes'],
    ['[0]', 'a reference starts with a name, such as input or nodes'],
    ['input.', 'a name is expected at character 7'],
    ['input..a', 'a name is expected at character 7'],
    ['input[01]', 'unexpected text at character 6; use .name, [0] or ["key"]'],
    ['input[x]', 'unexpected text at character 6; use .name, [0] or ["key"]'],
    ['input a', 'unexpected text at character 6; use .name, [0] or ["key"]'],
    ['input.constructor', '"constructor" cannot be referred to'],
    ['__proto__', '"__proto__" cannot be referred to'],
    [`a${'.b'.repeat(511)}`, ['a', ...Array(511).fill('b')]],
    [`ab${'.b'.repeat(511)}`, ['ab', ...Array(511).fill('b')]],
    [`abc${'.b'.repeat(511)}`, 'a reference has at most 1024 characters'],
  ])('%.30s', (text, expected) => {
    const parsed = parseReference(text)
    expect(parsed.ok ? parsed.segments : parsed.message).toEqual(expected)
  })

  const at = ($ref: string): Json => {
    try {
      return resolveValue({ $ref }, { ...scope, item: 0, index: 1 })
    } catch (error) {
      return (error as ExpressionFailure).code
    }
  }
  test.each<[string, Json]>([
    ['input.l[0]', 1],
    ['input.l[3]', null],
    ['input.l.x', null],
    ['input.l["0"]', null],
    ['input.m[0]', null],
    ['input.none', null],
    ['input.none.x.y', null],
    ['input.absent.x', null],
    ['input.t.x', 'reference_failed'],
    ['input.n.x', 'reference_failed'],
    ['input.b[0]', 'reference_failed'],
    ['item', 0],
    ['index', 1],
    ['record', null],
    ['other', 'reference_invalid'],
    ['input..', 'reference_invalid'],
    ['input.m', { a: 1, b: 2 }],
  ])('%s is %j', ($ref, expected) => {
    expect(at($ref)).toEqual(expected)
  })
})

describe('values', () => {
  test.each<[Json, Json]>([
    [{ a: [{ $ref: 'input.n' }, null, 1, 'x', true] }, { a: [7, null, 1, 'x', true] }],
    [{ $ref: '#/x' }, { $ref: '#/x' }],
    [{ $ref: 1 }, { $ref: 1 }],
    [{ $cel: 1 }, { $cel: 1 }],
    [{ a: { $cel: 'input.n + 1' } }, { a: 8 }],
  ])('%j becomes %j', (value, expected) => {
    expect(resolveValue(value, scope)).toEqual(expected)
  })

  const ref = { $ref: 'input.n' }
  test.each<[string, Json, Json]>([
    ['branch', { cases: [ref], other: ref }, { cases: [ref], other: 7 }],
    ['map', { items: [ref], body: { x: ref } }, { items: [7], body: { x: ref } }],
    [
      'approval',
      { policy: { quorum: ref, due_in_s: ref }, title: ref },
      { policy: { quorum: ref, due_in_s: 7 }, title: 7 },
    ],
    [
      'echo',
      { cases: [ref], body: { x: ref }, policy: { quorum: ref } },
      { cases: [7], body: { x: 7 }, policy: { quorum: 7 } },
    ],
    ['branch', { x: { cases: ref } }, { x: { cases: 7 } }],
  ])('of the arguments of a %s: %j becomes %j', (type, args, expected) => {
    expect(resolveArgs({ type, args: args as Record<string, Json> }, scope)).toEqual(expected)
  })

  test('are resolved for at most a thousand expressions in the arguments', () => {
    const args = (count: number) => ({ type: 'echo', args: { v: Array(count).fill(ref) } })
    expect(resolveArgs(args(1_000), scope).v).toHaveLength(1_000)
    expect(() => resolveArgs(args(1_001), scope)).toThrow('at most 1000 expressions')
  })

  test('are empty for a node without arguments', () => {
    expect(resolveArgs({ type: 'echo' }, scope)).toEqual({})
  })

  test('count each expression towards the size, and a long text once per reference', () => {
    const size = (value: Json, left: number, given: Json) => {
      const budget = { steps: 1_000, size: left }
      try {
        resolveValue(value, { ...scope, input: given }, budget)
        return budget.size
      } catch (error) {
        return (error as ExpressionFailure).code
      }
    }
    const whole = { $ref: 'input' }
    expect(size([whole, whole], 20, 'abc')).toBe(10)
    expect(size([whole, whole], 10, 'abc')).toBe(0)
    expect(size([whole, whole], 9, 'abc')).toBe('result_too_large')
    expect(size([whole, whole], 20_000, 'x'.repeat(5_000))).toBe(20_000 - 2 * 5_002)
    expect(size([whole], 20, { a: 1 })).toBe(13)
    expect(size(Array(1_000).fill(whole), 10_000, 1)).toBe(9_000)
    expect(size(Array(1_001).fill(whole), 10_000, 1)).toBe('expression_too_large')
  })

  test('a condition must be true or false', () => {
    expect([evaluateCondition('input.n > 1', scope), evaluateCondition('input.n < 1', scope)]).toEqual([true, false])
    expect(() => evaluateCondition('input.n', scope)).toThrow('must be true or false')
  })
})

describe('a pattern', () => {
  const usable = (source: string) => compilePattern(source) as Pattern
  test('matches any part of a text', () => {
    expect([usable('b+').test('abbc'), usable('^b').test('ab')]).toEqual([true, false])
  })

  test.each<[string, RegExp]>([
    ['x'.repeat(513), /at most 512 characters/],
    ['(', /not a usable regular expression \(RE2\): (?!error parsing)/],
    ['(?=a)', /not a usable regular expression/],
    ['((a{30}){30}){3}', /too large|not a usable/],
  ])('%.20s is refused', (source, message) => {
    expect(compilePattern(source)).toMatch(message)
  })

  test('of 512 characters is accepted', () => {
    expect(compilePattern('x'.repeat(512))).toBeTypeOf('object')
  })

  test('is not tried on a text that is too long for the pattern', () => {
    const pattern = usable('abc')
    const most = Math.floor(500_000 / ((pattern.cost('x'.repeat(1_000)) - 10) / 500))
    expect(pattern.test('x'.repeat(most))).toBe(false)
    expect(pattern.test('x'.repeat(most + 1))).toBeUndefined()
    expect(pattern.cost('')).toBe(10)
    expect(compilePattern('abc')).toBe(pattern)
  })
})

test('a cache counts a repeated write as a use', () => {
  const cache = makeLru<number>(2)
  for (const key of ['a', 'b', 'a', 'c']) cache.set(key, 1)
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 1])
})

test('a cache evicts the least recently used entry', () => {
  const cache = makeLru<number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 3])
  cache.set('a', 4)
  cache.remove('c')
  cache.set('d', 5)
  expect(['a', 'c', 'd'].map((key) => cache.get(key))).toEqual([4, undefined, 5])
})
