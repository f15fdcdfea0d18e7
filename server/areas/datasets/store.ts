import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { Chunk, Packed } from './records/packer.ts'
import type { Profile } from './records/profile.ts'
import { type Dataset, datasetList } from './schema.ts'

const columns =
  'dataset_id, workspace_id, name, description, sha256, record_count, size_bytes, columns, created_by, created_at, updated_at'

/** The content of a dataset: the version that stores its records, and the values computed from them. */
export type Content = { versionId: string; packed: Packed; profile: Profile }

/** A dataset for internal use, with the version to which it points. */
export type DatasetVersion = Dataset & { version_id: string; columns_complete: boolean }

export const listDatasets = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<Dataset>(tx, datasetList, asked, {
    sql: `select ${columns} from datasets where workspace_id = $1`,
    values: [workspaceId],
  })

export const findDataset = (tx: Tx, workspaceId: string, datasetId: string): Promise<Dataset | undefined> =>
  tx.maybe<Dataset>(`select ${columns} from datasets where workspace_id = $1 and dataset_id = $2`, [
    workspaceId,
    datasetId,
  ])

export const findDatasetVersion = (
  tx: Tx,
  workspaceId: string,
  datasetId: string,
): Promise<DatasetVersion | undefined> =>
  tx.maybe<DatasetVersion>(
    `select ${columns}, version_id, columns_complete from datasets where workspace_id = $1 and dataset_id = $2`,
    [workspaceId, datasetId],
  )

/** Locks the dataset, which serializes its writers until the transaction ends. */
export const lockDataset = (tx: Tx, workspaceId: string, datasetId: string): Promise<DatasetVersion | undefined> =>
  tx.maybe<DatasetVersion>(
    `select ${columns}, version_id, columns_complete from datasets where workspace_id = $1 and dataset_id = $2 for update`,
    [workspaceId, datasetId],
  )

export const findNewestNamed = (tx: Tx, workspaceId: string, name: string): Promise<string | undefined> =>
  tx
    .maybe<{ dataset_id: string }>(
      'select dataset_id from datasets where workspace_id = $1 and name = $2 order by dataset_id desc limit 1',
      [workspaceId, name],
    )
    .then((row) => row?.dataset_id)

export const findFingerprint = (tx: Tx, workspaceId: string, datasetId: string): Promise<string | undefined> =>
  tx
    .maybe<{ sha256: string }>('select sha256 from datasets where workspace_id = $1 and dataset_id = $2', [
      workspaceId,
      datasetId,
    ])
    .then((row) => row?.sha256)

