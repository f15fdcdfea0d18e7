import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type pg from 'pg'

// `schema.sql` is the schema of all migrations as one text (scripts/schema.ts). A new database gets this schema in one
// transaction, together with the record of the migrations. The result equals a database to which the migrations were
// applied (test/schema.test.ts).

/** The name of the schema file, next to the folder of the migrations. */
export const SCHEMA = 'schema.sql'

type Known = { name: string; sha256: string }

/** The major version of the PostgreSQL server, and the migrations that the schema includes. */
export const schemaHeader = (server: number, migrations: readonly Known[]): string =>
  `-- PostgreSQL ${server}, ${migrations.length} migrations, sha256 ${digestOf(migrations)}\n`

const HEADER = /^-- PostgreSQL (?<server>\d+), (?<count>\d+) migrations, sha256 (?<sha256>[0-9a-f]{64})$/m

const digestOf = (migrations: readonly Known[]): string =>
  createHash('sha256')
    .update(migrations.map(({ name, sha256 }) => `${sha256} ${name}\n`).join(''))
    .digest('hex')

/**
 * Returns the schema for this database, or undefined if the database is not new, or if the schema is for other
 * migrations or another server version.
 */
export async function schemaFor<Migration extends Known>(
  client: pg.Client,
  file: string | undefined,
  migrations: readonly Migration[],
): Promise<{ sql: string; covered: Migration[] } | undefined> {
  if (file === undefined || !existsSync(file)) return undefined
  const sql = readFileSync(file, 'utf8')
  const { server, count, sha256 } = HEADER.exec(sql)?.groups ?? {}
  // Newer migrations are applied afterwards. A migration whose name sorts before the last included one could find
  // objects that a later one has changed.
  const covered = migrations.slice(0, Number(count))
  if (digestOf(covered) !== sha256) return undefined
  const { rows } = await client.query<{ isNew: boolean }>(
    `select current_setting('server_version_num')::int / 10000 = $1 and not exists (
       select from pg_class where relnamespace = 'public'::regnamespace and relname not like 'schema_migrations%')
       and to_regnamespace('engine') is null as "isNew"`,
    [server],
  )
  return rows[0]!.isNew ? { sql, covered } : undefined
}
