import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// The program as a few files instead of 2,000 modules starts faster and uses less memory
// (docs/decisions/one-program.md). The published package contains the built program. In a checkout, `npm start` builds
// it (scripts/build-server.ts), and the build is used until one of its source files changes.

/**
 * @typedef {object} Built
 * @property {string} directory
 * @property {[path: string, size: number, changedAt: number][]} files the files it was built from
 */

export const ENTRY = 'begin.js'
export const PACKAGED = 'program'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const BUILDS = join(root, 'dist', 'server')

/** @type {string | undefined} */
let found

/**
 * Returns the address of the built program, or undefined if there is none, or only one of other sources.
 * @returns {string | undefined}
 */
export function findProgram() {
  // `npm start` calls this twice, and each search checks a thousand files.
  found ??= lookForProgram()
  return found
}

/** @returns {string | undefined} */
function lookForProgram() {
  const packaged = join(root, PACKAGED, ENTRY)
  if (existsSync(packaged)) return pathToFileURL(packaged).href
  const directory = findBuild(BUILDS)
  const entry = directory && join(directory, ENTRY)
  return entry && existsSync(entry) ? pathToFileURL(entry).href : undefined
}

/**
 * Returns the last build in a folder, if none of its source files has changed since.
 * @param {string} builds
 * @returns {string | undefined}
 */
export function findBuild(builds) {
  const built = readRecord(builds)
  return built?.files.every(isUnchanged) ? join(builds, built.directory) : undefined
}

/**
 * @param {string} builds
 * @param {string} directory
 * @param {Built['files']} files
 */
export function recordBuild(builds, directory, files) {
  const draft = join(builds, `.built-${process.pid}`)
  writeFileSync(draft, JSON.stringify({ directory, files }))
  renameSync(draft, join(builds, RECORD))
}

/**
 * Describes a file, or a folder, whose modification time shows whether files were added or removed.
 * @param {string} path
 * @returns {Built['files'][number]}
 */
export function describe(path) {
  const { size, mtimeMs } = statSync(join(root, path))
  return [path, size, mtimeMs]
}

const RECORD = 'built.json'

/**
 * @param {string} builds
 * @returns {Built | undefined}
 */
function readRecord(builds) {
  try {
    return JSON.parse(readFileSync(join(builds, RECORD), 'utf8'))
  } catch {
    return undefined
  }
}

/** @param {Built['files'][number]} file */
function isUnchanged([path, size, changedAt]) {
  const found = statSync(join(root, path), { throwIfNoEntry: false })
  return found?.size === size && found.mtimeMs === changedAt
}
