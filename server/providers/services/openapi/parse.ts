import { parse } from 'yaml'
import type { Json, JsonObject } from '#model/definition'
import { isObject, measureJson } from '#model/json'
import { DocumentFailure, MAX_DOCUMENT_BYTES } from './index.ts'

const LIMITS = { depth: 100, nodes: 3_000_000 }
/** The maximum number of alias expansions. Without it, a few lines of YAML could expand to gigabytes. */
const MAX_ALIASES = 1_000

export function parseDocument(bytes: Buffer): JsonObject {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    throw new DocumentFailure(`a document has at most ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`)
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  const value = /^\s*\{/.test(text) ? parseJson(text) : parseYaml(text)
  if (!isObject(value)) throw new DocumentFailure('this is not an OpenAPI document: it is not an object')
  if (measureJson(value, LIMITS) !== 'ok')
    throw new DocumentFailure('the document is nested too deeply or has too many parts')
  return value
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw new DocumentFailure('the document starts like JSON but is not valid JSON')
  }
}

function parseYaml(text: string): Json {
  try {
    const value: unknown = parse(text, { maxAliasCount: MAX_ALIASES, merge: true, logLevel: 'error' })
    return asJson(value)
  } catch (error) {
    if (error instanceof DocumentFailure) throw error
    const reason = error instanceof Error ? error.message.split('\n')[0]!.slice(0, 200) : ''
    throw new DocumentFailure(`the document is neither JSON nor YAML${reason ? `: ${reason}` : ''}`)
  }
}

/** Converts YAML to JSON, which has no dates, no numeric keys and no parts that contain themselves. */
function asJson(value: unknown): Json {
  try {
    return JSON.parse(JSON.stringify(value)) as Json
  } catch {
    throw new DocumentFailure('a part of the document contains itself')
  }
}
