import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

// Invariant 5: no tenant text becomes host code. Functions that turn text into code do not occur in the program at all.
// A schema compiler, for example, does exactly that with schemas.

const root = join(import.meta.dirname, '..', '..', '..')
const BANNED: [RegExp, string][] = [
  [/(^|[^\w.$])eval\s*\(/, 'eval'],
  [/(^|[^\w.$])(new\s+)?Function\s*\(/, 'Function'],
  [/['"](node:)?vm['"]/, 'vm'],
  [/from\s+['"]ajv/, 'ajv'],
  [/\bset(Timeout|Interval)\s*\(\s*['"`]/, 'a timer given text'],
]

const banned = (source: string): string[] =>
  source
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line))
    .flatMap((line) => BANNED.filter(([pattern]) => pattern.test(line)).map(([, name]) => name))

it('nothing in the program turns text into code', () => {
  const files = globSync('{model,server}/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  expect(files.length).toBeGreaterThan(50)
  expect(
    files.flatMap((file) => banned(readFileSync(join(root, file), 'utf8')).map((name) => `${file}: ${name}`)),
  ).toEqual([])
})

it('this check recognises code that turns text into code', () => {
  const guilty = [
    'eval(text)',
    'new Function("return 1")',
    'const f = Function(text)',
    "import vm from 'node:vm'",
    "import { Ajv } from 'ajv'",
    'setTimeout("x", 1)',
  ]
  for (const line of guilty) expect(banned(line)).toHaveLength(1)
  expect(banned('evaluate(x); isFunction(y); // eval(z)\n// new Function()')).toEqual(['eval'])
})
