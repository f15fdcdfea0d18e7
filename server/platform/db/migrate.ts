import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import type { Logger } from '#platform/log'
import { ServerClient } from './client.ts'
import { StartRefused } from './refused.ts'
import { schemaFor } from './schema.ts'
import { SET_PEERS } from './session.ts'

const LOCK = 7_203_002

/**
 * Other texts of a migration that databases may have applied. The functions of 0704 and 1420 were once changed in
 * place, and 0706 and 1441 replace them. In 1441 and 1570 only a comment was changed. So a database with either text
 * ends up the same.
 */
const OTHER_TEXTS: Record<string, readonly string[]> = {
  '0704_claims.sql': ['8b65e007559e49d1ee9fe5b184ceea40e6f52a58b501b34c2f95c7bb9bfa33bc'],
  '1420_conversation_search.sql': ['257d180ec7eae8eefd42421b783bdd8d56c327781e84ad88788f279f96725943'],
  '1441_shorter_grams.sql': ['eec3c97303d7cd19783e8438ca2137f1888b146b086c3d687c5e16cb40827da5'],
  '1570_notice_times.sql': ['d953b33886fbb55e828122c92b32c12b913e059cbf22f85082d5f59aa3201bdb'],
}

/** What migrations break that databases may have applied from a file without the first line that says so. */
export const DECLARED: Readonly<Record<string, string>> = {
  '1570_notice_times.sql': 'Breaks nothing: a function writes a time in another format.',
}

type Migration = { name: string; sql: string; sha256: string }

/**
 * Applies the missing migrations, oldest first, each file in its own transaction. Servers that start at the same time
 * take turns. `schema` names a file with the result of all migrations, for a new database.
 */
export async function migrate(options: {
  ownerUrl: string
  directory: string
  log: Logger
  schema?: string
}): Promise<void> {
  const { ownerUrl, directory, log, schema } = options
  const files = readMigrations(directory)
  const client = new ServerClient({ connectionString: ownerUrl })
  await client.connect()
  try {
    // Most starts end here: nothing has to be written, so the lock is not needed.
    if (isUpToDate(files, await lookAtApplied(client))) return
    // With these settings, a lock holder on a machine that has disappeared loses its connection, and the next server
    // gets the lock.
    await client.query(`${SET_PEERS}; select pg_advisory_lock(${LOCK})`)
    const applied = await readApplied(client)
    for (const file of files) {
      const { name } = file
      const known = applied.get(name)
      if (known === undefined || isText(file, known)) continue
      throw new StartRefused(
        `The migration ${name} was changed after it had been applied to this database. Restore the file, and put the change into a new one.`,
      )
    }
    await correctBreaks(client, [...applied.values()])
    const names = new Set(files.map((file) => file.name))
    const unknown = [...applied.values()].filter(({ name }) => !names.has(name))
    refuseBreaking(unknown)
    // A newer server has migrated the database. Migrations that break nothing keep older servers working until they are
    // replaced.
    if (unknown.length > 0)
      log.warn({ migrations: unknown.map(({ name }) => name) }, 'the database is newer than this program')
    const whole = applied.size === 0 ? await schemaFor(client, schema, files) : undefined
    if (whole) {
      await applySchema(client, whole)
      log.info({ migrations: whole.covered.length }, 'schema created')
    }
    const missing = files.filter((file) => !applied.has(file.name) && !whole?.covered.includes(file))
    for (const file of missing) {
      await apply(client, file, file === missing.at(-1))
      log.info({ migration: file.name }, 'migration applied')
    }
  } finally {
    await client.end()
  }
}

const isText = ({ name, sha256 }: Migration, known: Applied): boolean =>
  [sha256, ...(OTHER_TEXTS[name] ?? [])].includes(known.sha256)

/** Checks whether exactly these migrations have been applied and correctly recorded. */
const isUpToDate = (files: Migration[], applied: Map<string, Applied>): boolean =>
  files.length > 0 &&
  applied.size === files.length &&
  files.every((file) => applied.has(file.name) && isText(file, applied.get(file.name)!)) &&
  [...applied.values()].every(isDeclared)

