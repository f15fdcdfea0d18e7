import { fromBothIndexes } from '#engine/both-indexes'
import type { Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { pageRows } from '#platform/http/page'
import { type Replay, type ReplayFilter, type ReplayResult, replayList } from './schema.ts'

const columns = `replay_id, workflow_id, version_id, status, wanted as "limit", cardinality(execution_ids) as total, done, same, different,
  unreplayable, mocked, json_build_object('original', coalesce(usage, '{}'), 'candidate', coalesce(candidate_usage, '{}')) as usage,
  json_build_object('original', duration_ms, 'candidate', candidate_duration_ms) as duration_ms, error, requested_by, created_at,
  started_at, finished_at`

export const findReplay = (tx: Tx, workspaceId: string, replayId: string): Promise<Replay | undefined> =>
  tx.maybe<Replay>(`select ${columns} from replays where workspace_id = $1 and replay_id = $2`, [workspaceId, replayId])

export const listReplays = (tx: Tx, workspaceId: string, workflowId: string, asked: ListInput) =>
  readList<Replay>(tx, replayList, asked, {
    sql: `select ${columns} from replays where workspace_id = $1 and workflow_id = $2`,
    values: [workspaceId, workflowId],
  })

/** Counts the unfinished replays of a workspace. A lock serializes the counts of one workspace. */
export async function countLive(tx: Tx, workspaceId: string): Promise<number> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('replays ' || $1, 0))`, [workspaceId])
  return (
    await tx.row<{ count: number }>(
      'select count(*)::integer as count from replays where workspace_id = $1 and finished_at is null',
      [workspaceId],
    )
  ).count
}

/** `$3`: the requested ids, or null. Only executions that have ended, and no trials or executions of a suite. */
const CHOSEN = `select execution_id from ${fromBothIndexes(
  (condition) => `select execution_id from executions where workspace_id = $1 and workflow_id = $2 and ${condition}
    and finished_at is not null and trigger_kind <> 'trial' and coalesce(trigger_id, '') not like 'suite\\_%'
    and ($3::uuid[] is null or execution_id = any ($3)) and ($4::text[] is null or status = any ($4))
    and ($5::text[] is null or trigger_kind = any ($5)) and ($6::uuid is null or version_id = $6)
    and ($7::timestamptz is null or created_at >= $7) and ($8::timestamptz is null or created_at < $8)
  order by execution_id desc limit $9`,
)} as e order by execution_id desc limit $9`

export const chooseRuns = async (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  { ids, filter, limit }: { ids: string[] | null; filter: ReplayFilter; limit: number },
): Promise<string[]> =>
  (
    await tx.rows<{ execution_id: string }>(CHOSEN, [
      workspaceId,
      workflowId,
      ids,
      filter.status ?? null,
      filter.trigger ?? null,
      filter.version_id ?? null,
      filter.from ?? null,
      filter.to ?? null,
      limit,
    ])
  ).map(({ execution_id }) => execution_id)

export const insertReplay = (
  tx: Tx,
  workspaceId: string,
  replay: {
    replay_id: string
    workflow_id: string
    version_id: string
    filter: Json
    wanted: number
    execution_ids: string[]
    requested_by: string
  },
): Promise<Replay> =>
  tx.row<Replay>(
    `insert into replays (workspace_id, replay_id, workflow_id, version_id, filter, wanted, execution_ids, requested_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [
      workspaceId,
      replay.replay_id,
      replay.workflow_id,
      replay.version_id,
      JSON.stringify(replay.filter),
      replay.wanted,
      replay.execution_ids,
      replay.requested_by,
    ],
  )

/** Returns undefined if the replay has finished. A slice in progress writes nothing more. */
export const cancelReplay = (tx: Tx, workspaceId: string, replayId: string): Promise<Replay | undefined> =>
  tx.maybe<Replay>(
    `update replays set status = 'cancelled', finished_at = now(), epoch = epoch + 1
     where workspace_id = $1 and replay_id = $2 and finished_at is null returning ${columns}`,
    [workspaceId, replayId],
  )

export const listResults = (
  tx: Tx,
  workspaceId: string,
  replayId: string,
  { outcome, after, limit }: { outcome: string | null; after: number; limit: number },
): Promise<ReplayResult[]> =>
  pageRows<ReplayResult>(
    tx,
    `select position, execution_id, outcome, reason, difference, mocked from replay_results
     where workspace_id = $1 and replay_id = $2 and position > $4 and ($3::text is null or outcome = $3)
     order by position limit $5`,
    [workspaceId, replayId, outcome, after, limit + 1],
  )

export type Claimed = { workspace_id: string; replay_id: string; epoch: number }

export const claimReplay = async (db: Database, leaseS: number): Promise<Claimed | undefined> =>
  (await db.maintain<Claimed>('select * from claim_replay($1)', [leaseS]))[0]

