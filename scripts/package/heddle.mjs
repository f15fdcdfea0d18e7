#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// `heddle` on Node.js 20 or later: starts the service (no command, or `serve`), or the command line. Both run on Node
// 24: the Node.js that runs this script, or the one that the package includes.

const home = join(dirname(fileURLToPath(import.meta.url)), '..')
const NEEDED = 24

function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED) return process.execPath
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    const file = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    if (existsSync(file)) return file
  } catch {
    // The error is reported below.
  }
  console.error(
    `heddle needs Node ${NEEDED} or newer; this is ${process.version}, and no newer one is installed with it.`,
  )
  process.exit(1)
}

const [command, ...rest] = process.argv.slice(2)
const ofCommands = ['--help', '-h', '--json', '--workspace']
const serves =
  command === undefined || command === 'serve' || (command.startsWith('--') && !ofCommands.includes(command))
const entry = serves ? join(home, 'server', 'main.mjs') : join(home, 'sdk', 'cli', 'main.js')
const given = serves && command === 'serve' ? rest : process.argv.slice(2)
if (serves) process.env.HEDDLE_DATA_DIR ??= join(process.cwd(), 'heddle-data')

const node = findNode()
if (node === process.execPath) {
  process.argv = [process.argv[0], entry, ...given]
  await import(entry)
} else {
  const child = spawn(node, [entry, ...given], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
}