function readMigrations(directory: string): Migration[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(directory, name), 'utf8')
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    })
}

type Applied = { name: string; sha256: string; breaks: string | null }

const NO_TABLE = '42P01'
const NO_COLUMN = '42703'

async function lookAtApplied(client: pg.Client): Promise<Map<string, Applied>> {
  try {
    return await listApplied(client)
  } catch (error) {
    if (![NO_TABLE, NO_COLUMN].includes((error as { code?: string }).code ?? '')) throw error
    return new Map()
  }
}

async function readApplied(client: pg.Client): Promise<Map<string, Applied>> {
  // Release 0.1.0 recorded only names and hashes.
  await client.query(
    `create table if not exists schema_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now());
     alter table schema_migrations add column if not exists breaks text`,
  )
  return listApplied(client)
}

async function listApplied(client: pg.Client): Promise<Map<string, Applied>> {
  const { rows } = await client.query<Applied>('select name, sha256, breaks from schema_migrations order by name')
  return new Map(rows.map((row) => [row.name, row]))
}

/** The first line of a migration states what an older release can no longer do on the database. */
const breaksOf = ({ name, sql }: Migration): string => DECLARED[name] ?? sql.split('\n', 1)[0]!.replace(/^--\s*/, '')

const isDeclared = ({ name, breaks }: Applied): boolean => !Object.hasOwn(DECLARED, name) || breaks === DECLARED[name]

/** An older program reads only this record. Databases may have recorded the first line of the file. */
async function correctBreaks(client: pg.Client, applied: Applied[]): Promise<void> {
  for (const { name } of applied.filter((migration) => !isDeclared(migration)))
    await client.query('update schema_migrations set breaks = $2 where name = $1', [name, DECLARED[name]])
}

const BREAKS_NOTHING = /^Breaks nothing\b/

function refuseBreaking(unknown: Applied[]): void {
  const breaking = unknown.filter(({ breaks }) => !BREAKS_NOTHING.test(breaks ?? ''))
  if (breaking.length === 0) return
  const list = breaking.map(({ name, breaks }) => `${name}${breaks === null ? '' : ` ("${breaks}")`}`).join(', ')
  throw new StartRefused(
    `The database belongs to a newer release of Heddle, which changed it in ways that this program does not know: ${list}. Start that release, or restore the backup that was taken before the upgrade.`,
  )
}

// An older release may be running. A statement that waits for a table blocks all statements behind it, and a migration
// may lock two tables in another order than that release. So a migration waits less than the second after which
// PostgreSQL checks for deadlocks, and then tries again.
const LOCK_WAIT = '500ms'
const TRIES = 120
const LOCKED = new Set(['55P03', '40P01'])

async function apply(client: pg.Client, migration: Migration, isLast: boolean): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(client, migration, isLast)
    } catch (error) {
      const { code } = (error as Error).cause as { code?: string }
      if (!LOCKED.has(code ?? '') || tries === TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400))
    }
  }
}

async function applySchema(client: pg.Client, { sql, covered }: { sql: string; covered: Migration[] }): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query(
      'insert into schema_migrations (name, sha256, breaks) select * from unnest($1::text[], $2::text[], $3::text[])',
      [covered.map(({ name }) => name), covered.map(({ sha256 }) => sha256), covered.map(breaksOf)],
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`the schema could not be created: ${(error as Error).message}`, { cause: error })
  }
}

/** Only the last migration waits for the disk, which includes all before it. No request is served before that. */
async function applyOnce(client: pg.Client, migration: Migration, isLast: boolean): Promise<void> {
  const { name, sql, sha256 } = migration
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = '${LOCK_WAIT}'${isLast ? '' : '; set local synchronous_commit = off'}`)
    await client.query(sql)
    await client.query('insert into schema_migrations (name, sha256, breaks) values ($1, $2, $3)', [
      name,
      sha256,
      breaksOf(migration),
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    const { message, position } = error as Error & { position?: string }
    const line = position === undefined ? '' : ` at line ${sql.slice(0, Number(position)).split('\n').length}`
    throw new Error(`the migration ${name} failed${line}: ${message}`, { cause: error })
  }
}