/** Returns the next executions of a claimed replay. */
export const findSlice = (
  tx: Tx,
  { workspace_id, replay_id }: Claimed,
  size: number,
): Promise<{ version_id: string; workflow_id: string; done: number; ids: string[] } | undefined> =>
  tx.maybe(
    `select version_id, workflow_id, done, execution_ids[done + 1 : done + $3] as ids from replays
     where workspace_id = $1 and replay_id = $2 and finished_at is null`,
    [workspace_id, replay_id, size],
  )

export type Judged = Omit<ReplayResult, 'reason' | 'difference'> & {
  reason: ReplayResult['reason']
  difference: Json
  usage: JsonObject
  candidateUsage: JsonObject
  durationMs: number
  candidateDurationMs: number
}

const sumUsage = (all: JsonObject[]): JsonObject => {
  const sum: JsonObject = {}
  for (const one of all)
    for (const [name, count] of Object.entries(one))
      if (typeof count === 'number') sum[name] = Number(sum[name] ?? 0) + count
  return sum
}

/** Writes a slice and releases the replay. Returns false if another process has claimed it, or if it was cancelled. */
export const writeSlice = async (
  tx: Tx,
  { workspace_id, replay_id, epoch }: Claimed,
  judged: Judged[],
): Promise<boolean> => {
  const count = (outcome: string): number => judged.filter((one) => one.outcome === outcome).length
  const total = (of: (one: Judged) => number): number => Math.round(judged.reduce((sum, one) => sum + of(one), 0))
  const written = await tx.count(
    `update replays set done = done + $4, same = same + $5, different = different + $6, unreplayable = unreplayable + $7,
       mocked = mocked + $8, usage = sum_of_usage(usage, $9), candidate_usage = sum_of_usage(candidate_usage, $10),
       duration_ms = duration_ms + $11, candidate_duration_ms = candidate_duration_ms + $12, lease_until = now(),
       status = case when done + $4 >= cardinality(execution_ids) then 'succeeded' else status end,
       finished_at = case when done + $4 >= cardinality(execution_ids) then now() end
     where workspace_id = $1 and replay_id = $2 and epoch = $3 and finished_at is null`,
    [
      workspace_id,
      replay_id,
      epoch,
      judged.length,
      count('same'),
      count('different'),
      count('unreplayable'),
      judged.filter(({ mocked }) => mocked.length > 0).length,
      JSON.stringify(sumUsage(judged.map(({ usage }) => usage))),
      JSON.stringify(sumUsage(judged.map(({ candidateUsage }) => candidateUsage))),
      total(({ durationMs }) => durationMs),
      total(({ candidateDurationMs }) => candidateDurationMs),
    ],
  )
  if (written === 0) return false
  await tx.count(
    `insert into replay_results (workspace_id, replay_id, position, execution_id, outcome, reason, difference, mocked)
     select $1, $2, p.* from unnest($3::integer[], $4::uuid[], $5::text[], $6::json[], $7::json[], $8::json[]) as p`,
    [
      workspace_id,
      replay_id,
      judged.map(({ position }) => position),
      judged.map(({ execution_id }) => execution_id),
      judged.map(({ outcome }) => outcome),
      judged.map(({ reason }) => (reason === null ? null : JSON.stringify(reason))),
      judged.map(({ difference }) => (difference === null ? null : JSON.stringify(difference))),
      judged.map(({ mocked }) => JSON.stringify(mocked)),
    ],
  )
  return true
}

/** Lets any process continue a claimed replay at once. */
export const releaseReplay = (tx: Tx, { workspace_id, replay_id, epoch }: Claimed): Promise<number> =>
  tx.count(
    `update replays set lease_until = now() where workspace_id = $1 and replay_id = $2 and epoch = $3 and finished_at is null`,
    [workspace_id, replay_id, epoch],
  )

export const failReplay = (tx: Tx, { workspace_id, replay_id, epoch }: Claimed, error: JsonObject): Promise<number> =>
  tx.count(
    `update replays set status = 'failed', finished_at = now(), error = $4
     where workspace_id = $1 and replay_id = $2 and epoch = $3 and finished_at is null`,
    [workspace_id, replay_id, epoch, JSON.stringify(error)],
  )

/**
 * Returns the last successful replay of a version without a filter that requested at least this number of executions.
 */
export const findProof = (
  tx: Tx,
  { workspaceId, versionId, limit }: { workspaceId: string; versionId: string; limit: number },
): Promise<{ replay_id: string; total: number; different: number; unreplayable: number } | undefined> =>
  tx.maybe(
    `select replay_id, cardinality(execution_ids) as total, different, unreplayable from replays
     where workspace_id = $1 and version_id = $2 and status = 'succeeded' and wanted >= $3 and filter::text = 'null'
     order by replay_id desc limit 1`,
    [workspaceId, versionId, limit],
  )

export const hasVersion = async (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  versionId: string,
): Promise<boolean> =>
  (await tx.maybe('select from workflow_versions where workspace_id = $1 and workflow_id = $2 and version_id = $3', [
    workspaceId,
    workflowId,
    versionId,
  ])) !== undefined
