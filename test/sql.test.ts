// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of programs
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyOf, defineList, type List, type ListDeclaration, type ListSource, textsOfList } from '#platform/http/list'
import { problemsOf, sqlProblems, statementsOf } from '../scripts/sql/problems.ts'
import type { Field } from '../scripts/sql/row-type.ts'
import { collectStatements } from '../scripts/sql/statements.ts'
import { makeTestDatabase, type TestDatabase } from './harness/postgres.ts'
import { slow } from './harness/slow.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await makeTestDatabase()
  client = await database.superuser()
})
afterAll(() => database.drop())

// `npm run check` runs the same check.
slow('the SQL of the program refers only to existing objects, and its rows match their types', async () => {
  const collected = statementsOf(join(import.meta.dirname, '..'))
  expect(collected.statements.length).toBeGreaterThan(600)
  expect(collected.lists.length).toBeGreaterThan(45)
  expect(await sqlProblems(client, collected)).toEqual([])
})

describe('a statement', () => {
  const field = (name: string, type: Field['type'], optional = false) => new Map([[name, { optional, type }]])

  test.each<[string, Map<string, Field> | undefined, string[]]>([
    ['select nothing_here from workflows', undefined, ['column "nothing_here" does not exist']],
    ['update workflows set nam = $1', undefined, ['column "nam" of relation "workflows" does not exist']],
    ['select no_function($1)', undefined, ['function no_function(unknown) does not exist']],
    ['select name from workflows', field('title', 'string'), ['there is no column title']],
    ['select name from workflows', field('title', 'string', true), []],
    ['select name from workflows', field('name', 'Date'), ['name is a string, not a Date']],
    ['select 1.5 as n', field('n', 'number'), ['n is a string, not a number']],
    ['select 1 as n', field('n', 'number'), []],
    ['select null as n', field('n', 'number'), []],
  ])('%s, read as %o', async (text, fields, expected) => {
    expect(await problemsOf(client, { place: '', text, fields })).toEqual(expected)
  })
})

describe('a list', () => {
  const source = { sql: 'select workflow_id, name, created_at from workflows where workspace_id = $1' }
  const declared = {
    id: 'workflow_id',
    search: ['name'],
    sort: { created_at: 'id', name: 'text' },
    order: 'name',
  } as const
  const problems = async (list: List, more: Partial<ListSource> = {}) =>
    (
      await Promise.all(
        textsOfList(list, { ...source, ...more }).map((text) =>
          problemsOf(client, { place: '', text, fields: undefined }),
        ),
      )
    ).flat()

  test('has no problems if its source has the columns that it names', async () => {
    expect(await problems(defineList(declared))).toEqual([])
    expect(
      await problems(defineList(declared), { each: 'select workspace_id from workspaces where workspace_id = $2' }),
    ).toEqual([])
  })

  test.each<[string, Partial<ListDeclaration>]>([
    ['title', { search: ['title'] }],
    ['title', { sort: { name: 'text', title: 'text' } }],
    ['made_at', { created: 'made_at' }],
    ['state', { filters: { state: anyOf(['on']) } }],
  ])('has a problem if the column %s does not exist: %j', async (column, more) => {
    expect(await problems(defineList({ ...declared, ...more }))).toContain(`column listed.${column} does not exist`)
  })

  test('is found where it is read, with all variants of its source', () => {
    const { lists, unresolved } = collectStatements(
      new Map([
        ['server/areas/a/schema.ts', 'export const aList = defineList({})'],
        [
          'server/areas/a/store.ts',
          "import { aList } from './schema.ts'\nconst f = (tx, asked, all) => readList<A>(tx, aList, asked, { sql: `select ${all ? 'a' : 'b'}`, values: [] })",
        ],
        [
          'server/areas/b/store.ts',
          'const f = (tx, list, asked) => readList<A>(tx, list, asked, { sql: textOf(new Date()), values: [] })',
        ],
      ]),
      ['server/areas/a/store.ts', 'server/areas/b/store.ts'],
    )
    expect(lists.map(({ file, name, source: { sql } }) => ({ file, name, sql }))).toEqual([
      { file: 'server/areas/a/schema.ts', name: 'aList', sql: 'select b' },
      { file: 'server/areas/a/schema.ts', name: 'aList', sql: 'select a' },
    ])
    expect(unresolved).toEqual([{ place: 'server/areas/b/store.ts:1', reason: 'the list is not a constant' }])
  })
})

describe('the SQL texts of a module include', () => {
  const collect = (source: string, others: Record<string, string> = {}) => {
    const sources = new Map(Object.entries({ 'server/areas/a/store.ts': source, ...others }))
    const { statements, unresolved } = collectStatements(sources, [...sources.keys()])
    return { texts: statements.map(({ text }) => text), unresolved: unresolved.map(({ reason }) => reason) }
  }

  test.each<[string, string, string[]]>([
    ['a text', "tx.rows('select 1')", ['select 1']],
    ['a constant', "const columns = 'a, b'\ntx.rows(`select ${columns}`)", ['select a, b']],
    [
      'both branches of a condition, the same branch in the whole text',
      "const f = (tx, all) => tx.rows(`select ${all ? 'a' : 'b'} from ${all ? 'x' : 'y'}`)",
      ['select b from y', 'select a from x'],
    ],
    [
      'every call of a function that builds the text',
      "const find = (tx, table) => tx.rows(`select from ${table}`)\nfind(tx, 'a')\nfind(tx, 'b')",
      ['select from b', 'select from a'],
    ],
    ['a list', "for (const t of ['a', 'b']) tx.count(`delete from ${t}`)", ['delete from a', 'delete from b']],
    [
      'columns built from a list of names',
      "tx.rows(`select ${['a', 'b'].map((c) => `t.${c}`).join(', ')}`)",
      ['select t.a, t.b'],
    ],
  ])('%s', (_, source, texts) => {
    expect(collect(source)).toEqual({ texts, unresolved: [] })
  })

  test('constants of other modules', () => {
    const found = collect("import { columns } from './columns.ts'\ntx.rows(`select ${columns}`)", {
      'server/areas/a/columns.ts': "export const columns = 'a'",
    })
    expect(found).toEqual({ texts: ['select a'], unresolved: [] })
  })

  test('only known texts; an unknown text is reported as unresolved', () => {
    expect(collect('const f = (tx) => tx.rows(textOf(new Date()))').unresolved).toHaveLength(1)
  })
})
