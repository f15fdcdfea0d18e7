import pg from 'pg'
import { chain, startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'
import { median, startBenchDatabase } from './database.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// A one-node recipe over 100,000 records (RECORDS), in rounds (ROUNDS) that alternate with what the engine does bare on the same
// machine: ledger records a second and their ratio. Then one record in a hundred is changed, and exactly those must be done
// again. The service is a process of its own, new in each round.

const RECORDS = Number(process.env.RECORDS ?? (process.env.QUICK ? 10_000 : 100_000))
const ROUNDS = Number(process.env.ROUNDS ?? 3)
const BARE = 4000
const IN_FLIGHT = 64

const database = await startBenchDatabase()
const client = new pg.Client({ connectionString: database.superuserUrl.replace(/[^/]*$/, 'bench') })
await client.connect()

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
  const rate = await round(BARE)
  await bench.stop()
  return rate
}

type Run = { run_id: string; status: string; finished_at: string | null; counts: Record<string, number> }

const { key } = await makeBenchPerson(database)
const records = Array.from({ length: RECORDS }, (_, n) => ({ n, name: `Company ${n}`, city: 'Utrecht' }))
const changed = records.map((record) => (record.n % 100 === 0 ? { ...record, city: 'Delft' } : record))

function expectCounts({ status, counts }: Run, succeeded: number, skipped: number): void {
  const right = counts.succeeded === succeeded && counts.skipped === skipped && counts.failed === 0
  if (status !== 'succeeded' || !right) throw new Error(`${status}, ${JSON.stringify(counts)}`)
}

/** A new service, a new dataset and a new job: all records, then the hundredth part. */
async function measureJob() {
  const service = await startBenchService(database)
  let peak = 0
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(service.base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as { last_run: Run | null }
  }
  const run = async (jobId: string, before?: string): Promise<{ run: Run; seconds: number }> => {
    const begunAt = performance.now()
    await call('POST', `/api/enrichment-jobs/${jobId}/run-now`, {})
    for (;;) {
      const { last_run } = await call('GET', `/api/enrichment-jobs/${jobId}`)
      peak = Math.max(peak, (await service.memory()).rss)
      if (last_run && last_run.run_id !== before && last_run.finished_at !== null)
        return { run: last_run, seconds: (performance.now() - begunAt) / 1000 }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const { dataset_id } = await post(service.base, '/api/datasets', key, { name: 'Bench', records })
  const { job_id } = await post(service.base, '/api/enrichment-jobs', key, {
    name: 'Bench',
    definition: chain(1),
    mapping: { value: { $ref: 'record.n' } },
    dataset_id,
  })
  const first = await run(job_id!)
  expectCounts(first.run, RECORDS, 0)
  await call('PATCH', `/api/datasets/${dataset_id}`, { records: changed })
  const second = await run(job_id!, first.run.run_id)
  expectCounts(second.run, RECORDS / 100, RECORDS - RECORDS / 100)
  const { rows } = await client.query<{ executions: number }>(
    'select count(*)::int as executions from executions where trigger_id = $1',
    [job_id],
  )
  if (rows[0]!.executions !== RECORDS + RECORDS / 100) throw new Error(`${rows[0]!.executions} executions`)
  // Ends by itself, so that a profiler can write down what it saw.
  service.child.disconnect()
  return { rate: RECORDS / first.seconds, onePercentS: second.seconds, peak }
}

const rounds: ({ bare: number; ratio: number } & Awaited<ReturnType<typeof measureJob>>)[] = []
for (let at = 0; at < ROUNDS; at += 1) {
  const bare = await measureBare()
  const job = await measureJob()
  rounds.push({ bare, ...job, ratio: job.rate / bare })
}
const of = (pick: (round: (typeof rounds)[number]) => number, digits = 0): number =>
  Number(median(rounds.map(pick)).toFixed(digits))

console.log(
  JSON.stringify(
    {
      records: RECORDS,
      rounds: ROUNDS,
      bare_runs_s: of(({ bare }) => bare),
      records_s: of(({ rate }) => rate),
      ratio: of(({ ratio }) => ratio, 2),
      one_percent_again: RECORDS / 100,
      one_percent_s: of(({ onePercentS }) => onePercentS, 1),
      peak_rss_mb: Math.round(Math.max(...rounds.map(({ peak }) => peak)) / 2 ** 20),
    },
    null,
    2,
  ),
)
await client.end()
await database.stop()
process.exit(0)
