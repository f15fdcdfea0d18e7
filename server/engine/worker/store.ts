import type { ExecutionError, ExecutionStatus, Json, JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { isConnectionLost } from '#platform/db/unavailable'
import type { Fact, GraphState } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import type { BlobRef, EndedExecution, Initiator, Signal, TriggerKind } from '../ports.ts'
import type { InboxMessage } from './owned.ts'
import type { PlatformWait } from './patience.ts'

// The worker's statements besides the journal's. Each is prepared once per connection and runs in a transaction of its own.

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
  /** Whether it has a place among those that the rules of its workflow let run; null where no rule concerns it. */
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

/** What a caller gave an execution to be found and ordered by. */
export type Labelled = {
  priority: number | null
  tags: string[] | null
  metadata: JsonObject | null
  scheduled_at: Date | null
}

export type Tick = {
  now: number
  alive: boolean
  beats: [workerId: string, beat: number][]
  queued: boolean
  due: boolean
  /** Executions that an older release has waiting for a slot. */
  slots: boolean
  /** Workflows whose rules have something to decide. */
  flows: [workspaceId: string, workflowId: string][]
  untold: boolean
  unread: string[]
  /** Deleted workspaces in which something is live: it was started in the instant in which they went. */
  leftover: string[]
}

/** What was found about an execution whose waits were compared with what they name; no status where it is gone. */
export type CheckedWait = {
  workspace_id: string
  execution_id: string
  status: string | null
  /** Everyone who must know of its end knows. */
  is_told: boolean | null
  faults: { node_path: string; is_left: boolean; why: string }[]
}

// By status, each from its own index. One that was told to stop is stopping.
const live = (status: string, more = ''): string =>
  `exists (select from executions e where e.workspace_id = g.workspace_id and e.status = '${status}'${more})`
const unstopped = ` and not exists (select from inbox i where i.execution_id = e.execution_id and i.key = 'cancel')`

// A beat that a crash of the database loses is no loss: its commit need not wait for the disk.
export const TICK = `with quick as materialized (select set_config('synchronous_commit', 'off', true)),
  beat as (update heartbeats set beat = beat + 1, seen_at = now() from quick where worker_id = $1)
  select (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
    exists (select from workers where worker_id = $1 and not dead) as alive,
    (select coalesce(json_agg(json_build_array(w.worker_id, h.beat)), '[]')
      from workers w join heartbeats h using (worker_id) where not w.dead) as beats,
    exists (select from executions where status = 'queued') as queued,
    exists (select from executions where status = 'waiting' and due_at <= now()) as due,
    exists (select from executions where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]'
      and max_concurrency is not null and held is null and crashes < 5) as slots,
    (select coalesce(json_agg(json_build_array(d.workspace_id, d.workflow_id)), '[]') from (
      select distinct workspace_id, workflow_id from (select workspace_id, workflow_id from flow_dirty limit 1000) as found) d) as flows,
    exists (select from executions where tell_end and finished_at < now() - interval '5 seconds') as untold,
    array(select execution_id::text from executions where status = 'running' and worker_id = $1 and inbox > seen) as unread,
    array(select g.workspace_id::text from gone_workspaces g
      where ${live('queued')} or ${live('waiting')} or ${live('running', unstopped)}) as leftover`

// By name: a newer release may add a column, and a prepared `select *` then fails on every connection of an older one.
export const CLAIMED = `execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status, input,
  trigger_kind, trigger_id, started_by, initiated_by, principal_id, parent_execution_id, parent_node, started_at, timeout_s, held, scheduled_at, epoch, inbox,
  seen, snapshot, snapshot_seq, crashes, tell_end, depth, traceparent`

const CLAIM = 'select claimed from engine.claim_placed($1, $2, $3, $4, $5, $6)'

// As engine.claim, with the same fence against a worker that was declared dead; but only where nothing speaks against it.
// One value for the whole row: reading a column costs both sides more than a key of an object (0.08 of 0.7 ms).
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
      from events where execution_id = $3 and seq > e.snapshot_seq),
    'messages', (select json_agg(json_build_object('n', n, 'payload', payload) order by n)
      from inbox where execution_id = $3 and n > e.seen)) as claimed`

// Right behind the claim and on its connection, which knows what it was (`engine.claimed`).
const CLAIMED_EVENTS = `select e.execution_id, e.type, e.at, e.data from engine.claimed() c
    cross join lateral (select * from events where execution_id = c.execution_id and seq > c.snapshot_seq offset 0) e
  order by e.execution_id, e.seq`
const CLAIMED_INBOX = `select i.execution_id, i.n, i.payload from engine.claimed() c
    cross join lateral (select * from inbox where execution_id = c.execution_id and n > c.seen offset 0) i
  order by i.execution_id, i.n`

type EventRow = { execution_id: string; type: Fact['type']; at: Date; data: Fact['data'] }
type InboxRow = InboxMessage & { execution_id: string }

/** A row that came as JSON. */
type JsonRow = Omit<ExecutionRow, 'started_at'> & { started_at: string }
const rowOf = (row: JsonRow): ExecutionRow => ({ ...row, started_at: new Date(row.started_at) })

export type Journals = Map<string, Fact[]>
export type Inboxes = Map<string, InboxMessage[]>
export type ClaimedOne = { row: ExecutionRow; facts: Fact[]; messages: InboxMessage[] }
/** As CLAIM_ONE and `engine.signal_and_claim` give it. */
export type ClaimedJson = {
  row: JsonRow
  events: [Fact['type'], number, Fact['data']][] | null
  messages: InboxMessage[] | null
}

export const claimedOf = ({ row, events, messages }: ClaimedJson): ClaimedOne => ({
  row: rowOf(row),
  facts: (events ?? []).map(([type, at, data]) => ({ type, at, data })),
  messages: messages ?? [],
})
/** Executions of workflows whose rules must look at them first. */
export type Routed = { routed: true; workspace_id: string; workflow_id: string }
export type Claimed = { rows: Promise<(ExecutionRow | Routed)[]>; events: Promise<Journals>; inbox: Promise<Inboxes> }

const factsOf = (rows: EventRow[]): Journals =>
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

/** Whether the last fact of one that failed says so; only of one whose parent asks. */
export const IS_PERMANENT = `case when status = 'failed' and parent_execution_id is not null then (
    select (v.data ->> 'permanent')::boolean from events v where v.execution_id = executions.execution_id
    order by v.seq desc limit 1) end as permanent`

export const makeStore = (db: Database) => {
  const pool = db.enginePool
  const query = async <Row>(name: string, text: string, values: unknown[], on = pool): Promise<Row[]> =>
    (await on.query({ name: `engine-${name}`, text, values })).rows as Row[]
  /** A worker that waited for a connection behind its own executions was declared dead: 385 of them went from one to another. */
  const beating = <Row>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
    query<Row>(name, text, values, db.beatPool)

  return {
    register: async (worker: { workerId: string; host: string; pid: number }): Promise<void> => {
      await beating(
        'register',
        `with added as (insert into workers (worker_id, host, pid) values ($1, $2, $3))
         insert into heartbeats (worker_id) values ($1)`,
        [worker.workerId, worker.host, worker.pid],
      )
    },
    tick: async (workerId: string): Promise<Tick> => (await beating<Tick>('tick', TICK, [workerId]))[0] as Tick,
    /** Another worker's burial may wait for its locks, and this worker's sign of life must not wait for that. */
    bury: async (workerId: string, crashed: boolean): Promise<number> =>
      (
        await (crashed ? query : beating)<{ released: number }>('bury', 'select engine.bury($1, $2) as released', [
          workerId,
          crashed,
        ])
      )[0]?.released ?? 0,
    /** This worker was declared dead and lives: the crashes that were counted against its executions are taken back. */
    acquit: async (workerId: string): Promise<number> =>
      (await beating<{ acquitted: number }>('acquit', 'select engine.acquit($1) as acquitted', [workerId]))[0]
        ?.acquitted ?? 0,
    ownedBy: async (workerId: string): Promise<string[]> =>
      (
        await query<{ execution_id: string }>(
          'owned',
          `select execution_id from executions where status = 'running' and worker_id = $1`,
          [workerId],
        )
      ).map((row) => row.execution_id),
    releaseStrays: (workerId: string, ids: string[]) =>
      query(
        'strays',
        `update executions set status = 'queued', worker_id = null, epoch = epoch + 1, due_at = now()
         where status = 'running' and worker_id = $1 and execution_id = any ($2::uuid[])`,
        [workerId, ids],
      ),
    endWorkspace: (workspaceId: string) => query('end-workspace', 'select engine.end_workspace($1)', [workspaceId]),
    /** `last` is the workspace to go on after; null when none was due that nobody else is waking. */
    wakeSome: async (after: string, limit: number, ofOne: number): Promise<{ woken: number; last: string | null }> =>
      (
        await query<{ woken: number; last: string | null }>(
          'wake',
          'select woken, last from engine.wake_some($1, $2, $3)',
          [after, limit, ofOne],
        )
      )[0]!,
    /** A portion of the executions whose waits are to be compared with what they name. */
    checkWaits: (limit: number) => query<CheckedWait>('check-waits', 'select * from engine.check_waits($1)', [limit]),
    waitsAreRight: async (waits: Pick<CheckedWait, 'workspace_id' | 'execution_id'>[]): Promise<void> => {
      if (waits.length === 0) return
      const ids = [waits.map(({ workspace_id }) => workspace_id), waits.map(({ execution_id }) => execution_id)]
      await query('waits-right', 'select engine.waits_are_right($1, $2)', ids)
    },
    /** Its end is told once more. */
    tellAgain: (workspaceId: string, executionId: string) =>
      query(
        'tell-again',
        'update executions set tell_end = true where workspace_id = $1 and execution_id = $2 and finished_at is not null',
        [workspaceId, executionId],
      ),
    releaseOrphans: async (): Promise<number> =>
      (await query<{ n: number }>('orphans', 'select engine.release_orphans() as n', []))[0]?.n ?? 0,
    /** `busy`: another process decides for this workflow. `more`: call again. */
    decideFlow: async (workspaceId: string, workflowId: string, most: number) =>
      (
        await query<{ busy: boolean; more: boolean; queued: number; cancelled: string[] }>(
          'flow-decide',
          'select busy, more, queued, cancelled from engine.flow_decide($1, $2, $3)',
          [workspaceId, workflowId, most],
        )
      )[0]!,
    grantSlots: (limit: number) => query('slots', 'select engine.grant_slots($1)', [limit]),
    /** What is claimed, and what is needed to take it up: asked for at once, and each answered as soon as it is known. */
    claim: async (
      workerId: string,
      after: string,
      wanted: { total: number; perWorkspace: number; workspaceLimit: number; suspects: number },
    ): Promise<Claimed> => {
      const client = await pool.connect()
      const ask = async <Row>(name: string, text: string, values: unknown[] = []): Promise<Row[]> =>
        (await client.query({ name: `engine-${name}`, text, values })).rows as Row[]
      const rows = ask<{ claimed: JsonRow | Routed }>('claim', CLAIM, [
        workerId,
        after,
        wanted.total,
        wanted.perWorkspace,
        wanted.workspaceLimit,
        wanted.suspects,
      ]).then((found) => found.map(({ claimed }) => ('routed' in claimed ? claimed : rowOf(claimed))))
      const events = ask<EventRow>('claimed-events', CLAIMED_EVENTS).then(factsOf)
      const inbox = ask<InboxRow>('claimed-inbox', CLAIMED_INBOX).then(messagesOf)
      Promise.all([rows, events, inbox]).then(
        () => client.release(),
        (error: Error) => client.release(isConnectionLost(error)),
      )
      return { rows, events, inbox }
    },
    /** By its name: nothing where it is not queued, or where it must wait for its turn. */
    claimOne: async (workerId: string, workspaceId: string, executionId: string): Promise<ClaimedOne | undefined> => {
      const values = [workerId, workspaceId, executionId]
      const [found] = await query<{ claimed: ClaimedJson }>('claim-one', CLAIM_ONE, values)
      return found && claimedOf(found.claimed)
    },
    noteRelease: (release: number) =>
      query('note-release', 'insert into releases (release) values ($1) on conflict do nothing', [release]),
    newestRelease: async (): Promise<number> =>
      (await query<{ newest: number }>('newest', 'select coalesce(max(release), 0) as newest from releases', []))[0]!
        .newest,
    /** For a worker of a newer release; asked again after a second, no matter who claims it then. */
    leaveToNewer: (row: Pick<ExecutionRow, 'workspace_id' | 'execution_id'>, workerId: string) =>
      query(
        'leave',
        `update executions set worker_id = null, status = 'waiting', epoch = epoch + 1, due_at = now() + interval '1 second',
            waiting_for = jsonb_build_array(jsonb_build_object('kind', 'timer', 'reason', 'newer_release', 'since', now(),
              'until', now() + interval '1 second'))
          where workspace_id = $1 and execution_id = $2 and worker_id = $3`,
        [row.workspace_id, row.execution_id, workerId],
      ),
    /** It cannot be taken up now (its definition or a blob did not load): it waits a little. No crash: that is for `bury`. */
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
    /** What an execution that runs waits for because the service itself is in trouble, for people to see. */
    notePlatformWait: (wait: PlatformWait) =>
      query(
        'note-platform',
        `insert into platform_waits (workspace_id, execution_id, node_path, epoch, since, until, error)
         values ($1, $2, $3, $4, to_timestamp($5 / 1000.0), to_timestamp($6 / 1000.0), $7)
         on conflict (workspace_id, execution_id, node_path) do update set epoch = excluded.epoch, since = excluded.since,
           until = excluded.until, error = excluded.error`,
        [wait.workspaceId, wait.executionId, wait.nodePath, wait.epoch, wait.since, wait.until, wait.error],
      ),
    forgetPlatformWait: (wait: Pick<PlatformWait, 'workspaceId' | 'executionId' | 'nodePath'>) =>
      query(
        'forget-platform',
        'delete from platform_waits where workspace_id = $1 and execution_id = $2 and node_path = $3',
        [wait.workspaceId, wait.executionId, wait.nodePath],
      ),
    /** The worker that wrote them is gone; the one that goes on with the execution writes its own. */
    forgetOldPlatformWaits: () =>
      query('forget-platforms', `delete from platform_waits where until < now() - interval '10 minutes'`, []),
    inboxAfter: async (executionId: string, seen: number): Promise<InboxMessage[]> =>
      query<InboxMessage>('inbox', 'select n, payload from inbox where execution_id = $1 and n > $2 order by n', [
        executionId,
        seen,
      ]),
    items: (executionId: string, path: string, after: number) =>
      query<ItemRow>(
        'items',
        // What an ended item keeps of its nodes is for people alone.
        `select path, index, status, case when status in ('running', 'waiting') then state end as state, output, error, usage from map_items
         where execution_id = $1 and path = $2 and index > $3 order by index limit 5000`,
        [executionId, path, after],
      ),
    keyHolder: async (credentialHash: Buffer, keyHash: Buffer) =>
      (
        await query<{ execution_id: string; workspace_id: string; body_sha256: Buffer; status: string }>(
          'key',
          `select k.execution_id, k.workspace_id, k.body_sha256, e.status from start_keys k
             left join executions e using (workspace_id, execution_id)
           where k.credential_hash = $1 and k.key_hash = $2 and k.created_at > now() - interval '24 hours'`,
          [credentialHash, keyHash],
        )
      )[0],
    statusOf: async (workspaceId: string, executionId: string): Promise<ExecutionStatus | undefined> =>
      (
        await query<{ status: ExecutionStatus }>(
          'status',
          'select status from executions where workspace_id = $1 and execution_id = $2',
          [workspaceId, executionId],
        )
      )[0]?.status,
    findChild: async (workspaceId: string, executionId: string) =>
      (
        await query<{
          status: EndedExecution['status'] | 'queued' | 'running' | 'waiting'
          results: Json
          results_blob: BlobRef | null
          error: ExecutionError | null
          permanent: boolean | null
        }>(
          'child',
          `select status, results, results_blob, error, ${IS_PERMANENT} from executions where workspace_id = $1 and execution_id = $2`,
          [workspaceId, executionId],
        )
      )[0],
    isGone: async (workspaceId: string): Promise<boolean> =>
      (await query('gone', 'select from gone_workspaces where workspace_id = $1', [workspaceId])).length > 0,
    /** How an execution was started, to start it again. */
    startOf: async (workspaceId: string, executionId: string) =>
      (
        await query<
          Pick<
            ExecutionRow,
            'definition_ref' | 'workflow_id' | 'version_id' | 'system_slug' | 'timeout_s' | 'principal_id'
          > &
            Labelled
        >(
          'start-of',
          `select definition_ref, workflow_id, version_id, system_slug, timeout_s, principal_id, priority, tags, metadata, scheduled_at
           from executions where workspace_id = $1 and execution_id = $2`,
          [workspaceId, executionId],
        )
      )[0],
    queueDepth: async (workspaceId: string, limit: number): Promise<number> =>
      (
        await query<{ depth: number }>(
          'depth',
          `select count(*)::integer as depth from (
             select from executions where workspace_id = $1 and status = 'queued' limit $2) as queued`,
          [workspaceId, limit],
        )
      )[0]?.depth ?? 0,
    /** Executions that the rules of their workflows keep waiting. */
    gateDepth: async (workspaceId: string, limit: number): Promise<number> =>
      (
        await query<{ depth: number }>(
          'gate-depth',
          `select count(*)::integer as depth from (
             select from executions where workspace_id = $1 and status = 'waiting' and held = false limit $2) as gated`,
          [workspaceId, limit],
        )
      )[0]?.depth ?? 0,
    signal: async (workspaceId: string, executionId: string, key: string, payload: Signal): Promise<string> =>
      (
        await query<{ outcome: string }>('signal', 'select engine.signal($1, $2, $3, $4::json) as outcome', [
          workspaceId,
          executionId,
          key,
          JSON.stringify(payload),
        ])
      )[0]?.outcome ?? 'unknown',
  }
}

export type Store = ReturnType<typeof makeStore>
