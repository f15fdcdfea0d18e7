import { createHash, type Hash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { describe, findBuild, recordBuild } from '../server/built.mjs'

// Builds the console into dist/web/<hash of its sources>: nothing is done where that is there already, servers that start
// together build it once, and a server goes on with the files it began with. Prints the directory.

const root = join(import.meta.dirname, '..')
const home = join(root, 'dist', 'web')

const SOURCES = ['{web,model,sdk}/**/*', 'package-lock.json', 'scripts/build-web.ts']

const listSources = (): string[] =>
  SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !/\.test\.tsx?$|\.md$/.test(file))
    .sort()

export function hashOfSources(): string {
  const hash: Hash = createHash('sha256')
  for (const file of listSources()) {
    const path = join(root, file)
    if (statSync(path).isFile()) hash.update(file).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}

const isBuilt = (directory: string): boolean => existsSync(join(directory, 'index.html'))

/** Where the built console of these sources is, if it is. Sources that nobody has touched since the last look are not read. */
export const findBuilt = (): string | undefined => {
  const last = findBuild(home)
  if (last !== undefined && isBuilt(last)) return last
  const hash = hashOfSources()
  const directory = join(home, hash)
  if (!isBuilt(directory)) return undefined
  remember(hash)
  return directory
}

/** A folder that cannot be written to costs the next start a look at the sources, no more. */
function remember(hash: string): void {
  const sources = listSources()
  try {
    recordBuild(home, hash, [...new Set([...sources, ...sources.map((file) => dirname(file))])].map(describe))
  } catch {}
}

const WAIT_FOR_BUILD_MS = 120_000

/**
 * Waits while another process builds. The file is locked by SQLite, because Node offers no lock; the kernel drops the lock with the
 * process. Without it, or after two minutes, two processes may build the same files, and one result is kept.
 */
function waitForTurn(): DatabaseSync | undefined {
  try {
    const lock = new DatabaseSync(join(home, '.lock'), { timeout: WAIT_FOR_BUILD_MS })
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return lock
  } catch {
    return undefined
  }
}

async function buildWeb(): Promise<string> {
  mkdirSync(home, { recursive: true })
  const lock = waitForTurn()
  try {
    const directory = join(home, hashOfSources())
    if (!isBuilt(directory)) await buildInto(directory)
    return directory
  } finally {
    lock?.close()
  }
}

async function buildInto(directory: string): Promise<void> {
  // A test run's own setting would give the browser the development build of React, half as large again.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  const draft = join(home, `.building-${process.pid}`)
  rmSync(draft, { recursive: true, force: true })
  try {
    await build({
      configFile: join(root, 'web', 'vite.config.ts'),
      logLevel: 'warn',
      mode: 'production',
      build: { outDir: draft, emptyOutDir: true },
    })
    compress(draft)
    // Another server may have been faster; its result is the same.
    if (!isBuilt(directory)) renameSync(draft, directory)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  forgetOld(directory)
}

/** Measured: 1.6 MB of script in 0.6 s; quality 11 takes 4 s and saves 3 %. */
function compress(directory: string): void {
  for (const file of globSync('**/*.{js,css,html,svg,json}', { cwd: directory })) {
    const bytes = readFileSync(join(directory, file))
    if (bytes.length < 1024) continue
    writeFileSync(join(directory, `${file}.gz`), gzipSync(bytes, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(join(directory, `${file}.br`), brotliCompressSync(bytes, { params }))
  }
}

/** Servers that run read files of theirs when they are first asked for. */
const KEPT = 8

function forgetOld(current: string): void {
  const others = readdirSync(home)
    .filter((name) => /^[0-9a-f]{16}$/.test(name))
    .map((name) => join(home, name))
    .filter((path) => path !== current)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const path of others.slice(KEPT - 1)) rmSync(path, { recursive: true, force: true })
}

if (import.meta.main) console.log(await buildWeb())
