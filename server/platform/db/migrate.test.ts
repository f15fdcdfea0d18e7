import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeEmptyDatabase, makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { until } from '#test/harness/until'
import { migrate } from './migrate.ts'
import { StartRefused } from './refused.ts'
import { schemaHeader } from './schema.ts'

let database: TestDatabase
let directory: string
let lines: { msg: string }[]

const run = (ownerUrl = database.urls.owner, schema?: string) =>
  migrate({
    ownerUrl,
    directory,
    ...(schema !== undefined && { schema }),
    log: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
  })
const write = (name: string, sql: string) => writeFileSync(join(directory, name), sql)
async function query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
  const client = new pg.Client(database.urls.owner)
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

beforeEach(async () => {
  database = await makeTestDatabase()
  await query('drop table schema_migrations')
  directory = mkdtempSync(join(tmpdir(), 'heddle-migrations-'))
  lines = []
})
afterEach(async () => {
  await database.drop()
  rmSync(directory, { recursive: true })
})

describe('migrations', () => {
  test('are applied once, in the order of their names, and recorded', async () => {
    write('9002_b.sql', 'insert into migration_probe values (2)')
    write('9001_a.sql', 'create table migration_probe (n int); insert into migration_probe values (1)')
    await run()
    await run()
    expect(await query('select n from migration_probe')).toEqual([{ n: 1 }, { n: 2 }])
    expect(await query('select name, length(sha256) as length from schema_migrations order by name')).toEqual([
      { name: '9001_a.sql', length: 64 },
      { name: '9002_b.sql', length: 64 },
    ])
  })

  test('need no lock if all of them were already applied', async () => {
    write('9001_a.sql', 'create table migration_probe (n int)')
    await run()
    const other = new pg.Client(database.urls.owner)
    await other.connect()
    try {
      await other.query('select pg_advisory_lock(7203002)')
      await run()
    } finally {
      await other.end()
    }
  })

  test('wait for the disk only with the last one', async () => {
    const note = `insert into migration_probe values (current_setting('synchronous_commit'))`
    write('9001_a.sql', `create table migration_probe (n text); ${note}`)
    write('9002_b.sql', note)
    write('9003_c.sql', note)
    const url = new URL(database.urls.owner)
    url.searchParams.set('options', '-c synchronous_commit=on')
    await run(url.href)
    expect(await query('select n from migration_probe')).toEqual([{ n: 'off' }, { n: 'off' }, { n: 'on' }])
  })

  test('leave no changes if they fail, and the error names the file and the line', async () => {
    write('9001_good.sql', 'create table migration_probe (n int)')
    write('9002_bad.sql', 'insert into migration_probe values (1);\nselect nonsense from migration_probe')
    await expect(run()).rejects.toThrow(/9002_bad\.sql failed at line 2: column "nonsense"/)
    expect(await query('select n from migration_probe')).toEqual([])
    expect(await query('select name from schema_migrations')).toEqual([{ name: '9001_good.sql' }])
  })

  test('wait for running requests that lock tables in another order, and try again', async () => {
    write('9001_a.sql', 'create table probe_one (n int); create table probe_two (n int)')
    await run()
    write('9002_b.sql', 'alter table probe_one add column m int; alter table probe_two add column m int')
    const worker = new pg.Client(database.urls.owner)
    await worker.connect()
    try {
      await worker.query('begin')
      await worker.query('select from probe_two')
      const migrating = run()
      await until(
        async () =>
          (await query(`select from pg_locks where relation = 'probe_two'::regclass and not granted`)).length > 0,
        'the migration to wait',
      )
      // Without the short lock timeout this is a deadlock, and one of the two fails.
      await worker.query('select from probe_one')
      await worker.query('commit')
      await migrating
    } finally {
      await worker.end()
    }
    expect(await query('select m from probe_one')).toEqual([])
  })

  test.each([
    ['0704_claims.sql', '8b65e007559e49d1ee9fe5b184ceea40e6f52a58b501b34c2f95c7bb9bfa33bc'],
    ['1420_conversation_search.sql', '257d180ec7eae8eefd42421b783bdd8d56c327781e84ad88788f279f96725943'],
    ['1441_shorter_grams.sql', 'eec3c97303d7cd19783e8438ca2137f1888b146b086c3d687c5e16cb40827da5'],
  ])('are kept if applied with another known text that leads to the same database: %s', async (name, other) => {
    const change = (to: string) => query(`update schema_migrations set sha256 = '${to}' where name = '${name}'`)
    write(name, 'select 1')
    await run()
    await change(other)
    await run()
    await change(other.replace(/^./, '0'))
    await expect(run()).rejects.toThrow(`${name} was changed after`)
  })

  test('are refused if they were changed after they were applied', async () => {
    write('9001_a.sql', 'create table migration_probe (n int)')
    await run()
    write('9001_a.sql', 'create table migration_probe (n bigint)')
    await expect(run()).rejects.toThrow(/9001_a\.sql was changed after/)
  })

  test('of a newer program are tolerated with a line in the log if they break nothing', async () => {
    write('9001_a.sql', 'create table migration_probe (n int)')
    write('9002_newer.sql', '-- Breaks nothing: a new table.\nselect 1')
    await run()
    rmSync(join(directory, '9002_newer.sql'))
    lines = []
    await run()
    expect(lines).toMatchObject([{ msg: 'the database is newer than this program', migrations: ['9002_newer.sql'] }])
  })

  test.each([
    ['-- Breaks the probe: its column is gone.', /9002_newer\.sql \("Breaks the probe: its column is gone\."\)/],
    ['select 1;', /9002_newer\.sql \("select 1;"\)/],
  ])('of a newer program that break something (%s) are refused without any change', async (first, words) => {
    write('9001_a.sql', 'create table migration_probe (n int)')
    write('9002_newer.sql', `${first}\nselect 1`)
    await run()
    rmSync(join(directory, '9002_newer.sql'))
    write('9003_mine.sql', 'insert into migration_probe values (3)')
    await expect(run()).rejects.toThrow(words)
    await expect(run()).rejects.toBeInstanceOf(StartRefused)
    expect(await query('select n from migration_probe')).toEqual([])
  })

  test.each([
    ['the first line of the file', 'As before, but another format.'],
    ['nothing', null],
  ])('frozen without a declaration and recorded with %s are recorded with their declaration', async (_what, breaks) => {
    write('1570_notice_times.sql', '-- As before, but another format.\nselect 1')
    const recorded = () => query('select breaks from schema_migrations')
    const declared = [{ breaks: expect.stringMatching(/^Breaks nothing: /) }]
    await run()
    expect(await recorded()).toEqual(declared)
    await query(`update schema_migrations set breaks = ${breaks === null ? 'null' : `'${breaks}'`}`)
    await run()
    expect(await recorded()).toEqual(declared)
  })

  test('applied by 0.1.0, which did not record what they break, are accepted; unknown ones without a record are refused', async () => {
    write('9001_a.sql', 'create table migration_probe (n int)')
    await run()
    await query('alter table schema_migrations drop column breaks')
    await run()
    await query(`insert into schema_migrations (name, sha256) values ('9002_newer.sql', '')`)
    await expect(run()).rejects.toThrow(/newer release of Heddle.*9002_newer\.sql\./)
  })

  describe('as one schema text', () => {
    const sha256 = (sql: string) => createHash('sha256').update(sql).digest('hex')
    const first = '-- Breaks nothing.\ncreate table migration_probe (n int); insert into migration_probe values (1)'
    const second = 'insert into migration_probe values (2)'
    const text = 'create table migration_probe (n int); insert into migration_probe values (0);'
    const probe = () => query('select n from migration_probe order by n')
    const recorded = () => query('select name, sha256, breaks from schema_migrations order by name')
    const schemaOf = (migrations: { name: string; sha256: string }[], sql = text, server = 18) => {
      const file = join(directory, 'schema.txt')
      writeFileSync(file, `-- A title.\n${schemaHeader(server, migrations)}\n${sql}`)
      return file
    }

    beforeEach(async () => {
      await database.drop()
      database = await makeEmptyDatabase()
      write('9001_a.sql', first)
    })

    test('create a new database at once and are recorded, and newer migrations follow', async () => {
      write('9002_b.sql', second)
      const schema = schemaOf([{ name: '9001_a.sql', sha256: sha256(first) }])
      await run(database.urls.owner, schema)
      await run(database.urls.owner, schema)
      expect(await probe()).toEqual([{ n: 0 }, { n: 2 }])
      expect(await recorded()).toEqual([
        { name: '9001_a.sql', sha256: sha256(first), breaks: 'Breaks nothing.' },
        { name: '9002_b.sql', sha256: sha256(second), breaks: second },
      ])
    })

    test.each([
      ['other migrations', [{ name: '9001_a.sql', sha256: 'a'.repeat(64) }], 18],
      ['a migration that is missing', [{ name: '9000_z.sql', sha256: sha256(first) }], 18],
      ['another version of PostgreSQL', [{ name: '9001_a.sql', sha256: sha256(first) }], 17],
    ])('are not used if the schema is for %s', async (_what, migrations, server) => {
      await run(database.urls.owner, schemaOf(migrations, text, server))
      expect(await probe()).toEqual([{ n: 1 }])
    })

    test('are not used if the schema does not say for which migrations it is', async () => {
      const file = schemaOf([{ name: '9001_a.sql', sha256: sha256(first) }])
      writeFileSync(file, text)
      await run(database.urls.owner, file)
      expect(await probe()).toEqual([{ n: 1 }])
    })

    test('are not used for a database that is not empty', async () => {
      await query('create table somebody (n int)')
      await run(database.urls.owner, schemaOf([{ name: '9001_a.sql', sha256: sha256(first) }]))
      expect(await probe()).toEqual([{ n: 1 }])
    })

    test('leave no changes if they fail', async () => {
      const schema = schemaOf([{ name: '9001_a.sql', sha256: sha256(first) }], `${text} select nonsense`)
      await expect(run(database.urls.owner, schema)).rejects.toThrow(/the schema could not be created: .*"nonsense"/)
      expect(await recorded()).toEqual([])
      expect(await query(`select from pg_class where relname = 'migration_probe'`)).toEqual([])
    })
  })

  test('are applied once by servers that start at the same time', async () => {
    write('9001_a.sql', 'create table migration_probe (n int)')
    write('9002_b.sql', 'insert into migration_probe values (1)')
    await Promise.all([run(), run(), run(), run()])
    expect(await query('select n from migration_probe')).toEqual([{ n: 1 }])
  })
})
