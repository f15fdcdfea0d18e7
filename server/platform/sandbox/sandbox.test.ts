import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '#model/definition'
import { isSlowRun, slow } from '#test/harness/slow'
import { makeSandbox, type Sandbox, SandboxFailure, type SandboxLimits } from './sandbox.ts'

let sandbox: Sandbox
beforeAll(() => {
  sandbox = makeSandbox({ processes: 3 })
})
afterAll(() => sandbox.close())

const workspaceId = 'w1'
const transform = (expression: string, input: Json = null, limits?: SandboxLimits) =>
  sandbox.transform({ workspaceId, expression, input, limits })
const code = (source: string, input: Json = null, limits?: SandboxLimits) =>
  sandbox.code({ workspaceId, source, input, limits })
const failureOf = async (call: Promise<unknown>): Promise<SandboxFailure> => {
  const error = await call.then(
    (value) => expect.fail(`no failure: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SandboxFailure)
  return error as SandboxFailure
}

describe('JSONata', () => {
  it.each<[string, Json, Json]>([
    ['$sum(items.price)', { items: [{ price: 1 }, { price: 2.5 }] }, 3.5],
    [
      'items[price > 1].name',
      {
        items: [
          { price: 1, name: 'a' },
          { price: 2, name: 'b' },
        ],
      },
      'b',
    ],
    ['{"total": $count($), "first": $[0]}', [1, 2], { total: 2, first: 1 }],
    ['nothing.here', {}, null],
    ['$map([1..3], function($n) { $n * $n })', null, [1, 4, 9]],
    ['$replace("a-b", "-", "+") & $string(1)', null, 'a+b1'],
    ['$split("a1b2", /[0-9]/)', null, ['a', 'b', '']],
    ['{"toString": 1, "constructor": 2}', null, { toString: 1, constructor: 2 }],
    ['$', { valueOf: 1, hasOwnProperty: [2] }, { valueOf: 1, hasOwnProperty: [2] }],
    ['$sum', null, null],
  ])('%s is evaluated', async (expression, input, expected) => {
    expect((await transform(expression, input)).output).toEqual(expected)
  })

  it('reports the error to the author', async () => {
    expect(await failureOf(transform('items['))).toMatchObject({ code: 'transform_failed' })
    expect((await failureOf(transform('$nope()'))).message).toContain('character')
  })
})

describe('code', () => {
  it.each<[string, string, Json, Json]>([
    ['the body of a function', 'return input.x * 2', { x: 4 }, 8],
    ['a body that awaits', 'const y = await Promise.resolve(input); return [y]', 1, [1]],
    ['a module', 'const k = 2\nexport default (input) => ({ y: input.x * k })', { x: 4 }, { y: 8 }],
    ['an asynchronous module', 'export default async (input) => input', 'a', 'a'],
    ['TypeScript', 'type A = { x: number }\nexport default ({ x }: A): number => x + 1', { x: 4 }, 5],
    ['TypeScript in a body', 'const n: number = input as number; return n satisfies number', 3, 3],
    ['a default export that is data', 'export default { a: 1 }', null, { a: 1 }],
    ['nothing', '', null, null],
    ['unusual characters', 'return input + "\\u{1F600}`{{1}}"', '😀', '😀😀`{{1}}'],
  ])('runs %s', async (_name, source, input, expected) => {
    expect((await code(source, input)).output).toEqual(expected)
  })

  it('returns what was written to the console, within limits', async () => {
    const { logs } = await code(
      'console.log("a", { b: 1 }); for (let i = 0; i < 1000; i++) console.warn("x".repeat(5000)); return 1',
    )
    expect(logs[0]).toBe('a {"b":1}')
    expect(logs).toHaveLength(100)
    expect(logs[5]?.length).toBeLessThan(1_100)
  })

  it('reports the error and its line to the author', async () => {
    expect((await failureOf(code('const a = 1\nthrow new TypeError("no")'))).message).toBe('TypeError: no (line 2)')
    expect((await failureOf(code('return )('))).message).toContain('neither JavaScript nor TypeScript')
    expect((await failureOf(code('throw null'))).code).toBe('code_failed')
    expect((await failureOf(code('await new Promise(() => {})'))).message).toContain('never settled')
    expect((await failureOf(code('const a = {}; a.a = a; return a'))).code).toBe('code_failed')
  })
})

