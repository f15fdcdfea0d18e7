import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { fromWire } from '#platform/ids'
import { now, sendClosedLoad } from './closed-loop.ts'
import { cpuMs } from './cpu.ts'
import { median, startBenchDatabase } from './database.ts'
import { makeHook, post } from './world.ts'

// Runs the program with 1, 2 and 4 processes (`HEDDLE_PROCESSES`), alternately on one database: five-node executions
// completed per second through `POST …/trigger`. Then one of two processes is killed midway, and every accepted
// execution must end.

const COUNTS = [1, 2, 4]
const ROUNDS = Number(process.env.ROUNDS ?? 2)
const PER_ROUND = Number(process.env.PER_ROUND ?? 12_000)
const WARM_UP = 8_000
const CONNECTIONS = 64
const RUNS_BESIDE_KILL = 2_000

const database = await startBenchDatabase()
const superuser = new pg.Client({ connectionString: database.superuserUrl })
await superuser.connect()
await superuser.query('create database processes')
await superuser.end()
const url = Object.assign(new URL(database.superuserUrl), { pathname: '/processes' }).href
const reader = new pg.Client({ connectionString: url })
await reader.connect()
const dataDir = mkdtempSync(join(tmpdir(), 'heddle-bench-processes-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))

type Started = { base: string; child: ChildProcess; key: string; stop(): Promise<void> }
let key = ''

function start(processes: number): Promise<Started> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'server', 'main.mjs')], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATABASE_URL: url,
      HEDDLE_DATA_DIR: dataDir,
      HEDDLE_PROCESSES: String(processes),
      HEDDLE_RATE_LIMITS: 'off',
      HEDDLE_LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}: ${said}`)))
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text
      key ||= /\b(hk_\S+)/.exec(said)?.[1] ?? ''
      const base = /heddle ready on (\S+)/.exec(said)?.[1]
      if (!base) return
      const stop = async (): Promise<void> => {
        const ended = once(child, 'exit')
        child.kill('SIGINT')
        await ended
      }
      resolve({ base, child, key, stop })
    })
  })
}

const definition = {
  nodes: Array.from({ length: 5 }, (_, n) => ({
    id: `n${n}`,
    type: 'set',
    args: { values: { value: { $ref: n === 0 ? 'input.value' : `nodes.n${n - 1}.output.value` } } },
  })),
  edges: Array.from({ length: 4 }, (_, n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` })),
}

const unended = async (): Promise<number> =>
  Number((await reader.query(`select count(*) as n from executions where status in ('queued', 'running')`)).rows[0].n)

const allEnded = async (): Promise<void> => {
  while ((await unended()) > 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

type Round = { rate: number; p99: number; cpu: number }

async function measure(processes: number): Promise<Round> {
  const program = await start(processes)
  const hook = await makeHook(program.base, program.key, definition)
  const load = (amount: number) => sendClosedLoad({ ...hook, body: '{"value":7}', connections: CONNECTIONS, amount })
  // The program is compiled by then, as one that has been running.
  await load(WARM_UP)
  await allEnded()
  const used = () => cpuMs(program.child.pid!) + cpuMs(database.postmaster())
  const before = used()
  const { begunAt, p99_ms } = await load(PER_ROUND)
  await allEnded()
  const round = {
    rate: (PER_ROUND / (now() - begunAt)) * 1000,
    p99: p99_ms,
    cpu: (used() - before) / PER_ROUND,
  }
  await program.stop()
  return round
}

/** Returns how many of the accepted executions did not succeed. */
async function killOne(): Promise<{ accepted: number; lost: number }> {
  const program = await start(2)
  const { workflow_id } = await post(program.base, '/api/workflows', program.key, { name: 'Killed', definition })
  const accepted: string[] = []
  let left = RUNS_BESIDE_KILL
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      // A request on a connection of the killed process is cut off; only requests with a response count.
      const answer = await post(program.base, `/api/workflows/${workflow_id}/run`, program.key, {}).catch(
        () => undefined,
      )
      if (answer) accepted.push(fromWire('exe', answer.execution_id!)!)
      if (accepted.length === RUNS_BESIDE_KILL / 4) process.kill(membersOf(program.child.pid!)[0]!, 'SIGKILL')
    }
  }
  await Promise.all(Array.from({ length: 32 }, client))
  await allEnded()
  const { rows } = await reader.query(
    `select count(*)::integer as n from executions where execution_id = any($1) and status = 'succeeded'`,
    [accepted],
  )
  await program.stop()
  return { accepted: accepted.length, lost: accepted.length - rows[0].n }
}

const membersOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

const rounds = new Map<number, Round[]>(COUNTS.map((count) => [count, []]))
for (let round = 0; round < ROUNDS; round += 1)
  for (const count of COUNTS) rounds.get(count)!.push(await measure(count))
const of = (count: number) => {
  const taken = rounds.get(count)!
  return {
    runs_s: Math.round(median(taken.map(({ rate }) => rate))),
    accepted_p99_ms: median(taken.map(({ p99 }) => p99)),
    cpu_ms_a_run: Number(median(taken.map(({ cpu }) => cpu)).toFixed(2)),
  }
}
const [one, two, four] = COUNTS.map(of)
console.log(JSON.stringify({ one, two, four, killed: await killOne() }, null, 2))
await reader.end()
await database.stop()
process.exit(0)
