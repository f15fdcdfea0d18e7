import type { DatasetUse } from '#areas/datasets/use'
import { readBlob } from '#engine/outputs'
import type { Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Blobs } from '#providers/blobs/index'
import { outputIsGone } from '../store.ts'
import { plan } from './plan.ts'
import { type BadResult, failResults, listKeys, type Outcome, readEarlier, readOutcomes } from './records.ts'
import { type Lease, LeaseLost, moveRun, type Run } from './runs.ts'
import { inLedger } from './scope.ts'

export type Done = Outcome & { record: JsonObject }

export type OutcomeReader = { db: Database; datasets: DatasetUse; blobs: Blobs }

const AT_ONCE = 500
const KEYS_AT_ONCE = 10_000

/** Reads every record of a run with its outcome, in order, a few hundred at a time. */
export async function* readDone(
  { db, datasets, blobs }: OutcomeReader,
  run: Run,
  versionId: string,
  to = run.total,
): AsyncGenerator<Done[]> {
  const { workspace_id: workspaceId } = run
  for await (const { first, texts } of datasets.readVersion(workspaceId, versionId, { from: 0, to })) {
    for (let at = 0; at < texts.length; at += AT_ONCE) {
      const some = texts.slice(at, at + AT_ONCE)
      const from = first + at
      const outcomes = await inLedger(db, workspaceId, (tx) => outcomesOf(tx, run, from, some))
      yield await Promise.all(
        outcomes.map(async (outcome) => ({
          ...outcome,
          result: outcome.result_blob ? await readBlob(blobs, outcome.result_blob) : outcome.result,
          record: JSON.parse(some[outcome.position - from]!) as JsonObject,
        })),
      )
    }
  }
}

/** A run that ended early has rows only for its first records. For the others, the results of earlier runs are used. */
async function outcomesOf(tx: Tx, run: Run, from: number, texts: string[]): Promise<Outcome[]> {
  const rows = Math.max(0, Math.min(texts.length, run.planned - from))
  const planned = rows === 0 ? [] : await readOutcomes(tx, run, from, from + rows)
  if (rows === texts.length) return planned
  const rest = texts.slice(rows).map((text) => plan(text, run))
  return [...planned, ...(await readEarlier(tx, run, from + rows, rest))]
}

/** Returns the columns in the original order of the records, then `result`, and `error` if there is one. */
export function outputRecord(
  columns: readonly string[],
  { record, result, error }: Pick<Done, 'record' | 'result' | 'error'>,
): JsonObject {
  const ordered: JsonObject = {}
  for (const name of columns) if (Object.hasOwn(record, name)) ordered[name] = record[name]!
  const failure: JsonObject =
    error === null ? {} : { error: { code: error.code ?? null, message: error.message ?? null } }
  return { ...ordered, ...record, result: (result ?? null) as Json, ...failure }
}

async function* withResults(pages: AsyncIterable<Done[]>, columns: readonly string[]): AsyncGenerator<JsonObject[]> {
  for await (const page of pages) yield page.map((done) => outputRecord(columns, done))
}

/** Returns the keys of all records of the run. Their rows of earlier runs are replaced by those of this run. */
async function keysOf(db: Database, run: Run, key: string): Promise<{ key: string; keys: ReadonlySet<string> }> {
  const keys = new Set<string>()
  for (let from = 0; from < run.total; from += KEYS_AT_ONCE) {
    const rows = await inLedger(db, run.workspace_id, (tx) => listKeys(tx, run, from, from + KEYS_AT_ONCE))
    for (const { record_key } of rows) keys.add(record_key)
  }
  return { key, keys }
}

export type OutputRow = {
  owner_id: string
  output_name: string | null
  output_dataset_id: string | null
  output_bound: boolean
  output_mode: string
}

/**
 * Writes each record with its result into a dataset. The first run creates the dataset, and later runs replace its
 * records. It becomes visible only when it is complete.
 */
export async function writeOutput(
  reader: OutcomeReader,
  run: Run,
  lease: Lease,
  versionId: string,
): Promise<string | null> {
  const { db, datasets } = reader
  const { workspace_id: workspaceId, job_id } = run
  const job = await db.tenant({ workspaceId, userId: null }, (tx) =>
    tx.maybe<OutputRow>(
      'select owner_id, output_name, output_dataset_id, output_bound, output_mode from enrichment_jobs where workspace_id = $1 and job_id = $2',
      [workspaceId, job_id],
    ),
  )
  if (!job) throw new LeaseLost('the job is gone')
  if (outputIsGone(job))
    throw problem('dataset_unbound', 'The dataset that the job writes was deleted. Give it another output.')
  const upsertBy = job.output_mode === 'upsert' ? run.key_column : null
  // In upsert mode, records that the run did not process keep their rows.
  const records = withResults(
    readDone(reader, run, versionId, upsertBy === null ? run.total : run.planned),
    run.columns ?? [],
  )
  const bad: BadResult[] = []
  // A result that cannot be stored fails only its own record.
  const instead = (position: number, record: unknown, reason: string): JsonObject => {
    const { result: _result, ...itself } = record as JsonObject
    const error = { code: 'bad_result', message: `The record with its result ${reason}.` }
    bad.push({ position, error, record: itself })
    return { ...itself, result: null, error }
  }
  const settle = async (tx: Tx): Promise<void> => {
    const { succeeded, skipped } = bad.length === 0 ? { succeeded: 0, skipped: 0 } : await failResults(tx, run, bad)
    await moveRun(tx, run, lease, { succeeded: -succeeded, skipped: -skipped, failed: succeeded + skipped })
  }
  if (job.output_dataset_id !== null) {
    const except = upsertBy === null ? undefined : await keysOf(db, run, upsertBy)
    await datasets.replaceRecordsOf(workspaceId, job.output_dataset_id, records, settle, instead, except)
    return job.output_dataset_id
  }
  if (job.output_name === null) return null
  const fields = {
    name: job.output_name,
    createdBy: run.requested_by ?? job.owner_id,
  }
  // In the transaction that creates the dataset, so that a runner that crashes here leaves no second dataset.
  const bind = async (tx: Tx, dataset: { dataset_id: string }): Promise<void> => {
    await settle(tx)
    await tx.count(
      'update enrichment_jobs set output_dataset_id = $3 where workspace_id = $1 and job_id = $2 and output_name is not null',
      [workspaceId, job_id, dataset.dataset_id],
    )
  }
  const { dataset_id } = await datasets.createDatasetFrom(workspaceId, fields, records, bind, instead)
  return dataset_id
}
