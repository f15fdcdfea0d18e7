import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { cpuMs } from '../cpu.ts'
import { median, startBenchDatabase } from '../database.ts'
import { FIVE, repeat, startBenchEngine } from '../executions.ts'

// Compares DBOS (durable execution on PostgreSQL) with our engine: five durable steps, 64 in flight, alternately in one
// run and on one PostgreSQL: `node bench/peers/dbos.ts [version]`. DBOS is installed into a temporary folder from the
// package registry; the repository does not depend on it.

const VERSION = process.argv[2] ?? 'latest'
const COUNT = Number(process.env.COUNT ?? 500)
const ROUNDS = Number(process.env.ROUNDS ?? 3)
const IN_FLIGHT = 64

const folder = mkdtempSync(join(tmpdir(), 'heddle-peer-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
copyFileSync(join(import.meta.dirname, 'dbos-program.mjs'), join(folder, 'program.mjs'))
execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `@dbos-inc/dbos-sdk@${VERSION}`], {
  cwd: folder,
  stdio: ['ignore', 'ignore', 'inherit'],
})
const { version } = JSON.parse(readFileSync(join(folder, 'node_modules/@dbos-inc/dbos-sdk/package.json'), 'utf8'))

const database = await startBenchDatabase()
const superuser = new pg.Client({ connectionString: database.superuserUrl })
await superuser.connect()
await superuser.query('create database peer')
const { rows } = await superuser.query('show server_version')
await superuser.end()

const url = Object.assign(new URL(database.superuserUrl), { pathname: '/peer' }).href
const peer = fork(join(folder, 'program.mjs'), [url, String(COUNT), String(IN_FLIGHT)], { cwd: folder, execArgv: [] })
await once(peer, 'message')
const bench = await startBenchEngine(database.urls)
const five = bench.define(FIVE)
const ours = (count: number): Promise<void> => repeat(count, IN_FLIGHT, () => bench.runToEnd(five))

async function theirs(): Promise<void> {
  peer.send('go')
  await once(peer, 'message')
}

type Round = { runs_s: number; cpu_ms: number }
async function measure(pid: number, work: () => Promise<void>): Promise<Round> {
  const used = () => cpuMs(pid) + cpuMs(database.postmaster())
  const [before, begunAt] = [used(), performance.now()]
  await work()
  const seconds = (performance.now() - begunAt) / 1000
  return { runs_s: COUNT / seconds, cpu_ms: (used() - before) / COUNT }
}

await ours(500)
const rounds: { heddle: Round; dbos: Round }[] = []
for (let round = 0; round < ROUNDS; round += 1)
  rounds.push({
    dbos: await measure(peer.pid!, theirs),
    heddle: await measure(process.pid, () => ours(COUNT)),
  })
const of = (name: 'heddle' | 'dbos') => ({
  runs_s: Math.round(median(rounds.map((round) => round[name].runs_s))),
  cpu_ms_a_run: Number(median(rounds.map((round) => round[name].cpu_ms)).toFixed(2)),
})
console.log(
  JSON.stringify(
    {
      runs: COUNT,
      postgresql: rows[0].server_version,
      node: process.version,
      heddle: of('heddle'),
      [`dbos ${version}`]: of('dbos'),
      times_as_many: Number(median(rounds.map(({ heddle, dbos }) => heddle.runs_s / dbos.runs_s)).toFixed(1)),
    },
    null,
    2,
  ),
)
peer.disconnect()
await bench.stop()
await database.stop()
process.exit(0)
