import { fromBothIndexes } from '#engine/both-indexes'
import type { Recorded } from '#engine/trying/plan'
import type { Definition, Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { Trial } from './schema.ts'

export type NewTrial = {
  trial_id: string
  workflow_id: string
  draft: Definition
  definition: Definition
  plan: Trial['plan']
  effects: Trial['effects']
  created_by: string
}

export const insertTrial = (tx: Tx, workspaceId: string, trial: NewTrial): Promise<number> =>
  tx.count(
    `insert into trials (workspace_id, trial_id, workflow_id, draft, definition, plan, effects, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      workspaceId,
      trial.trial_id,
      trial.workflow_id,
      JSON.stringify(trial.draft),
      JSON.stringify(trial.definition),
      JSON.stringify(trial.plan),
      trial.effects,
      trial.created_by,
    ],
  )

export const findTrial = (tx: Tx, workspaceId: string, trialId: string): Promise<Trial | undefined> =>
  tx.maybe<Trial>(
    `select trial_id as execution_id, workflow_id, effects, plan, draft as definition, created_by, created_at from trials
     where workspace_id = $1 and trial_id = $2`,
    [workspaceId, trialId],
  )

/** Returns the definition that the engine executes. */
export const findPlanned = async (tx: Tx, workspaceId: string, trialId: string): Promise<Definition | undefined> =>
  (
    await tx.maybe<{ definition: Definition }>(
      'select definition from trials where workspace_id = $1 and trial_id = $2',
      [workspaceId, trialId],
    )
  )?.definition

export const loadTrial = (db: Database, workspaceId: string, trialId: string): Promise<Definition | undefined> =>
  db.tenant({ workspaceId, userId: null }, (tx) => findPlanned(tx, workspaceId, trialId))

/** Counts the trials of the last day, up to `limit`. A lock serializes the counts of one workspace. */
export async function countTrials(tx: Tx, workspaceId: string, limit: number): Promise<number> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('trials ' || $1, 0))`, [workspaceId])
  return (
    await tx.row<{ count: number }>(
      `select count(*)::integer as count from (select from trials
         where workspace_id = $1 and created_at > now() - interval '1 day' limit $2) as recent`,
      [workspaceId, limit],
    )
  ).count
}

export const findSettings = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
): Promise<{ timeout_s?: number } | undefined> =>
  tx
    .maybe<{ settings: { timeout_s?: number } }>(
      'select settings from workflows where workspace_id = $1 and workflow_id = $2 and deleted_at is null',
      [workspaceId, workflowId],
    )
    .then((row) => row?.settings)

const RECENT_RUNS = 20
const MAX_RECORDED_BYTES = 64 * 1024

const NEWEST_RUNS = fromBothIndexes(
  (condition) => `select execution_id from executions where workspace_id = $1 and workflow_id = $2 and ${condition}
    and trigger_kind <> 'trial' and coalesce(trigger_id, '') not like 'suite\\_%' order by execution_id desc limit ${RECENT_RUNS}`,
)

/** Returns the outputs of these nodes in the newest executions, without trials and executions of suites. */
export const readRecorded = async (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  nodes: string[],
): Promise<Map<string, Recorded>> => {
  const rows = await tx.rows<{ node_id: string; output: Json; port: string | null }>(
    `with recent as materialized (
       select execution_id from ${NEWEST_RUNS} as e order by execution_id desc limit ${RECENT_RUNS})
     select distinct on (j.data ->> 'node_id') j.data ->> 'node_id' as node_id, j.data -> 'output' as output, j.data ->> 'port' as port
     from recent r join journal j on j.execution_id = r.execution_id and j.workspace_id = $1
     where j.type = 'node.succeeded' and j.data ->> 'node_id' = any ($3) and j.data -> 'blob' is null
       and octet_length(j.data::text) <= ${MAX_RECORDED_BYTES}
     order by j.data ->> 'node_id', j.execution_id desc`,
    [workspaceId, workflowId, nodes],
  )
  return new Map(rows.map(({ node_id, output, port }) => [node_id, { output, ...(port !== null && { port }) }]))
}
