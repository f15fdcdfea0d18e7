// The host's side of the Web APIs of `code`: Node does what needs bytes or the rules of the URL standard. Code can call
// these functions with any arguments, so each function checks them.

import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten'
import type { install as installInGuest } from './guest-library.ts'

type Host = Parameters<typeof installInGuest>[0]

const NAMES = ['TextEncoder', 'TextDecoder', 'URL', 'URLSearchParams', 'crypto', 'atob', 'btoa'] as const

/**
 * The maximum size of one call: the engine's clock is not checked while the host works, and hashing 16 MiB takes about
 * 20 ms.
 */
const MAX_BYTES = 16 * 1024 * 1024

const HASHES: Record<string, string> = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
}

/**
 * Returns the library as a script that returns `install`. A module would require running pending jobs, which belong to
 * the code.
 */
function readLibrary(): string {
  const source = readFileSync(join(import.meta.dirname, 'guest-library.ts'), 'utf8')
  return `(() => { ${stripTypeScriptTypes(source).replaceAll(/^export /gm, '')}\nreturn install })()`
}

let library: string | undefined
export const prepareLibrary = (): void => {
  library ??= readLibrary()
}

const PARTS = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'] as const

function resolveUrl([address, base, part, value]: unknown[]): object | null {
  const from = typeof base === 'string' ? base : undefined
  if (typeof address !== 'string' || !URL.canParse(address, from)) return null
  const url = new URL(address, from)
  const set = PARTS.find((name) => name === part)
  if (part === 'href') return resolveUrl([value])
  if (set) url[set] = String(value)
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url
  return { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash }
}

const isPair = (pair: unknown): pair is [string, string] =>
  Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string')

type Texts = { [Name in keyof Host]: string extends ReturnType<Host[Name]> ? Name : never }[keyof Host]

/** Functions that accept JSON and return JSON. */
const texts: Record<Exclude<Texts, 'decode'>, (given: unknown) => unknown> = {
  atob: (text) => atob(String(text)),
  btoa: (text) => btoa(String(text)),
  url: (request) => (Array.isArray(request) ? resolveUrl(request) : null),
  pairs: (text) => [...new URLSearchParams(String(text))],
  form: (pairs) => new URLSearchParams(Array.isArray(pairs) ? pairs.filter(isPair) : []).toString(),
}

function decode(given: unknown, bytes: Uint8Array): { encoding: string; text: string } {
  const { label, fatal, ignoreBOM } = (given ?? {}) as { label?: unknown; fatal?: unknown; ignoreBOM?: unknown }
  const decoder = new TextDecoder(String(label), { fatal: fatal === true, ignoreBOM: ignoreBOM === true })
  return { encoding: decoder.encoding, text: decoder.decode(bytes) }
}

/** Code can replace the names, as in a browser. */
const LAZY = `(load) => {
  for (const name of ${JSON.stringify(NAMES)}) {
    const define = (value) => Object.defineProperty(globalThis, name, { configurable: true, writable: true, value })
    Object.defineProperty(globalThis, name, { configurable: true, get: () => define(load(name))[name], set: define })
  }
}`

/** Defines the names. The library behind them is evaluated when the code first reads one. */
export function addWebApis(context: QuickJSContext): void {
  let installed: QuickJSHandle | undefined
  const load = context.newFunction('load', (name) => {
    installed ??= install(context)
    return context.getProp(installed, name)
  })
  const define = context.unwrapResult(context.evalCode(LAZY, 'library.js'))
  context.unwrapResult(context.callFunction(define, context.undefined, load)).dispose()
}

function install(context: QuickJSContext): QuickJSHandle {
  prepareLibrary()
  const host = context.newObject()
  const add = (name: keyof Host, call: (...args: QuickJSHandle[]) => QuickJSHandle): void => {
    context.setProp(host, name, context.newFunction(name, call))
  }
  const lengthOf = (handle: QuickJSHandle, property: string): number => {
    const length = context.getProp(handle, property)
    const size = context.getNumber(length)
    length.dispose()
    if (!(size <= MAX_BYTES)) throw new RangeError('at most 16 MiB can be given at once')
    return size
  }
  const textOf = (handle: QuickJSHandle | undefined): unknown => {
    if (!handle || context.typeof(handle) !== 'string') throw new TypeError('a text was expected')
    lengthOf(handle, 'length')
    return JSON.parse(context.getString(handle))
  }
  const bytesOf = (handle: QuickJSHandle | undefined): Uint8Array => {
    if (!handle || context.typeof(handle) !== 'object') throw new TypeError('an ArrayBuffer was expected')
    if (lengthOf(handle, 'byteLength') === 0) return new Uint8Array(0)
    const bytes = context.getArrayBuffer(handle)
    const copy = bytes.value.slice()
    bytes.dispose()
    return copy
  }
  const toText = (value: unknown): QuickJSHandle => context.newString(JSON.stringify(value))
  const toBytes = (bytes: Uint8Array): QuickJSHandle => context.newArrayBuffer(Uint8Array.from(bytes).buffer)
  const hashOf = (handle: QuickJSHandle | undefined): string => {
    const hash = handle && context.typeof(handle) === 'string' ? HASHES[context.getString(handle)] : undefined
    if (!hash) throw new TypeError('unknown hash')
    return hash
  }
  for (const [name, call] of Object.entries(texts)) add(name as keyof Host, (given) => toText(call(textOf(given))))
  add('encode', (text) => toBytes(new TextEncoder().encode(String(textOf(text)))))
  add('decode', (options, data) => toText(decode(textOf(options), bytesOf(data))))
  add('digest', (hash, data) => toBytes(createHash(hashOf(hash)).update(bytesOf(data)).digest()))
  add('hmac', (hash, key, data) => toBytes(createHmac(hashOf(hash), bytesOf(key)).update(bytesOf(data)).digest()))
  const made = context.unwrapResult(context.evalCode(library ?? '', 'library.js'))
  return context.unwrapResult(context.callFunction(made, context.undefined, host))
}
