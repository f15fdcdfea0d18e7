import { existsSync, readFileSync } from 'node:fs'
import type pg from 'pg'

// The package brings the schema of all its migrations along as one text (scripts/package/schema.ts). A database that is new gets it in one
// transaction, with the record of these migrations, and is then the same as one that they were applied to (test/schema.test.ts).

export type Schema = {
  /** The major version of PostgreSQL whose catalogue it was made of. */
  server: number
  /** What it stands for, in the order of their names. */
  migrations: { name: string; sha256: string }[]
  sql: string
}

/** Its file beside the folder of the migrations. */
export const SCHEMA = 'schema.json'

type Known = { name: string; sha256: string }

/** The text for this database; undefined where the database is not new, or the text is not one of these migrations and this server. */
export async function schemaFor<Migration extends Known>(
  client: pg.Client,
  file: string | undefined,
  migrations: readonly Migration[],
): Promise<{ sql: string; covered: Migration[] } | undefined> {
  if (file === undefined || !existsSync(file)) return undefined
  const { server, migrations: of, sql } = JSON.parse(readFileSync(file, 'utf8')) as Schema
  const covered = migrations.slice(0, of.length)
  // Those that are newer are applied to it afterwards; one that belongs in between could find what a later one has changed.
  if (!of.every(({ name, sha256 }, n) => covered[n]?.name === name && covered[n].sha256 === sha256)) return undefined
  const { rows } = await client.query<{ isNew: boolean }>(
    `select current_setting('server_version_num')::int / 10000 = $1 and not exists (
       select from pg_class where relnamespace = 'public'::regnamespace and relname not like 'schema_migrations%')
       and to_regnamespace('engine') is null as "isNew"`,
    [server],
  )
  return rows[0]!.isNew ? { sql, covered } : undefined
}
