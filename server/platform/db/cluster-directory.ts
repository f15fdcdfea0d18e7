import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '#platform/log'
import { type Account, accountFor, mayEnter } from './account.ts'
import { StartRefused } from './refused.ts'

// Finds the directory of the database. It is in the data directory. If the account of the database cannot enter the
// data directory (because only root may), it is in another place that the account can enter, and the data directory
// contains a note with its path.

/** Directories that survive a restart of the machine, unlike the temporary directory. */
export const SYSTEM_DIRECTORIES = ['/var/lib/heddle', '/opt/heddle', '/srv/heddle']

export type ClusterDirectory = { readonly directory: string; readonly account: Account | undefined }

export function findClusterDirectory(options: { dataDir: string; places: string[]; log: Logger }): ClusterDirectory {
  const { dataDir, places, log } = options
  const note = join(dataDir, 'postgres.location')
  const movedTo = existsSync(note) ? readFileSync(note, 'utf8').trim() : undefined
  const present = movedTo ?? join(dataDir, 'postgres')
  const account = accountFor(join(present, 'cluster'))

  if (movedTo !== undefined) {
    if (!existsSync(movedTo)) {
      throw new StartRefused(
        `The database of ${dataDir} belongs in ${movedTo} (recorded in ${note}), but that directory does not exist. Restore it.`,
      )
    }
    log.info({ directory: movedTo }, 'the database is outside the data directory')
    return { directory: movedTo, account }
  }
  // For an existing database, this one check is enough.
  if (existsSync(join(present, 'cluster')) && mayEnter(account, present)) return { directory: present, account }
  if (mayEnter(account, dataDir)) {
    createFor(account, present)
    if (!mayEnter(account, present))
      throw new StartRefused(`${present} belongs to another user. Start heddle as that user, or as root.`)
    return { directory: present, account }
  }
  if (existsSync(join(present, 'cluster'))) {
    throw new StartRefused(
      `${account?.name ?? 'This user'} can no longer enter ${dataDir}, which contains its database. Allow access to it again.`,
    )
  }
  for (const place of places) {
    if (!ensureOwnDirectory(place) || !mayEnter(account, place)) continue
    const directory = createFor(account, join(place, `data-${randomBytes(8).toString('hex')}`))
    writeFileSync(note, `${directory}\n`)
    log.info(
      { directory },
      `the database is outside the data directory, because the user "${account?.name}" cannot access the data directory`,
    )
    return { directory, account }
  }
  throw new StartRefused(
    `The user "${account?.name}", who runs PostgreSQL, can enter neither ${dataDir} nor ${places.join(', ')}. Set HEDDLE_DATA_DIR to a directory it can enter.`,
  )
}

function createFor(account: Account | undefined, directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (account) chownSync(directory, account.uid, account.gid)
  return directory
}

/**
 * Creates the directory if needed. Returns true only if no other user can write to the directory, so that it is safe
 * for programs and data.
 */
export function ensureOwnDirectory(directory: string): boolean {
  try {
    if (!existsSync(directory)) {
      mkdirSync(directory, { recursive: true })
      chmodSync(directory, 0o755)
    }
    const { uid, mode } = statSync(directory)
    return uid === process.getuid?.() && (mode & 0o022) === 0
  } catch {
    return false
  }
}
