import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './database.ts'
import { pssMb, residentMb, startAt } from './starting.ts'

// Measures the program with its own PostgreSQL: the time from the start of the process until `/healthz` responds, in an
// empty directory and in a directory of an earlier start, directly and through `npm start`, and the memory of both ten
// seconds later.

const TIMES = Number(process.env.TIMES ?? 5)
const REST_S = 10
const root = join(import.meta.dirname, '..')
const dataDir = mkdtempSync(join(tmpdir(), 'heddle-bench-start-'))
chmodSync(dataDir, 0o711)
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))

const program = [process.execPath, join(root, 'server', 'main.mjs')]
const env = { HEDDLE_DATA_DIR: dataDir, HEDDLE_PROCESSES: '1' }

async function take(command: string[], restS = 0): Promise<{ ms: number; mb: number; databaseMb?: number }> {
  const started = await startAt(command, { cwd: root, env })
  await started.rest(restS)
  const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0])
  const databaseMb = pssMb(postmaster)
  const taken = { ms: started.ms, mb: residentMb(started.pid), ...(databaseMb !== undefined && { databaseMb }) }
  await started.stop()
  return taken
}

spawnSync(process.execPath, [join(root, 'scripts', 'build-server.ts')], { stdio: 'inherit' })
const first = await take(program, REST_S)
const later: number[] = []
const npm: number[] = []
for (let n = 0; n < TIMES; n += 1) {
  later.push((await take(program)).ms)
  npm.push((await take(['npm', 'start'])).ms)
}
const last = await take(program, REST_S)
console.log(
  JSON.stringify(
    {
      first_ms: first.ms,
      second_ms: median(later),
      npm_start_ms: median(npm),
      first_rss_mb: first.mb,
      second_rss_mb: last.mb,
      ...(last.databaseMb !== undefined && { second_database_mb: last.databaseMb }),
    },
    null,
    2,
  ),
)
