import { setTimeout as sleep } from 'node:timers/promises'
import { kind, startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'
import { median, percentile, startBenchDatabase } from './database.ts'

// Many executions wait for a place under one key. Measures the cost of a decision and a claim, compared with an empty
// queue in the same run, and how soon an execution of another workspace starts in the meantime.

const WAITING = Number(process.env.WAITING ?? 100_000)
const LIMIT = 10
const LOOKS = 200
const HAND_OVER_MS = 5_000

const database = await startBenchDatabase(process.env.BENCH_MIGRATIONS)
/** Blocks the executions of the group until the queue behind them was measured. */
const held = Promise.withResolvers<void>()
const work = kind('work', 'idempotent', async ({ args }) => {
  if (args.hold != null) await held.promise
  return { output: null }
})
const bench = await startTestEngine(database.urls, { nodes: [work], level: 'warn' })
const ref = bench.define({ nodes: [{ id: 'w', type: 'work', args: { hold: { $ref: 'input.key' } } }], edges: [] })
const workflowId = newId()
const settings = { concurrency: { key: { $cel: 'input.key' }, limit: LIMIT, count: 'live' as const } }
const limited = await bench.rule(workflowId, settings)

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begunAt = performance.now()
  await work()
  return performance.now() - begunAt
}
const repeated = async (measured: () => Promise<number>): Promise<number[]> => {
  const times: number[] = []
  for (let n = 0; n < LOOKS; n += 1) times.push(await measured())
  return times
}
const gated = async (): Promise<number> =>
  (
    await bench.db.engine((tx) =>
      tx.row<{ n: number }>(`select count(*)::integer as n from executions where status = 'waiting' and held = false`),
    )
  ).n

/** Runs one execution of another workspace, from start to end. */
const neighbour = async (): Promise<void> => {
  const workspaceId = newId()
  const { executionId } = await bench.engine.start({
    definitionRef: ref,
    workflowId: null,
    versionId: null,
    workspaceId,
    input: {},
    trigger: { kind: 'user', id: null },
    startedBy: null,
    startInS: 0,
  })
  await bench.engine.waitFor(workspaceId, executionId, 30_000)
}
/**
 * Makes a decision for all groups of the workflow, as after the end of an execution. A decision that finds another in
 * progress is not counted.
 */
const decide = async (): Promise<number> => {
  for (;;) {
    const begunAt = performance.now()
    const busy = await bench.db.engine(async (tx) => {
      await tx.rows('insert into flow_dirty (workspace_id, workflow_id) values ($1, $2)', [
        bench.workspaceId,
        workflowId,
      ])
      const { busy } = await tx.row<{ busy: boolean }>('select busy from engine.flow_decide($1, $2, 500)', [
        bench.workspaceId,
        workflowId,
      ])
      return busy
    })
    if (!busy) return performance.now() - begunAt
  }
}
const claim = () =>
  bench.db.engine((tx) =>
    tx.rows(`select claimed from engine.claim_placed($1, $2, 128, 16, 512, 16)`, [
      newId(),
      '00000000-0000-0000-0000-000000000000',
    ]),
  )
const measure = async () => ({
  decide_ms: median(await repeated(decide)),
  claim_ms: median(await repeated(() => timed(claim))),
  neighbour_p50_ms: percentile(await repeated(() => timed(neighbour)), 50),
})

const before = await measure()
const startedIn = await timed(async () => {
  for (let n = 0; n < WAITING; n += 500)
    await Promise.all(Array.from({ length: 500 }, () => bench.run(ref, { key: 'one' }, limited)))
})
const waiting = await gated()
const full = await measure()

/**
 * Returns the number of places handed over per second on an otherwise idle system. Counting the waiting executions
 * takes a while and is not part of the time.
 */
const handedOver = async (): Promise<number> => {
  const from = await gated()
  const begunAt = performance.now()
  await sleep(HAND_OVER_MS)
  const took = performance.now() - begunAt
  return ((from - (await gated())) / took) * 1000
}
held.resolve()
const perSecond = await handedOver()
const during = percentile(await repeated(() => timed(neighbour)), 50)

const round = (value: number): number => Number(value.toFixed(2))
const rounded = (figures: Record<string, number>) =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)]))
console.log(
  JSON.stringify(
    {
      waiting,
      starts_s: round((WAITING / startedIn) * 1000),
      empty: rounded(before),
      full: rounded(full),
      under_way: { neighbour_p50_ms: round(during), places_s: round(perSecond) },
      decide_ratio: round(before.decide_ms / full.decide_ms),
      claim_ratio: round(before.claim_ms / full.claim_ms),
    },
    null,
    2,
  ),
)
await bench.stop()
await database.stop()
