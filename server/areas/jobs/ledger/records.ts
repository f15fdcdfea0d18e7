import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Planned } from './plan.ts'
import type { Counted, Run } from './runs.ts'
import { joinByHash } from './scope.ts'
import type { Ending, Verdict } from './verdict.ts'

const bytes = (hex: string): string => `\\x${hex}`

export type Inserted = Pick<Counted, 'skipped' | 'filtered' | 'failed' | 'failed_before' | 'first_failed'> & {
  pending: number[]
}

/**
 * Inserts ledger rows for the records from position `first`, and returns the positions of those to be tried. Records
 * that an earlier run finished with the same input are skipped, and records that failed there are not repeated. Results
 * of this run itself do not count, so that two equal records are processed separately.
 */
export const insertRecords = async (tx: Tx, run: Run, first: number, records: Planned[]): Promise<Inserted> => {
  if (run.legacy_recipe_sha256 !== null) await adoptResults(tx, run, records)
  return tx.row<Inserted>(
    `with planned as materialized (
       select $5 + p.n::integer - 1 as position, p.sha256, p.input, p.record_key, p.wanted, p.error, p.record, k.run_id is not null as known,
         k.error as known_error, k.execution_id
       from unnest($6::bytea[], $7::bytea[], $8::text[], $9::boolean[], $10::json[], $13::json[]) with ordinality
         as p (sha256, input, record_key, wanted, error, record, n)
       -- The limit keeps it a look-up for each record: without it all results of the job were read and hashed for each page.
       -- A case, because row security keeps a coalesce out of the key: all results of the job were read for each record.
       left join lateral (select x.run_id, x.error, x.execution_id from ledger_results x where not $11 and x.workspace_id = $1 and x.subject_id = $3
           and x.recipe_sha256 = $4 and x.record_sha256 = case when p.input is null then p.sha256 else p.input end and x.run_id <> $2 limit 1) k on true),
     judged as materialized (select *, case when not wanted then 'filtered' when known and known_error is null then 'skipped'
         when known and not $12 then 'waiting' when error is not null then 'failed' else 'pending' end as state from planned),
     made as (
       insert into ledger_records (workspace_id, run_id, position, record_sha256, input_sha256, record_key, status, error, execution_id,
         retried, finished_at)
       select $1, $2, position, sha256, input, record_key, case state when 'waiting' then 'failed' else state end,
         case state when 'waiting' then known_error when 'failed' then error end, case when state = 'waiting' then execution_id end,
         known and state in ('pending', 'failed'), case when state <> 'pending' then now() end from judged),
     kept as (
       insert into ledger_results (workspace_id, subject_id, recipe_sha256, record_sha256, run_id, error, record)
       select distinct on (input) $1, $3, $4, input, $2, error, record from judged where state = 'failed' and input is not null
       on conflict (workspace_id, subject_id, recipe_sha256, record_sha256) do update
         set run_id = excluded.run_id, error = excluded.error, record = excluded.record, result = null, result_blob = null, finished_at = now())
     select count(*) filter (where state = 'skipped') as skipped, count(*) filter (where state = 'filtered') as filtered,
       count(*) filter (where state in ('failed', 'waiting')) as failed, count(*) filter (where state = 'waiting') as failed_before,
       count(*) filter (where state = 'failed' and not known) as first_failed,
       coalesce(array_agg(position order by position) filter (where state = 'pending'), '{}') as pending from judged`,
    [
      run.workspace_id,
      run.run_id,
      run.job_id ?? run.suite_id,
      run.recipe_sha256,
      first,
      records.map(({ sha256 }) => bytes(sha256)),
      records.map(({ input }) => input && bytes(input)),
      records.map(({ key }) => key),
      records.map(({ wanted }) => wanted),
      records.map(({ error }) => (error === null ? null : JSON.stringify(error))),
      run.is_full,
      run.retry_failed,
      records.map(({ text }) => text),
    ],
  )
}

/**
 * Copies results that are stored under the hash of the whole record to the hash of its input, so that a new release
 * does not repeat them.
 */
const adoptResults = (tx: Tx, run: Run, records: Planned[]): Promise<number> =>
  tx.count(
    `insert into ledger_results (workspace_id, subject_id, recipe_sha256, record_sha256, run_id, result, result_blob, finished_at)
     select distinct on (p.input) $1, $2, $3, p.input, k.run_id, k.result, k.result_blob, k.finished_at
     from unnest($5::bytea[], $6::bytea[]) as p (sha256, input),
       lateral (select * from ledger_results x where x.workspace_id = $1 and x.subject_id = $2 and x.recipe_sha256 = $4
         and x.record_sha256 = p.sha256 limit 1) k
     where p.input is not null on conflict do nothing`,
    [
      run.workspace_id,
      run.job_id ?? run.suite_id,
      run.recipe_sha256,
      run.legacy_recipe_sha256,
      records.map(({ sha256 }) => bytes(sha256)),
      records.map(({ input }) => input && bytes(input)),
    ],
  )

