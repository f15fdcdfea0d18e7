import { expect, test } from 'vitest'
import { compileCel, evaluateCel } from './cel.ts'
import { momentOf } from './cel-runtime.ts'
import type { Json } from './definition.ts'
import { ExpressionFailure } from './expressions.ts'

// Functions at their limits: empty, first, last, one past the end, characters of two code units. From
// docs/expressions.md.

const outcome = (cel: string): Json => {
  try {
    const program = compileCel(cel, new Set(['input', 'execution']))
    return evaluateCel(
      program,
      { input: { none: null }, execution: {} },
      { steps: 100_000, size: 10_000 },
      momentOf(0, 's'),
    )
  } catch (error) {
    if (error instanceof ExpressionFailure) return 'refused'
    throw error
  }
}

test.each<[string, Json]>([
  ['[duration("2s"), duration("4s")].avg()', '3s'],
  ['[2, 4].avg()', 3],
  ['[3, 1, 2].max()', 3],
  ['[1, 3, 2].min()', 1],
  ['[2, 1, 3].min()', 1],
  ['["b", "c", "a"].max()', 'c'],
  ['[[1]].max()', 'refused'],
  ['[1, "a"].max()', 'refused'],
  ['[1, 2, 3].slice(1)', [2, 3]],
  ['[1, 2, 3].slice(-2)', [2, 3]],
  ['[1, 2, 3].slice(0, -1)', [1, 2]],
  ['[1, 2, 3].slice(3)', []],
  ['[3, 1, 2].sort()', [1, 2, 3]],
  ['["b", "a"].sort()', ['a', 'b']],
  ['[true, false].sort()', [false, true]],
  ['[{"n": 2}, {"n": 1}].sortBy(x, x.n).map(x, x.n)', [1, 2]],
  ['[1, 2, 1].distinct()', [1, 2]],
  [
    '[1, 2].zip(["a", "b", "c"])',
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ],
  ['[[1], [2, [3]]].flatten()', [1, 2, [3]]],
  ['[[1], [2, [3]]].flatten(2)', [1, 2, 3]],
  ['[[1]].flatten(0)', [[1]]],
  ['[].first().hasValue()', false],
  ['[1, 2].first().value()', 1],
  ['[1, 2].last().value()', 2],
  ['lists.range(0)', []],
  ['lists.range(3)', [0, 1, 2]],
  ['["a", "bb", "c"].group(x, size(x))', { 1: ['a', 'c'], 2: ['bb'] }],
  ['"😀b".charAt(0)', '😀'],
  ['"😀b".charAt(2)', ''],
  ['"😀b".charAt(3)', 'refused'],
  ['"abc".charAt(-1)', 'refused'],
  ['"abab".indexOf("b")', 1],
  ['"abab".indexOf("b", 2)', 3],
  ['"abab".indexOf("b", 4)', -1],
  ['"abab".indexOf("b", 5)', 'refused'],
  ['"abab".lastIndexOf("a")', 2],
  ['"abab".lastIndexOf("a", 1)', 0],
  ['"abab".lastIndexOf("z")', -1],
  ['"😀a😀a".indexOf("a", 2)', 3],
  ['"😀a😀a".lastIndexOf("a", 2)', 1],
  ['"a😀".indexOf("z")', -1],
  ['"aaa".replace("a", "b", 0)', 'aaa'],
  ['"aaa".replace("a", "b", 1)', 'baa'],
  ['"aaa".replace("a", "b", 3)', 'bbb'],
  ['"aaa".replace("a", "b", 9)', 'bbb'],
  ['"aaa".replace("a", "b", -1)', 'bbb'],
  ['"aaa".replace("", "b")', 'refused'],
  ['"a,b,c".split(",", 1)', ['a,b,c']],
  ['"a,b,c".split(",", 2)', ['a', 'b,c']],
  ['"a,b,c".split(",", 3)', ['a', 'b', 'c']],
  ['"a,b,c".split(",", 9)', ['a', 'b', 'c']],
  ['"a,b,c".split(",", -1)', ['a', 'b', 'c']],
  ['"ab".split("")', ['a', 'b']],
  ['["a", "b"].join()', 'ab'],
  ['["a", "b"].join("-")', 'a-b'],
  ['["a", 1].join("-")', 'refused'],
  ['"abc".substring(0)', 'abc'],
  ['"abc".substring(3)', ''],
  ['"abc".substring(1, 1)', ''],
  ['"abc".substring(4)', 'refused'],
  ['"abc".substring(0, 4)', 'refused'],
  ['"ÄaZ".lowerAscii()', 'Äaz'],
  ['"äAz".upperAscii()', 'äAZ'],
  ['"ÄaZ".lower()', 'äaz'],
  ['"äAz".upper()', 'ÄAZ'],
  ['"ab😀".reverse()', '😀ba'],
  ['" a b ".trim()', 'a b'],
  ['math.greatest(1, 3, 2)', 3],
  ['math.least([3, 1, 2])', 1],
  ['math.greatest([])', 'refused'],
  ['[math.round(2.5), math.round(-2.5), math.trunc(-1.5), math.floor(-1.5), math.ceil(-1.5)]', [3, -3, -1, -2, -1]],
  ['[math.sign(-2), math.sign(0), math.abs(-2), math.sqrt(9)]', [-1, 0, 2, 3]],
  ['[math.isNaN(double("NaN")), math.isInf(double("-Infinity")), math.isFinite(1)]', [true, true, true]],
  [
    '[math.bitOr(5, 2), math.bitXor(5, 1), math.bitNot(0), math.bitShiftLeft(1, 4), math.bitShiftRight(16, 4)]',
    [7, 4, -1, 16, 1],
  ],
  ['[1, 2, 3].exists_one(x, x > 1)', false],
  ['[1, 2, 3].exists_one(x, x > 2)', true],
  ['[].all(x, false)', true],
  ['[].exists(x, true)', false],
  ['input?.none.hasValue()', true],
  ['input?.none.orElse(1)', 1],
  ['input?.none.orValue(1)', null],
  ['optional.ofNonZeroValue(0).hasValue()', false],
  ['optional.ofNonZeroValue([]).hasValue()', false],
  ['optional.ofNonZeroValue("a").value()', 'a'],
  ['[optional.of(1), optional.none(), optional.of(2)].unwrapOpt()', [1, 2]],
  ['[true || [1][5] > 0, [1][5] > 0 || true]', [true, true]],
  ['1 / 0', 'refused'],
  ['[1][5] > 0 || false', 'refused'],
  ['false && [1][5] > 0', false],
  ['math.greatest(1, 2, 3, 4, 5, 6)', 6],
  ['math.least(8, 7, 6, 5, 4, 3, 2, 1)', 1],
  ['math.bitShiftLeft(1, 0)', 1],
  ['{"a": 1,}', { a: 1 }],
  ['timestamp.parse("2 Jan 2026 3:04 am", "d MMM yyyy h:mm a")', '2026-01-02T03:04:00.000Z'],
  ['timestamp.parse("2 Jan 2026 12:30 am", "d MMM yyyy h:mm a")', '2026-01-02T00:30:00.000Z'],
  ['timestamp.parse("2 Jan 2026 12:30 pm", "d MMM yyyy h:mm a")', '2026-01-02T12:30:00.000Z'],
  ['optional.ofNonZeroValue(optional.none()).hasValue()', false],
  ['"\\U0010ffff".size()', 1],
  ['"\\x4Z"', 'refused'],
  ['"😀b".indexOf("b", 3)', 'refused'],
])('%s', (cel, expected) => {
  expect(outcome(cel)).toEqual(expected)
})
