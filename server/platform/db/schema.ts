import { existsSync, readFileSync } from 'node:fs'
import type pg from 'pg'

// The package contains the schema of all its migrations as one text (scripts/package/schema.ts). A new database gets
// this schema in one transaction, together with the record of the migrations. The result equals a database to which the
// migrations were applied (test/schema.test.ts).

export type Schema = {
  /** The major version of PostgreSQL that the schema was generated with. */
  server: number
  /** The migrations that the schema includes, in the order of their names. */
  migrations: { name: string; sha256: string }[]
  sql: string
}

/** The name of the schema file, next to the folder of the migrations. */
export const SCHEMA = 'schema.json'

type Known = { name: string; sha256: string }

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
  const { server, migrations: of, sql } = JSON.parse(readFileSync(file, 'utf8')) as Schema
  const covered = migrations.slice(0, of.length)
  // Newer migrations are applied afterwards. A migration whose name sorts before the last included one could find
  // objects that a later one has changed.
  if (!of.every(({ name, sha256 }, n) => covered[n]?.name === name && covered[n].sha256 === sha256)) return undefined
  const { rows } = await client.query<{ isNew: boolean }>(
    `select current_setting('server_version_num')::int / 10000 = $1 and not exists (
       select from pg_class where relnamespace = 'public'::regnamespace and relname not like 'schema_migrations%')
       and to_regnamespace('engine') is null as "isNew"`,
    [server],
  )
  return rows[0]!.isNew ? { sql, covered } : undefined
}
