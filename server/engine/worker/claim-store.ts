import type { Json } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { isConnectionLost } from '#platform/db/unavailable'
import type { GraphState, JournalEvent } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import type { Initiator, TriggerKind } from '../ports.ts'
import type { InboxMessage } from './owned.ts'
import { runStatement } from './run-statement.ts'

// The statements with which a worker claims executions, and puts back those that it cannot run.

export type ExecutionRow = {
  execution_id: string
  workspace_id: string
  workflow_id: string | null
  system_slug: string | null
  version_id: string | null
  definition_ref: string
  status: string
  input: Json
  trigger_kind: TriggerKind
  trigger_id: string | null
  started_by: string | null
  initiated_by: Initiator[] | null
  principal_id: string | null
  parent_execution_id: string | null
  parent_node: string | null
  started_at: Date | null
  timeout_s: number | null
  /** Whether the execution has a place according to the rules of its workflow. Null if no rule applies. */
  held: boolean | null
  scheduled_at: string | null
  epoch: number
  inbox: number
  seen: number
  snapshot: GraphState | null
  snapshot_seq: number
  crashes: number
  tell_end: boolean
  depth: number
  traceparent: string | null
}

// Columns are named, because a newer release may add one, and a prepared `select *` then fails on every connection of
// an older release.
export const CLAIMED = `execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status, input,
  trigger_kind, trigger_id, started_by, initiated_by, principal_id, parent_execution_id, parent_node, started_at, timeout_s, held, scheduled_at, epoch, inbox,
  seen, snapshot, snapshot_seq, crashes, tell_end, depth, traceparent`

const CLAIM = 'select claimed from engine.claim_placed($1, $2, $3, $4, $5, $6)'

// Like engine.claim, with the same fence against a worker that was declared dead, but only for an execution without
// crashes or pending rules. The whole row is one value: reading a column costs both sides more than a key of an
// object (0.08 of 0.7 ms).
const CLAIM_ONE = `with quick as materialized (select set_config('synchronous_commit', 'off', true)),
    self as materialized (select from workers where worker_id = $1 and not dead for share)
  update executions e set status = 'running', worker_id = $1, due_at = null, started_at = coalesce(e.started_at, now())
  from quick, self
  where workspace_id = $2 and execution_id = $3 and status = 'queued' and crashes = 0 and held is not false and (max_concurrency is null or held)
  returning json_build_object(
    'row', json_build_object(${CLAIMED.split(/,\s*/)
      .map((column) => `'${column}', ${column}`)
      .join()}),
    'events', (select json_agg(json_build_array(type, extract(epoch from at) * 1000, data) order by seq)
      from journal where execution_id = $3 and row_seq > e.snapshot_seq - 16 and seq > e.snapshot_seq),
    'messages', (select json_agg(json_build_object('n', n, 'payload', payload) order by n)
      from inbox where execution_id = $3 and n > e.seen)) as claimed`

// Sent right after the claim in the same session, which knows what was claimed (`engine.claimed`).
const CLAIMED_EVENTS = `select e.execution_id, e.type, e.at, e.data from engine.claimed() c
    cross join lateral (select * from journal where execution_id = c.execution_id
      and row_seq > c.snapshot_seq - 16 and seq > c.snapshot_seq offset 0) e
  order by e.execution_id, e.seq`
const CLAIMED_INBOX = `select i.execution_id, i.n, i.payload from engine.claimed() c
    cross join lateral (select * from inbox where execution_id = c.execution_id and n > c.seen offset 0) i
  order by i.execution_id, i.n`

type EventRow = { execution_id: string; type: JournalEvent['type']; at: Date; data: JournalEvent['data'] }
type InboxRow = InboxMessage & { execution_id: string }

/** A row that was returned as JSON. */
type JsonRow = Omit<ExecutionRow, 'started_at'> & { started_at: string }
const rowOf = (row: JsonRow): ExecutionRow => ({ ...row, started_at: new Date(row.started_at) })

export type Journals = Map<string, JournalEvent[]>
export type Inboxes = Map<string, InboxMessage[]>
export type ClaimedOne = { row: ExecutionRow; journal: JournalEvent[]; messages: InboxMessage[] }
/** The result of CLAIM_ONE and of `engine.signal_and_claim`. */
export type ClaimedJson = {
  row: JsonRow
  events: [JournalEvent['type'], number, JournalEvent['data']][] | null
  messages: InboxMessage[] | null
}

export const claimedOf = ({ row, events, messages }: ClaimedJson): ClaimedOne => ({
  row: rowOf(row),
  journal: (events ?? []).map(([type, at, data]) => ({ type, at, data })),
  messages: messages ?? [],
})
/** An execution that the rules of its workflow must decide first. */
export type Routed = { routed: true; workspace_id: string; workflow_id: string }
export type Claimed = { rows: Promise<(ExecutionRow | Routed)[]>; events: Promise<Journals>; inbox: Promise<Inboxes> }