/** `attempt` counts from 1. */
export type Claimed = { position: number; attempt: number }

/** After a takeover: lists records that are planned and not started. */
export const listAhead = (tx: Tx, run: Run): Promise<{ position: number }[]> =>
  tx.rows<{ position: number }>(
    `select position from ledger_records where workspace_id = $1 and run_id = $2 and position >= $3 and position < $4
       and status = 'pending' and due_at is null order by position`,
    [run.workspace_id, run.run_id, run.claimed, run.planned],
  )

/** After a takeover: counts the records that the run has tried or will try. */
export const countTried = async (tx: Tx, run: Run): Promise<number> =>
  (
    await tx.row<{ tried: number }>(
      `select count(*)::integer as tried from ledger_records where workspace_id = $1 and run_id = $2
         and (status in ('pending', 'running', 'succeeded') or (status = 'failed' and attempt > 0))`,
      [run.workspace_id, run.run_id],
    )
  ).tried

/** Claims failed records whose retry is due. */
export const claimAgain = (tx: Tx, run: Run, most: number): Promise<Claimed[]> =>
  tx.rows<Claimed>(
    `with next as (
       select position from ledger_records where workspace_id = $1 and run_id = $2 and due_at <= now() and status = 'pending'
       order by due_at limit $3 for no key update skip locked)
     update ledger_records r set status = 'running', attempt = attempt + 1, due_at = null from next
     where r.workspace_id = $1 and r.run_id = $2 and r.position = next.position returning r.position, r.attempt`,
    [run.workspace_id, run.run_id, most],
  )

/**
 * After a takeover: lists records that were or may have been started and have not ended. A first attempt leaves no
 * trace except the run's watermark.
 */
export const listBegun = (tx: Tx, run: Run): Promise<Claimed[]> =>
  tx.rows<Claimed>(
    `select position, greatest(attempt, 1) as attempt from ledger_records where workspace_id = $1 and run_id = $2
       and (status = 'running' or (status = 'pending' and due_at is null and attempt = 0 and position < $3)) order by position`,
    [run.workspace_id, run.run_id, run.claimed],
  )

/** Returns the number of records that wait for a retry, and the milliseconds until the first is due. */
export const readWaiting = (tx: Tx, run: Run): Promise<{ waiting: number; in_ms: number | null }> =>
  tx.row(
    `select count(*) as waiting, (extract(epoch from min(due_at) - now()) * 1000)::float8 as in_ms from ledger_records
     where workspace_id = $1 and run_id = $2 and due_at is not null and status = 'pending'`,
    [run.workspace_id, run.run_id],
  )

export type Over = Ending & { execution_id: string }

/** The error details of the item of a map or the turn of a loop that failed. */
const INSIDE = `coalesce(error #> '{details,error,details,error,details}', error #> '{details,error,details}')`

/**
 * Returns which of these executions have ended, and how. An execution that repeatedly crashed its workers was parked by
 * the engine, and counts as ended.
 */
export const listOver = (tx: Tx, workspaceId: string, executionIds: string[]): Promise<Over[]> =>
  tx.rows<Over>(
    `select execution_id, status, finished_at is null as poison, error ->> 'code' as code, error ->> 'node_id' as node_id,
       coalesce(error #>> '{details,status}', ${INSIDE} ->> 'status') as http_status,
       coalesce(error #>> '{details,step}', ${INSIDE} ->> 'step') as step,
       case when status = 'failed' then (select (v.data ->> 'permanent')::boolean from journal v
         where v.workspace_id = $1 and v.execution_id = e.execution_id and v.type = 'execution.failed' limit 1) end as permanent
     from executions e where workspace_id = $1 and execution_id = any ($2)
       and (finished_at is not null or (status = 'waiting' and waiting_for @> '[{"reason": "poison"}]'))`,
    [workspaceId, executionIds],
  )

/**
 * Checks whether all of the executions wait (for people, a time, a slot, another execution), so that there is nothing
 * to do until one of them continues.
 */
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
  /** Whether the record failed in an earlier run. */
  retried: boolean
  /** The usage of this attempt. */
  usage: JsonObject | null
}

/** The row of this attempt, if it has no outcome yet. */
const ITS_ATTEMPT = `((r.status = 'running' and r.attempt = e.attempt) or (r.status = 'pending' and r.attempt = 0 and e.attempt = 1))`

/** `text`: the record, if it failed. */
export type Judged = Claimed & { executionId: string; verdict: Verdict; text: string | null }

