import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { cpuMs } from './cpu.ts'
import { startBenchDatabase } from './database.ts'
import { eventToResumed } from './resumed.ts'
import { makeBenchPerson, startBenchService } from './world.ts'

// Measures the cost of executions that wait for events while no event arrives, and how soon one of them continues.
// Reports processor time of the service and of the database, transactions per second, and memory of the service, with
// no and with many waiting executions.

const WAITING = Number(process.env.WAITING ?? 100_000)
const IDLE_S = Number(process.env.IDLE_S ?? 60)
const TIMES = Number(process.env.TIMES ?? 100)

const database = await startBenchDatabase()
const observer = new pg.Client({
  connectionString: Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href,
})
await observer.connect()
const { key, workspaceId } = await makeBenchPerson(database)
const service = await startBenchService(database)

const transactions = async (): Promise<number> =>
  Number(
    (await observer.query(`select xact_commit + xact_rollback as n from pg_stat_database where datname = 'bench'`))
      .rows[0].n,
  )

/**
 * Waits for the work that follows the start of a wait: each wait is compared once with the resource that it waits for,
 * 20 s after it started, and each execution is added to the word index one to two minutes after it started. That is the
 * cost of starting to wait, not of waiting.
 */
const settled = async (): Promise<void> => {
  const isSettled = `select not exists (select from wait_checks) and not exists (select from run_index_open where not indexed)
      and coalesce(covered_to > (select execution_id from executions order by execution_id desc limit 1), true) as yes from run_index_state`
  while (!(await observer.query<{ yes: boolean }>(isSettled)).rows[0]!.yes) await sleep(500)
}

const idle = async () => {
  await settled()
  // Dead rows of earlier work are not a cost of waiting either. Autovacuum checks once a minute, in both measurements.
  await observer.query('vacuum (analyze)')
  // Backends report their statistics up to ten seconds late.
  await sleep(15_000)
  const before = { service: cpuMs(service.child.pid!), database: cpuMs(database.postmaster()), n: await transactions() }
  await sleep(IDLE_S * 1000)
  const round = (value: number): number => Number((value / IDLE_S).toFixed(1))
  return {
    service_cpu_ms_s: round(cpuMs(service.child.pid!) - before.service),
    database_cpu_ms_s: round(cpuMs(database.postmaster()) - before.database),
    transactions_s: round((await transactions()) - before.n - 1),
    heap_mb: Number(((await service.memory()).heap / 2 ** 20).toFixed(1)),
  }
}

const measure = async () => {
  await settled()
  return { event_to_resumed: await eventToResumed(service.base, key, TIMES), idle: await idle() }
}

const none = await measure()
await observer.query(
  `with made as (
     insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, waiting_for, due_at, snapshot, snapshot_seq)
     select uuidv7(), $1, 'adhoc:x', 'waiting', 'user', '[{"kind": "event"}]', now() + interval '1 day', '{}', 5
     from generate_series(1, $2::integer) returning workspace_id, execution_id)
   insert into event_waits (workspace_id, wait_id, execution_id, node_path, node_id, key, callback_hash, schema, due_at)
   select workspace_id, uuidv7(), execution_id, 'w', 'w', 'filled ' || execution_id, sha256(execution_id::text::bytea), 'true', now() + interval '1 day'
   from made`,
  [workspaceId, WAITING],
)
await observer.query('vacuum (analyze)')
await observer.query('checkpoint')
const many = await measure()

const more = (figure: 'service_cpu_ms_s' | 'database_cpu_ms_s' | 'transactions_s'): number =>
  Number((many.idle[figure] - none.idle[figure]).toFixed(1))
const waiting_costs = {
  cpu_ms_s: Number((more('service_cpu_ms_s') + more('database_cpu_ms_s')).toFixed(1)),
  transactions_s: more('transactions_s'),
}
console.log(JSON.stringify({ waiting: WAITING, none, many, waiting_costs }, null, 2))
service.stop()
await new Promise((resolve) => service.child.once('exit', resolve))
await observer.end()
await database.stop()
process.exit(0)
