import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Run } from './runs.ts'
import { joinByHash } from './scope.ts'

/** `sha256` in hex: a Buffer for each record is an allocation outside the heap. */
export type Planned = { sha256: string; wanted: boolean; error: { code: string; message: string } | null }

/**
 * Ledger rows for the records from `first` on, and the positions of those to be done. What an earlier run has done under the
 * same recipe is skipped; what this run itself did does not count, so that two equal records are two records.
 */
export const insertRecords = async (
  tx: Tx,
  run: Run,
  first: number,
  records: Planned[],
): Promise<{ skipped: number; failed: number; pending: number[] }> =>
  tx.row<{ skipped: number; failed: number; pending: number[] }>(
    `with made as (
       insert into ledger_records (workspace_id, run_id, position, record_sha256, status, error, finished_at)
       select $1, $2, $5 + p.n::integer - 1, p.sha256, s.status, p.error, case when s.status in ('skipped', 'failed') then now() end
       from unnest($6::bytea[], $7::boolean[], $8::json[]) with ordinality as p (sha256, wanted, error, n),
         -- The limit keeps it a look-up for each record: as EXISTS, all results of the job were read and hashed for each page.
         lateral (select (select true from ledger_results x where not $9 and x.workspace_id = $1 and x.subject_id = $3
             and x.recipe_sha256 = $4 and x.record_sha256 = p.sha256 and x.run_id <> $2 limit 1) as before offset 0) known,
         lateral (select case when p.error is not null then 'failed' when not p.wanted or known.before then 'skipped'
           else 'pending' end as status) s
       returning position, status)
     select count(*) filter (where status = 'skipped') as skipped, count(*) filter (where status = 'failed') as failed,
       coalesce(array_agg(position order by position) filter (where status = 'pending'), '{}') as pending from made`,
    [
      run.workspace_id,
      run.run_id,
      run.job_id ?? run.suite_id,
      run.recipe_sha256,
      first,
      records.map(({ sha256 }) => `\\x${sha256}`),
      records.map(({ wanted }) => wanted),
      records.map(({ error }) => (error === null ? null : JSON.stringify(error))),
      run.is_full,
    ],
  )

/** `attempt` counts from 1. */
export type Claimed = { position: number; attempt: number }

/** After a takeover: planned, and not begun by anybody. */
export const listAhead = (tx: Tx, run: Run): Promise<{ position: number }[]> =>
  tx.rows<{ position: number }>(
    `select position from ledger_records where workspace_id = $1 and run_id = $2 and position >= $3 and position < $4
       and status = 'pending' and due_at is null order by position`,
    [run.workspace_id, run.run_id, run.claimed, run.planned],
  )

/** Records that failed and whose time has come again. */
export const claimAgain = (tx: Tx, run: Run, most: number): Promise<Claimed[]> =>
  tx.rows<Claimed>(
    `with next as (
       select position from ledger_records where workspace_id = $1 and run_id = $2 and due_at <= now() and status = 'pending'
       order by due_at limit $3 for no key update skip locked)
     update ledger_records r set status = 'running', attempt = attempt + 1, due_at = null from next
     where r.workspace_id = $1 and r.run_id = $2 and r.position = next.position returning r.position, r.attempt`,
    [run.workspace_id, run.run_id, most],
  )

/** After a takeover: what was, or may have been, begun and is not over. A first try leaves no mark but the run's watermark. */
export const listBegun = (tx: Tx, run: Run): Promise<Claimed[]> =>
  tx.rows<Claimed>(
    `select position, greatest(attempt, 1) as attempt from ledger_records where workspace_id = $1 and run_id = $2
       and (status = 'running' or (status = 'pending' and due_at is null and attempt = 0 and position < $3)) order by position`,
    [run.workspace_id, run.run_id, run.claimed],
  )