/**
 * Writes the outcomes of ended executions into the ledger in one statement. Results are kept for later runs. Failures
 * wait for another attempt, or are kept with their reason and record. Time and usage include all attempts.
 */
export const harvest = (tx: Tx, run: Run, over: Judged[], metered: boolean): Promise<Harvested[]> =>
  joinByHash(tx, () =>
    tx.rows<Harvested>(
      `with ended as materialized (
       select p.position, p.attempt, p.verdict, p.again_in_s, p.remember, p.record, e.execution_id, e.status, e.results, e.results_blob, e.error,
         greatest(0, extract(epoch from coalesce(e.finished_at, now()) - coalesce(e.started_at, e.created_at)) * 1000)::integer as ms, e.finished_at is null as poison,
         case when $7 then usage_of_execution($1, e.execution_id) end as usage
       from unnest($5::integer[], $6::uuid[], $8::integer[], $9::text[], $10::float8[], $11::boolean[], $12::json[])
           as p (position, execution_id, attempt, verdict, again_in_s, remember, record),
         lateral (select * from executions x where x.workspace_id = $1 and x.execution_id = p.execution_id offset 0) e
       where e.finished_at is not null or (e.status = 'waiting' and e.waiting_for @> '[{"reason": "poison"}]')),
     moved as (
       update ledger_records r set status = e.verdict, due_at = now() + e.again_in_s * interval '1 second',
         error = case when e.verdict = 'succeeded' then null when e.poison then
             json_build_object('code', 'poison', 'message', 'the execution repeatedly crashed the process that ran it')
           else coalesce(e.error, json_build_object('code', e.status, 'message', 'the execution was ' || replace(e.status, '_', ' '))) end,
         attempt = e.attempt, execution_id = e.execution_id, duration_ms = coalesce(r.duration_ms, 0) + e.ms, finished_at = now(),
         usage = case when $7 then sum_of_usage(r.usage, e.usage) end
       from ended e
       -- The list beside the join: with row security and no statistics the planner would walk the whole run otherwise.
       where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($5) and r.position = e.position and ${ITS_ATTEMPT}
       returning r.position, r.status, coalesce(r.input_sha256, r.record_sha256) as input, r.input_sha256 is not null as remembers, r.error,
         r.retried, e.execution_id, e.poison, e.usage),
     kept as (
       insert into ledger_results (workspace_id, subject_id, recipe_sha256, record_sha256, run_id, result, result_blob, error, record, execution_id)
       select distinct on (m.input) $1, $3, $4, m.input, $2, case when m.status = 'succeeded' then e.results end,
         case when m.status = 'succeeded' then e.results_blob end, m.error, e.record, m.execution_id
       from moved m join ended e on e.position = m.position
       where m.status = 'succeeded' or (m.status = 'failed' and e.remember and m.remembers)
       order by m.input, m.status desc
       on conflict (workspace_id, subject_id, recipe_sha256, record_sha256) do update
         set run_id = excluded.run_id, result = excluded.result, result_blob = excluded.result_blob, error = excluded.error,
           record = excluded.record, execution_id = excluded.execution_id, finished_at = now())
     select position, status, execution_id, poison, retried, usage from moved`,
      [
        run.workspace_id,
        run.run_id,
        run.job_id ?? run.suite_id,
        run.recipe_sha256,
        over.map(({ position }) => position),
        over.map(({ executionId }) => executionId),
        metered,
        over.map(({ attempt }) => attempt),
        over.map(({ verdict }) => verdict.status),
        over.map(({ verdict }) => (verdict.status === 'pending' ? verdict.again_in_s : null)),
        over.map(({ verdict }) => verdict.status === 'failed' && verdict.remember),
        over.map(({ text }) => text),
      ],
    ),
  )

export type Refused = Claimed & { error: { code: string; message: string }; text: string | null }

/**
 * Fails records for which no execution could be started. `first_failed` counts those that had not failed in an earlier
 * run.
 */
export const failRecords = (tx: Tx, run: Run, refused: Refused[]): Promise<{ failed: number; first_failed: number }> =>
  joinByHash(tx, () =>
    tx.row(
      `with given as materialized (select * from unnest($5::integer[], $6::integer[], $7::json[], $8::json[]) as e (position, attempt, error, record)),
     moved as (
       update ledger_records r set status = 'failed', error = e.error, attempt = e.attempt, finished_at = now() from given e
       where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($5) and r.position = e.position and ${ITS_ATTEMPT}
       returning r.input_sha256 as input, r.retried, r.error, e.record),
     kept as (
       insert into ledger_results (workspace_id, subject_id, recipe_sha256, record_sha256, run_id, error, record)
       select distinct on (input) $1, $3, $4, input, $2, error, record from moved where input is not null order by input
       on conflict (workspace_id, subject_id, recipe_sha256, record_sha256) do update
         set run_id = excluded.run_id, result = null, result_blob = null, error = excluded.error, record = excluded.record,
           execution_id = null, finished_at = now())
     select count(*) as failed, count(*) filter (where not retried) as first_failed from moved`,
      [
        run.workspace_id,
        run.run_id,
        run.job_id ?? run.suite_id,
        run.recipe_sha256,
        refused.map(({ position }) => position),
        refused.map(({ attempt }) => attempt),
        refused.map(({ error }) => JSON.stringify(error)),
        refused.map(({ text }) => text),
      ],
    ),
  )

