import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type StateEntry, stateList } from './schema.ts'

const columns = 'key, value, version::float8 as version, bytes, execution_id, updated_at'

export type StateRow = StateEntry & { value: Json }

export const listState = (tx: Tx, workspaceId: string, workflowId: string, prefix: string | null, asked: ListInput) =>
  readList<StateRow>(tx, stateList, asked, {
    sql: `select ${columns} from workflow_state
      where workspace_id = $1 and workflow_id = $2 and ($3::text is null or starts_with(key, $3))`,
    values: [workspaceId, workflowId, prefix],
  })

export const findState = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  key: string,
): Promise<StateRow | undefined> =>
  tx.maybe<StateRow>(
    `select ${columns} from workflow_state where workspace_id = $1 and workflow_id = $2 and key = $3`,
    [workspaceId, workflowId, key],
  )

/** Locks the total of the workspace until the end of the transaction, and returns it. */
export const lockTotal = async (tx: Tx, workspaceId: string): Promise<number> => {
  const { bytes } = await tx.row<{ bytes: number }>(
    `insert into workflow_state_totals (workspace_id) values ($1)
     on conflict (workspace_id) do update set bytes = workflow_state_totals.bytes returning bytes::float8 as bytes`,
    [workspaceId],
  )
  return bytes
}

/** Returns the version that this write created, if the same write was done before. */
export const findEffect = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  key: string,
  effect: string,
): Promise<{ version: number } | undefined> =>
  tx.maybe<{ version: number }>(
    `select split_part(e, ' ', 1)::float8 as version from workflow_state s, unnest(s.effects) e
     where s.workspace_id = $1 and s.workflow_id = $2 and s.key = $3 and split_part(e, ' ', 2) = $4`,
    [workspaceId, workflowId, key, effect],
  )

export const measureOthers = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  key: string,
): Promise<{ keys: number; bytes: number }> =>
  tx.row(
    `select count(*)::integer as keys, coalesce(sum(bytes), 0)::integer as bytes from workflow_state
     where workspace_id = $1 and workflow_id = $2 and key <> $3`,
    [workspaceId, workflowId, key],
  )

const KEPT_EFFECTS = 20

/** `grown` is the difference in bytes to the previous value. */
export const putState = (
  tx: Tx,
  row: {
    workspaceId: string
    workflowId: string
    key: string
    value: string
    grown: number
    effect: string
    executionId: string
  },
): Promise<{ version: number }> =>
  tx.row<{ version: number }>(
    `with next as (update workflow_state_totals set bytes = bytes + $7::bigint, last_version = last_version + 1
       where workspace_id = $1 returning last_version as version)
     insert into workflow_state (workspace_id, workflow_id, key, value, bytes, version, effects, execution_id)
     select $1, $2, $3, $4::text::jsonb, octet_length($4::text), next.version, array[next.version || ' ' || $5::text], $6::uuid from next
     on conflict (workspace_id, workflow_id, key) do update set value = excluded.value, bytes = excluded.bytes,
       version = excluded.version, execution_id = excluded.execution_id, updated_at = now(),
       effects = (excluded.effects || workflow_state.effects)[1:${KEPT_EFFECTS}]
     returning version::float8 as version`,
    [row.workspaceId, row.workflowId, row.key, row.value, row.effect, row.executionId, row.grown],
  )

export const deleteState = (tx: Tx, workspaceId: string, workflowId: string, key: string | null): Promise<number> =>
  tx.count(
    'delete from workflow_state where workspace_id = $1 and workflow_id = $2 and ($3::text is null or key = $3)',
    [workspaceId, workflowId, key],
  )

/** Recalculates the total after keys were deleted. */
export const sumTotal = (tx: Tx, workspaceId: string): Promise<number> =>
  tx.count(
    `update workflow_state_totals set bytes = (select coalesce(sum(s.bytes), 0) from workflow_state s where s.workspace_id = $1)
     where workspace_id = $1`,
    [workspaceId],
  )
