import type { CallBounds } from '#engine/agents/call-bounds'
import type { Initiator } from '#engine/ports'
import type { Policy } from '#model/approval'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { decidedList, gateList, inboxList } from './schema.ts'

/** An initiator of the execution, or the person who edited the call of the gate. */
export type GateInitiator = Omit<Initiator, 'kind'> & { kind: Initiator['kind'] | 'editor' }

export type Gate = {
  workspace_id: string
  request_id: string
  execution_id: string
  workflow_id: string | null
  version_id: string | null
  node_path: string
  node_id: string
  title: string
  payload: Json
  payload_sha256: string
  policy: Policy
  status: 'open' | 'approved' | 'rejected' | 'expired' | 'cancelled'
  outcome: 'approved' | 'rejected' | null
  started_by: string | null
  /** The people and things that led to the execution; null if an older release opened the gate. */
  initiators: GateInitiator[] | null
  /** The voters who were notified of the gate or had voted by then; null if an older release opened it. */
  notified: string[] | null
  escalated: boolean
  reminded: boolean
  unsatisfiable: boolean
  due_at: Date | null
  opened_at: Date
  resolved_at: Date | null
  /** Whether the gate is about a tool call whose arguments may be edited. */
  is_editable: boolean
  /** The payload hash of the node's original call, if the call was edited since. */
  asked_sha256: string | null
  edited_by: string | null
  edited_by_name: string | null
  edit_comment: string | null
  edits: number
  replaces: string | null
  replaced_by: string | null
}

export const columns = `workspace_id, request_id, execution_id, workflow_id, version_id, node_path, node_id, title, payload, payload_sha256, policy, status,
  outcome, started_by, initiators, notified, escalated, reminded, unsatisfiable, due_at, opened_at, resolved_at, editable is not null as is_editable, asked_sha256,
  edited_by, edited_by_name, edit_comment, edits, replaces, replaced_by`

export const findGate = (tx: Tx, workspaceId: string, requestId: string): Promise<Gate | undefined> =>
  tx.maybe<Gate>(`select ${columns} from approval_requests where workspace_id = $1 and request_id = $2`, [
    workspaceId,
    requestId,
  ])

export const listAllGatesOfExecution = (tx: Tx, workspaceId: string, executionId: string): Promise<Gate[]> =>
  tx.rows<Gate>(
    `select ${columns} from approval_requests where workspace_id = $1 and execution_id = $2 order by request_id`,
    [workspaceId, executionId],
  )

/** Locks the row of the gate, which serializes votes, the due time and the end of the execution. */
export const lockGate = (tx: Tx, workspaceId: string, requestId: string): Promise<Gate | undefined> =>
  tx.maybe<Gate>(`select ${columns} from approval_requests where workspace_id = $1 and request_id = $2 for update`, [
    workspaceId,
    requestId,
  ])

const OPENING = `hashtextextended('gates ' || $1, 0)`

/** Takes a shared lock until the end of the transaction. A recheck waits for it. */
export const beginOpening = (tx: Tx, workspaceId: string): Promise<unknown> =>
  tx.rows(`select pg_advisory_xact_lock_shared(${OPENING})`, [workspaceId])

/**
 * Waits for the gates and questions that are being opened. Those that are opened later already see who has left or
 * joined.
 */
export const awaitOpenings = (tx: Tx, workspaceId: string): Promise<unknown> =>
  tx.rows(`select pg_advisory_xact_lock(${OPENING})`, [workspaceId])

/** Locks the current gate of the node, or its last one. */
export const lockLatestGate = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  nodePath: string,
): Promise<Gate | undefined> =>
  tx.maybe<Gate>(
    `select ${columns} from approval_requests where workspace_id = $1 and execution_id = $2 and node_path = $3 and status <> 'cancelled'
     order by request_id desc limit 1 for update`,
    [workspaceId, executionId, nodePath],
  )

/**
 * The SQL condition for a gate or question at path $3, or below the path if it ends with `[` or `.`. Null matches
 * every path.
 */
export const isAtPath = `($3::text is null or case when right($3, 1) in ('[', '.') then starts_with(node_path, $3) else node_path = $3 end)`

export const lockOpenGates = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  path?: string,
): Promise<{ request_id: string }[]> =>
  tx.rows<{ request_id: string }>(
    `select request_id from approval_requests where workspace_id = $1 and execution_id = $2 and status = 'open' and ${isAtPath}
     order by request_id for update`,
    [workspaceId, executionId, path ?? null],
  )

export const listGatesOfExecution = (tx: Tx, workspaceId: string, executionId: string, asked: ListInput) =>
  readList<Gate>(tx, gateList, asked, {
    sql: `select ${columns} from approval_requests where workspace_id = $1 and execution_id = $2`,
    values: [workspaceId, executionId],
  })

/** Returns ids of open gates in order, without locking them. */
export const listOpenGateIds = async (
  tx: Tx,
  workspaceId: string,
  after: string | null,
  limit: number,
): Promise<string[]> => {
  const rows = await tx.rows<{ request_id: string }>(
    `select request_id from approval_requests where workspace_id = $1 and status = 'open' and ($2::uuid is null or request_id > $2)
     order by request_id limit $3`,
    [workspaceId, after, limit],
  )
  return rows.map(({ request_id }) => request_id)
}

/** Locks those of the gates that are open and not locked by another transaction. */
export const lockFreeGates = (tx: Tx, workspaceId: string, requestIds: string[]): Promise<Gate[]> =>
  tx.rows<Gate>(
    `select ${columns} from approval_requests where workspace_id = $1 and request_id = any ($2) and status = 'open' for update skip locked`,
    [workspaceId, requestIds],
  )

