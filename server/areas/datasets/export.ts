import type { Json, JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { parseRecord, readChunks, readVersion } from './reading.ts'
import type { DatasetVersion } from './store.ts'

export function exportStream(
  db: Database,
  dataset: DatasetVersion,
  format: 'csv' | 'jsonl',
): AsyncGenerator<Buffer | string> {
  if (format === 'jsonl') return lines(db, dataset)
  if (!dataset.columns_complete)
    throw problem('conflict', 'The records have too many different keys for one table. Export them as jsonl.')
  return table(db, dataset)
}

async function* lines(
  db: Database,
  { workspace_id, version_id, record_count }: DatasetVersion,
): AsyncGenerator<Buffer | string> {
  for await (const { text } of readChunks(db, workspace_id, version_id, { from: 0, to: record_count })) {
    yield text
    yield '\n'
  }
}

async function* table(db: Database, dataset: DatasetVersion): AsyncGenerator<string> {
  const names = dataset.columns.map(({ name }) => name)
  yield csvHeader(names)
  const all = { from: 0, to: dataset.record_count }
  for await (const { texts } of readVersion(db, dataset.workspace_id, dataset.version_id, all)) {
    yield `${texts.map((text) => csvRow(parseRecord(text), names)).join('\r\n')}\r\n`
  }
}

export const csvHeader = (names: string[]): string => `${names.map(cellOf).join(',')}\r\n`

/** Returns a row of CSV. A row with a single empty cell is written as `""`, because CSV readers skip empty lines. */
export const csvRow = (record: JsonObject, names: string[]): string =>
  names.map((name) => cellOf(Object.hasOwn(record, name) ? record[name]! : null)).join(',') || '""'

/**
 * Matches text that a spreadsheet would run as a formula, also after a tab or return. Such text gets a leading
 * apostrophe.
 */
const formula = /^[=+\-@\t\r]/

function cellOf(value: Json): string {
  if (value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}
