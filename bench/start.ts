import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './database.ts'

// The program as `npm start` starts it, with its own PostgreSQL: from the start of the process until `/healthz` answers, on an empty
// directory and on one that it was started on before, and the memory that it holds ten seconds later.

const TIMES = Number(process.env.TIMES ?? 5)
const root = join(import.meta.dirname, '..')
const dataDir = mkdtempSync(join(tmpdir(), 'heddle-bench-start-'))
chmodSync(dataDir, 0o711)
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    }).once('error', () => resolve(false))
  })

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)

async function start(restS: number): Promise<{ ms: number; mb: number }> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(process.execPath, [join(root, 'server', 'main.mjs')], {
    env: { PATH: process.env.PATH, PORT: String(port), HEDDLE_DATA_DIR: dataDir, HEDDLE_PROCESSES: '1' },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  while (!(await answers(port))) await sleep(2)
  const ms = Math.round(performance.now() - began)
  await sleep(restS * 1000)
  const mb = residentMb(child.pid!)
  child.kill('SIGINT')
  await ended
  return { ms, mb }
}

spawnSync(process.execPath, [join(root, 'scripts', 'build-server.ts')], { stdio: 'inherit' })
const first = await start(10)
const later: number[] = []
for (let n = 0; n < TIMES; n += 1) later.push((await start(0)).ms)
const last = await start(10)
console.log(
  JSON.stringify(
    { first_ms: first.ms, second_ms: median(later), first_rss_mb: first.mb, second_rss_mb: last.mb },
    null,
    2,
  ),
)
