import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { key32 } from './config-parsers.ts'
import { makeDataDirectory } from './data-directory.ts'
import type { Database } from './db/pool.ts'
import { StartRefused } from './db/refused.ts'
import { CHECK, CURRENT, type Facts, FIRST, factPlace, learnKeys, SIGNING } from './keys/facts.ts'
import type { Vault } from './secrets.ts'

const fileOf = (config: Config): string => join(config.HEDDLE_DATA_DIR, 'secret.key')

/** Returns the installation's key from the settings, else from the data directory. Undefined if there is none yet. */
export function findSecretKey(config: Config): Buffer | undefined {
  if (config.HEDDLE_SECRET_KEY !== null) return config.HEDDLE_SECRET_KEY
  const file = fileOf(config)
  return existsSync(file) ? decode(readFileSync(file, 'utf8'), file) : undefined
}

/**
 * Creates the key once, for a database that has never been used with a key. For any other database a new key is
 * useless, because it cannot replace a lost key.
 */
export async function makeSecretKey(config: Config, isUsed: () => Promise<boolean>): Promise<Buffer> {
  const file = fileOf(config)
  if (await isUsed()) {
    // Another program may have created the key and set up the database in the meantime.
    const found = findSecretKey(config)
    if (found) return found
    throw new StartRefused(
      `${file} is missing, and the database was set up with the key in that file. Restore it from your copy, or set HEDDLE_SECRET_KEY; nothing was changed.`,
    )
  }
  makeDataDirectory(config.HEDDLE_DATA_DIR)
  // The key is written to a temporary file and linked into place. A program that is killed in the middle leaves no
  // empty key. If two programs start at the same time, only one link succeeds, and the other program reads that key.
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

/** Replaces the key in the data directory. The old key stays next to it, for backups that were made with it. */
export function replaceKeyFile(config: Config, before: string, key: Buffer): void {
  const file = fileOf(config)
  const draft = `${file}.${process.pid}`
  if (!existsSync(`${file}.${before}`)) linkSync(file, `${file}.${before}`)
  writeFileSync(draft, `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
  renameSync(draft, file)
}

const PLACE = factPlace('check')
const KNOWN = 'heddle'

export const readFacts = async (db: Database): Promise<Facts> =>
  db.tenant({ workspaceId: null, userId: null }, async (tx) => {
    const rows = await tx.rows<{ name: string; value: Buffer }>('select name, value from installation')
    return new Map(rows.map(({ name, value }) => [name, value]))
  })

const addFact = (db: Database, name: string, value: Buffer): Promise<number> =>
  db.tenant({ workspaceId: null, userId: null }, (tx) =>
    tx.count('insert into installation (name, value) values ($1, $2) on conflict (name) do nothing', [name, value]),
  )

/** Adds the keys of a rotation. Detects a wrong key at the start, before anything is written with it. */
export async function checkSecretKey(db: Database, vault: Vault): Promise<void> {
  const given = vault.keys.current()
  const before = await readFacts(db)
  if (!learnKeys(vault, before)) throw wrongKey(given, before)
  if (!before.has(CHECK)) await addFact(db, CHECK, vault.seal(PLACE, KNOWN))
  const check = (before.get(CHECK) ?? (await readFacts(db)).get(CHECK))!
  try {
    if (vault.open(PLACE, check) !== KNOWN) throw new Error('another text')
  } catch {
    throw wrongKey(given, before)
  }
  if (!before.has(CURRENT)) await addFact(db, FIRST, Buffer.from(given))
  await loadSigningRoot(db, vault, before)
}

const wrongKey = (given: string, facts: Facts): StartRefused => {
  const needed = (facts.get(CURRENT) ?? facts.get(FIRST))?.toString()
  const which = needed === undefined ? '' : ` It needs the key ${needed}; the one given is ${given}.`
  return new StartRefused(
    `HEDDLE_SECRET_KEY is not the key this database was used with.${which} Start with the right key; nothing was changed.`,
  )
}

/** Signed addresses and visitor tokens outlive a rotation, because the root of their keys is itself a sealed value. */
async function loadSigningRoot(db: Database, vault: Vault, before: Facts): Promise<void> {
  if (!before.has(SIGNING)) {
    // In an installation from before signing roots existed, the keys are derived from its first key.
    const root = before.has(CHECK) ? vault.keys.bytesOf(vault.keys.current()) : randomBytes(32)
    await addFact(db, SIGNING, vault.seal(factPlace(SIGNING), root.toString('base64')))
  }
  const facts = before.has(SIGNING) ? before : await readFacts(db)
  vault.keys.signWith(Buffer.from(vault.open(factPlace(SIGNING), facts.get(SIGNING)!), 'base64'))
}
