import { describe, expect, test } from 'vitest'
import { type Rows, WarehouseFailure } from './index.ts'
import { mysqlDialect } from './mysql.ts'
import { postgresDialect, redshiftDialect } from './postgres.ts'
import { sqlserverDialect } from './sqlserver.ts'
import { type Dialect, executeInTransaction, type WriteSession, writingIn } from './writing.ts'

const rows = (more: Partial<Rows> = {}): Rows => ({
  table: 'sales.leads',
  columns: ['id', 'name'],
  rows: [
    [1, 'Ada'],
    [2, null],
  ],
  key: [],
  ...more,
})
const textsOf = (dialect: Dialect, wanted: Rows) => writingIn(dialect).statementsFor(wanted)

describe('the statements that write rows', () => {
  test.each<[string, Dialect, Partial<Rows>, string[]]>([
    ['postgres insert', postgresDialect, {}, ['insert into "sales"."leads" ("id", "name") values ($1, $2), ($3, $4)']],
    [
      'postgres upsert',
      postgresDialect,
      { key: ['id'] },
      [
        'insert into "sales"."leads" ("id", "name") values ($1, $2), ($3, $4) on conflict ("id") do update set "name" = excluded."name"',
      ],
    ],
    [
      'postgres upsert of key columns only',
      postgresDialect,
      { key: ['id', 'name'] },
      ['insert into "sales"."leads" ("id", "name") values ($1, $2), ($3, $4) on conflict ("id", "name") do nothing'],
    ],
    [
      'redshift upsert',
      redshiftDialect,
      { key: ['id'] },
      [
        'delete from "sales"."leads" where ("id" = $1) or ("id" = $2)',
        'insert into "sales"."leads" ("id", "name") values ($1, $2), ($3, $4)',
      ],
    ],
    [
      'mysql upsert',
      mysqlDialect,
      { key: ['id'] },
      [
        'insert into `sales`.`leads` (`id`, `name`) values (?, ?), (?, ?) on duplicate key update `name` = values(`name`)',
      ],
    ],
    [
      'mysql upsert of key columns only',
      mysqlDialect,
      { columns: ['id'], rows: [[1]], key: ['id'] },
      ['insert into `sales`.`leads` (`id`) values (?) on duplicate key update `id` = values(`id`)'],
    ],
    [
      'sqlserver upsert',
      sqlserverDialect,
      { key: ['id'] },
      [
        'merge into [sales].[leads] with (holdlock) as target using (values (@p1, @p2), (@p3, @p4)) as source ([id], [name]) on target.[id] = source.[id] when matched then update set [name] = source.[name] when not matched then insert ([id], [name]) values (source.[id], source.[name]);',
      ],
    ],
    [
      'sqlserver upsert of key columns only',
      sqlserverDialect,
      { columns: ['id'], rows: [[1]], key: ['id'] },
      [
        'merge into [sales].[leads] with (holdlock) as target using (values (@p1)) as source ([id]) on target.[id] = source.[id] when not matched then insert ([id]) values (source.[id]);',
      ],
    ],
  ])('have only parameters as values: %s', (_what, dialect, more, texts) => {
    expect(textsOf(dialect, rows(more)).map(({ text }) => text)).toEqual(texts)
  })

  test('keep the order of values and send objects as JSON text', () => {
    const [statement] = textsOf(
      postgresDialect,
      rows({
        rows: [
          [1, { a: [true] }],
          ['x', null],
        ],
      }),
    )
    expect(statement!.params).toEqual([1, '{"a":[true]}', 'x', null])
    const [remove, insert] = textsOf(redshiftDialect, rows({ key: ['id'] }))
    expect([remove!.params, insert!.params]).toEqual([
      [1, 2],
      [1, 'Ada', 2, null],
    ])
  })

  test('are split into batches that the vendor accepts', () => {
    const many = Array.from({ length: 2_500 }, (_, n) => [n, 'x'])
    expect(textsOf(sqlserverDialect, rows({ rows: many })).map(({ params }) => params.length)).toEqual([
      2_000, 2_000, 1_000,
    ])
    expect(textsOf(postgresDialect, rows({ rows: many })).map(({ params }) => params.length)).toEqual([
      2_000, 2_000, 1_000,
    ])
    expect(textsOf(postgresDialect, rows({ rows: [] }))).toEqual([])
  })

  test.each<[string, Partial<Rows>, string]>([
    ['a table name with a quote', { table: 'a"; drop table b' }, 'is not the name of a table'],
    ['a table name of four parts', { table: 'a.b.c.d' }, 'is not the name of a table'],
    ['an empty table name', { table: '' }, 'is not the name of a table'],
    ['a column name with a quote', { columns: ['id', 'n" = 1 --'] }, 'is not the name of a column'],
    ['a bracket in a column name', { columns: ['id', 'n]'] }, 'is not the name of a column'],
    ['a backtick in a column name', { columns: ['id', 'n`'] }, 'is not the name of a column'],
    ['no columns', { columns: [] }, 'have no columns'],
    ['a key column that the rows do not have', { key: ['other'] }, 'no key column "other"'],
  ])('refuse %s', (_what, more, message) => {
    for (const dialect of [postgresDialect, mysqlDialect, sqlserverDialect])
      expect(() => textsOf(dialect, rows(more))).toThrow(message)
  })
})

describe('a transaction', () => {
  const run = async (broken: string | null, cancel = false) => {
    const said: string[] = []
    const step =
      (word: string, result: unknown = undefined) =>
      async () => {
        said.push(word)
        if (word === broken) throw new Error(`${word} failed`)
        return result as never
      }
    const session: WriteSession = {
      begin: step('begin'),
      run: step('run', 3),
      commit: step('commit'),
      rollback: step('rollback'),
    }
    const giveUp = new AbortController()
    if (cancel) giveUp.abort()
    const statement = { text: 'x', params: [] }
    const outcome = await executeInTransaction(session, {
      statements: [statement, statement],
      timeoutMs: 1_000,
      signal: giveUp.signal,
      beyond: step('beyond'),
    }).catch((error: unknown) => error)
    return { said, outcome: outcome instanceof WarehouseFailure ? outcome.changed : outcome }
  }
  test.each<[string | null, string[], unknown]>([
    [null, ['begin', 'run', 'run', 'beyond', 'commit'], { affected: [3, 3] }],
    ['begin', ['begin', 'rollback'], 'nothing'],
    ['run', ['begin', 'run', 'rollback'], 'nothing'],
    ['beyond', ['begin', 'run', 'run', 'beyond', 'rollback'], 'nothing'],
    ['commit', ['begin', 'run', 'run', 'beyond', 'commit'], 'unknown'],
  ])('has the expected outcome when %s fails', async (broken, said, outcome) => {
    expect(await run(broken)).toEqual({ said, outcome })
  })
  test('is not committed after it was cancelled', async () => {
    expect(await run(null, true)).toEqual({ said: ['begin', 'run', 'run', 'rollback'], outcome: 'nothing' })
  })
})