describe('escapes', () => {
  const reachable =
    'typeof process + typeof require + typeof fetch + typeof module + typeof Deno + typeof WebAssembly + typeof XMLHttpRequest + typeof setTimeout'

  it('do not reach the host from code', async () => {
    expect((await code(`return (${reachable})`)).output).toBe('undefined'.repeat(8))
    for (const source of [
      'return this.constructor.constructor("return process")().pid',
      'return (() => {}).constructor("return process.env")()',
      'return console.log.constructor("return process")().exit()',
      'try { null.x } catch (e) { return e.constructor.constructor("return process.mainModule")().require("fs") }',
      'return Object.getPrototypeOf(async () => {}).constructor("return process")().then((p) => p.pid)',
      'return import("node:fs")',
      'import fs from "node:fs"; export default () => fs.readFileSync("/etc/passwd", "utf8")',
      'Error.prepareStackTrace = (e, s) => s; return new Error().stack[0].getThis().process.pid',
    ]) {
      expect((await failureOf(code(source))).code).toBe('code_failed')
    }
  })

  it('leave nothing behind in the functions that expressions share', async () => {
    const take = '$clone := function($o){$o}; '
    const attacks = [
      `(${take}$loot := {"seen": []}; $evil := function($x){($loot ~> |$|{"seen": $append(seen, [$x])}|; "forged")};
        {"a": $lowercase} ~> |a|{"implementation": $evil}|)`,
      `(${take}{"a": $lowercase} ~> |a|{"signature": null}|)`,
      `(${take}{"a": $lowercase} ~> |a|$$|)`,
      `(${take}{"a": $lowercase} ~> |a|{}, ["implementation", "_jsonata_function"]|)`,
      `(${take}{"a": $lowercase.signature} ~> |a|{"validate": null, "definition": null}|)`,
    ]
    // Every process is attacked, and then checked.
    for (const attack of attacks) {
      await Promise.all(
        Array.from({ length: 6 }, () => transform(attack, { _jsonata_lambda: true, body: 1 }).catch(() => undefined)),
      )
      for (let call = 0; call < 6; call += 1)
        expect(
          (await sandbox.transform({ workspaceId: 'w2', expression: '$lowercase(x)', input: { x: 'SECRET' } })).output,
        ).toBe('secret')
    }
    expect((await failureOf(transform('$lowercase(1)'))).message).toMatch(/lowercase/)
  })

  it('leave nothing behind in code', async () => {
    await code(
      'Object.prototype.polluted = 1; Array.prototype.map = () => 0; globalThis.leak = input; JSON.parse = () => "x"; return 1',
      'secret',
    )
    for (let call = 0; call < 4; call += 1) {
      expect(
        (await code('return [typeof leak, {}.polluted ?? null, [1].map((n) => n), input]', 'mine')).output,
      ).toEqual(['undefined', null, [1], 'mine'])
    }
  })

  it.each([
    '$constructor.constructor("return process")()',
    '(function(){}).constructor("return process")()',
    '$.constructor.constructor("return process.env")()',
    '$map.constructor("return process")()',
    '$lookup($, "__proto__")',
    '$lookup($lookup($, "constructor"), "constructor")("return process")()',
    '$.__proto__.polluted',
    '$merge([{"__proto__": {"polluted": 1}}]).polluted',
    '$spread($).constructor',
    '$ ~> | $ | {"__proto__": {"polluted": 1}} |',
    '$each({"__proto__": 1}, function($v, $k) { $k })',
    '$eval("$constructor")',
    '$eval("process")',
    '$string.constructor',
    '$sift({"constructor": 1}, function($v, $k) { $v.constructor })',
  ])('reach nothing with the JSONata %s', async (expression) => {
    const outcome = await transform(expression, { a: 1 }).then(
      ({ output }) => JSON.stringify(output),
      (error: SandboxFailure) => error.code,
    )
    expect(outcome).not.toMatch(/PATH|HOME|versions|pid|native code/)
    for (let call = 0; call < 3; call += 1) {
      expect((await transform('[$lookup({}, "polluted"), $sum([1, 2])]')).output).toEqual([3])
    }
  })
})

