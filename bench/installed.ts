import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './database.ts'
import { startAt } from './starting.ts'

// Starts `npx heddle` from the installed package, each time in an empty directory: `node bench/installed.ts`. The
// package is built, packed, and installed into a temporary folder from the package registry, which takes a minute.
// `cold_ms` is the first start after the installation, with nothing compiled yet; `empty_ms` is the following starts,
// again in empty directories.

const TIMES = Number(process.env.TIMES ?? 3)
const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'heddle-bench-installed-'))
chmodSync(folder, 0o711)
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[] }
execFileSync(process.execPath, [join(root, 'scripts', 'package.ts'), 'heddle'], { cwd: root, ...quiet })
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
execFileSync(
  'npm',
  [
    ...['install', '--no-audit', '--no-fund', '--loglevel=error'],
    join(root, 'dist', 'packages', `heddle-${version}.tgz`),
  ],
  { cwd: folder, env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' }, ...quiet },
)

let made = 0
async function onEmpty(command: string[]): Promise<number> {
  made += 1
  const place = join(folder, `place-${made}`)
  mkdirSync(place)
  const started = await startAt(command, { cwd: place, env: { HEDDLE_LOG_LEVEL: 'error' } })
  await started.stop()
  rmSync(place, { recursive: true, force: true })
  return started.ms
}

const npx = ['npx', 'heddle']
const cold = await onEmpty(npx)
const [again, direct]: [number[], number[]] = [[], []]
for (let n = 0; n < TIMES; n += 1) {
  again.push(await onEmpty(npx))
  direct.push(await onEmpty([process.execPath, join(folder, 'node_modules', 'heddle', 'bin', 'heddle.mjs')]))
}
console.log(
  JSON.stringify(
    {
      node: execFileSync('node', ['--version'], { cwd: folder, encoding: 'utf8' }).trim(),
      cold_ms: cold,
      empty_ms: median(again),
      without_npx_ms: median(direct),
    },
    null,
    2,
  ),
)
