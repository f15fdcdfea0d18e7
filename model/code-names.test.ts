import { describe, expect, test } from 'vitest'
import { unknownNames } from './code-names.ts'

// Which names of a program are undefined, by the rules of JavaScript modules.

const names = (source: string): string[] | undefined => unknownNames(source)?.map(({ name }) => name)

describe('a name is unknown', () => {
  test.each<[string, string[]]>([
    ['fetch("x")', ['fetch']],
    ['x = 1', ['x']],
    ['x += 1; x', ['x']],
    ['const a = b', ['b']],
    ['const { a = b, [c]: d, ...e } = f', ['b', 'c', 'f']],
    ['const [a = b, [c], ...d] = e', ['b', 'e']],
    ['export default (input) => input.map(one)', ['one']],
    ['export default function ({ a = b }) { return a }', ['b']],
    ['const o = { a, b: c, [d]: 1 }', ['a', 'c', 'd']],
    ['class A extends B { [c] = d; static { e } }', ['B', 'c', 'd', 'e']],
    [`const t = \`\${a} \${b\`c\`}\``, ['a', 'b']],
    ['JSON.parse(a)?.b[c]', ['a', 'c']],
    ['for (const a of b) c(a)', ['b', 'c']],
    ['{ let a = 1 } a', ['a']],
    ['{ function a() {} } a', ['a']],
    ['for (let a = 0; a < 1; a++) {} a', ['a']],
    ['try { a() } catch (e) { b(e) } e', ['a', 'b', 'e']],
    ['const f = function g() {}; g', ['g']],
    ['(() => arguments)()', ['arguments']],
    ['new Buffer(1); setTimeout(require, process)', ['Buffer', 'setTimeout', 'require', 'process']],
    ['await wait(1)', ['wait']],
    ['delete a.b; void c; -d', ['a', 'c', 'd']],
  ])('%s', (source, expected) => {
    expect(names(source)).toEqual(expected)
  })
})

describe('a name is known', () => {
  test.each([
    'Math.max(...Object.keys(JSON.parse("{}")), NaN, undefined, globalThis.x)',
    'console.log(new URL("x:y"), crypto.subtle, new TextEncoder(), atob(""))',
    'later(); function later() { return also } const also = 1',
    '{ var a = 1 } a',
    'if (true) { for (var b = 0; ;) break } b',
    'const f = function g(n) { return g(n - 1) }',
    'function f() { return arguments.length }',
    'class A { static make() { return new A() } #b = 1; get c() { return this.#b } }',
    'const { a: { b: [c] }, ...d } = {}; c; d',
    'const o = { fetch: 1, process() {} }; o.fetch; o.process(); ({ fetch: 1 }).fetch',
    'fetch: for (;;) { break fetch } more: while (1) continue more',
    'try {} catch ({ message }) { message }',
    'switch (1) { case 1: let a; break; default: a }',
    'import.meta.url',
    'export { a as b }; const a = 1; export const c = a',
    'const f = async ({ x }, [y] = [x]) => { for await (const z of y) z }',
    // The program checks for the name first, or defines it.
    'if (typeof fetch === "function") fetch("x")',
    'globalThis.helper = () => 1; helper()',
    'globalThis["helper"] = 1; helper',
    // The names that this code defines are not known before it runs.
    'Object.assign(globalThis, { helper: 1 }); helper',
    '(0, eval)("var helper = 1"); helper',
    'new Function("globalThis.helper = 1")(); helper',
  ])('%s', (source) => {
    expect(names(source)).toEqual([])
  })
})

test('each unknown name is reported once, with the line of its first use', () => {
  expect(unknownNames('const a = 1\n\nb(a)\nc(b)\nb()')).toEqual([
    { name: 'b', line: 3, isModule: false },
    { name: 'c', line: 4, isModule: false },
  ])
})

test('an imported module is unknown, but its imported names are not', () => {
  expect(
    unknownNames('import fs, { a as b } from "fs"\nexport * from "x"\nexport { c } from "y"\nfs(b)\nawait import("z")'),
  ).toEqual([
    { name: 'fs', line: 1, isModule: true },
    { name: 'x', line: 2, isModule: true },
    { name: 'y', line: 3, isModule: true },
    { name: 'z', line: 5, isModule: true },
  ])
})

test.each([
  'return 1',
  'const a = 1; const a = 2',
  'let x: number = 1',
  'with (a) {}',
  'export { a }',
  '('.repeat(100_000),
])('a text that cannot be parsed returns undefined: %.30s', (source) => {
  expect(names(source)).toBeUndefined()
})
