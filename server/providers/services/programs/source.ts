import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import {
  compareVersions,
  integrityOf,
  type NpmCaller,
  type NpmTurns,
  npmProblem,
  PACKAGE_VERSION,
  runNpm,
  shortHash,
} from '../npm.ts'
import { PieceFailure } from '../pieces/index.ts'
import { unpack } from '../pieces/tar.ts'
import { entryOf, PROGRAM_NAME, type ProgramLock, type ProgramPackage } from './index.ts'

// Provides the code of MCP servers that are programs. npm resolves the dependencies of a package once, at import. After
// that, every machine installs the same releases with the same hashes. No code of a package runs during its
// installation.

export type ProgramSource = {
  /** Fetches a release, by default the newest. Throws PieceFailure. */
  fetch(caller: NpmCaller, name: string, version?: string): Promise<FetchedProgram>
  /**
   * Returns the folder of a program that was imported before, and installs the program again if it is not on this
   * machine. Throws PieceFailure.
   */
  folderOf(caller: NpmCaller, program: ProgramPackage, findLock: () => Promise<ProgramLock>): Promise<string>
}

export type FetchedProgram = ProgramPackage & { entry: string; lock: ProgramLock; folder: string }

type Options = { folder: string; allowed: readonly string[]; mirror: string | null; npmTurns: NpmTurns }

const MAX_PACKAGE = 25 * 1024 * 1024
const MAX_PACKAGES = 500
const MAX_INSTALLED = 300 * 1024 * 1024
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', '--no-bin-links']

const flat = (name: string): string => name.replace(/^@/, '').replace('/', '-')
const inModules = (name: string): string => `node_modules/${name}`

function readJson(path: string): Json | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json
  } catch {
    return undefined
  }
}

function sizeOf(folder: string): number {
  let size = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) size += statSync(join(entry.parentPath, entry.name)).size
  return size
}

const root = (name: string, version: string): string =>
  JSON.stringify({ name: 'program', private: true, dependencies: { [name]: version } })

/**
 * Returns the lock, which has no addresses so that it can be installed from any registry. Refuses packages that are not
 * pinned by a hash.
 */
function checkedLock(lock: Json | undefined): JsonObject {
  const packages = isObject(lock) && isObject(lock.packages) ? lock.packages : undefined
  if (!packages) throw new PieceFailure('npm wrote no list of the dependencies of the package')
  if (Object.keys(packages).length > MAX_PACKAGES)
    throw new PieceFailure(`the package has more than ${MAX_PACKAGES} dependencies`)
  for (const [path, about] of Object.entries(packages)) {
    if (path === '' || !isObject(about) || about.inBundle === true) continue
    if (typeof about.integrity !== 'string' || about.link === true || about.resolved !== undefined)
      throw new PieceFailure(`it depends on ${path.replace(/^.*node_modules\//, '')}, which is not in the registry`)
  }
  return lock as JsonObject
}

function requireEntry(folder: string, name: string): string {
  const entry = entryOf(readJson(join(folder, inModules(name), 'package.json')) ?? null, name)
  const path = entry && `${inModules(name)}/${entry}`
  if (path === undefined || path === '' || !existsSync(join(folder, path)))
    throw new PieceFailure('the package has no program to start: its "bin" names none, or several')
  return path
}