/** Records that wait for another try, and in how many milliseconds the first of them is due. */
export const readWaiting = (tx: Tx, run: Run): Promise<{ waiting: number; in_ms: number | null }> =>
  tx.row(
    `select count(*) as waiting, (extract(epoch from min(due_at) - now()) * 1000)::float8 as in_ms from ledger_records
     where workspace_id = $1 and run_id = $2 and due_at is not null and status = 'pending'`,
    [run.workspace_id, run.run_id],
  )

/** Which of these executions are over; one that killed its workers again and again was parked by the engine, and counts. */
export const listOver = (tx: Tx, workspaceId: string, executionIds: string[]): Promise<{ execution_id: string }[]> =>
  tx.rows<{ execution_id: string }>(
    `select execution_id from executions where workspace_id = $1 and execution_id = any ($2)
       and (finished_at is not null or (status = 'waiting' and waiting_for @> '[{"reason": "poison"}]'))`,
    [workspaceId, executionIds],
  )

/** Whether all of them wait: for people, a time, a slot, another execution. Nothing is to be done for them until one of them goes on. */
export const allWait = async (tx: Tx, workspaceId: string, executionIds: string[]): Promise<boolean> =>
  (
    await tx.row<{ waiting: number }>(
      `select count(*)::integer as waiting from executions where workspace_id = $1 and execution_id = any ($2) and status = 'waiting'`,
      [workspaceId, executionIds],
    )
  ).waiting === executionIds.length

export type Harvested = {
  position: number
  status: 'succeeded' | 'failed' | 'pending'
  execution_id: string
  poison: boolean
}

/** The row that this try belongs to, and nothing has come of yet. */
const ITS_TRY = `((r.status = 'running' and r.attempt = e.attempt) or (r.status = 'pending' and r.attempt = 0 and e.attempt = 1))`

/** Seconds before the second try; each further one waits twice as long. */
const FIRST_BACKOFF_S = 0.5

/**
 * What has ended among the executions in flight, written into the ledger in one statement: results are kept for later runs,
 * failures wait for another try or are parked with their reason. An execution that killed its workers again and again was
 * parked by the engine, and its record is. Time and usage are those of all tries together.
 */
export const harvest = (
  tx: Tx,
  run: Run,
  over: (Claimed & { executionId: string })[],
  metered: boolean,
): Promise<Harvested[]> =>
  joinByHash(tx, () =>
    tx.rows<Harvested>(
      `with ended as materialized (
       select p.position, p.attempt, e.execution_id, e.status, e.results, e.results_blob, e.error,
         greatest(0, extract(epoch from coalesce(e.finished_at, now()) - coalesce(e.started_at, e.created_at)) * 1000)::integer as ms, e.finished_at is null as poison
       from unnest($5::integer[], $6::uuid[], $9::integer[]) as p (position, execution_id, attempt),
         lateral (select * from executions x where x.workspace_id = $1 and x.execution_id = p.execution_id offset 0) e
       where e.finished_at is not null or (e.status = 'waiting' and e.waiting_for @> '[{"reason": "poison"}]')),
     moved as (
       update ledger_records r set
         status = case when e.status = 'succeeded' then 'succeeded' when e.status in ('failed', 'timed_out') and e.attempt < $7 then 'pending'
           else 'failed' end,
         due_at = case when e.status in ('failed', 'timed_out') and e.attempt < $7 then now() + ${FIRST_BACKOFF_S} * (2 ^ (e.attempt - 1)) * interval '1 second' end,
         error = case when e.status = 'succeeded' then null when e.poison then
             json_build_object('code', 'poison', 'message', 'the execution ended the program that ran it, again and again')
           else coalesce(e.error, json_build_object('code', e.status, 'message', 'the execution was ' || replace(e.status, '_', ' '))) end,
         attempt = e.attempt, execution_id = e.execution_id, duration_ms = coalesce(r.duration_ms, 0) + e.ms, finished_at = now(),
         usage = case when $8 then sum_of_usage(r.usage, usage_of_execution($1, e.execution_id)) end
       from ended e
       -- The list beside the join: with row security and no statistics the planner would walk the whole run otherwise.
       where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($5) and r.position = e.position and ${ITS_TRY}
       returning r.position, r.status, r.record_sha256, e.execution_id, e.poison),
     kept as (
       insert into ledger_results (workspace_id, subject_id, recipe_sha256, record_sha256, run_id, result, result_blob)
       select distinct on (m.record_sha256) $1, $3, $4, m.record_sha256, $2, e.results, e.results_blob
       from moved m join ended e on e.position = m.position where m.status = 'succeeded'
       on conflict (workspace_id, subject_id, recipe_sha256, record_sha256) do update
         set run_id = excluded.run_id, result = excluded.result, result_blob = excluded.result_blob, finished_at = now())
     select position, status, execution_id, poison from moved`,
      [
        run.workspace_id,
        run.run_id,
        run.job_id ?? run.suite_id,
        run.recipe_sha256,
        over.map(({ position }) => position),
        over.map(({ executionId }) => executionId),
        run.max_attempts,
        metered,
        over.map(({ attempt }) => attempt),
      ],
    ),
  )

