import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PieceFailure, type PiecePackage } from './index.ts'
import { unpack } from './tar.ts'

// Where the code of pieces comes from: the registry that npm is set up with, or a folder of the operator's. What was fetched is kept,
// and what was imported before is taken only with the same integrity.

export type PieceSourceOptions = {
  /** Where unpacked packages are kept. */
  folder: string
  /** Names, or `*`. */
  allowed: readonly string[]
  /** A folder with packages as `npm pack` writes them; then nothing is fetched. */
  mirror: string | null
}

export type PieceSource = {
  isAllowed(name: string): boolean
  /** A release, the newest where none is named. Throws PieceFailure. */
  fetch(name: string, version?: string): Promise<PiecePackage & { folder: string }>
  /** The folder of a release that was imported before, fetched again where it is not here. Throws PieceFailure. */
  folderOf(piece: PiecePackage): Promise<string>
}

const MAX_PACKAGE = 25 * 1024 * 1024
const FETCH_WITHIN_MS = 120_000
export const PIECE_NAME = /^[a-z0-9][a-z0-9-]{0,60}$/
export const PIECE_VERSION = /^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9a-z.-]{1,40})?$/

const packageOf = (name: string): string => `@activepieces/piece-${name}`
const integrityOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`

type Fetched = { version: string; bytes: Buffer }

/** What npm needs and nothing else: no setting of ours, and with it no key, is in the environment of another program. */
const npmEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(PATH|HOME|USERPROFILE|APPDATA|SYSTEMROOT|TEMP|TMP|TMPDIR|NODE_EXTRA_CA_CERTS|(https?|no)_proxy|npm_config_.*)$/i.test(
        name,
      ),
    ),
  )

async function fromRegistry(name: string, version: string | undefined): Promise<Fetched> {
  const folder = mkdtempSync(join(tmpdir(), 'piece-'))
  try {
    const wanted = `${packageOf(name)}@${version ?? 'latest'}`
    const args = ['pack', wanted, '--json', '--ignore-scripts', '--pack-destination', folder]
    await promisify(execFile)('npm', args, {
      env: npmEnvironment(),
      cwd: folder,
      timeout: FETCH_WITHIN_MS,
      maxBuffer: MAX_PACKAGE,
    }).catch((error: { code?: unknown; stdout?: string }) => {
      if (error.code === 'ENOENT') throw new PieceFailure('npm is not installed here, and no mirror is set up')
      const missing = /E404|ETARGET|No matching version/.test(String(error.stdout))
      throw new PieceFailure(
        missing ? `there is no package ${wanted}` : 'the package registry did not give the package; try again later',
      )
    })
    const [file] = readdirSync(folder).filter((entry) => entry.endsWith('.tgz'))
    if (file === undefined) throw new PieceFailure('the package registry gave no package')
    return { version: versionIn(file, name), bytes: readFileSync(join(folder, file)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const versionIn = (file: string, name: string): string =>
  file.slice(`activepieces-piece-${name}-`.length, -'.tgz'.length)

const compareVersions = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

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

export function makePieceSource({ folder, allowed, mirror }: PieceSourceOptions): PieceSource {
  const underWay = new Map<string, Promise<PiecePackage & { folder: string }>>()

  const isAllowed = (name: string): boolean => allowed.includes('*') || allowed.includes(name)
  const placeOf = ({ name, version, integrity }: PiecePackage): string =>
    join(folder, `${name}-${version}-${createHash('sha256').update(integrity).digest('hex').slice(0, 16)}`)

  const get = async (name: string, version: string | undefined): Promise<PiecePackage & { folder: string }> => {
    if (!PIECE_NAME.test(name) || (version !== undefined && !PIECE_VERSION.test(version)))
      throw new PieceFailure('there is no piece with such a name or version')
    if (!isAllowed(name)) throw new PieceFailure('the operator of this installation does not allow this piece')
    const { version: got, bytes } =
      mirror === null ? await fromRegistry(name, version) : fromMirror(mirror, name, version)
    if (bytes.length > MAX_PACKAGE) throw new PieceFailure('the package is larger than 25 MB')
    const piece = { name, version: got, integrity: integrityOf(bytes) }
    const place = placeOf(piece)
    if (!existsSync(place)) {
      mkdirSync(folder, { recursive: true })
      const part = join(folder, `.${randomUUID()}`)
      mkdirSync(part)
      try {
        unpack(bytes, part)
        // Another process that fetched it at the same time has put the same there.
        if (!existsSync(place)) renameSync(part, place)
      } finally {
        rmSync(part, { recursive: true, force: true })
      }
    }
    return { ...piece, folder: place }
  }

  const fetch: PieceSource['fetch'] = (name, version) => {
    const key = `${name}@${version ?? ''}`
    const known = underWay.get(key)
    if (known) return known
    const begun = get(name, version).finally(() => underWay.delete(key))
    underWay.set(key, begun)
    return begun
  }

  return {
    isAllowed,
    fetch,
    async folderOf(piece) {
      if (!isAllowed(piece.name)) throw new PieceFailure('the operator of this installation does not allow this piece')
      const place = placeOf(piece)
      if (existsSync(place)) return place
      const fetched = await fetch(piece.name, piece.version)
      if (fetched.integrity !== piece.integrity)
        throw new PieceFailure(`the package ${packageOf(piece.name)} ${piece.version} is not the one that was imported`)
      return fetched.folder
    },
  }
}
