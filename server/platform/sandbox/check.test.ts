import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CODE_GLOBALS } from '#model/code-names'
import type { Source } from './frames.ts'
import { makeSandbox, type Sandbox } from './sandbox.ts'

// Tests that a source is refused before it runs only for what would also fail at run time.

let sandbox: Sandbox
beforeAll(() => {
  sandbox = makeSandbox({ processes: 1 })
})
afterAll(() => sandbox.close())

const check = async (...sources: Source[]): Promise<string[][]> =>
  (await sandbox.check({ workspaceId: 'w1', sources })).map((problems) =>
    problems.map(({ line, message }) => `${line ?? '–'} ${message}`),
  )
const code = async (source: string) => (await check({ language: 'code', source }))[0]
const transform = async (source: string) => (await check({ language: 'transform', source }))[0]
const runs = (source: string, input = null) =>
  sandbox.code({ workspaceId: 'w1', source, input }).then(
    () => 'ran',
    (error: Error) => error.message,
  )

it('the known global names are those that exist in code', async () => {
  const { output } = await sandbox.code({
    workspaceId: 'w1',
    source: 'return Object.getOwnPropertyNames(globalThis)',
    input: null,
  })
  expect([...CODE_GLOBALS].sort()).toEqual((output as string[]).sort())
})

describe('code', () => {
  const undefinedName = (line: number, name: string): string =>
    `${line} "${name}" is not defined; code has no network, files, timers or packages`

  it.each([
    [
      'an undefined name in a function body',
      'const a = input\nreturn fetch(a)',
      undefinedName(2, 'fetch'),
      'not defined',
    ],
    [
      'an undefined name in a module',
      'export default () =>\n  process.env',
      undefinedName(2, 'process'),
      'not defined',
    ],
    [
      'an undefined name in TypeScript',
      'const n: number = 1\nreturn helper(n as any)',
      undefinedName(2, 'helper'),
      'not defined',
    ],
    ['an assignment to an undefined name', 'result = 1', undefinedName(1, 'result'), 'not defined'],
    [
      'the import of a package',
      'export default async () => (await import("fs")).x',
      '1 "fs" cannot be imported; code has no packages',
      'fs',
    ],
    ['text that is not code', 'return (', '– neither JavaScript nor TypeScript: ', 'neither JavaScript nor TypeScript'],
  ])('%s is refused before it runs, like at run time', async (_what, source, told, atRun) => {
    expect(await code(source)).toEqual([expect.stringContaining(told)])
    expect(await runs(source)).toContain(atRun)
  })

  it.each([
    'return input.n',
    'export default ({ n }: { n: number }): number => n',
    'return typeof fetch === "undefined" ? 1 : fetch()',
    'throw new Error("no")',
    'for (;;) {}',
    '',
  ])('%s is not refused', async (source) => {
    expect(await code(source)).toEqual([])
  })

  it('reports the first ten problems', async () => {
    expect(await code(Array.from({ length: 30 }, (_, n) => `a${n}()`).join('\n'))).toHaveLength(10)
  })
})

describe('JSONata', () => {
  it.each([
    ['items[', '– '],
    ['$nope(1)', '– there is no function $nope'],
    ['items.$nope(?, 1)', '– there is no function $nope'],
    ['[1..3] ~> $nope()', '– there is no function $nope'],
  ])('%s is refused', async (source, told) => {
    expect(await transform(source)).toEqual([expect.stringContaining(told)])
  })

  it.each([
    '$sum(items.price)',
    '($f := function($n) { $n * 2 }; $f(2))',
    '$map([1..3], function($n, $i) { $n })',
    'function($g) { $g(1) }($string)',
    '$now() & $millis()',
    'items@$i.$string($i)',
    '$undefined',
  ])('%s is not refused', async (source) => {
    expect(await transform(source)).toEqual([])
  })
})

it('several sources are checked in one call, independently', async () => {
  expect(
    await check(
      { language: 'code', source: 'a()' },
      { language: 'transform', source: '$' },
      { language: 'code', source: 'return 1' },
    ),
  ).toEqual([[expect.stringContaining('"a"')], [], []])
})
