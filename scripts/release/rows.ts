import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

// Stores the rows of a database as text, one file per table: a line with the columns and their types, then one line per
// row with the text of each value. The schema is not included, because the migrations of the release create it.

type Column = [name: string, type: string]

const quote = pg.escapeIdentifier

/**
 * Tables with their own rows, including parents of partitions. The list of migrations is left out, because the program
 * that applies the migrations writes it.
 */
const TABLES = `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'engine') and c.relname <> 'schema_migrations'
  order by 1, 2`

/** Generated columns are left out, because the database computes them again. */
const COLUMNS = `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`

/** Writes every table that has rows. */
export async function dumpRows(client: pg.Client, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const { rows: tables } = await client.query<{ schema: string; name: string }>(TABLES)
  for (const { schema, name } of tables) {
    const table = `${quote(schema)}.${quote(name)}`
    const columns = (await client.query<{ name: string; type: string }>(COLUMNS, [table])).rows.map(
      (column): Column => [column.name, column.type],
    )
    const texts = columns.map(([column]) => `${quote(column)}::text`).join(', ')
    const { rows } = await client.query<{ line: string }>(
      `select array_to_json(array[${texts}])::text as line from ${table} order by 1`,
    )
    if (rows.length === 0) continue
    const lines = [JSON.stringify(columns), ...rows.map(({ line }) => line)]
    writeFileSync(join(directory, `${schema}.${name}.jsonl`), `${lines.join('\n')}\n`)
  }
}

/**
 * Restores rows as a superuser, without triggers and foreign key checks: the constraints were satisfied when the rows
 * were written.
 */
export async function restoreRows(client: pg.Client, directory: string): Promise<void> {
  await client.query('begin')
  await client.query(`set local session_replication_role = 'replica'`)
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.jsonl'))) {
    const [schema = '', name = ''] = file.split('.')
    const table = `${quote(schema)}.${quote(name)}`
    const [head, ...lines] = readFileSync(join(directory, file), 'utf8').trimEnd().split('\n')
    const columns = JSON.parse(head!) as Column[]
    // A migration may have inserted rows that the release has changed since.
    await client.query(`delete from ${table}`)
    const statement = `insert into ${table} (${columns.map(([column]) => quote(column)).join(', ')}) overriding system value
      values (${columns.map(([, type], n) => `$${n + 1}::${type}`).join(', ')})`
    for (const line of lines) await client.query(statement, JSON.parse(line) as (string | null)[])
  }
  await setSequences(client)
  await client.query('commit')
}

/** Sets each sequence to continue after the highest restored value. */
async function setSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sequence: string; owner: string; column: string }>(
    `select d.objid::regclass::text as sequence, d.refobjid::regclass::text as owner, a.attname as column
     from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
       join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')`,
  )
  for (const { sequence, owner, column } of rows)
    await client.query(
      `select setval($1::regclass, max(${quote(column)}), true) from ${owner} having max(${quote(column)}) is not null`,
      [sequence],
    )
}
