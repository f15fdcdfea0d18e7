import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileCel, evaluateCel } from './cel.ts'
import { FUNCTIONS, METHODS, NAMESPACES } from './cel-functions.ts'
import { FUNCTION_HELP } from './cel-help-table.ts'
import { MACROS } from './cel-macros.ts'
import { momentOf } from './cel-runtime.ts'

const listed = FUNCTION_HELP.flatMap(({ functions }) => functions)

test.each(listed)('$example returns the value in the help', ({ example, gives }) => {
  const program = compileCel(example, new Set(['execution']))
  expect(evaluateCel(program, {}, { steps: 10_000, size: 10_000 }, momentOf(0, 'help'))).toEqual(gives)
})

test('the help names every function', () => {
  const names = new Set(listed.map(({ name }) => name))
  const known = [
    ...FUNCTIONS.keys(),
    ...[...METHODS.keys(), ...MACROS.keys()].map((name) => `.${name}`),
    ...[...NAMESPACES].flatMap(([space, functions]) => [...functions.keys()].map((name) => `${space}.${name}`)),
  ]
  expect(known.filter((name) => !names.has(name))).toEqual([])
})

test('docs/expressions.md names every function', () => {
  const text = readFileSync(new URL('../docs/expressions.md', import.meta.url), 'utf8')
  const missing = listed.filter(({ name }) => !new RegExp(`[^A-Za-z]${name.split('.').at(-1)}[^A-Za-z]`).test(text))
  expect(missing.map(({ name }) => name)).toEqual([])
})
