import { hash } from 'node:crypto'
import { canonicalText } from '#model/canonical'
import type { Json, JsonObject } from '#model/definition'
import { own } from '#model/json'
import { mapRecord, wants } from '../recipe.ts'
import type { RunError } from './run-error.ts'
import type { Run } from './runs.ts'

// The properties of a record that are known before it is processed.

/** Hashes are hexadecimal strings, because a Buffer for each record would be allocated outside of the heap. */
export type Planned = {
  /** The hash of the record's canonical text. */
  sha256: string
  /** The hash under which its result is stored. Null in runs that use `sha256` for this. */
  input: string | null
  key: string | null
  wanted: boolean
  error: Pick<RunError, 'code' | 'message'> | null
  /** The record, if it failed. */
  text: string | null
}

export type PlanBy = Pick<Run, 'recipe_format' | 'mapping' | 'only_if' | 'key_column'>

const sha256 = (text: string): string => hash('sha256', text, 'hex')

const MAX_KEY_LENGTH = 500

/** Returns the key as the ledger shows it. Undefined if the record has no usable key. */
function keyOf(column: string, record: JsonObject): string | undefined {
  const value = own(record, column)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' && value.length <= MAX_KEY_LENGTH ? value : undefined
}

/**
 * A record is identified by its mapped input, and by its key if the job has a key column. Columns that the mapping does
 * not use may change, and rows may move. A record without an input is identified by its own text and by the expression
 * that failed.
 */
export function plan(text: string, { recipe_format, mapping, only_if, key_column }: PlanBy): Planned {
  const itself = sha256(text)
  const planned: Planned = {
    sha256: itself,
    input: recipe_format === 1 ? null : itself,
    key: null,
    wanted: true,
    error: null,
    text: null,
  }
  if (only_if === null && key_column === null && (mapping === null || recipe_format === 1)) return planned
  const record = JSON.parse(text) as JsonObject
  const failed = (code: string, message: string, by: Json): Planned => ({
    ...planned,
    input: recipe_format === 1 ? null : sha256(canonicalText([code, by, itself])),
    error: { code, message },
    text,
  })
  const key = key_column === null || recipe_format === 1 ? null : keyOf(key_column, record)
  if (only_if !== null) {
    try {
      if (!wants(only_if, record)) return { ...planned, key: key ?? null, wanted: false }
    } catch (error) {
      return failed('only_if_failed', (error as Error).message, only_if)
    }
  }
  if (recipe_format === 1) return planned
  if (key === undefined)
    return failed(
      'bad_key',
      `The key column "${key_column!.slice(0, 64)}" holds no text or number of at most 500 characters.`,
      key_column,
    )
  if (mapping === null) return { ...planned, key }
  const mapped = mapRecord(mapping, record)
  if (!mapped.ok) return { ...failed(mapped.error.code, mapped.error.message, mapping), key }
  const of: Json = key === null ? mapped.input : [key, mapped.input]
  return { ...planned, key, input: sha256(canonicalText(of)) }
}
