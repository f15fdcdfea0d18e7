import type { Database } from '#platform/db/pool'
import { runStatement } from './run-statement.ts'

// The statements for the heartbeat of a worker, and for executions without an owner.

export type Tick = {
  now: number
  alive: boolean
  beats: [workerId: string, beat: number][]
  queued: boolean
  due: boolean
  /** An older release has executions that wait for a slot. */
  slots: boolean
  /** Workflows whose rules have a pending decision. */
  flows: [workspaceId: string, workflowId: string][]
  untold: boolean
  unread: string[]
  /** Deleted workspaces with a live execution, which was started at the moment of the deletion. */
  leftover: string[]
}

// One condition per status, each with its own index. An execution that was told to stop is not counted.
const live = (status: string, more = ''): string =>
  `exists (select from executions e where e.workspace_id = g.workspace_id and e.status = '${status}'${more})`
const unstopped = ` and not exists (select from inbox i where i.execution_id = e.execution_id and i.key = 'cancel')`

// A heartbeat may be lost in a crash of the database, so its commit does not wait for the disk.
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

export const heartbeatStatements = (db: Pick<Database, 'enginePool' | 'beatPool'>) => {
  const query = <Row>(name: string, text: string, values: unknown[]) =>
    runStatement<Row>(db.enginePool, name, text, values)
  /**
   * Uses a separate pool. A worker that waited for a connection behind its own executions was declared dead, and 385
   * executions moved to another worker.
   */
  const beating = <Row>(name: string, text: string, values: unknown[]) =>
    runStatement<Row>(db.beatPool, name, text, values)
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
    /** Declaring another worker dead may wait for its locks, and must not delay the heartbeat of this worker. */
    declareDead: async (workerId: string, crashed: boolean): Promise<number> =>
      (
        await (crashed ? query : beating)<{ released: number }>('bury', 'select engine.bury($1, $2) as released', [
          workerId,
          crashed,
        ])
      )[0]?.released ?? 0,
    /**
     * Removes the crashes that were counted against the executions of this worker: it was declared dead although it
     * is alive.
     */
    forgiveCrashes: async (workerId: string): Promise<number> =>
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
    /**
     * `last` is the workspace to continue after. Null if no execution is due, except those that other workers are
     * waking.
     */
    wakeSome: async (after: string, limit: number, ofOne: number): Promise<{ woken: number; last: string | null }> =>
      (
        await query<{ woken: number; last: string | null }>(
          'wake',
          'select woken, last from engine.wake_some($1, $2, $3)',
          [after, limit, ofOne],
        )
      )[0]!,
    /** `busy`: another process decides for this workflow. `more`: call the function again. */
    decideFlow: async (workspaceId: string, workflowId: string, most: number) =>
      (
        await query<{ busy: boolean; more: boolean; queued: number; cancelled: string[] }>(
          'flow-decide',
          'select busy, more, queued, cancelled from engine.flow_decide($1, $2, $3)',
          [workspaceId, workflowId, most],
        )
      )[0]!,
    grantSlots: (limit: number) => query('slots', 'select engine.grant_slots($1)', [limit]),
    noteRelease: (release: number) =>
      query('note-release', 'insert into releases (release) values ($1) on conflict do nothing', [release]),
    newestRelease: async (): Promise<number> =>
      (await query<{ newest: number }>('newest', 'select coalesce(max(release), 0) as newest from releases', []))[0]!
        .newest,
  }
}
