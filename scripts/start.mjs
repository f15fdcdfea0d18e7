// `npm start` on any version of Node.js: installs the locked packages, builds the program if the build is missing or
// older than its sources, and starts it on Node 24. One script without `prestart`, because each script costs npm a
// shell and a process of Node.js.
import { spawn, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import './ensure-installed.mjs'
import { findProgram } from '../server/built.mjs'

const NEEDED = 24
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const main = join(root, 'server', 'main.mjs')
const isNeeded = Number(process.versions.node.split('.')[0]) === NEEDED
const options = { stdio: 'inherit', shell: process.platform === 'win32' }
const node = isNeeded
  ? process.execPath
  : join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')

// If the build fails, the program starts from its sources.
if (findProgram() === undefined) spawnSync(node, [join(root, 'scripts', 'build-server.ts')], options)

if (isNeeded) await import('../server/main.mjs')
else {
  const child = spawn(node, [main, ...process.argv.slice(2)], options)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
}
