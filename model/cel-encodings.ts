// JSON, Base64, URLs and digests. Each function spends steps by length before it does its work.

import { type CelFunction, table, text } from './cel-function.ts'
import { BudgetExceeded, type CelValue, failure, isMap, type Run, toJson } from './cel-runtime.ts'
import type { Json } from './definition.ts'
import { measureJson } from './json.ts'
import { hexOf, hmacSha256, sha256 } from './sha256.ts'

const MAX_DECODED_DEPTH = 64
const MAX_URL = 8_192

const bytesOf = (run: Run, source: string): Uint8Array => {
  run.spend(source.length >> 2)
  return new TextEncoder().encode(source)
}

function binaryOf(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8_192) binary += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return binary
}

const base64Of = (bytes: Uint8Array): string => btoa(binaryOf(bytes))
const urlSafe = (encoded: string): string => encoded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

function fromBase64(run: Run, source: string): string {
  run.spend(source.length >> 1)
  try {
    const binary = atob(source.replaceAll('-', '+').replaceAll('_', '/'))
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return run.text(decoder.decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))))
  } catch (error) {
    if (error instanceof BudgetExceeded) throw error
    throw failure('the text is not Base64-encoded UTF-8')
  }
}

function decodeJson(run: Run, source: string): CelValue {
  run.spend(source.length >> 1)
  let value: Json
  try {
    value = JSON.parse(source)
  } catch {
    throw failure('the text is not JSON')
  }
  if (measureJson(value, { depth: MAX_DECODED_DEPTH, nodes: Number.POSITIVE_INFINITY }) !== 'ok') {
    throw failure(`JSON may be nested at most ${MAX_DECODED_DEPTH} levels deep`)
  }
  return value
}

function decodeUrl(run: Run, source: string): string {
  run.spend(source.length >> 1)
  try {
    return run.text(decodeURIComponent(source))
  } catch {
    throw failure('the text is not URL-encoded UTF-8')
  }
}

const encodeUrl = (run: Run, source: string): string => {
  run.spend(source.length >> 1)
  return run.text(encodeURIComponent(source.toWellFormed()))
}

function parseUrl(run: Run, source: string): CelValue {
  run.spend(source.length + 50)
  if (source.length > MAX_URL || !URL.canParse(source)) throw failure('the text is not an absolute address')
  const url = new URL(source)
  const query: { [key: string]: CelValue } = {}
  for (const [key, value] of url.searchParams) if (key !== '__proto__') query[key] = value
  return {
    scheme: url.protocol.slice(0, -1),
    host: url.hostname,
    port: url.port === '' ? null : Number(url.port),
    path: url.pathname,
    query,
    fragment: url.hash.slice(1),
  }
}

function queryOf(run: Run, value: CelValue): string {
  if (!isMap(value)) throw failure('url.query() takes a map')
  const written = Object.entries(toJson(run, value) as Record<string, Json>).flatMap(([key, item]) => {
    if (item === null) return []
    if (typeof item === 'object') throw failure('the values of a query must be texts, numbers or booleans')
    return [`${encodeUrl(run, key)}=${encodeUrl(run, String(item))}`]
  })
  return run.text(written.join('&'))
}

const ENCODINGS: ReadonlyMap<string, (bytes: Uint8Array) => string> = new Map([
  ['hex', hexOf],
  ['base64', base64Of],
  ['base64url', (bytes: Uint8Array) => urlSafe(base64Of(bytes))],
])

function written(digest: Uint8Array, encoding: CelValue | undefined): string {
  const write = ENCODINGS.get(encoding === undefined ? 'hex' : text(encoding))
  if (!write) throw failure('the encoding must be "hex", "base64" or "base64url"')
  return write(digest)
}

/** Hashing a block of 64 bytes takes 0.5 µs. */
function digested(run: Run, source: CelValue | undefined): Uint8Array {
  const bytes = bytesOf(run, text(source))
  run.spend(40 + (bytes.length >> 2))
  return bytes
}

const one = (compute: (run: Run, source: string) => CelValue): CelFunction => ({
  arity: [1],
  call: (run, args) => compute(run, text(args[0])),
})

export const ENCODINGS_BY_NAME = {
  json: table({
    encode: { arity: [1], call: (run, args) => run.text(JSON.stringify(toJson(run, args[0] as CelValue))) },
    decode: one(decodeJson),
  }),
  base64: table({
    encode: one((run, source) => run.text(base64Of(bytesOf(run, source)))),
    encodeUrl: one((run, source) => run.text(urlSafe(base64Of(bytesOf(run, source))))),
    decode: one(fromBase64),
  }),
  url: table({
    encode: one(encodeUrl),
    decode: one(decodeUrl),
    parse: one(parseUrl),
    query: { arity: [1], call: (run, args) => queryOf(run, args[0] as CelValue) },
  }),
}

/**
 * Returns the nth id of an execution at one place. A repeated evaluation returns the same id. The id is not a secret.
 */
function uuid(run: Run): string {
  const moment = run.moment
  if (!moment) throw failure('uuid() is not available here')
  moment.ids += 1
  run.spend(60)
  const bytes = sha256(new TextEncoder().encode(`${moment.seed}#${moment.ids}`))
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return hexOf(bytes.subarray(0, 16)).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export const DIGESTS: Readonly<Record<string, CelFunction>> = {
  sha256: { arity: [1, 2], call: (run, args) => written(sha256(digested(run, args[0])), args[1]) },
  hmac: {
    arity: [2, 3],
    call: (run, args) => written(hmacSha256(digested(run, args[0]), digested(run, args[1])), args[2]),
  },
  uuid: { arity: [0], call: uuid, moment: true },
}
