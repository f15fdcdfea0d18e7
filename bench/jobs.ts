import { chain, startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'
import { median, startBenchDatabase } from './database.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// A one-node recipe over 100,000 records (QUICK=1: 10,000): ledger records a second, as a ratio to what the engine does bare
// on the same machine; then one in a hundred changed, and how many were done again. The service is a process of its own.

const RECORDS = Number(process.env.RECORDS ?? (process.env.QUICK ? 10_000 : 100_000))
const BARE = 4000
const IN_FLIGHT = 64
const ROUNDS = 3

const database = await startBenchDatabase()

/** One-node executions a second through the engine alone, in this process. */
async function measureBare(): Promise<number> {
  const bench = await startTestEngine(database.urls, { level: 'warn' })
  const ref = bench.define(chain(1))
  const ends = new Map<string, { seen: number; done(): void }>()
  bench.engine.onAppended((ids) => {
    for (const id of ids) {
      const end = ends.get(id)
      if (end && ++end.seen === 2) end.done()
    }
  })
  const execute = async (): Promise<void> => {
    const id = newId()
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(id, { seen: 0, done: resolve })
    await bench.run(ref, { value: 7 }, { executionId: id })
    await promise
    ends.delete(id)
  }
  const round = async (count: number): Promise<number> => {
    let left = count
    const begunAt = performance.now()
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (left-- > 0) await execute()
      }),
    )
    return (count / (performance.now() - begunAt)) * 1000
  }
  await round(500)
  const rates: number[] = []
  for (let at = 0; at < ROUNDS; at += 1) rates.push(await round(BARE))
  await bench.stop()
  return median(rates)
}

type Run = { run_id: string; status: string; finished_at: string | null; counts: Record<string, number> }

const bare = await measureBare()
const service = await startBenchService(database)
const { key } = await makeBenchPerson(database)
const call = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(service.base + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as { last_run: Run | null }
}

let most = 0
async function run(jobId: string, before: string | undefined): Promise<{ run: Run; seconds: number }> {
  const begunAt = performance.now()
  await call('POST', `/api/enrichment-jobs/${jobId}/run-now`, {})
  for (;;) {
    const { last_run } = await call('GET', `/api/enrichment-jobs/${jobId}`)
    most = Math.max(most, (await service.memory()).rss)
    if (last_run && last_run.run_id !== before && last_run.finished_at !== null)
      return { run: last_run, seconds: (performance.now() - begunAt) / 1000 }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const records = Array.from({ length: RECORDS }, (_, n) => ({ n, name: `Company ${n}`, city: 'Utrecht' }))
const { dataset_id } = await post(service.base, '/api/datasets', key, { name: 'Bench', records })
const { job_id } = await post(service.base, '/api/enrichment-jobs', key, {
  name: 'Bench',
  definition: chain(1),
  mapping: { value: { $ref: 'record.n' } },
  dataset_id,
})
const first = await run(job_id!, undefined)
const changed = records.map((record) => (record.n % 100 === 0 ? { ...record, city: 'Delft' } : record))
await call('PATCH', `/api/datasets/${dataset_id}`, { records: changed })
const second = await run(job_id!, first.run.run_id)

const rate = RECORDS / first.seconds
console.log(
  JSON.stringify(
    {
      records: RECORDS,
      bare_runs_s: Math.round(bare),
      records_s: Math.round(rate),
      ratio: Number((rate / bare).toFixed(2)),
      first: first.run.counts,
      one_percent_changed: second.run.counts,
      one_percent_s: Number(second.seconds.toFixed(1)),
      peak_rss_mb: Math.round(most / 2 ** 20),
    },
    null,
    2,
  ),
)
service.stop()
await database.stop()
process.exit(0)
