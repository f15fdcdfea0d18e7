import { setImmediate as nextTurn } from 'node:timers/promises'
import { NodeFailure } from '#engine/node'
import type { ProfileDataset } from '#engine/nodes/dataset-profile'
import type { Json, JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { toWire } from '#platform/ids'
import type { DatasetUse } from './use.ts'

// Statistics of each column, from one pass over all records. Memory is bounded by the columns and distinct values, not
// by the records.

const MAX_COLUMNS = 200
const MAX_DISTINCT = 1_000
const MAX_COMMON = 5
const MAX_VALUE_LENGTH = 100
const TURN_MS = 8

type Column = {
  present: number
  types: Set<string>
  seen: Map<string, number>
  more: boolean
  numbers: { count: number; sum: number; min: number; max: number }
  texts: { shortest: number; longest: number; count: number }
}

const newColumn = (): Column => ({
  present: 0,
  types: new Set(),
  seen: new Map(),
  more: false,
  numbers: { count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY },
  texts: { shortest: Number.POSITIVE_INFINITY, longest: 0, count: 0 },
})

function note(column: Column, value: Json): void {
  if (value === null) return
  column.present += 1
  column.types.add(Array.isArray(value) ? 'array' : typeof value)
  if (typeof value === 'number') {
    const { numbers } = column
    numbers.count += 1
    numbers.sum += value
    numbers.min = Math.min(numbers.min, value)
    numbers.max = Math.max(numbers.max, value)
  } else if (typeof value === 'string') {
    column.texts.count += 1
    column.texts.shortest = Math.min(column.texts.shortest, value.length)
    column.texts.longest = Math.max(column.texts.longest, value.length)
  }
  const text = JSON.stringify(value)
  const times = column.seen.get(text)
  if (times !== undefined) column.seen.set(text, times + 1)
  else if (column.seen.size < MAX_DISTINCT && text.length <= MAX_VALUE_LENGTH) column.seen.set(text, 1)
  else column.more = true
}

function told(name: string, column: Column, recordCount: number): JsonObject {
  const { numbers, texts } = column
  const common = [...column.seen].sort((a, b) => b[1] - a[1]).slice(0, MAX_COMMON)
  return {
    name,
    types: [...column.types].sort(),
    nulls: recordCount - column.present,
    distinct: column.seen.size,
    distinct_more: column.more,
    ...(numbers.count > 0 && { min: numbers.min, max: numbers.max, mean: numbers.sum / numbers.count }),
    ...(texts.count > 0 && { shortest: texts.shortest, longest: texts.longest }),
    common: common.map(([text, count]) => ({ value: JSON.parse(text) as Json, count })),
  }
}

export const makeProfiling =
  ({ db, use }: { db: Database; use: DatasetUse }): ProfileDataset =>
  async ({ workspaceId, datasetId, signal }) => {
    const dataset = await db.tenant({ workspaceId, userId: null }, (tx) => use.findPointed(tx, workspaceId, datasetId))
    if (!dataset)
      throw new NodeFailure('unknown_reference', 'There is no such dataset in this workspace.', { retryable: false })
    const { name, sha256, record_count, size_bytes } = dataset
    const columns = new Map<string, Column>()
    let turn = performance.now()
    try {
      for await (const { texts } of use.readVersion(workspaceId, dataset.version_id, { from: 0, to: record_count })) {
        for (const text of texts) {
          for (const [field, value] of Object.entries(JSON.parse(text) as JsonObject)) {
            if (!columns.has(field) && columns.size < MAX_COLUMNS) columns.set(field, newColumn())
            const column = columns.get(field)
            if (column) note(column, value)
          }
          if (performance.now() - turn < TURN_MS) continue
          await nextTurn()
          signal.throwIfAborted()
          turn = performance.now()
        }
      }
    } catch (error) {
      throw isProblem(error, 'dataset_changed') ? new NodeFailure('dataset_changed', error.message) : error
    }
    return {
      dataset_id: toWire('ds', datasetId),
      name,
      sha256,
      record_count,
      size_bytes,
      columns: [...columns].map(([field, column]) => told(field, column, record_count)),
    }
  }