export function makeProgramSource({ folder, allowed, mirror, npmTurns }: Options): ProgramSource {
  const requireAllowed = (name: string): void => {
    if (!allowed.includes('*') && !allowed.includes(name))
      throw new PieceFailure(
        'the operator of this installation does not allow this package (HEDDLE_MCP_PACKAGES lists the allowed packages)',
      )
  }
  const placeOf = ({ name, version, integrity }: ProgramPackage): string =>
    join(folder, `${flat(name)}-${version}-${shortHash(integrity)}`)

  /** Builds in a temporary folder, which is then moved into place as a whole. */
  const build = async <T>(work: (part: string) => Promise<T>): Promise<T> => {
    mkdirSync(folder, { recursive: true })
    const part = join(folder, `.${randomUUID()}`)
    mkdirSync(part)
    try {
      return await work(part)
    } finally {
      rmSync(part, { recursive: true, force: true })
    }
  }
  const settle = (part: string, program: ProgramPackage): string => {
    const place = placeOf(program)
    // Another process may have fetched the same release and moved the same files there.
    if (!existsSync(place)) renameSync(part, place)
    return place
  }

  type Release = { name: string; version: string }

  const install = async (
    part: string,
    { name, version }: Release,
    lock: JsonObject,
    signal: AbortSignal,
  ): Promise<void> => {
    writeFileSync(join(part, 'package.json'), root(name, version))
    writeFileSync(join(part, 'package-lock.json'), JSON.stringify(lock))
    const problem = await runNpm(['ci', ...QUIET], part, signal)
    if (problem !== undefined) throw new PieceFailure(npmProblem(problem, `${name}@${version}`))
    if (sizeOf(part) > MAX_INSTALLED) throw new PieceFailure('the package with its dependencies is larger than 300 MB')
  }

  const fromRegistry = (name: string, wanted: string | undefined, signal: AbortSignal): Promise<FetchedProgram> =>
    build(async (part) => {
      writeFileSync(join(part, 'package.json'), root(name, wanted ?? 'latest'))
      const resolve = ['install', '--package-lock-only', '--omit-lockfile-registry-resolved', ...QUIET]
      const problem = await runNpm(resolve, part, signal)
      if (problem !== undefined) throw new PieceFailure(npmProblem(problem, `${name}@${wanted ?? 'latest'}`))
      const resolved = checkedLock(readJson(join(part, 'package-lock.json')))
      const packages = resolved.packages as JsonObject
      const own = packages[inModules(name)]
      const version = isObject(own) ? String(own.version) : ''
      const lock = { ...resolved, packages: { ...packages, '': JSON.parse(root(name, version)) as JsonObject } }
      await install(part, { name, version }, lock, signal)
      const entry = requireEntry(part, name)
      const program = { name, version, integrity: integrityOf(canonical(lock)) }
      return { ...program, entry, lock, folder: settle(part, program) }
    })

  const fromMirror = (from: string, name: string, wanted: string | undefined): Promise<FetchedProgram> =>
    build(async (part) => {
      const prefix = `${flat(name)}-`
      const version = (existsSync(from) ? readdirSync(from) : [])
        .filter((file) => file.startsWith(prefix) && file.endsWith('.tgz'))
        .map((file) => file.slice(prefix.length, -'.tgz'.length))
        .filter((found) => PACKAGE_VERSION.test(found) && (wanted === undefined || found === wanted))
        .sort(compareVersions)
        .at(-1)
      if (version === undefined)
        throw new PieceFailure(`the mirror of this installation has no package ${name}${wanted ? ` ${wanted}` : ''}`)
      const bytes = readFileSync(join(from, `${prefix}${version}.tgz`))
      if (bytes.length > MAX_PACKAGE) throw new PieceFailure('the package is larger than 25 MB')
      const own = join(part, inModules(name))
      mkdirSync(own, { recursive: true })
      unpack(bytes, own)
      const about = readJson(join(own, 'package.json'))
      const needed = isObject(about) && isObject(about.dependencies) ? Object.keys(about.dependencies) : []
      const missing = needed.find((other) => !existsSync(join(own, inModules(other))))
      if (missing !== undefined)
        throw new PieceFailure(`the package in the mirror does not bundle ${missing}, which it depends on`)
      const entry = requireEntry(part, name)
      const program = { name, version, integrity: integrityOf(bytes) }
      return { ...program, entry, lock: null, folder: settle(part, program) }
    })

  const again = async (program: ProgramPackage, lock: ProgramLock, signal: AbortSignal): Promise<string> => {
    const changed = `the package ${program.name} ${program.version} is not the one that was imported`
    if (lock === null) {
      if (mirror === null) throw new PieceFailure(`${changed}: it came from a mirror, and no mirror is configured`)
      const { integrity, folder: place } = await fromMirror(mirror, program.name, program.version)
      if (integrity !== program.integrity) throw new PieceFailure(changed)
      return place
    }
    if (integrityOf(canonical(lock)) !== program.integrity) throw new PieceFailure(changed)
    return build(async (part) => {
      await install(part, program, lock, signal)
      return settle(part, program)
    })
  }

  return {
    async fetch(caller, name, version) {
      if (!PROGRAM_NAME.test(name) || (version !== undefined && !PACKAGE_VERSION.test(version)))
        throw new PieceFailure('there is no package with such a name or version')
      requireAllowed(name)
      if (mirror !== null) return fromMirror(mirror, name, version)
      return npmTurns(caller, () => fromRegistry(name, version, caller.signal))
    },
    async folderOf(caller, program, findLock) {
      requireAllowed(program.name)
      const place = placeOf(program)
      if (existsSync(place)) return place
      const lock = await findLock()
      if (lock === null) return again(program, lock, caller.signal)
      return npmTurns(caller, async () =>
        // Another call may have installed it during the wait.
        existsSync(place) ? place : again(program, lock, caller.signal),
      )
    },
  }
}

/** Serializes with sorted fields, because the database returns the fields of an object in another order. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name]!)}`).join(',')}}`
}
