import type { Json, JsonObject } from '#model/definition'
import { own } from '#model/json'
import type { Database } from '#platform/db/pool'
import { parseRecord, readVersion } from './reading.ts'
import { refuse } from './records/refused.ts'
import type { DatasetVersion } from './store.ts'

// Merges records by a key: existing records are updated in place, and the others are added at the end.

/** Returns the text by which keys are compared: 1 and "1" are different keys. */
export function keyText(record: JsonObject, key: string): string {
  const value = own(record, key)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  throw refuse('record', `has no text, number or boolean in its key field "${key.slice(0, 64)}"`)
}

/** Puts the known columns in their order, followed by the record's other columns. */
function inOrder(columns: readonly string[], record: JsonObject): JsonObject {
  const ordered: JsonObject = {}
  for (const name of columns) if (Object.hasOwn(record, name)) ordered[name] = record[name]!
  return { ...ordered, ...record }
}

/**
 * Merges new records into the existing ones. The later of two new records with the same key wins. Fields that a new
 * record does not have stay unchanged.
 */
export async function* upsertRecords(
  present: AsyncIterable<JsonObject[]>,
  records: readonly Json[],
  key: string,
  columns: readonly string[],
): AsyncGenerator<Json[]> {
  const fresh = new Map<string, Json>()
  const loose: Json[] = []
  for (const record of records) {
    // A value that is not an object is refused later, when records are checked.
    if (typeof record !== 'object' || record === null || Array.isArray(record)) loose.push(record)
    else fresh.set(keyText(record, key), record)
  }
  if (loose.length > 0) yield loose
  for await (const page of present)
    yield page.map((record) => {
      const at = Object.hasOwn(record, key) ? JSON.stringify(record[key]) : ''
      const change = fresh.get(at) as JsonObject | undefined
      fresh.delete(at)
      return inOrder(columns, change === undefined ? record : { ...record, ...change })
    })
  if (fresh.size > 0) yield [...fresh.values()]
}

export async function* presentRecords(db: Database, dataset: DatasetVersion): AsyncGenerator<JsonObject[]> {
  const all = { from: 0, to: dataset.record_count }
  for await (const { texts } of readVersion(db, dataset.workspace_id, dataset.version_id, all))
    yield texts.map(parseRecord)
}

/** Returns the existing records that have none of the keys, with their columns in order. */
export async function* withoutKeys(
  present: AsyncIterable<JsonObject[]>,
  key: string,
  keys: ReadonlySet<string>,
  columns: readonly string[],
): AsyncGenerator<JsonObject[]> {
  for await (const page of present)
    yield page.filter((record) => !keys.has(String(own(record, key) ?? ''))).map((record) => inOrder(columns, record))
}