export type BadResult = { position: number; error: { code: string; message: string }; record: JsonObject }

/** Fails records whose result cannot be stored, like other failed records. Returns how they were counted before. */
export const failResults = (tx: Tx, run: Run, bad: BadResult[]): Promise<{ succeeded: number; skipped: number }> =>
  tx.row(
    `with given as materialized (select * from unnest($5::integer[], $6::json[], $7::json[]) as g (position, error, record)),
     before as materialized (select r.position, r.status, r.input_sha256, coalesce(r.input_sha256, r.record_sha256) as input from ledger_records r
       where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($5) and r.status in ('succeeded', 'skipped') for update),
     failed as (update ledger_records r set status = 'failed', error = g.error from given g join before b using (position)
       where r.workspace_id = $1 and r.run_id = $2 and r.position = any ($5) and r.position = g.position),
     kept as (update ledger_results x set error = g.error, record = g.record, result = null, result_blob = null
       from before b join given g using (position) where x.workspace_id = $1 and x.subject_id = $3 and x.recipe_sha256 = $4
         and x.record_sha256 = b.input and b.input_sha256 is not null),
     forgotten as (delete from ledger_results x using before b where x.workspace_id = $1 and x.subject_id = $3 and x.recipe_sha256 = $4
       and x.record_sha256 = b.input and b.input_sha256 is null)
     select count(*) filter (where status = 'succeeded')::integer as succeeded,
       count(*) filter (where status = 'skipped')::integer as skipped from before`,
    [
      run.workspace_id,
      run.run_id,
      run.job_id,
      run.recipe_sha256,
      bad.map(({ position }) => position),
      bad.map(({ error }) => JSON.stringify(error)),
      bad.map(({ record }) => JSON.stringify(record)),
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

/** Returns the records from `from` to `to` with their outcomes in this or an earlier run. */
export const readOutcomes = (tx: Tx, run: Run, from: number, to: number): Promise<Outcome[]> =>
  tx.rows<Outcome>(
    `select r.position, r.status, r.error, x.result, x.result_blob, r.execution_id from ledger_records r
     left join lateral (select x.result, x.result_blob from ledger_results x where x.workspace_id = $1 and x.subject_id = $3
         and x.recipe_sha256 = $4 and x.record_sha256 = case when r.input_sha256 is null then r.record_sha256 else r.input_sha256 end
         and x.error is null and r.status in ('succeeded', 'skipped', 'pending') limit 1) x on true
     where r.workspace_id = $1 and r.run_id = $2 and r.position >= $5 and r.position < $6 order by r.position`,
    [run.workspace_id, run.run_id, run.job_id ?? run.suite_id, run.recipe_sha256, from, to],
  )

/** Returns the results of earlier runs for records that this run did not process. */
export const readEarlier = (tx: Tx, run: Run, from: number, records: Planned[]): Promise<Outcome[]> =>
  tx.rows<Outcome>(
    `select $4 + p.n::integer - 1 as position, case when p.wanted then 'pending' else 'filtered' end as status, k.error, k.result,
       k.result_blob, k.execution_id
     from unnest($5::bytea[], $6::boolean[]) with ordinality as p (input, wanted, n)
     left join lateral (select x.error, x.result, x.result_blob, x.execution_id from ledger_results x where x.workspace_id = $1
       and x.subject_id = $2 and x.recipe_sha256 = $3 and x.record_sha256 = p.input and p.wanted limit 1) k on true
     order by p.n`,
    [
      run.workspace_id,
      run.job_id ?? run.suite_id,
      run.recipe_sha256,
      from,
      records.map(({ input, sha256 }) => bytes(input ?? sha256)),
      records.map(({ wanted }) => wanted),
    ],
  )

export const listKeys = (tx: Tx, run: Run, from: number, to: number): Promise<{ record_key: string }[]> =>
  tx.rows<{ record_key: string }>(
    `select record_key from ledger_records where workspace_id = $1 and run_id = $2 and position >= $3 and position < $4
       and record_key is not null`,
    [run.workspace_id, run.run_id, from, to],
  )