// Checks by index lookups alone whether a gate can wait for this person at all. Finding the exact voters takes a
// millisecond per gate, so with 10,000 open gates this is done only for gates that may fill the page.
const maybeVoter = `(
    exists (select from approval_approvers a where a.workspace_id = $1 and a.request_id = g.request_id and (
      (a.kind = 'user' and a.ref_id = $2::uuid)
      or (a.kind = 'role' and a.role in (select m.role from memberships m where m.workspace_id = $1 and m.user_id = $2::uuid))
      or (a.kind = 'team' and a.ref_id in (select t.team_id from team_members t where t.workspace_id = $1 and t.user_id = $2::uuid))))
    or exists (select from approval_delegations d where d.workspace_id = $1 and d.request_id = g.request_id and d.to_user = $2::uuid))`

/**
 * Lists the open gates that wait for this person. By default the soonest due come first, and gates without a due time
 * come last.
 */
export const listInbox = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<Gate>(tx, inboxList, asked, {
    sql: `select ${columns} from approval_requests g
      where g.workspace_id = $1 and g.status = 'open'
        and not exists (select from approval_votes v where v.workspace_id = $1 and v.request_id = g.request_id and v.voter_kind = 'human' and v.voter_id = $2)
        and case when ${maybeVoter} then exists (select from voters_of_gates($1, array[g.request_id]) e where e.user_id = $2::uuid) else false end`,
    values: [workspaceId, userId],
  })

/** Lists the gates on which this person has voted. */
export const listDecided = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<Gate>(tx, decidedList, asked, {
    sql: `select ${columns} from approval_requests g
      where g.workspace_id = $1 and g.request_id in (select v.request_id from approval_votes v
        where v.workspace_id = $1 and v.voter_kind = 'human' and v.voter_id = $2)`,
    values: [workspaceId, userId],
  })

export async function insertGate(
  tx: Tx,
  gate: Pick<
    Gate,
    | 'workspace_id'
    | 'request_id'
    | 'execution_id'
    | 'workflow_id'
    | 'version_id'
    | 'node_path'
    | 'node_id'
    | 'title'
    | 'payload'
    | 'payload_sha256'
    | 'policy'
    | 'started_by'
    | 'initiators'
  > & { editable: CallBounds | null },
): Promise<Gate> {
  return tx.row<Gate>(
    `insert into approval_requests (workspace_id, request_id, execution_id, workflow_id, version_id, node_path, node_id, title, payload, payload_sha256,
       policy, started_by, initiators, due_at, editable)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, date_trunc('milliseconds', now() + make_interval(secs => $14)), $15) returning ${columns}`,
    [
      gate.workspace_id,
      gate.request_id,
      gate.execution_id,
      gate.workflow_id,
      gate.version_id,
      gate.node_path,
      gate.node_id,
      gate.title,
      JSON.stringify(gate.payload),
      gate.payload_sha256,
      JSON.stringify(gate.policy),
      gate.started_by,
      JSON.stringify(gate.initiators ?? []),
      gate.policy.due_in_s,
      gate.editable === null ? null : JSON.stringify(gate.editable),
    ],
  )
}

export const markEscalated = (tx: Tx, gate: Gate): Promise<Gate> =>
  tx.row<Gate>(
    `update approval_requests set escalated = true where workspace_id = $1 and request_id = $2 returning ${columns}`,
    [gate.workspace_id, gate.request_id],
  )

/**
 * Moves the vote that was delegated to `from`, or their own vote. A vote that returns to its giver is no longer
 * delegated.
 */
export async function moveVote(tx: Tx, gate: Gate, from: string, to: string): Promise<void> {
  const at = [gate.workspace_id, gate.request_id]
  const returned = await tx.count(
    'delete from approval_delegations where workspace_id = $1 and request_id = $2 and from_user = $4 and to_user = $3',
    [...at, from, to],
  )
  const moved = await tx.count(
    'update approval_delegations set to_user = $4, at = now() where workspace_id = $1 and request_id = $2 and to_user = $3',
    [...at, from, to],
  )
  if (returned + moved > 0) return
  await tx.count(
    `insert into approval_delegations (workspace_id, request_id, from_user, to_user) values ($1, $2, $3, $4)
     on conflict (workspace_id, request_id, from_user) do update set to_user = excluded.to_user, at = now()`,
    [...at, from, to],
  )
}

/** Records the voters who were notified of the gate or have voted already. */
export const sendNotified = (
  tx: Tx,
  { workspace_id, request_id }: Pick<Gate, 'workspace_id' | 'request_id'>,
  people: string[],
): void =>
  tx.send('update approval_requests set notified = $3 where workspace_id = $1 and request_id = $2', [
    workspace_id,
    request_id,
    people,
  ])

/** Returns the time of the transaction, at which `closeGate` closes a gate. */
export const transactionTime = async (tx: Tx): Promise<Date> => (await tx.row<{ now: Date }>('select now()')).now

export const closeGate = (
  tx: Tx,
  workspaceId: string,
  requestId: string,
  status: Gate['status'],
  outcome: Gate['outcome'],
): Promise<number> =>
  tx.count(
    `with forgotten as (delete from agent_reviews where workspace_id = $1 and request_id = $2)
     update approval_requests set status = $3, outcome = $4, resolved_at = now(), unsatisfiable = false where workspace_id = $1 and request_id = $2`,
    [workspaceId, requestId, status, outcome],
  )
