import { setTimeout as pause } from 'node:timers/promises'
import { NodeFailure } from '#engine/node'
import type { ReadDataset } from '#engine/nodes/dataset-read'
import type { WriteDataset } from '#engine/nodes/dataset-write'
import { canonicalText } from '#model/canonical'
import type { Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { isProblem, problem } from '#platform/errors'
import { newId, toWire } from '#platform/ids'
import { changedFrom, parseRecord, readRecords, readVersion } from './reading.ts'
import { RecordsRefused } from './records/refused.ts'
import type { Dataset } from './schema.ts'
import * as store from './store.ts'
import { makeTurns } from './turns.ts'
import { presentRecords, upsertRecords, withoutKeys } from './upserting.ts'
import { type Draft, type Instead, packRecords, type Records, withDraft } from './writing.ts'

// What executions, jobs and suites do with datasets. The HTTP surface is in service.ts.

/** What one node may hold of a dataset. */
const MAX_READ_BYTES = 8 << 20
/** Each failed one is another process's success. */
const MAX_TRIES = 50
const BACK_OFF = 20

async function* nothing(): AsyncGenerator<JsonObject[]> {}

export function makeDatasetUse({ db }: { db: Database }) {
  const inTurn = makeTurns()
  const within = <T>(workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.tenant({ workspaceId, userId: null }, work)

  /** Points an existing dataset at new records; `expected` is the version they were made from. */
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

  /** Another process may be faster: then again, with what it left. */
  const write: WriteDataset = async (wanted) => {
    const { workspaceId, executionId, key, target, records, mode, recordKey, startedBy } = wanted
    for (let tries = 1; ; tries++) {
      const earlier = await within(workspaceId, (tx) => store.findWrite(tx, workspaceId, key))
      if (earlier) return answerOf(earlier)
      const found = await within(workspaceId, async (tx) => {
        const id = 'datasetId' in target ? target.datasetId : await store.findNewestNamed(tx, workspaceId, target.name)
        return id === undefined ? undefined : store.findPointed(tx, workspaceId, id)
      })
      if (found === undefined && 'datasetId' in target) throw unknown()
      const kept = mode === 'append' && found !== undefined ? found : undefined
      const written = await withDraft(db, workspaceId, async (draft) => {
        if (kept) await within(workspaceId, (tx) => store.copyChunks(tx, workspaceId, kept.version_id, draft.versionId))
        const names = found?.columns.map(({ name }) => name) ?? []
        const pages =
          mode === 'upsert' && recordKey !== null
            ? upsertRecords(found === undefined ? nothing() : presentRecords(db, found), records, recordKey, names)
            : [records]
        const content = await packRecords(pages, draft, { kept: kept && { pointed: kept, db } }).catch(refused)
        return within(workspaceId, async (tx) => {
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
        throw new NodeFailure('dataset_busy', 'Others kept changing the dataset at the same time.')
      await pause(Math.random() * Math.min(tries * BACK_OFF, SECOND))
    }
  }

  return {
    /** The present fingerprint; undefined where the workspace has no such dataset. */
    fingerprintOf: store.findFingerprint,
    findDataset: store.findDataset,
    /** With the version it points at, which never changes. */
    findPointed: store.findPointed,
    readVersion: (workspaceId: string, versionId: string, range: { from: number; to: number }) =>
      readVersion(db, workspaceId, versionId, range),

    /** Records that belong to no dataset, for a caller that keeps the version's id; `releaseVersion` lets them go. */
    captureVersion: (workspaceId: string, records: Records) =>
      withDraft(db, workspaceId, async (draft) => {
        const { packed, profile } = await packRecords(records, draft)
        await within(workspaceId, (tx) => draft.publish(tx))
        const columns = profile.columns.map(({ name }) => name)
        return { version_id: draft.versionId, sha256: packed.sha256, record_count: packed.record_count, columns }
      }),
    releaseVersion: store.retireVersion,

    readRecords: (
      workspaceId: string,
      datasetId: string,
      options?: { after?: number; limit?: number; sha256?: string },
    ) => readRecords(db, workspaceId, datasetId, options),

    /** A new dataset from pages of records; nothing is seen of it until all of them are stored. `alsoDo` commits with it. */
    createDatasetFrom: (
      workspaceId: string,
      fields: { name: string; description?: string | null; createdBy: string | null },
      records: Records,
      alsoDo: (tx: Tx, dataset: Dataset) => Promise<void> = async () => {},
      instead?: Instead,
    ): Promise<Dataset> =>
      withDraft(db, workspaceId, async (draft) => {
        const content = await packRecords(records, draft, { instead })
        return within(workspaceId, async (tx) => {
          await draft.publish(tx)
          const { name, description = null, createdBy } = fields
          const made = { dataset_id: newId(), name, description, created_by: createdBy }
          const dataset = await store.insertDataset(tx, workspaceId, made, { versionId: draft.versionId, ...content })
          await alsoDo(tx, dataset)
          return dataset
        })
      }),

    /**
     * Replaces all records of a dataset at once; `dataset_unbound` where it is gone. With `except`, those that are there and have none
     * of the keys stay, before the new ones.
     */
    replaceRecordsOf: (
      workspaceId: string,
      datasetId: string,
      records: Records,
      alsoDo: (tx: Tx) => Promise<void>,
      instead: Instead,
      except?: { key: string; keys: ReadonlySet<string> },
    ): Promise<Dataset> =>
      withDraft(db, workspaceId, async (draft) => {
        const gone = () => problem('dataset_unbound', 'The dataset was deleted. Bind another one.')
        const present = except && (await within(workspaceId, (tx) => store.findPointed(tx, workspaceId, datasetId)))
        if (except && !present) throw gone()
        let kept = 0
        async function* all(): AsyncGenerator<readonly unknown[]> {
          if (except && present) {
            const names = present.columns.map(({ name }) => name)
            for await (const page of withoutKeys(presentRecords(db, present), except.key, except.keys, names)) {
              kept += page.length
              yield page
            }
          }
          yield* records as AsyncIterable<readonly unknown[]>
        }
        const content = await packRecords(all(), draft, {
          instead: (at, record, reason) => instead(at - kept, record, reason),
        })
        return within(workspaceId, async (tx) => {
          const dataset = await replace(tx, workspaceId, datasetId, draft, content, present?.version_id)
          if (dataset === 'moved') throw problem('unavailable', 'The dataset was changed meanwhile.')
          if (dataset === undefined) throw gone()
          await alsoDo(tx)
          return dataset
        })
      }),

    /** For a gate about to resolve, and a record about to be claimed: has anything this execution saw changed since? */
    async changedDatasets(
      tx: Tx,
      workspaceId: string,
      executionId: string,
    ): Promise<{ message: string; details: Json } | null> {
      const [moved] = await store.findMoved(tx, workspaceId, executionId)
      if (moved === undefined) return null
      const dataset_id = toWire('ds', moved.dataset_id)
      const { message } = changedFrom(dataset_id, moved.pinned, moved.present)
      return { message, details: { dataset_id, was: moved.pinned, is: moved.present } }
    },

    forgetExecution: (workspaceId: string, executionId: string): Promise<number> =>
      within(workspaceId, (tx) => store.deletePins(tx, workspaceId, executionId)),

    readDataset: (async ({ workspaceId, executionId, datasetId, where, limit, signal }) => {
      const dataset = await within(workspaceId, async (tx) => {
        const found = await store.findPointed(tx, workspaceId, datasetId)
        if (!found) {
          const moved = (await store.findMoved(tx, workspaceId, executionId)).find(
            (one) => one.dataset_id === datasetId,
          )
          throw moved ? changed(datasetId, moved.pinned, null) : unknown()
        }
        const pinned = await store.pinFingerprint(tx, workspaceId, executionId, datasetId, found.sha256)
        if (pinned !== found.sha256) throw changed(datasetId, pinned, found.sha256)
        return found
      })
      const wanted = Object.entries(where).map(([field, value]) => [field, canonicalText(value)] as const)
      const records: JsonObject[] = []
      let bytes = 0
      const all = { from: 0, to: wanted.length === 0 ? Math.min(limit, dataset.record_count) : dataset.record_count }
      try {
        for await (const { texts } of readVersion(db, workspaceId, dataset.version_id, all)) {
          signal.throwIfAborted()
          for (const text of texts) {
            const record = parseRecord(text)
            if (
              !wanted.every(([field, value]) => Object.hasOwn(record, field) && canonicalText(record[field]!) === value)
            )
              continue
            bytes += text.length
            if (bytes > MAX_READ_BYTES) throw tooLarge()
            records.push(record)
            if (records.length === limit) return { records, sha256: dataset.sha256 }
          }
        }
      } catch (error) {
        throw isProblem(error, 'dataset_changed') ? new NodeFailure('dataset_changed', error.message, final) : error
      }
      return { records, sha256: dataset.sha256 }
    }) satisfies ReadDataset,

    /** Writers of this process take turns: with sixty-four at once, two in three gave up after five tries. */
    writeDataset: ((wanted) => {
      const { workspaceId, target } = wanted
      const name = 'datasetId' in target ? target.datasetId : `named ${target.name}`
      return inTurn(`${workspaceId} ${name}`, () => write(wanted))
    }) satisfies WriteDataset,
  }
}

export type DatasetUse = ReturnType<typeof makeDatasetUse>

const final = { retryable: false }

const unknown = () => new NodeFailure('unknown_reference', 'There is no such dataset in this workspace.', final)

const changed = (datasetId: string, was: string, is: string | null) =>
  new NodeFailure('dataset_changed', changedFrom(toWire('ds', datasetId), was, is).message, {
    ...final,
    details: { dataset_id: toWire('ds', datasetId), was, is },
  })

const tooLarge = () =>
  new NodeFailure('dataset_too_large', 'The records are too large for one node. Ask for fewer, or use a job.', final)

function refused(error: unknown): never {
  if (!(error instanceof RecordsRefused)) throw error
  const { record, message } = error.refusal
  throw new NodeFailure('bad_record', record === undefined ? message : `Record ${record} ${message}.`, final)
}

const answerOf = ({ dataset_id, sha256, record_count }: store.Written) => ({
  datasetId: dataset_id,
  sha256,
  recordCount: record_count,
})
