import { join } from 'node:path'
import pg from 'pg'
import { type List, textsOfList } from '#platform/http/list'
import { readSources } from '../imports.ts'
import { root } from '../migrated.ts'
import type { Field } from './row-type.ts'
import { type Collected, collectStatements, type ListCall, type Statement } from './statements.ts'

// PostgreSQL parses every SQL statement of the program against the migrated database. This detects tables, columns or
// functions that do not exist, and row types with fields that the statement does not return.

/** Statements whose text is unknown before the program runs, each with the reason why that is right. */
const dynamic: Record<string, string> = {
  'server/areas/connections/using.ts': 'the text of a person, sent to their own warehouse',
  'server/platform/http/list.ts': 'made of the declaration of a list; every call of `readList` is looked at',
  'server/engine/journal/deliver.ts': 'made of the parts that a batch has; every test that runs a workflow executes it',
}

const isOurs = (file: string): boolean =>
  file.startsWith('server/') &&
  !/\.test\.ts$|testing/.test(file) &&
  // Excludes statements to customers' databases, and statements that set up a server before there is a schema.
  !/^server\/(?:providers|platform\/db)\//.test(file)

export function statementsOf(root: string): Collected {
  const sources = readSources(root)
  const { unresolved, ...found } = collectStatements(sources, [...sources.keys()].filter(isOurs))
  return { ...found, unresolved: unresolved.filter(({ place }) => dynamic[place.split(':')[0]!] === undefined) }
}

/** Returns one line per problem. */
export async function sqlProblems(client: pg.Client, { statements, lists, unresolved }: Collected): Promise<string[]> {
  const problems = unresolved.map(({ place, reason }) => `${place}: the text of the statement is not known (${reason})`)
  const ofLists = (await Promise.all(lists.map(statementsOfList))).flat()
  for (const statement of [...statements, ...ofLists]) {
    const wrong = await problemsOf(client, statement)
    problems.push(...wrong.map((problem) => `${statement.place}: ${problem}`))
  }
  return [...new Set(problems)]
}

/** Imports the declaration, because loading the schemas of areas has no side effects. */
async function statementsOfList({ place, file, name, source, fields }: ListCall): Promise<Statement[]> {
  const module: Record<string, unknown> = await import(join(root, file))
  const list = module[name] as List | undefined
  if (list === undefined)
    throw new Error(`${place}: export ${name} from ${file}, so that its statements can be checked`)
  return textsOfList(list, source).map((text) => ({ place, text, fields }))
}

export async function problemsOf(client: pg.Client, statement: Statement): Promise<string[]> {
  try {
    return mismatches(statement, await describeStatement(client, statement.text))
  } catch (error) {
    return [(error as Error).message]
  }
}

type Column = { name: string; dataTypeID: number }

const { builtins } = pg.types
const ids = (type: Field['type'], ...of: number[]): [number, Field['type']][] => of.map((id) => [id, type])
/**
 * Maps column types to the types that the driver returns. Numeric has more digits than a number and is returned as
 * text.
 */
const typeOf = new Map<number, Field['type']>([
  ...ids('string', builtins.TEXT, builtins.VARCHAR, builtins.UUID, builtins.BPCHAR, builtins.NUMERIC),
  ...ids('number', builtins.INT2, builtins.INT4, builtins.INT8, builtins.FLOAT4, builtins.FLOAT8),
  ...ids('boolean', builtins.BOOL),
  ...ids('Date', builtins.TIMESTAMPTZ),
])

/** Returns the fields of the row type that the statement does not return. */
function mismatches({ text, fields }: Statement, columns: Column[]): string[] {
  const given = new Map(columns.map(({ name, dataTypeID }) => [name, typeOf.get(dataTypeID)]))
  return [...(fields ?? [])].flatMap(([name, field]) => {
    if (!given.has(name)) return field.optional ? [] : [`there is no column ${name}`]
    const type = given.get(name)
    if (type === undefined || field.type === 'other' || field.type === type || text.includes(`null as ${name}`))
      return []
    return [`${name} is a ${type}, not a ${field.type}`]
  })
}

/** Parses a statement and describes its columns, without executing it. */
const describeStatement = (client: pg.Client, text: string): Promise<Column[]> =>
  new Promise((resolve, reject) => {
    let columns: Column[] = []
    const query = {
      submit(connection: Wire): void {
        connection.parse({ name: '', text })
        connection.describe({ type: 'S', name: '' })
        connection.sync()
      },
      handleRowDescription({ fields }: { fields: Column[] }): void {
        columns = fields
      },
      handleError: reject,
      handleReadyForQuery: (): void => resolve(columns),
    }
    client.query(query as never)
  })

type Wire = {
  parse(query: { name: string; text: string }): void
  describe(what: { type: 'S'; name: string }): void
  sync(): void
}
