import { createHash, createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '#model/definition'
import { slow } from '#test/harness/slow'
import { makeSandbox, type Sandbox, SandboxFailure, type SandboxLimits } from './sandbox.ts'

let sandbox: Sandbox
beforeAll(() => {
  sandbox = makeSandbox({ processes: 1 })
})
afterAll(() => sandbox.close())

const run = async (source: string, input: Json = null, limits?: SandboxLimits): Promise<Json> =>
  (await sandbox.code({ workspaceId: 'w1', source, input, limits })).output
const failureOf = async (source: string, limits?: SandboxLimits): Promise<SandboxFailure> => {
  const error = await run(source, null, limits).then(
    (value) => expect.fail(`no failure: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SandboxFailure)
  return error as SandboxFailure
}

/** Runs the same text in Node, whose Web APIs are the reference. */
const AsyncFunction = (async () => {}).constructor as new (...text: string[]) => (input: Json) => Promise<Json>
const byNode = async (source: string): Promise<unknown> =>
  JSON.parse(JSON.stringify((await new AsyncFunction('input', source)(null)) ?? null))

const hex = 'const hex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, "0")).join("");'
const key = (hash: string, usages = '["sign", "verify"]') =>
  `const key = await crypto.subtle.importKey("raw", new TextEncoder().encode("Jefe"), { name: "HMAC", hash: "${hash}" }, false, ${usages});`
const parts =
  '[u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]'

describe('code gets the same result as Node for', () => {
  it.each([
    'return [...new TextEncoder().encode("a\\u0000é€😀")]',
    'return [...new TextEncoder().encode("x\\ud800y")]',
    'return [new TextEncoder().encode().length, new TextEncoder().encoding]',
    'const b = new Uint8Array(5); return [new TextEncoder().encodeInto("a€😀", b), [...b]]',
    'return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0, 0xc3, 0xa9, 0xff]))',
    'return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 97])).length',
    'return new TextDecoder("latin1").decode(new Uint8Array([0xe9, 0x80]))',
    'return [new TextDecoder("LATIN1").encoding, new TextDecoder("UTF8").encoding, new TextDecoder().fatal]',
    'return new TextDecoder("utf-16le").decode(new Uint16Array([0x61, 0x20ac]))',
    'return new TextDecoder("shift_jis").decode(new Uint8Array([0x93, 0xfa]))',
    'return new TextDecoder().decode()',
    'return new TextDecoder().decode(new DataView(new Uint8Array([97, 98, 99]).buffer, 1, 1))',
    'try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return e.name }',
    'try { new TextDecoder("klingon") } catch (e) { return e.name }',
    'return [btoa("héllo"), atob("aGk="), atob(" aG k "), btoa("")]',
    'try { btoa("€") } catch (e) { return e.name }',
    'try { atob("a") } catch (e) { return e.name }',
    `const u = new URL("https://us%40er:p@Example.com:8443/a/../b?q=1&q=2#h"); return ${parts}`,
    `const u = new URL("../x y?z", "http://example.com/a/b/c"); return ${parts}`,
    `const u = new URL("http://exämple.com:80/"); return ${parts}`,
    'const u = new URL("http://a/"); u.port = "81"; u.pathname = "/b c"; u.search = "?x=1"; u.hash = "y"; u.host = "b:82"; u.protocol = "https"; return String(u)',
    'const u = new URL("http://a/?x=1"); u.href = "http://b/?y=2"; return [u, [...u.searchParams]]',
    'const u = new URL("http://a/?x=1"); const p = u.searchParams; p.append("y", "ä &"); p.delete("x"); return [u.href, u.searchParams === p]',
    'const u = new URL("http://a/?x=1"); const p = u.searchParams; u.search = "?z=3"; return [...p]',
    'return [URL.canParse("x"), URL.canParse("x", "http://a"), String(URL.parse("x", "http://a")), URL.parse("x")]',
    'try { new URL("nothing") } catch (e) { return e.name }',
    'const u = new URL("http://a/"); try { u.href = "nothing" } catch (e) { return [e.name, u.href] }',
    'return JSON.stringify({ u: new URL("http://a") })',
    'return [...new URLSearchParams("?a=1&b=%20+c&a=3&&=4&d")]',
    'return [String(new URLSearchParams({ a: 1, "b c": "ä" })), String(new URLSearchParams([["x", "1"], ["x", 2]]))]',
    'const p = new URLSearchParams("b=1&a=2&b=3&c=4"); p.set("b", "9"); p.append("a", "0"); p.sort(); return [String(p), p.get("a"), p.getAll("a"), p.get("z"), p.has("c"), p.has("c", "5"), p.size]',
    'const p = new URLSearchParams("a=1&a=2&b=3"); p.delete("a", "1"); p.set("n", 1); return [[...p.keys()], [...p.values()], [...p.entries()]]',
    'const seen = []; new URLSearchParams("a=1&b=2").forEach((value, name) => seen.push(name + value)); return seen',
    'return String(new URLSearchParams(new URLSearchParams("a=1")))',
    'try { new URLSearchParams([["a"]]) } catch (e) { return e.name }',
    ...['SHA-1', 'sha-256', 'SHA-384', 'SHA-512'].map(
      (hash) => `${hex} return hex(await crypto.subtle.digest("${hash}", new TextEncoder().encode("abc")))`,
    ),
    `${hex} return hex(await crypto.subtle.digest({ name: "SHA-256" }, new ArrayBuffer(0)))`,
    `${hex} return hex(await crypto.subtle.digest("SHA-256", new Uint8Array([1, 2, 3, 4]).subarray(1, 3)))`,
    'return crypto.subtle.digest("MD5", new ArrayBuffer(1)).catch((e) => e.name)',
    ...['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'].map(
      (hash) =>
        `${hex} ${key(hash)} return hex(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode("what do ya want")))`,
    ),
    `${key('SHA-256')} const data = new Uint8Array([1, 2]); const signature = await crypto.subtle.sign({ name: "HMAC" }, key, data);
     return [await crypto.subtle.verify("HMAC", key, signature, data), await crypto.subtle.verify("HMAC", key, signature, new Uint8Array([1])),
       await crypto.subtle.verify("HMAC", key, new Uint8Array(0), data), await crypto.subtle.verify("HMAC", key, signature.slice(1), data)]`,
    `${key('SHA-256', '["verify"]')} return crypto.subtle.sign("HMAC", key, new ArrayBuffer(1)).catch((e) => e.name)`,
    `${key('SHA-256')} return [key.type, key.extractable, key.algorithm.name, key.algorithm.hash.name, key.usages]`,
    'return crypto.subtle.importKey("raw", new ArrayBuffer(0), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]).catch((e) => e.name)',
    'return crypto.subtle.importKey("raw", new ArrayBuffer(1), { name: "HMAC", hash: "SHA-256" }, false, []).catch((e) => e.name)',
    'return crypto.subtle.importKey("raw", new ArrayBuffer(1), { name: "HMAC", hash: "MD4" }, false, ["sign"]).catch((e) => e.name)',
    'return crypto.subtle.digest("SHA-256", "text").catch((e) => e.name)',
    'return crypto.subtle.sign("HMAC", {}, new ArrayBuffer(1)).catch((e) => e.name)',
  ])('%s', async (source) => {
    expect(await run(source)).toEqual(await byNode(source))
  })
})

describe('the library of Web APIs', () => {
  slow('hashes 16 MiB in one call and refuses more', async () => {
    const source = (bytes: number) =>
      `${hex} return hex(await crypto.subtle.digest("SHA-256", new Uint8Array(${bytes})))`
    const limits = { timeMs: 20_000, memoryMb: 128 }
    const most = 16 * 1024 * 1024
    expect(await run(source(most), null, limits)).toBe(createHash('sha256').update(Buffer.alloc(most)).digest('hex'))
    expect((await failureOf(source(most + 1), limits)).message).toContain('at most 16 MiB')
  })

  slow('refuses more than 16 MiB of text in one call', async () => {
    const limits = { timeMs: 20_000, memoryMb: 128 }
    const long = `return btoa("x".repeat(${16 * 1024 * 1024 + 1}))`
    expect((await failureOf(long, limits)).message).toContain('at most 16 MiB')
  })

  it('counts the time of the host against the time limit of the code', async () => {
    const source = 'const data = new Uint8Array(8 * 1024 * 1024); for (;;) await crypto.subtle.digest("SHA-512", data)'
    expect((await failureOf(source, { timeMs: 300 })).code).toBe('sandbox_timeout')
  })

  it('does not expose the host', async () => {
    expect((await failureOf('return (await crypto.subtle.digest.constructor("return process")()).pid')).code).toBe(
      'code_failed',
    )
    expect((await failureOf('return URL.constructor("return process")().pid')).code).toBe('code_failed')
    expect(await run('return [Object.keys(crypto), typeof crypto.randomUUID, Object.keys(URL)]')).toEqual([
      ['subtle'],
      'undefined',
      [],
    ])
  })

  it('can be replaced by the code, without effect on the next call', async () => {
    const mine = 'globalThis.URL = class { toString() { return "mine" } }; URL = URL; return String(new URL("x"))'
    expect(await run(mine)).toBe('mine')
    expect(await run('class URL {}; const atob = 1; return [typeof new URL(), atob]')).toEqual(['object', 1])
    await run('TextEncoder.prototype.encode = () => "changed"; crypto.subtle.digest = 1; return null')
    expect(await run('return [new TextEncoder().encode("a").length, typeof crypto.subtle.digest]')).toEqual([
      1,
      'function',
    ])
  })

  it('survives code that changes built-ins that it uses', async () => {
    const sources = [
      'JSON.parse = () => 1; JSON.stringify = () => 2; return atob("aGk=").length',
      'Array.prototype.map = null; String = null; return new URLSearchParams("a=1").get("a")',
      'Object.defineProperty = null; return btoa("a")',
      'Object.defineProperty(Uint8Array.prototype, "byteLength", { get: () => -1 }); return new TextDecoder().decode(new Uint8Array(3))',
      'Object.defineProperty(ArrayBuffer.prototype, "byteLength", { get: () => NaN }); return crypto.subtle.digest("SHA-256", new ArrayBuffer(8))',
      'Object.defineProperty(ArrayBuffer.prototype, "byteLength", { get: () => { throw 1 } }); return crypto.subtle.digest("SHA-256", new ArrayBuffer(8))',
      'Object.setPrototypeOf(Uint8Array.prototype, null); return new TextEncoder().encode("a")',
    ]
    for (const source of sources)
      await run(source).catch((error: unknown) => expect(error).toBeInstanceOf(SandboxFailure))
    expect(await run('return atob("aGk=")')).toBe('hi')
  })
})

it('code can sign a request like a webhook sender', async () => {
  const source = `
    const bytes = (text) => new TextEncoder().encode(text)
    const key = await crypto.subtle.importKey('raw', bytes(input.secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const signature = await crypto.subtle.sign('HMAC', key, bytes(input.body))
    return btoa(String.fromCharCode(...new Uint8Array(signature)))`
  const expected = createHmac('sha256', 'whsec').update('{"a":1}').digest('base64')
  expect(await run(source, { secret: 'whsec', body: '{"a":1}' })).toBe(expected)
})
