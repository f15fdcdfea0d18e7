import pg from 'pg'
import { chain } from '#engine/testing'
import { now, sendClosedLoad } from './closed-loop.ts'
import { cpuMs } from './cpu.ts'
import { median, startBenchDatabase } from './database.ts'
import { FIVE, repeat } from './executions.ts'
import { makeReferenceEngine } from './reference-engine.ts'
import { makeBenchPerson, makeHook, startBenchService } from './world.ts'

// Measures five-node executions completed per second through `POST …/trigger`: the service is one process, and the load
// comes from a thread of this process over 64 connections. The ratio is to the plain program in the same run. Processor
// time per execution is the same on a machine with other load. The figures under `pure` are those of nodes without
// effects.

const CONNECTIONS = 64
const ROUNDS = 5
const PER_ROUND = Number(process.env.PER_ROUND ?? 12_000)

const database = await startBenchDatabase()
const { key } = await makeBenchPerson(database)
const service = await startBenchService(database)
const hooks = {
  durable: await makeHook(service.base, key, FIVE),
  pure: await makeHook(service.base, key, chain(5)),
}
const plain = makeReferenceEngine(database.urls.engine)
const reader = new pg.Client({ connectionString: database.urls.engine })
await reader.connect()

const unfinished = async (): Promise<number> =>
  Number(
    (
      await reader.query(
        `select (select count(*) from executions where status = 'queued') + (select count(*) from executions
           where status = 'running' and workflow_id is not null) as n`,
      )
    ).rows[0].n,
  )

type Round = { rate: number; p99: number; service: number; database: number }

async function throughHttp(hook: { url: string; token: string }): Promise<Round> {
  const [service0, database0] = [cpuMs(service.child.pid!), cpuMs(database.postmaster())]
  const { begunAt, p99_ms } = await sendClosedLoad({
    ...hook,
    body: '{"value":7}',
    connections: CONNECTIONS,
    amount: PER_ROUND,
  })
  while ((await unfinished()) > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  return {
    rate: (PER_ROUND / (now() - begunAt)) * 1000,
    p99: p99_ms,
    service: (cpuMs(service.child.pid!) - service0) / PER_ROUND,
    database: (cpuMs(database.postmaster()) - database0) / PER_ROUND,
  }
}

async function throughPlain(): Promise<number> {
  const begunAt = performance.now()
  await repeat(PER_ROUND, CONNECTIONS, plain.execute)
  return (PER_ROUND / (performance.now() - begunAt)) * 1000
}

for (const hook of Object.values(hooks)) await throughHttp(hook)
await throughPlain()
const bare: number[] = []
const rounds: Record<keyof typeof hooks, Round[]> = { durable: [], pure: [] }
for (let round = 0; round < ROUNDS; round++) {
  bare.push(await throughPlain())
  rounds.durable.push(await throughHttp(hooks.durable))
  rounds.pure.push(await throughHttp(hooks.pure))
}
const figuresOf = (taken: Round[]) => ({
  trigger_runs_s: Math.round(median(taken.map(({ rate }) => rate))),
  ratio: Number(median(taken.map(({ rate }, round) => rate / bare[round]!)).toFixed(3)),
  accepted_p99_ms: median(taken.map(({ p99 }) => p99)),
  service_cpu_ms: Number(median(taken.map((round) => round.service)).toFixed(3)),
  database_cpu_ms: Number(median(taken.map((round) => round.database)).toFixed(3)),
})
console.log(
  JSON.stringify(
    { plain_runs_s: Math.round(median(bare)), ...figuresOf(rounds.durable), pure: figuresOf(rounds.pure) },
    null,
    2,
  ),
)
await reader.end()
await plain.stop()
service.stop()
await database.stop()
process.exit(0)
