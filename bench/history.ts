import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { listInbox } from '#areas/approvals/store'
import { searchExecutions } from '#areas/executions/search'
import { listByWorkflow } from '#areas/executions/store'
import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { cpuMs } from './cpu.ts'
import { median, startBenchDatabase } from './database.ts'
import { FIVE, repeat, startBenchEngine } from './executions.ts'
import { makeReferenceEngine } from './reference-engine.ts'
import { makeBenchPerson } from './world.ts'

// Measures what must not grow: the cost of an execution with a long history and many waiting executions, the work of an
// idle system, the memory of a program that has done much work, and the state of a map over many items. Costs are
// processor time per execution, of this program and of the database, which is the same on a machine with other load.

const FINISHED = Number(process.env.FINISHED ?? 1_000_000)
const WAITING = Number(process.env.WAITING ?? 100_000)
/** The number of workspaces that contain half of the executions; the other half is in one workspace. */
const SPACES = Number(process.env.SPACES ?? 10_000)
/** The number of workflows in each workspace. */
const WORKFLOWS = 10
const MANY = Number(process.env.MANY ?? 200_000)
const ITEMS = Number(process.env.ITEMS ?? 100_000)
const PER_ROUND = Number(process.env.PER_ROUND ?? 3000)
const ROUNDS = 5
const IN_FLIGHT = 64
const IDLE_S = 10
const LOOKS = 101
const MB = 2 ** 20

const database = await startBenchDatabase()
const observer = new pg.Client({
  connectionString: Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href,
})
await observer.connect()
const bench = await startBenchEngine(database.urls)
const plain = makeReferenceEngine(database.urls.engine)

const five = bench.define(FIVE)
const execute = (): Promise<void> => bench.runToEnd(five)

const many = (count: number, one: () => Promise<void>): Promise<void> => repeat(count, IN_FLIGHT, one)

type Cost = { program: number; database: number; ms: number }

const costOf = async (one: () => Promise<void>): Promise<Cost> => {
  const [program, server, begunAt] = [process.cpuUsage(), cpuMs(database.postmaster()), performance.now()]
  await many(PER_ROUND, one)
  const used = process.cpuUsage(program)
  return {
    program: (used.user + used.system) / 1000 / PER_ROUND,
    database: (cpuMs(database.postmaster()) - server) / PER_ROUND,
    ms: (performance.now() - begunAt) / PER_ROUND,
  }
}

/** Returns the engine's cost, and its time as a ratio to the plain program in the same rounds. */
const measure = async () => {
  const rounds: { engine: Cost; plain: Cost }[] = []
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ plain: await costOf(plain.execute), engine: await costOf(execute) })
  const of = (pick: (round: (typeof rounds)[number]) => number): number => Number(median(rounds.map(pick)).toFixed(3))
  return {
    program_cpu_ms: of(({ engine }) => engine.program),
    database_cpu_ms: of(({ engine }) => engine.database),
    cpu_ms: of(({ engine }) => engine.program + engine.database),
    plain_cpu_ms: of((round) => round.plain.program + round.plain.database),
    engine_ratio: of((round) => round.plain.ms / round.engine.ms),
  }
}

const idleTransactions = async (): Promise<number> => {
  const read = async (): Promise<number> =>
    Number(
      (await observer.query(`select xact_commit + xact_rollback as n from pg_stat_database where datname = 'bench'`))
        .rows[0].n,
    )
  // Backends report their statistics up to ten seconds late.
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  const before = await read()
  await new Promise((resolve) => setTimeout(resolve, IDLE_S * 1000))
  // Subtracts the transaction of the measurement itself.
  return Number((((await read()) - before - 1) / IDLE_S).toFixed(1))
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Returns the memory of the program, and the part of it that is still referenced. */
const memory = (): { rss: number; heap: number } => {
  collect()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss: Math.round(rss / MB), heap: Number((heapUsed / MB).toFixed(1)) }
}

// A user with a workflow of a hundred executions, which are listed with and without all the others. The page contains
// ended executions both times: waiting ones cost more, because the page shows what they wait for.
const person = await makeBenchPerson(database)
const own = newId()
await observer.query(`insert into workflows (workspace_id, workflow_id, name, owner_id) values ($1, $2, 'Own', $3)`, [
  person.workspaceId,
  own,
  person.userId,
])
await observer.query(
  `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, created_at, finished_at, results)
   select uuidv7(interval '-3 hours'), $1, $2, 'adhoc:own', 'succeeded', 'user', now(), now(), '7' from generate_series(1, 100)`,
  [person.workspaceId, own],
)

/**
 * Returns the median time of each query in ms: finding executions to claim and to wake, and the pages that a user
 * opens.
 */
