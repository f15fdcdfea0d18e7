import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { bareStatement, textOf } from './common.ts'
import { type Executed, type Statement, WarehouseFailure, type Work } from './index.ts'
import { type Dialect, executeInTransaction, executeOneByOne } from './writing.ts'

// Writes to BigQuery over its REST interface. A single statement is atomic by itself. Several statements run in a
// session, because only a session supports transactions over several requests.

export const bigqueryDialect: Dialect = {
  transaction: true,
  maxParameters: 10_000,
  // Each row is a separate subquery, and BigQuery refuses a query with many subqueries as too complex.
  maxRows: 100,
  quote: { open: '`', close: '`' },
  parameter: () => '?',
  upsert: {
    source: (rows, columns) => {
      const [first = [], ...rest] = rows
      const named = first.map((marker, at) => `${marker} as ${columns[at]}`).join(', ')
      return `(select ${named}${rest.map((row) => ` union all select ${row.join(', ')}`).join('')}) as source`
    },
  },
}

/** BigQuery responded that it did not run the statement. */
class Refused extends Error {}

type Answer = {
  jobComplete?: boolean
  jobReference?: { jobId?: string; location?: string }
  numDmlAffectedRows?: string
  sessionInfo?: { sessionId?: string }
  schema?: { fields?: Field[] }
  error?: { message?: string }
}
type Field = { name: string; type: string; mode?: string }
type Parameter = { parameterType: { type: string }; parameterValue: { value: string | null } }

const WAIT = 10 * SECOND

/** Maps the older type names of tables to the type names of queries. */
const QUERY_TYPES: Record<string, string> = { INTEGER: 'INT64', FLOAT: 'FLOAT64', BOOLEAN: 'BOOL' }

const parameter = (type: string, value: Json): Parameter => ({
  parameterType: { type },
  parameterValue: {
    value: value === null ? null : typeof value === 'object' ? JSON.stringify(value) : String(value),
  },
})

/** Guesses the type of a value whose column is unknown. */
function guessType(value: Json): string {
  if (typeof value === 'boolean') return 'BOOL'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'INT64' : 'FLOAT64'
  return 'STRING'
}

export type Connected = {
  outgoing: Outgoing
  endpoint: string
  token: string
  config: JsonObject
}

export async function executeOnBigquery(connected: Connected, work: Work): Promise<Executed> {
  const { config } = connected
  let sessionId: string | undefined

  async function ask(method: 'GET' | 'POST', path: string, body?: object, project?: string): Promise<Answer> {
    const { status, body: bytes } = await connected.outgoing.request({
      method,
      url: `${connected.endpoint}/bigquery/v2/projects/${encodeURIComponent(project ?? textOf(config.project_id))}${path}`,
      headers: { authorization: `Bearer ${connected.token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      timeoutMs: 3 * WAIT,
      maxBytes: 4 << 20,
      signal: work.signal,
    })
    const answer = parse(bytes.toString())
    if (status < 300) return answer
    const message = answer.error?.message ?? `BigQuery answered with status ${status}`
    if (status === 401) throw new WarehouseFailure('sign_in', message)
    throw status < 500 ? new Refused(message) : new Error(message)
  }

  async function run(text: string, parameters: Parameter[], more: object = {}): Promise<Answer> {
    let answer = await ask('POST', '/queries', {
      query: bareStatement(text),
      useLegacySql: false,
      timeoutMs: WAIT,
      maxResults: 0,
      ...(parameters.length > 0 && { parameterMode: 'POSITIONAL', queryParameters: parameters }),
      ...(config.location !== undefined && { location: textOf(config.location) }),
      ...(config.dataset !== undefined && {
        defaultDataset: { datasetId: textOf(config.dataset), projectId: textOf(config.project_id) },
      }),
      ...(sessionId !== undefined && { connectionProperties: [{ key: 'session_id', value: sessionId }] }),
      ...more,
    })
    const { jobId = '', location } = answer.jobReference ?? {}
    while (answer.jobComplete !== true) {
      const query = new URLSearchParams({ timeoutMs: String(WAIT), maxResults: '0', ...(location && { location }) })
      answer = { ...answer, ...(await ask('GET', `/queries/${encodeURIComponent(jobId)}?${query}`)) }
    }
    return answer
  }

  const known = new Map<string, Promise<Map<string, string>>>()
  /**
   * Returns the type of each column, because a parameter that is a date, a decimal or null must have an explicit type.
   */
  const typesOf = (table: string): Promise<Map<string, string>> => {
    const reading = known.get(table) ?? readTypes(table)
    known.set(table, reading)
    return reading
  }
  async function readTypes(table: string): Promise<Map<string, string>> {
    const parts = table.split('.')
    const [name = '', dataset = textOf(config.dataset), project] = parts.toReversed()
    if (dataset === '') throw new Refused('name the table as dataset.table, or give the connection a default dataset')
    const path = `/datasets/${encodeURIComponent(dataset)}/tables/${encodeURIComponent(name)}`
    const { schema } = await ask('GET', path, undefined, project)
    return new Map(
      (schema?.fields ?? []).map(({ name: column, type, mode }) => {
        const isPlain = mode !== 'REPEATED' && type !== 'RECORD' && type !== 'STRUCT'
        return [column.toLowerCase(), isPlain ? (QUERY_TYPES[type] ?? type) : '']
      }),
    )
  }

  async function parametersOf({ params, of }: Statement): Promise<Parameter[]> {
    if (!of) return params.map((value) => parameter(guessType(value), value))
    const types = await typesOf(of.table)
    return params.map((value, at) => {
      const column = of.columns[at % of.columns.length]!
      const type = types.get(column.toLowerCase())
      if (type === undefined) throw new Refused(`the table has no column "${column}"`)
      if (type === '') throw new Refused(`"${column}" is a list or a record; write it with a statement`)
      return parameter(type, value)
    })
  }

  const write = async (statement: Statement): Promise<number | null> => {
    const { numDmlAffectedRows } = await run(statement.text, await parametersOf(statement))
    return numDmlAffectedRows === undefined ? null : Number(numDmlAffectedRows)
  }

  if (work.statements.length === 1) return executeOneByOne(write, work, (error) => error instanceof Refused)
  try {
    return await executeInTransaction(
      {
        async begin() {
          const { sessionInfo } = await run('begin transaction', [], { createSession: true })
          sessionId = sessionInfo?.sessionId
          if (sessionId === undefined) throw new Error('BigQuery did not create a session')
        },
        run: write,
        commit: () => run('commit transaction', []),
        rollback: async () => sessionId !== undefined && run('rollback transaction', []),
      },
      work,
    )
  } finally {
    // BigQuery ends an abandoned session after a day without use.
    if (sessionId !== undefined) await run('call bq.abort_session()', []).catch(() => {})
  }
}

function parse(text: string): Answer {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) ? (value as Answer) : {}
  } catch {
    return {}
  }
}