export type Refused = Claimed & { error: { code: string; message: string } }

/** Records for which no execution could be begun. */
export const failRecords = (tx: Tx, run: Run, refused: Refused[]): Promise<number> =>
  joinByHash(tx, () =>
    tx.count(
      `update ledger_records r set status = 'failed', error = e.error, attempt = e.attempt, finished_at = now()
     from unnest($3::integer[], $4::integer[], $5::json[]) as e (position, attempt, error)
     where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($3) and r.position = e.position and ${ITS_TRY}`,
      [
        run.workspace_id,
        run.run_id,
        refused.map(({ position }) => position),
        refused.map(({ attempt }) => attempt),
        refused.map(({ error }) => JSON.stringify(error)),
      ],
    ),
  )

export type BadResult = { position: number; error: { code: string; message: string } }

/** Records whose result came and cannot be kept: failed, and tried again by the next run. Answers what they were counted as. */
export const failResults = (tx: Tx, run: Run, bad: BadResult[]): Promise<{ succeeded: number; skipped: number }> =>
  tx.row(
    `with given as materialized (select * from unnest($5::integer[], $6::json[]) as g (position, error)),
     before as materialized (select r.position, r.status, r.record_sha256 from ledger_records r
       where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($5) and r.status in ('succeeded', 'skipped') for update),
     failed as (update ledger_records r set status = 'failed', error = g.error from given g join before b using (position)
       where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($5) and r.position = g.position),
     forgotten as (delete from ledger_results x using before b where x.workspace_id = $1 and x.subject_id = $3 and x.recipe_sha256 = $4
       and x.record_sha256 = b.record_sha256)
     select count(*) filter (where status = 'succeeded')::integer as succeeded,
       count(*) filter (where status = 'skipped')::integer as skipped from before`,
    [
      run.workspace_id,
      run.run_id,
      run.job_id,
      run.recipe_sha256,
      bad.map(({ position }) => position),
      bad.map(({ error }) => JSON.stringify(error)),
    ],
  )

export type Outcome = {
  position: number
  status: string
  error: JsonObject | null
  result: Json
  result_blob: { key: string; sha256: string; bytes: number } | null
  execution_id: string | null
}

/** The records from `from` to `to` with what came of them, now or in an earlier run. */
export const readOutcomes = (tx: Tx, run: Run, from: number, to: number): Promise<Outcome[]> =>
  tx.rows<Outcome>(
    `select r.position, r.status, r.error, x.result, x.result_blob, r.execution_id from ledger_records r
     left join ledger_results x on x.workspace_id = r.workspace_id and x.subject_id = $3 and x.recipe_sha256 = $4
       and x.record_sha256 = r.record_sha256 and r.status in ('succeeded', 'skipped')
     where r.workspace_id = $1 and r.run_id = $2 and r.position >= $5 and r.position < $6 order by r.position`,
    [run.workspace_id, run.run_id, run.job_id ?? run.suite_id, run.recipe_sha256, from, to],
  )
