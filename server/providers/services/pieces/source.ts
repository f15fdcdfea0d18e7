import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import { PieceFailure, type PiecePackage } from './index.ts'
import { unpack } from './tar.ts'

// Provides the code of pieces, from the registry that npm is configured with or from a folder of the operator. Fetched
// packages are stored, and a piece that was imported before is accepted only with the same integrity.

export type PieceSourceOptions = {
  /** The folder of the unpacked packages. */
  folder: string
  /** Names of the allowed pieces, or `*`. */
  allowed: readonly string[]
  /** A folder with packages in the format of `npm pack`. If set, nothing is fetched. */
  mirror: string | null
  npmTurns: NpmTurns
}

export type PieceSource = {
  isAllowed(name: string): boolean
  /** Fetches a release, by default the newest. Throws PieceFailure. */
  fetch(caller: NpmCaller, name: string, version?: string): Promise<PiecePackage & { folder: string }>
  /**
   * Returns the folder of a release that was imported before, and fetches the release again if it is not on this
   * machine. Throws PieceFailure.
   */
  folderOf(caller: NpmCaller, piece: PiecePackage): Promise<string>
}

const MAX_PACKAGE = 25 * 1024 * 1024
export const PIECE_NAME = /^[a-z0-9][a-z0-9-]{0,60}$/
export const PIECE_VERSION = PACKAGE_VERSION

const packageOf = (name: string): string => `@activepieces/piece-${name}`

type Fetched = { version: string; bytes: Buffer }

async function fromRegistry(name: string, version: string | undefined, signal: AbortSignal): Promise<Fetched> {
  const folder = mkdtempSync(join(tmpdir(), 'piece-'))
  try {
    const wanted = `${packageOf(name)}@${version ?? 'latest'}`
    const args = ['pack', wanted, '--json', '--ignore-scripts', '--pack-destination', folder]
    const problem = await runNpm(args, folder, signal)
    if (problem !== undefined) throw new PieceFailure(npmProblem(problem, wanted))
    const [file] = readdirSync(folder).filter((entry) => entry.endsWith('.tgz'))
    if (file === undefined) throw new PieceFailure('the package registry sent no package')
    return { version: versionIn(file, name), bytes: readFileSync(join(folder, file)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const versionIn = (file: string, name: string): string =>
  file.slice(`activepieces-piece-${name}-`.length, -'.tgz'.length)

function fromMirror(mirror: string, name: string, version: string | undefined): Fetched {
  const prefix = `activepieces-piece-${name}-`
  const versions = (existsSync(mirror) ? readdirSync(mirror) : [])
    .filter((file) => file.startsWith(prefix) && file.endsWith('.tgz'))
    .map((file) => versionIn(file, name))
    .filter((found) => PIECE_VERSION.test(found))
    .sort(compareVersions)
  const found = version === undefined ? versions.at(-1) : versions.find((known) => known === version)
  if (found === undefined)
    throw new PieceFailure(
      `the mirror of this installation has no package ${packageOf(name)}${version ? ` ${version}` : ''}`,
    )
  return { version: found, bytes: readFileSync(join(mirror, `${prefix}${found}.tgz`)) }
}

export function makePieceSource({ folder, allowed, mirror, npmTurns }: PieceSourceOptions): PieceSource {
  const isAllowed = (name: string): boolean => allowed.includes('*') || allowed.includes(name)
  const requireAllowed = (name: string): void => {
    if (!isAllowed(name)) throw new PieceFailure('the operator of this installation does not allow this piece')
  }
  const placeOf = ({ name, version, integrity }: PiecePackage): string =>
    join(folder, `${name}-${version}-${shortHash(integrity)}`)

  const inTurn = <T>(caller: NpmCaller, work: () => Promise<T>): Promise<T> =>
    mirror === null ? npmTurns(caller, work) : work()

  const get = async (
    { signal }: NpmCaller,
    name: string,
    version: string | undefined,
  ): Promise<PiecePackage & { folder: string }> => {
    const { version: got, bytes } =
      mirror === null ? await fromRegistry(name, version, signal) : fromMirror(mirror, name, version)
    if (bytes.length > MAX_PACKAGE) throw new PieceFailure('the package is larger than 25 MB')
    const piece = { name, version: got, integrity: integrityOf(bytes) }
    const place = placeOf(piece)
    if (!existsSync(place)) {
      mkdirSync(folder, { recursive: true })
      const part = join(folder, `.${randomUUID()}`)
      mkdirSync(part)
      try {
        unpack(bytes, part)
        // Another process may have fetched the same release and moved the same files there.
        if (!existsSync(place)) renameSync(part, place)
      } finally {
        rmSync(part, { recursive: true, force: true })
      }
    }
    return { ...piece, folder: place }
  }

  return {
    isAllowed,
    async fetch(caller, name, version) {
      if (!PIECE_NAME.test(name) || (version !== undefined && !PIECE_VERSION.test(version)))
        throw new PieceFailure('there is no piece with such a name or version')
      requireAllowed(name)
      return inTurn(caller, () => get(caller, name, version))
    },
    async folderOf(caller, piece) {
      requireAllowed(piece.name)
      const place = placeOf(piece)
      if (existsSync(place)) return place
      return inTurn(caller, async () => {
        // Another call may have fetched it during the wait.
        if (existsSync(place)) return place
        const fetched = await get(caller, piece.name, piece.version)
        if (fetched.integrity !== piece.integrity)
          throw new PieceFailure(
            `the package ${packageOf(piece.name)} ${piece.version} is not the one that was imported`,
          )
        return fetched.folder
      })
    },
  }
}
