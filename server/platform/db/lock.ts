import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartRefused } from './refused.ts'

// Node offers no file lock, but its built-in SQLite locks the file it opens (fcntl). The kernel releases that lock with
// the process, even after SIGKILL. The postmaster that we start does not inherit the lock (it would inherit a flock and
// keep it after our death). Two containers that share a volume see the lock (they would not see each other's abstract
// sockets). Never open the lock file by other means in this process: closing any descriptor of the file would release
// the lock.

const BUSY = 5

/** Handles that the garbage collector must not close, because closing a handle releases its lock. */
const held = new Set<DatabaseSync>()

export function lockDirectory(directory: string): () => void {
  const file = join(directory, 'heddle.lock')
  let handle: DatabaseSync | undefined
  try {
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
    handle = new DatabaseSync(file, { timeout: 0 })
    handle.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    handle?.close()
    const { errcode, message } = error as Error & { errcode?: number }
    if (errcode === BUSY) {
      throw new StartRefused(
        `The data directory ${directory} is in use by another heddle. Stop that one, or set HEDDLE_DATA_DIR to another directory.`,
      )
    }
    throw new StartRefused(`The data directory ${directory} cannot be locked (${message}). It must be writable.`)
  }
  const lock = handle
  held.add(lock)
  return () => {
    if (held.delete(lock)) lock.close()
  }
}
