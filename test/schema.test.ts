import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '#platform/db/migrate'
import { SCHEMA } from '#platform/db/schema'
import { makeEmptyDatabase, makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { hashMigrations } from '../scripts/migrations.ts'
import { printSchema } from '../scripts/schema.ts'
import { readSchema } from './releases/schema.ts'

// `schema.sql` is the schema of the migrations as one text. A database created from the text must equal the database
// that the migrations create.

const root = join(import.meta.dirname, '..')

/** Selects what `readSchema` does not compare. */
const MORE = `with relations as (
  select c.*, format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('public', 'engine') and not (c.relispartition and c.relname ~ '[0-9]{8}(_|$)'))
select format('relation %s %s %s %s %s of %s %s', c.name, c.relkind, c.relpersistence, c.reloptions, t.reloptions, i.inhparent::regclass, pg_get_expr(c.relpartbound, c.oid)) as line
  from relations c left join pg_class t on t.oid = c.reltoastrelid left join pg_inherits i on i.inhrelid = c.oid
union all select format('place %s.%s %s storage %s collation %s identity %s generated %s target %s acl %s', c.name, a.attname,
    row_number() over (partition by c.oid order by a.attnum), a.attstorage, a.attcollation::regcollation, a.attidentity, a.attgenerated, a.attstattarget, a.attacl)
  from relations c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
union all select format('constraint %s %s %s %s', c.name, k.conname, pg_get_constraintdef(k.oid), k.convalidated)
  from relations c join pg_constraint k on k.conrelid = c.oid
union all select format('index %s', pg_get_indexdef(c.oid)) from relations c where c.relkind in ('i', 'I')
union all select format('view %s %s', c.name, pg_get_viewdef(c.oid)) from relations c where c.relkind = 'v'
union all select format('policy %s %s permissive %s', c.name, p.polname, p.polpermissive) from relations c join pg_policy p on p.polrelid = c.oid
union all select format('row security %s %s %s', c.name, c.relrowsecurity, c.relforcerowsecurity) from relations c where c.relkind in ('r', 'p')
union all select format('comment %s %s %s', d.classoid::regclass, coalesce(c.name, d.objoid::regprocedure::text), d.description)
  from pg_description d left join relations c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
    left join pg_proc p on p.oid = d.objoid and d.classoid = 'pg_proc'::regclass and p.pronamespace in ('public'::regnamespace, 'engine'::regnamespace)
  where c.oid is not null or p.oid is not null
union all select format('owner of %s %s', p.oid::regprocedure, p.proowner::regrole) from pg_proc p where p.pronamespace in ('public'::regnamespace, 'engine'::regnamespace)
union all select format('default rights %s %s %s', defaclnamespace, defaclobjtype, defaclacl) from pg_default_acl
union all select format('schema %s %s %s', nspname, nspowner::regrole, array(select x::text from unnest(nspacl) x order by 1)) from pg_namespace where nspname in ('public', 'engine')
union all select format('migration %s %s %s', name, sha256, breaks) from schema_migrations
union all select format('row of event_generation %s', to_jsonb(r)) from event_generation r
union all select format('row of mail_leaves %s', to_jsonb(r)) from mail_leaves r
union all select format('row of run_index_state %s', r.covered_from = r.covered_to) from run_index_state r`

const PARTITIONS = `select c.relname as name from pg_class c join pg_inherits i on i.inhrelid = c.oid
  where c.relkind = 'r' and c.relname ~ '_[0-9]{8}$' order by 1`

/**
 * Removes two differences without meaning: a column of a union gets an explicit name that it had anyway, and the
 * unnamed indexes of a partition are numbered in their order of creation.
 */
const alike = (line: string): string => line.replaceAll('::text AS text', '::text').replaceAll(/_idx\d+ /g, '_idx ')

async function linesOf(database: TestDatabase): Promise<string[]> {
  const client = await database.superuser()
  const { rows } = await client.query<{ line: string }>(MORE)
  return [...(await readSchema(client)), ...rows.map(({ line }) => line)].map(alike).sort()
}

const partitionsOf = async (database: TestDatabase): Promise<string[]> =>
  (await (await database.superuser()).query<{ name: string }>(PARTITIONS)).rows.map(({ name }) => name)

let migrated: TestDatabase
let fresh: TestDatabase
let printed: string

beforeAll(async () => {
  migrated = await makeTestDatabase()
  fresh = await makeEmptyDatabase()
  const owner = new pg.Client({ connectionString: migrated.urls.owner })
  await owner.connect()
  try {
    printed = await printSchema(owner, root)
  } finally {
    await owner.end()
  }
})
afterAll(async () => {
  await fresh?.drop()
  await migrated?.drop()
})

describe('the schema as one text', () => {
  test('creates the same database as the migrations, and records the migrations', async () => {
    expect(printed === readFileSync(join(root, SCHEMA), 'utf8'), 'schema.sql is stale: run npm run generate').toBe(true)
    const lines: { msg: string }[] = []
    await migrate({
      ownerUrl: fresh.urls.owner,
      directory: join(root, 'migrations'),
      log: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
      schema: join(root, SCHEMA),
    })
    expect(lines).toMatchObject([{ msg: 'schema created', migrations: hashMigrations(root).length }])
    expect(await linesOf(fresh)).toEqual(await linesOf(migrated))
    const all = await partitionsOf(migrated)
    const first = await partitionsOf(fresh)
    expect(all).toEqual(expect.arrayContaining(first))
    // This week and the next. Maintenance adds the others.
    for (const table of ['executions', 'events'])
      expect(first.filter((name) => name.startsWith(`${table}_2`))).toHaveLength(2)
    await (await fresh.superuser()).query('select engine.ensure_partitions()')
    expect(await partitionsOf(fresh)).toEqual(all)
  })
})
