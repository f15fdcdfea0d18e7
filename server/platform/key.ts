import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, key32 } from './config.ts'
import { makeDataDirectory } from './data-directory.ts'
import type { Database } from './db/pool.ts'
import { StartRefused } from './db/refused.ts'
import type { Vault } from './secrets.ts'

const fileOf = (config: Config): string => join(config.HEDDLE_DATA_DIR, 'secret.key')

/** The installation's key: from the settings, else from the data directory; undefined where there is none yet. */
export function findSecretKey(config: Config): Buffer | undefined {
  if (config.HEDDLE_SECRET_KEY !== null) return config.HEDDLE_SECRET_KEY
  const file = fileOf(config)
  return existsSync(file) ? decode(readFileSync(file, 'utf8'), file) : undefined
}

/** Made once, for a database that no key was used with: another key than the lost one opens nothing. */
export async function makeSecretKey(config: Config, isUsed: () => Promise<boolean>): Promise<Buffer> {
  const file = fileOf(config)
  if (await isUsed()) {
    // Another program may have made both in the meantime.
    const found = findSecretKey(config)
    if (found) return found
    throw new StartRefused(
      `${file} is missing, and the database was set up with the key it held. Restore it from your copy, or set HEDDLE_SECRET_KEY; nothing was changed.`,
    )
  }
  makeDataDirectory(config.HEDDLE_DATA_DIR)
  // Written beside and linked into place: a program killed in between leaves no empty key, and of two that start together
  // only one's link succeeds, and the other reads what that one wrote.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return decode(readFileSync(file, 'utf8'), file)
}

function decode(text: string, file: string): Buffer {
  const key = key32.parse(text.trim())
  if (key === undefined)
    throw new StartRefused(
      `${file} does not hold 32 bytes in base64. Restore it from your copy; without it stored secrets cannot be read.`,
    )
  return key
}

const PLACE = ['', 'installation', 'key', 'check'] as const
const KNOWN = 'heddle'

/** A wrong key is noticed at the start, before anything is written with it. */
export async function checkSecretKey(db: Database, vault: Vault): Promise<void> {
  await db.tenant({ workspaceId: null, userId: null }, async (tx) => {
    await tx.count(`insert into installation (name, value) values ('key_check', $1) on conflict (name) do nothing`, [
      vault.seal(PLACE, KNOWN),
    ])
    const { value } = await tx.row<{ value: Buffer }>(`select value from installation where name = 'key_check'`)
    try {
      if (vault.open(PLACE, value) === KNOWN) return
    } catch {
      // refused below
    }
    throw new StartRefused(
      'HEDDLE_SECRET_KEY is not the key this database was used with. Start with the right key; nothing was changed.',
    )
  })
}