const journalsOf = (rows: EventRow[]): Journals =>
  grouped(rows, ({ type, at, data }) => ({ type, at: at.getTime(), data }))
const messagesOf = (rows: InboxRow[]): Inboxes => grouped(rows, ({ n, payload }) => ({ n, payload }))

const grouped = <Row extends { execution_id: string }, Item>(
  rows: Row[],
  itemOf: (row: Row) => Item,
): Map<string, Item[]> => {
  const groups = new Map<string, Item[]>()
  for (const row of rows) {
    const group = groups.get(row.execution_id)
    if (group) group.push(itemOf(row))
    else groups.set(row.execution_id, [itemOf(row)])
  }
  return groups
}

export const claimStatements = (db: Pick<Database, 'enginePool' | 'isPooled'>) => {
  const query = <Row>(name: string, text: string, values: unknown[]) =>
    runStatement<Row>(db.enginePool, name, text, values)
  return {
    /**
     * Claims executions and reads what is needed to run them. All queries are sent at once, and each promise resolves
     * separately. Behind a pooler they are one transaction, because only a transaction keeps its session.
     */
    claim: async (
      workerId: string,
      after: string,
      wanted: { total: number; perWorkspace: number; workspaceLimit: number; suspects: number },
    ): Promise<Claimed> => {
      const client = await db.enginePool.connect()
      const begun = db.isPooled ? client.query('begin') : undefined
      const rows = runStatement<{ claimed: JsonRow | Routed }>(client, 'claim', CLAIM, [
        workerId,
        after,
        wanted.total,
        wanted.perWorkspace,
        wanted.workspaceLimit,
        wanted.suspects,
      ]).then((found) => found.map(({ claimed }) => ('routed' in claimed ? claimed : rowOf(claimed))))
      const events = runStatement<EventRow>(client, 'claimed-events', CLAIMED_EVENTS, []).then(journalsOf)
      const inbox = runStatement<InboxRow>(client, 'claimed-inbox', CLAIMED_INBOX, []).then(messagesOf)
      const committed = db.isPooled ? client.query('commit') : undefined
      Promise.all([begun, rows, events, inbox, committed]).then(
        () => client.release(),
        (error: Error) => client.release(isConnectionLost(error)),
      )
      return { rows: Promise.all([rows, committed]).then(([found]) => found), events, inbox }
    },
    /** Claims an execution by its id. Returns undefined if it is not queued, or if it must wait for its turn. */
    claimOne: async (workerId: string, workspaceId: string, executionId: string): Promise<ClaimedOne | undefined> => {
      const values = [workerId, workspaceId, executionId]
      const [found] = await query<{ claimed: ClaimedJson }>('claim-one', CLAIM_ONE, values)
      return found && claimedOf(found.claimed)
    },
    /** Leaves the execution to a worker of a newer release. It becomes due again after a second, for any worker. */
    leaveToNewer: (row: Pick<ExecutionRow, 'workspace_id' | 'execution_id'>, workerId: string) =>
      query(
        'leave',
        `update executions set worker_id = null, status = 'waiting', epoch = epoch + 1, due_at = now() + interval '1 second',
            waiting_for = jsonb_build_array(jsonb_build_object('kind', 'timer', 'reason', 'newer_release', 'since', now(),
              'until', now() + interval '1 second'))
          where workspace_id = $1 and execution_id = $2 and worker_id = $3`,
        [row.workspace_id, row.execution_id, workerId],
      ),
    /**
     * Puts back an execution that cannot be loaded now (its definition or a blob could not be read). This is not a
     * crash; `bury` counts crashes.
     */
    putBack: (
      row: Pick<ExecutionRow, 'workspace_id' | 'execution_id'>,
      workerId: string,
      { seconds, since, words }: { seconds: number; since: Date; words: string | null },
    ) =>
      query(
        'put-back',
        `update executions set worker_id = null, status = 'waiting', epoch = epoch + 1, due_at = now() + interval '1 second' * $4,
            waiting_for = jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
              'kind', case when $6::text is null then 'timer' else 'platform' end, 'reason', 'not_loaded', 'since', $5::timestamptz,
              'until', now() + interval '1 second' * $4, 'error', $6::text)))
          where workspace_id = $1 and execution_id = $2 and worker_id = $3`,
        [row.workspace_id, row.execution_id, workerId, seconds, since, words],
      ),
    inboxAfter: async (executionId: string, seen: number): Promise<InboxMessage[]> =>
      query<InboxMessage>('inbox', 'select n, payload from inbox where execution_id = $1 and n > $2 order by n', [
        executionId,
        seen,
      ]),
    items: (executionId: string, path: string, after: number) =>
      query<ItemRow>(
        'items',
        // The state of an ended item is only for viewing.
        `select path, index, status, case when status in ('running', 'waiting') then state end as state, output, error, usage from map_items
         where execution_id = $1 and path = $2 and index > $3 order by index limit 5000`,
        [executionId, path, after],
      ),
  }
}