export const insertDataset = (
  tx: Tx,
  workspaceId: string,
  dataset: { dataset_id: string; name: string; description: string | null; created_by: string | null },
  { versionId, packed, profile }: Content,
): Promise<Dataset> =>
  tx.row<Dataset>(
    `insert into datasets (workspace_id, dataset_id, version_id, name, description, sha256, record_count, size_bytes,
       columns, columns_complete, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
    [
      workspaceId,
      dataset.dataset_id,
      versionId,
      dataset.name,
      dataset.description,
      packed.sha256,
      packed.record_count,
      packed.size_bytes,
      JSON.stringify(profile.columns),
      profile.complete,
      dataset.created_by,
    ],
  )

export const describeDataset = (
  tx: Tx,
  workspaceId: string,
  datasetId: string,
  patch: { name?: string | undefined; description?: string | null | undefined },
): Promise<Dataset> =>
  tx.row<Dataset>(
    `update datasets set name = coalesce($3, name), description = case when $4::boolean then $5 else description end,
       updated_at = now()
     where workspace_id = $1 and dataset_id = $2 returning ${columns}`,
    [workspaceId, datasetId, patch.name ?? null, patch.description !== undefined, patch.description ?? null],
  )

export const pointDataset = (
  tx: Tx,
  workspaceId: string,
  datasetId: string,
  { versionId, packed, profile }: Content,
): Promise<Dataset> =>
  tx.row<Dataset>(
    `update datasets set version_id = $3, sha256 = $4, record_count = $5, size_bytes = $6, columns = $7,
       columns_complete = $8, updated_at = now()
     where workspace_id = $1 and dataset_id = $2 returning ${columns}`,
    [
      workspaceId,
      datasetId,
      versionId,
      packed.sha256,
      packed.record_count,
      packed.size_bytes,
      JSON.stringify(profile.columns),
      profile.complete,
    ],
  )

export const deleteDataset = (
  tx: Tx,
  workspaceId: string,
  datasetId: string,
): Promise<{ version_id: string } | undefined> =>
  tx.maybe<{ version_id: string }>(
    'delete from datasets where workspace_id = $1 and dataset_id = $2 returning version_id',
    [workspaceId, datasetId],
  )

// Versions and their chunks.

export const insertVersion = (tx: Tx, workspaceId: string, versionId: string): Promise<number> =>
  tx.count('insert into dataset_versions (workspace_id, version_id) values ($1, $2)', [workspaceId, versionId])

/** Writes nothing and returns 0 if the version was swept because its upload made no progress for too long. */
export const insertChunk = (tx: Tx, workspaceId: string, versionId: string, chunk: Chunk): Promise<number> =>
  tx.count(
    `with alive as (update dataset_versions set touched_at = now()
       where workspace_id = $1 and version_id = $2 and state = 'pending' returning 1)
     insert into dataset_chunks (workspace_id, version_id, n, first_record, record_count, body)
     select $1, $2, $3, $4, $5, $6 from alive`,
    [workspaceId, versionId, chunk.n, chunk.first_record, chunk.record_count, Buffer.from(chunk.body)],
  )

export const copyChunks = (tx: Tx, workspaceId: string, from: string, to: string): Promise<number> =>
  tx.count(
    `insert into dataset_chunks (workspace_id, version_id, n, first_record, record_count, body)
     select workspace_id, $3, n, first_record, record_count, body from dataset_chunks
     where workspace_id = $1 and version_id = $2`,
    [workspaceId, from, to],
  )

export const publishVersion = (tx: Tx, workspaceId: string, versionId: string): Promise<number> =>
  tx.count(
    `update dataset_versions set state = 'current', touched_at = now()
     where workspace_id = $1 and version_id = $2 and state = 'pending'`,
    [workspaceId, versionId],
  )

export const retireVersion = (tx: Tx, workspaceId: string, versionId: string): Promise<number> =>
  tx.count(
    `update dataset_versions set state = 'retired', touched_at = now() where workspace_id = $1 and version_id = $2`,
    [workspaceId, versionId],
  )

export const deletePending = (tx: Tx, workspaceId: string, versionId: string): Promise<number> =>
  tx.count(`delete from dataset_versions where workspace_id = $1 and version_id = $2 and state = 'pending'`, [
    workspaceId,
    versionId,
  ])

/**
 * Returns the chunk that contains the record at this position. Undefined past the end, or if the version was deleted.
 */
export const findChunk = (
  tx: Tx,
  workspaceId: string,
  versionId: string,
  record: number,
): Promise<(Omit<Chunk, 'body'> & { body: Buffer }) | undefined> =>
  tx.maybe(
    `select n, first_record, record_count, body from dataset_chunks
     where workspace_id = $1 and version_id = $2 and first_record <= $3 and first_record + record_count > $3
     order by first_record desc limit 1`,
    [workspaceId, versionId, record],
  )

export const sweep = (tx: Tx): Promise<number> =>
  tx.row<{ swept: number }>('select sweep_datasets() as swept').then(({ swept }) => swept)

// What executions have read and written.

/**
 * Returns the fingerprint that this execution saw first. On the first read, stores and returns the current
 * fingerprint.
 */
export const pinFingerprint = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  datasetId: string,
  sha256: string,
): Promise<string> =>
  tx
    .row<{ sha256: string }>(
      `insert into dataset_pins (workspace_id, execution_id, dataset_id, sha256) values ($1, $2, $3, $4)
       on conflict (workspace_id, execution_id, dataset_id) do update set sha256 = dataset_pins.sha256 returning sha256`,
      [workspaceId, executionId, datasetId, sha256],
    )
    .then((row) => row.sha256)

/** Updates the fingerprint after the execution itself has written the dataset. */
export const movePin = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  datasetId: string,
  sha256: string,
): Promise<number> =>
  tx.count('update dataset_pins set sha256 = $4 where workspace_id = $1 and execution_id = $2 and dataset_id = $3', [
    workspaceId,
    executionId,
    datasetId,
    sha256,
  ])

export type Moved = { dataset_id: string; pinned: string; present: string | null }

/** Returns datasets that have changed since this execution read them. `present` is null if a dataset was deleted. */
export const findMoved = (tx: Tx, workspaceId: string, executionId: string): Promise<Moved[]> =>
  tx.rows<Moved>(
    `select p.dataset_id, p.sha256 as pinned, d.sha256 as present
     from dataset_pins p left join datasets d on d.workspace_id = p.workspace_id and d.dataset_id = p.dataset_id
     where p.workspace_id = $1 and p.execution_id = $2 and d.sha256 is distinct from p.sha256`,
    [workspaceId, executionId],
  )

export const deletePins = (tx: Tx, workspaceId: string, executionId: string): Promise<number> =>
  tx.count('delete from dataset_pins where workspace_id = $1 and execution_id = $2', [workspaceId, executionId])

export type Written = { dataset_id: string; sha256: string; record_count: number }

export const findWrite = (tx: Tx, workspaceId: string, effectKey: string): Promise<Written | undefined> =>
  tx.maybe<Written>(
    'select dataset_id, sha256, record_count from dataset_writes where workspace_id = $1 and effect_key = $2',
    [workspaceId, effectKey],
  )

export const insertWrite = (tx: Tx, workspaceId: string, effectKey: string, written: Written): Promise<number> =>
  tx.count(
    `insert into dataset_writes (workspace_id, effect_key, dataset_id, sha256, record_count) values ($1, $2, $3, $4, $5)`,
    [workspaceId, effectKey, written.dataset_id, written.sha256, written.record_count],
  )

/** Serializes writers of the same name or the same effect. */
export const lockName = (tx: Tx, workspaceId: string, what: string): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`dataset:${workspaceId}:${what}`])
