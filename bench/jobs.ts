import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { chain } from '#engine/testing'
import { fromWire } from '#platform/ids'
import { median, startBenchDatabase } from './database.ts'
import { repeat, startBenchEngine } from './executions.ts'
import { importFile } from './upload.ts'
import { memoryOf, watchHealth } from './watch.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// Runs a one-node recipe over 100,000 records (RECORDS), in rounds (ROUNDS) that alternate with the bare engine on the
// same machine: ledger records per second and their ratio. Then one record in a hundred is changed, and exactly these
// records must be processed again. The service is a separate process, new in each round; its memory is the maximum
// since its start.
//   RECORDS=1000000 ROUNDS=1 node bench/jobs.ts

const RECORDS = Number(process.env.RECORDS ?? (process.env.QUICK ? 10_000 : 100_000))
const ROUNDS = Number(process.env.ROUNDS ?? 3)
const BARE = 4000
const IN_FLIGHT = 64

const database = await startBenchDatabase()
const client = new pg.Client({ connectionString: database.superuserUrl.replace(/[^/]*$/, 'bench') })
await client.connect()

/** Returns one-node executions per second through the engine alone, in this process. */
async function measureBare(): Promise<number> {
  const bench = await startBenchEngine(database.urls)
  const ref = bench.define(chain(1))
  const round = async (count: number): Promise<number> => {
    const begunAt = performance.now()
    await repeat(count, IN_FLIGHT, () => bench.runToEnd(ref))
    return (count / (performance.now() - begunAt)) * 1000
  }
  await round(500)
  const rate = await round(BARE)
  await bench.stop()
  return rate
}

type Run = { run_id: string; status: string; finished_at: string | null; counts: Record<string, number> }

const { key } = await makeBenchPerson(database)
const directory = mkdtempSync(join(tmpdir(), 'heddle-bench-jobs-'))
process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
const recordAt = (n: number, city = 'Utrecht') => ({ n, name: `Company ${n}`, city })

async function writeRecords(): Promise<string> {
  function* lines(): Generator<string> {
    for (let from = 0; from < RECORDS; from += 1_000) {
      const count = Math.min(1_000, RECORDS - from)
      yield Array.from({ length: count }, (_, at) => `${JSON.stringify(recordAt(from + at))}\n`).join('')
    }
  }
  const file = join(directory, 'records.jsonl')
  await pipeline(lines(), createWriteStream(file))
  return file
}

const file = await writeRecords()

function expectCounts({ status, counts }: Run, succeeded: number, skipped: number): void {
  const right = counts.succeeded === succeeded && counts.skipped === skipped && counts.failed === 0
  if (status !== 'succeeded' || !right) throw new Error(`${status}, ${JSON.stringify(counts)}`)
}

/** Checks that there is exactly one row for each record. */
async function expectRows(runId: string): Promise<void> {
  const { rows } = await client.query<{ rows: number; records: number; last: number }>(
    `select count(*)::int as rows, count(distinct position)::int as records, max(position) as last from ledger_records where run_id = $1`,
    [fromWire('run', runId)],
  )
  const { rows: found, records, last } = rows[0]!
  if (found !== RECORDS || records !== RECORDS || last !== RECORDS - 1)
    throw new Error(`the ledger has ${found} rows for ${records} records`)
}

/** Measures a new service, a new dataset and a new job: all records, then a hundredth of them. */
async function measureJob() {
  const service = await startBenchService(database)
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
      if (last_run && last_run.run_id !== before && last_run.finished_at !== null)
        return { run: last_run, seconds: (performance.now() - begunAt) / 1000 }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const { dataset_id } = await importFile({ base: service.base, key }, file)
  const { job_id } = await post(service.base, '/api/enrichment-jobs', key, {
    name: 'Bench',
    definition: chain(1),
    mapping: { value: { $ref: 'record.n' }, city: { $ref: 'record.city' } },
    dataset_id,
  })
  const health = watchHealth(service.base)
  const first = await run(job_id!)
  const answers = await health.stop()
  expectCounts(first.run, RECORDS, 0)
  await expectRows(first.run.run_id)
  const { peak } = memoryOf(service.child.pid)
  const changed = Array.from({ length: RECORDS }, (_, n) => recordAt(n, n % 100 === 0 ? 'Delft' : undefined))
  await call('PATCH', `/api/datasets/${dataset_id}`, { records: changed })
  const second = await run(job_id!, first.run.run_id)
  expectCounts(second.run, RECORDS / 100, RECORDS - RECORDS / 100)
  await expectRows(second.run.run_id)
  const { rows } = await client.query<{ executions: number }>(
    'select count(*)::int as executions from executions where trigger_id = $1',
    [job_id],
  )
  if (rows[0]!.executions !== RECORDS + RECORDS / 100) throw new Error(`${rows[0]!.executions} executions`)
  const after = memoryOf(service.child.pid)
  // Lets the service end by itself, so that a profiler can write its results.
  service.child.disconnect()
  return {
    rate: RECORDS / first.seconds,
    onePercentS: second.seconds,
    peak,
    peakAfter: after.peak,
    health: Math.max(...answers),
  }
}

const rounds: ({ bare: number; ratio: number } & Awaited<ReturnType<typeof measureJob>>)[] = []
for (let at = 0; at < ROUNDS; at += 1) {
  const bare = await measureBare()
  const job = await measureJob()
  rounds.push({ bare, ...job, ratio: job.rate / bare })
}
const of = (pick: (round: (typeof rounds)[number]) => number, digits = 0): number =>
  Number(median(rounds.map(pick)).toFixed(digits))

const most = (pick: (round: (typeof rounds)[number]) => number): number => Math.round(Math.max(...rounds.map(pick)))

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
      slowest_health_ms: most(({ health }) => health),
      peak_rss_mb: most(({ peak }) => peak),
      peak_rss_changed_mb: most(({ peakAfter }) => peakAfter),
    },
    null,
    2,
  ),
)
await client.end()
await database.stop()
process.exit(0)