describe('bombs', () => {
  // One of each kind. The slow tests below kill the same number of processes again.
  const jsonata: Record<string, string> = {
    'deep recursion': '($f := function($x) { 1 + $f($x + 1) }; $f(1))',
    'a huge range': '$map([1..9999999], function($n) { $n * 2 })',
    'a catastrophic pattern': '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)',
  }
  const moreJsonata: Record<string, string> = {
    'endless recursion': '($f := function($x) { $f($x + 1) }; $f(1))',
    'nested maps': '$map([1..9999], function($a) { $map([1..9999], function($b) { $a * $b }) })',
    'text doubling': '($d := function($s, $n) { $n = 0 ? $s : $d($s & $s, $n - 1) }; $length($d("x", 32)))',
    'a padded text': '$length($pad("x", 999999999))',
    'recursive evaluation': '($f := function($x) { $eval("$f(1)", {"f": $f}) }; $f(1))',
    'endless sorting': '$sort([1..99999], function($a, $b) { true })',
  }
  const scripts: Record<string, string> = {
    'an endless loop': 'while (true) {}',
    'deep recursion': 'const f = () => f() + 1; return f()',
    'lists that fill the memory': 'const a = []; while (true) a.push(new Array(10000).fill(a.length))',
    'a large result': 'return "x".repeat(20 * 1024 * 1024)',
  }
  const moreScripts: Record<string, string> = {
    'an endless promise loop': 'const f = () => Promise.resolve().then(f); await f()',
    'a text that fills the memory': 'let s = "x"; while (true) s += s',
    'a huge buffer': 'return new Uint8Array(2 ** 31).length',
    'a catastrophic pattern': 'return /^(a+)+$/.test("a".repeat(50) + "!")',
    'an endless getter': 'return { get a() { while (true) {} } }',
    'an endless toJSON': 'return { toJSON() { return this.toJSON() } }',
    'a deeply nested result': 'let a = 1; for (let i = 0; i < 100000; i++) a = [a]; return a',
    'deeply nested source': `return ${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  }

  const expressionDies = async (_name: string, expression: string): Promise<void> => {
    expect((await failureOf(transform(expression))).code).toMatch(
      /^(sandbox_timeout|sandbox_memory|transform_failed|result_too_large)$/,
    )
  }
  it.each(Object.entries(jsonata))('JSONata with %s is stopped', expressionDies)
  slow.each(Object.entries(moreJsonata))('JSONata with %s is stopped', expressionDies)

  const codeDies = async (_name: string, source: string): Promise<void> => {
    const { code: reason } = await failureOf(code(source, null, { timeMs: 300, memoryMb: 32 }))
    expect(reason).toMatch(/^(sandbox_timeout|sandbox_memory|code_failed|result_too_large)$/)
  }
  it.each(Object.entries(scripts))('code with %s is stopped', codeDies)
  slow.each(Object.entries(moreScripts))('code with %s is stopped', codeDies)

  it('affect neither the main thread nor other workspaces', async () => {
    await transform('1')
    const before = process.cpuUsage()
    // More bombs than there are processes.
    const bombs = Array.from({ length: isSlowRun ? 12 : 4 }, (_, i) =>
      i % 2 === 0
        ? transform('$map([1..9999999], function($n) { $n })').catch((error: SandboxFailure) => error.code)
        : code('while (true) {}', null, { timeMs: 250 }).catch((error: SandboxFailure) => error.code),
    )
    const others = Array.from({ length: 10 }, (_, i) =>
      sandbox.transform({ workspaceId: 'w2', expression: `${i} + 1`, input: null, limits: { timeMs: 5_000 } }),
    )
    expect((await Promise.all(others)).map(({ output }) => output)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await Promise.race([Promise.all(bombs), Promise.resolve('still running')])).toBe('still running')
    await Promise.all(bombs)
    // Each bomb used up its 250 ms, but not in this process. CPU time does not depend on the load of the machine.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(bombs.length * 150)
  })
})

describe('the pool', () => {
  it('refuses calls that do not fit into the queue', async () => {
    const small = makeSandbox({ processes: 1, queue: 3, queuePerWorkspace: 2 })
    const calls = Array.from({ length: 4 }, () => small.transform({ workspaceId: 'a', expression: '1', input: null }))
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done')).sort()).toEqual([
      'done',
      'done',
      'sandbox_busy',
      'sandbox_busy',
    ])
    await small.close()
  })

  it('stops a call whose execution was cancelled', async () => {
    const cancel = new AbortController()
    const call = sandbox.code({
      workspaceId,
      source: 'while (true) {}',
      input: null,
      limits: { timeMs: 60_000 },
      signal: cancel.signal,
    })
    setTimeout(() => cancel.abort(new Error('cancelled')), 20)
    await expect(call).rejects.toThrow('cancelled')
    expect((await code('return 1')).output).toBe(1)
  })

  it('refuses objects with too many keys', async () => {
    const source = 'const made = {}; for (let key = 0; key < input; key += 1) made["k" + key] = 1; return made'
    const limits = { timeMs: 20_000 }
    expect((await failureOf(code(source, 20_001, limits))).code).toBe('result_too_large')
    expect(Object.keys((await code(source, 20_000, limits)).output as object)).toHaveLength(20_000)
  })

  it('refuses input that is too large', async () => {
    expect((await failureOf(transform('$', 'x'.repeat(9 * 1024 * 1024)))).code).toBe('input_too_large')
  })
})
