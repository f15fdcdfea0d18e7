import { setTimeout as pause } from 'node:timers/promises'
import { NodeFailure } from '#engine/node'
import type { WriteDataset } from '#engine/nodes/dataset-write'
import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import { refused, unknownDataset } from './failures.ts'
import type { Dataset } from './schema.ts'
import * as store from './store.ts'
import type { makeTurns } from './turns.ts'
import { presentRecords, upsertRecords, withoutKeys } from './upserting.ts'
import { type Draft, type Instead, packRecords, type Records, withDraft } from './writing.ts'

// The functions with which executions, jobs and suites write datasets.

/** The maximum number of tries. Each failed try means that another process succeeded. */
const MAX_TRIES = 50
const BACK_OFF = 20

export type Deps = { db: Database; inTurn: ReturnType<typeof makeTurns> }

async function* nothing(): AsyncGenerator<JsonObject[]> {}

export const within = <T>({ db }: Deps, workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.tenant({ workspaceId, userId: null }, work)

/** Points an existing dataset at new records. `expected` is the version from which they were made. */
async function replace(
  tx: Tx,
  workspaceId: string,
  datasetId: string,
  draft: Draft,
  content: Omit<store.Content, 'versionId'>,
  expected?: string,
): Promise<Dataset | 'moved' | undefined> {
  const present = await store.lockDataset(tx, workspaceId, datasetId)
  if (!present) return undefined
  if (expected !== undefined && present.version_id !== expected) return 'moved'
  await draft.publish(tx)
  const dataset = await store.pointDataset(tx, workspaceId, datasetId, { versionId: draft.versionId, ...content })
  await store.retireVersion(tx, workspaceId, present.version_id)
  return dataset
}

/**
 * Creates a dataset from pages of records. The dataset is not visible until all records are stored. `alsoDo` commits
 * with it.
 */
export const createDatasetFrom = (
  deps: Deps,
  workspaceId: string,
  fields: { name: string; description?: string | null; createdBy: string | null },
  records: Records,
  alsoDo: (tx: Tx, dataset: Dataset) => Promise<void> = async () => {},
  instead?: Instead,
): Promise<Dataset> =>
  withDraft(deps.db, workspaceId, async (draft) => {
    const content = await packRecords(records, draft, { instead })
    return within(deps, workspaceId, async (tx) => {
      await draft.publish(tx)
      const { name, description = null, createdBy } = fields
      const made = { dataset_id: newId(), name, description, created_by: createdBy }
      const dataset = await store.insertDataset(tx, workspaceId, made, { versionId: draft.versionId, ...content })
      await alsoDo(tx, dataset)
      return dataset
    })
  })

/**
 * Replaces all records of a dataset at once. Throws `dataset_unbound` if it was deleted. With `except`, existing
 * records with none of the keys stay, before the new records.
 */
export const replaceRecordsOf = (
  deps: Deps,
  workspaceId: string,
  datasetId: string,
  records: Records,
  alsoDo: (tx: Tx) => Promise<void>,
  instead: Instead,
  except?: { key: string; keys: ReadonlySet<string> },
): Promise<Dataset> =>
  withDraft(deps.db, workspaceId, async (draft) => {
    const gone = () => problem('dataset_unbound', 'The dataset was deleted. Bind another one.')
    const present =
      except && (await within(deps, workspaceId, (tx) => store.findDatasetVersion(tx, workspaceId, datasetId)))
    if (except && !present) throw gone()
    let kept = 0
    async function* all(): AsyncGenerator<readonly unknown[]> {
      if (except && present) {
        const names = present.columns.map(({ name }) => name)
        for await (const page of withoutKeys(presentRecords(deps.db, present), except.key, except.keys, names)) {
          kept += page.length
          yield page
        }
      }
      yield* records as AsyncIterable<readonly unknown[]>
    }
    const content = await packRecords(all(), draft, {
      instead: (at, record, reason) => instead(at - kept, record, reason),
    })
    return within(deps, workspaceId, async (tx) => {
      const dataset = await replace(tx, workspaceId, datasetId, draft, content, present?.version_id)
      if (dataset === 'moved') throw problem('unavailable', 'The dataset was changed in the meantime.')
      if (dataset === undefined) throw gone()
      await alsoDo(tx)
      return dataset
    })
  })

/** Writes the dataset. If another process was faster, tries again with the new records. */
async function write(deps: Deps, wanted: Parameters<WriteDataset>[0]): ReturnType<WriteDataset> {
  const { db } = deps
  const { workspaceId, executionId, key, target, records, mode, recordKey, startedBy } = wanted
  for (let tries = 1; ; tries++) {
    const earlier = await within(deps, workspaceId, (tx) => store.findWrite(tx, workspaceId, key))
    if (earlier) return answerOf(earlier)
    const found = await within(deps, workspaceId, async (tx) => {
      const id = 'datasetId' in target ? target.datasetId : await store.findNewestNamed(tx, workspaceId, target.name)
      return id === undefined ? undefined : store.findDatasetVersion(tx, workspaceId, id)
    })
    if (found === undefined && 'datasetId' in target) throw unknownDataset()
    const kept = mode === 'append' && found !== undefined ? found : undefined
    const written = await withDraft(db, workspaceId, async (draft) => {
      if (kept)
        await within(deps, workspaceId, (tx) => store.copyChunks(tx, workspaceId, kept.version_id, draft.versionId))
      const names = found?.columns.map(({ name }) => name) ?? []
      const pages =
        mode === 'upsert' && recordKey !== null
          ? upsertRecords(found === undefined ? nothing() : presentRecords(db, found), records, recordKey, names)
          : [records]
      const content = await packRecords(pages, draft, { kept: kept && { pointed: kept, db } }).catch(refused)
      return within(deps, workspaceId, async (tx) => {
        await store.lockName(tx, workspaceId, key)
        const done = await store.findWrite(tx, workspaceId, key)
        if (done) return { done, stored: false }
        let dataset: Dataset
        if (found) {
          const from = mode === 'replace' ? undefined : found.version_id
          const replaced = await replace(tx, workspaceId, found.dataset_id, draft, content, from)
          if (replaced === undefined || replaced === 'moved') return undefined
          dataset = replaced
        } else {
          const { name } = target as { name: string }
          await store.lockName(tx, workspaceId, name)
          if ((await store.findNewestNamed(tx, workspaceId, name)) !== undefined) return undefined
          await draft.publish(tx)
          const made = { dataset_id: newId(), name, description: null, created_by: startedBy }
          dataset = await store.insertDataset(tx, workspaceId, made, { versionId: draft.versionId, ...content })
        }
        const { dataset_id, sha256, record_count } = dataset
        const result = { dataset_id, sha256, record_count }
        await store.insertWrite(tx, workspaceId, key, result)
        await store.movePin(tx, workspaceId, executionId, dataset_id, sha256)
        return { done: result, stored: true }
      }).then(async (outcome) => {
        if (outcome?.stored !== true) await draft.discard()
        return outcome
      })
    })
    if (written) return answerOf(written.done)
    if (tries === MAX_TRIES)
      throw new NodeFailure(
        'dataset_busy',
        'Other requests changed the dataset at the same time, several times in a row.',
      )
    await pause(Math.random() * Math.min(tries * BACK_OFF, SECOND))
  }
}

/** Serializes the writers of this process: with sixty-four parallel writers, two in three gave up after five tries. */
export function writeDataset(deps: Deps, wanted: Parameters<WriteDataset>[0]): ReturnType<WriteDataset> {
  const { workspaceId, target } = wanted
  const name = 'datasetId' in target ? target.datasetId : `named ${target.name}`
  return deps.inTurn(`${workspaceId} ${name}`, () => write(deps, wanted))
}

const answerOf = ({ dataset_id, sha256, record_count }: store.Written) => ({
  datasetId: dataset_id,
  sha256,
  recordCount: record_count,
})
