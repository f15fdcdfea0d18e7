// Runs before `npm start` (start.mjs) and `npm test` on any version of Node.js: installs the locked packages, including
// Node 24, if node_modules is missing or older than the lockfile.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const marker = join(root, 'node_modules', '.package-lock.json')
const lockfile = join(root, 'package-lock.json')

const fresh = existsSync(marker) && statSync(marker).mtimeMs >= statSync(lockfile).mtimeMs
if (!fresh) {
  console.log('heddle: installing packages (once)')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}
