import { evaluate } from '@marcbachmann/cel-js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { resolveValue } from './expressions.ts'

// The library's own evaluator is the oracle for the part of the language on which both agree: doubles, text, booleans,
// lists, maps and macros. Unlike CEL, the library gives `==` a lower precedence than `<` and `in`: hence the brackets.

const input = {
  n: 2.5,
  m: -1.5,
  t: 'ab',
  u: 'abab',
  b: true,
  list: [1.5, 2.5, 3.5],
  words: ['a', 'ab', ''],
  map: { x: 1.5, y: 4.5 },
}

const { number, text, truth } = fc.letrec<{ number: string; text: string; truth: string }>((tie) => {
  const n = tie('number')
  const t = tie('text')
  const b = tie('truth')
  const join = (template: (...parts: string[]) => string, ...parts: fc.Arbitrary<string>[]) =>
    fc.tuple(...parts).map((made) => template(...made))
  return {
    number: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom('1.5', '0.0', '-2.25', 'input.n', 'input.m', 'input.map.x', 'input.list[1]', 'input.map["y"]'),
      join((op, a, c) => `(${a} ${op} ${c})`, fc.constantFrom('+', '-', '*'), n, n),
      join((a) => `(-${a})`, fc.constantFrom('input.n', '1.5', '(input.m)')),
      join((c, x, y) => `(${c} ? ${x} : ${y})`, b, n, n),
      join((x) => `double(string(${x}))`, fc.constantFrom('input.n', '1.5')),
    ),
    text: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom('""', '"a"', '"b\\n"', 'input.t', 'input.u', 'input.words[0]', "'x'", 'r"\\d"'),
      join((a, c) => `(${a} + ${c})`, t, t),
      join((c, x, y) => `(${c} ? ${x} : ${y})`, b, t, t),
      join((a) => `${a}.upperAscii()`, fc.constantFrom('input.t', '"xyz"')),
      join((a) => `input.words.map(w, w + ${a}).join("-")`, t),
    ),
    truth: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom(
        'true',
        'false',
        'input.b',
        'has(input.n)',
        'has(input.none)',
        '("x" in input.map)',
        '(1.5 in input.list)',
      ),
      join((op, a, c) => `(${a} ${op} ${c})`, fc.constantFrom('<', '<=', '>', '>=', '==', '!='), n, n),
      join((op, a, c) => `(${a} ${op} ${c})`, fc.constantFrom('<', '==', '!='), t, t),
      join((op, a, c) => `(${a} ${op} ${c})`, fc.constantFrom('&&', '||', '==', '!='), b, b),
      join((a) => `!${a}`, b),
      join(
        (f, a, c) => `${a}.${f}(${c})`,
        fc.constantFrom('contains', 'startsWith', 'endsWith'),
        fc.constantFrom('input.t', 'input.u'),
        t,
      ),
      join((f, a) => `input.list.${f}(v, v > ${a})`, fc.constantFrom('all', 'exists', 'exists_one'), n),
      join((a, c) => `(input.list.filter(v, v != ${a}) == input.list.filter(w, w != ${c}))`, n, n),
      join((a) => `cel.bind(z, ${a}, z == z)`, n),
      join((a, c) => `(input.none > 1.0 || ${a}) == (${c} && true)`, b, b),
    ),
  }
})

/** Returns undefined if the library refuses the expression: its type checker is stricter than JSON needs. */
const reference = (expression: string): { value: unknown } | undefined => {
  try {
    return { value: evaluate(expression, { input }) }
  } catch {
    return undefined
  }
}

it('returns the same results as the reference evaluator', () => {
  let [tried, compared] = [0, 0]
  fc.assert(
    fc.property(fc.oneof(number, text, truth), (expression) => {
      tried += 1
      const expected = reference(expression)
      if (!expected) return
      compared += 1
      expect(resolveValue({ $cel: expression }, { input, nodes: {}, execution: {} })).toEqual(expected.value)
    }),
    { numRuns: 2_000 },
  )
  expect(compared / tried).toBeGreaterThan(0.5)
})
