import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import type { Database } from './db/pool.ts'
import { StartRefused } from './db/refused.ts'
import type { Vault } from './secrets.ts'

/** The installation's key: from the settings, else from the data directory, where it is made once. */
export function loadSecretKey(config: Config): Buffer {
  if (config.HEDDLE_SECRET_KEY !== null) return config.HEDDLE_SECRET_KEY
  const file = join(config.HEDDLE_DATA_DIR, 'secret.key')
  mkdirSync(config.HEDDLE_DATA_DIR, { recursive: true })
  try {
    return decode(readFileSync(file, 'utf8'), file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
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
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== 32)
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
