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

// Builds the console into dist/web/<hash of its sources>. An existing build is used again, servers that start at the
// same time build once, and a running server keeps the files it started with. Prints the directory.

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

/**
 * Returns the directory of the build of the current sources, if it exists. Sources that have not changed since the last
 * check are not read.
 */
export const findBuilt = (): string | undefined => {
  const last = findBuild(home)
  if (last !== undefined && isBuilt(last)) return last
  const hash = hashOfSources()
  const directory = join(home, hash)
  if (!isBuilt(directory)) return undefined
  remember(hash)
  return directory
}

/** Records the build. If the folder is not writable, the next start only has to read the sources again. */
function remember(hash: string): void {
  const sources = listSources()
  try {
    recordBuild(home, hash, [...new Set([...sources, ...sources.map((file) => dirname(file))])].map(describe))
  } catch {}
}

const WAIT_FOR_BUILD_MS = 120_000

/**
 * Waits while another process builds. SQLite locks the file, because Node.js has no file locks; the kernel releases the
 * lock when the process ends. Without the lock, or after two minutes, two processes may build the same files, and one
 * result is kept.
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
  // The setting of a test run would give the browser the development build of React, which is half as large again.
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
    // Another server may have built it first; its result is the same.
    if (!isBuilt(directory)) renameSync(draft, directory)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  forgetOld(directory)
}

/** Compresses the files. Measured: 1.6 MB of script in 0.6 s; quality 11 takes 4 s and saves 3 %. */
function compress(directory: string): void {
  for (const file of globSync('**/*.{js,css,html,svg,json}', { cwd: directory })) {
    const bytes = readFileSync(join(directory, file))
    if (bytes.length < 1024) continue
    writeFileSync(join(directory, `${file}.gz`), gzipSync(bytes, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(join(directory, `${file}.br`), brotliCompressSync(bytes, { params }))
  }
}

/** The number of builds to keep, because running servers read their files on first request. */
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
