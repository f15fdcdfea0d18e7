import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { readSources } from '../scripts/imports.ts'
import type { Field } from '../scripts/sql/row-type.ts'
import { collectStatements, type Statement } from '../scripts/sql/statements.ts'

// Every SQL statement of the program is parsed by PostgreSQL against the migrated database: a table, column or function that
// does not exist, and a row type that names what the statement does not give, are found here and not by a person.

/** Texts that are not known before the program runs, each with the reason why that is right. */
const dynamic: Record<string, string> = {
  'server/areas/connections/using.ts': 'the text of a person, sent to their own warehouse',
  'server/engine/journal/journal.ts': 'made of the parts that a batch has; every test that runs a workflow executes it',
}

const sources = readSources(join(import.meta.dirname, '..'))
const isOurs = (file: string): boolean =>
  file.startsWith('server/') &&
  !/\.test\.ts$|testing/.test(file) &&
  // Statements to the databases of customers, and those that set up a server before there is a schema.
  !/^server\/(?:providers|platform\/db)\//.test(file)
const { statements, unresolved } = collectStatements(sources, [...sources.keys()].filter(isOurs))

type Column = { name: string; dataTypeID: number }

/** Parses a statement and asks what it gives, without executing it. */
class Describe {
  private readonly text: string
  private readonly done: (columns: Column[]) => void
  private readonly failed: (error: Error) => void
  private columns: Column[] = []

  constructor(text: string, done: (columns: Column[]) => void, failed: (error: Error) => void) {
    this.text = text
    this.done = done
    this.failed = failed
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as {
      parse(query: { name: string; text: string }): void
      describe(what: { type: 'S'; name: string }): void
      sync(): void
    }
    wire.parse({ name: '', text: this.text })
    wire.describe({ type: 'S', name: '' })
    wire.sync()
  }

  handleRowDescription({ fields }: { fields: Column[] }): void {
    this.columns = fields
  }

  handleError(error: Error): void {
    this.failed(error)
  }

  handleReadyForQuery(): void {
    this.done(this.columns)
  }
}

const describeStatement = (client: pg.Client, text: string): Promise<Column[]> =>
  new Promise((resolve, reject) => {
    client.query(new Describe(text, resolve, reject) as never)
  })

const { builtins } = pg.types
const typeOf = new Map<number, Field['type']>([
  ...[builtins.TEXT, builtins.VARCHAR, builtins.UUID, builtins.BPCHAR, builtins.NUMERIC].map(
    (id) => [id, 'string'] as const,
  ),
  ...[builtins.INT2, builtins.INT4, builtins.INT8, builtins.FLOAT4, builtins.FLOAT8].map(
    (id) => [id, 'number'] as const,
  ),
  [builtins.BOOL, 'boolean'],
  [builtins.TIMESTAMPTZ, 'Date'],
])

/** What the row type promises and the statement does not give. */
function lies({ fields }: Statement, columns: Column[]): string[] {
  const given = new Map(columns.map(({ name, dataTypeID }) => [name, typeOf.get(dataTypeID)]))
  return [...(fields ?? [])].flatMap(([name, field]) => {
    if (!given.has(name)) return field.optional ? [] : [`there is no column ${name}`]
    const type = given.get(name)
    if (type === undefined || field.type === 'other' || field.type === type) return []
    return [`${name} is a ${type}, not a ${field.type}`]
  })
}

let client: pg.Client
beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('postgres').urls.owner })
  await client.connect()
})
afterAll(() => client.end())

describe('the SQL of the program', () => {
  test('is known before it runs', () => {
    const missing = unresolved.filter(({ place }) => dynamic[place.split(':')[0]!] === undefined)
    expect(missing).toEqual([])
    expect(statements.length).toBeGreaterThan(600)
  })

  test('names tables, columns and functions that exist, and rows are what their types say', async () => {
    const wrong: string[] = []
    for (const statement of statements) {
      const problems = await describeStatement(client, statement.text).then(
        (columns) => lies(statement, columns),
        (error: Error) => [error.message],
      )
      wrong.push(...problems.map((problem) => `${statement.place}: ${problem}`))
    }
    expect([...new Set(wrong)]).toEqual([])
  })

  test.each([
    ['select nothing_of_the_kind from workflows', 'column "nothing_of_the_kind" does not exist'],
    ['update workflows set nam = $1', 'column "nam" of relation "workflows" does not exist'],
    ['select no_such_function($1)', 'function no_such_function(unknown) does not exist'],
  ])('%s is refused', async (text, problem) => {
    await expect(describeStatement(client, text)).rejects.toThrow(problem)
  })

  test.each<[string, Statement['fields'], string[]]>([
    [
      'select name from workflows',
      new Map([['title', { optional: false, type: 'string' }]]),
      ['there is no column title'],
    ],
    [
      'select name from workflows',
      new Map([['name', { optional: false, type: 'Date' }]]),
      ['name is a string, not a Date'],
    ],
    ['select name from workflows', new Map([['title', { optional: true, type: 'string' }]]), []],
  ])('%s read as %o', async (text, fields, expected) => {
    expect(lies({ place: '', text, fields }, await describeStatement(client, text))).toEqual(expected)
  })
})