const queryTimes = async (): Promise<Record<string, number>> => {
  const [worker] = (await observer.query<{ worker_id: string }>('select worker_id from workers where not dead')).rows
  const nowhere = '00000000-0000-0000-0000-000000000000'
  const scope = { workspaceId: person.workspaceId, userId: person.userId }
  const asPerson = <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => bench.db.tenant(scope, work)
  const filter = { workflowId: null, systemSlug: null, status: null, trigger: null }
  const listing = { oldestFirst: false, after: null, from: null, to: null, limit: 50 }
  const all: Record<string, () => Promise<unknown>> = {
    claim: () =>
      bench.db.enginePool.query({
        name: 'look-claim',
        text: 'select claimed from engine.claim_placed($1, $2, 64, 16, 64, 1)',
        values: [worker?.worker_id, nowhere],
      }),
    wake: () =>
      bench.db.enginePool.query({
        name: 'look-wake',
        text: 'select woken, last from engine.wake_some($1, 100, 10)',
        values: [nowhere],
      }),
    list: () => asPerson((tx) => listByWorkflow(tx, person.workspaceId, own, listing)),
    search: () => asPerson((tx) => searchExecutions(tx, person.workspaceId, person.userId, filter, listing)),
    inbox: () => asPerson((tx) => listInbox(tx, person.workspaceId, person.userId, { limit: 50 })),
    ready: () => bench.db.appPool.query('select 1'),
  }
  const found: Record<string, number> = {}
  for (const [name, look] of Object.entries(all)) {
    const times: number[] = []
    for (let n = 0; n < LOOKS; n += 1) {
      const begunAt = performance.now()
      await look()
      times.push(performance.now() - begunAt)
    }
    found[name] = Number(median(times).toFixed(2))
  }
  return found
}

await many(2000, execute)
await many(2000, plain.execute)
const empty = {
  looks_ms: await queryTimes(),
  ...(await measure()),
  idle_transactions_s: await idleTransactions(),
  memory_mb: memory(),
}
console.error('empty', empty)

// Half of the executions are in many workspaces, half in the user's workspace, of which the user sees a thousandth.
const fillId = (modulus: number): string =>
  `('00000000-0000-7000-8000-' || lpad((n / 2 % ${modulus})::text, 12, '0'))::uuid`
const filled = `lateral (select case when n % 2 = 0 then ${fillId(SPACES)} else '${person.workspaceId}' end as w,
    case when n % 2000 = 1 then '${own}'::uuid else ${fillId(SPACES * WORKFLOWS)} end as f) as w`
await observer.query(
  `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, created_at, finished_at, results)
   select uuidv7(interval '-1 hour'), w, f, 'adhoc:x', 'succeeded', 'user', now(), now(), '7'
   from generate_series(1, $1::integer) as n, ${filled}`,
  [FINISHED],
)
await observer.query(
  `insert into events (execution_id, seq, workspace_id, at, type, data)
   select execution_id, seq, workspace_id, now(), 'node.succeeded', '{"node_id":"n1","attempt":1,"output":7}'
   from executions, generate_series(1, 2) as seq where definition_ref = 'adhoc:x'`,
)
await observer.query(
  `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, waiting_for, due_at, snapshot, snapshot_seq)
   select uuidv7(interval '-2 hours'), w, f, 'adhoc:x', 'waiting', 'user', '[{"kind": "approval"}]', case when n % 2 = 0 then now() + interval '1 day' end, '{}', 5
   from generate_series(1, $1::integer) as n, ${filled}`,
  [WAITING],
)
// The one-time work of the database after such a fill must not count as a cost of the following executions.
await observer.query('vacuum (analyze) executions')
await observer.query('vacuum (analyze) events')
await observer.query('checkpoint')
console.error(`${FINISHED} ended, ${WAITING} waiting`)
await many(2000, execute)
const full = {
  looks_ms: await queryTimes(),
  ...(await measure()),
  idle_transactions_s: await idleTransactions(),
  memory_mb: memory(),
}
console.error('full', full)

const flat: ReturnType<typeof memory>[] = []
for (let part = 0; part < 8; part += 1) {
  await many(MANY / 8, execute)
  flat.push(memory())
  console.error(`memory after ${((part + 1) * MANY) / 8}`, flat.at(-1))
}

const items = Array.from({ length: ITEMS }, (_, n) => n)
const mapping = bench.define({
  nodes: [
    {
      id: 'm',
      type: 'map',
      args: {
        items: { $ref: 'input.items' },
        concurrency: 100,
        body: {
          nodes: [{ id: 'e', type: 'echo', args: { value: { $ref: 'item' } } }],
          edges: [],
          output: { $ref: 'nodes.e.output' },
        },
      },
    },
  ],
  edges: [],
})
const mapBegunAt = performance.now()
const mapId = newId()
await bench.run(mapping, { items }, { executionId: mapId })
const view = await bench.engine.waitFor(bench.workspaceId, mapId, 600_000)
const mapS = (performance.now() - mapBegunAt) / 1000

console.log(
  JSON.stringify(
    {
      finished: FINISHED,
      waiting: WAITING,
      empty,
      full,
      history_ratio: Number((full.engine_ratio / empty.engine_ratio).toFixed(3)),
      cpu_ratio: Number((empty.cpu_ms / full.cpu_ms).toFixed(3)),
      memory_mb_over: { executions: MANY, rss: flat.map(({ rss }) => rss), heap: flat.map(({ heap }) => heap) },
      map: {
        items: ITEMS,
        status: view?.status ?? 'lost',
        seconds: Number(mapS.toFixed(1)),
        events: view?.seq ?? 0,
      },
    },
    null,
    2,
  ),
)
await observer.end()
await plain.stop()
await bench.stop()
await database.stop()
process.exit(0)
