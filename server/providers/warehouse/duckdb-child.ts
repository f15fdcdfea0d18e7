import { DuckDBInstance, type DuckDBValue, StatementType } from '@duckdb/node-api'
import type { Json } from '#model/definition'
import { exactNumber } from './common.ts'

// The process in which one DuckDB statement runs: no secrets in its environment, no files but the one database, no
// network, a fixed amount of memory. Whoever started it ends it when the time is over.

export type DuckTask = {
  /** null: a database in memory, gone with the process. */
  file: string | null
  text: string
  params: Json[] | { [name: string]: Json }
  limit: number
  create: boolean
}
export type FromDuck =
  | { columns: { name: string; type: string }[] }
  | { rows: Json[][] }
  | { done: true }
  | { failed: string; step: 'connect' | 'read' }

const settings = {
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  memory_limit: '256MB',
  max_temp_directory_size: '0B',
  threads: '1',
  lock_configuration: 'true',
}

const MOST_PAGES_AHEAD = 4
const LONGEST_PAGE = 1024 * 1024
const LONGEST_ROW = 4 * 1024 * 1024
let ahead = 0
let wake: () => void = () => {}

const say = (message: FromDuck): Promise<void> =>
  new Promise((resolve, reject) => process.send!(message, (error: Error | null) => (error ? reject(error) : resolve())))

async function open({ file, create }: DuckTask): Promise<DuckDBInstance> {
  if (file === null) return DuckDBInstance.create(':memory:', settings)
  if (create) {
    const made = await DuckDBInstance.create(file, settings)
    made.closeSync()
  }
  return DuckDBInstance.create(file, { ...settings, access_mode: 'READ_ONLY' })
}

/** Without the picture of the statement that follows after an empty line. */
const inOneLine = (message: string): string =>
  message
    .split(/\n+LINE \d+:/)[0]!
    .replaceAll(/\s*\n\s*/g, ' ')
    .slice(0, 500)

/** DuckDB gives 2,048 rows at once, however long they are. */
function* inParts(rows: Json[][]): Generator<Json[][]> {
  let part: Json[][] = []
  let length = 0
  for (const row of rows) {
    const more = JSON.stringify(row).length
    if (more > LONGEST_ROW) throw new Error('a row is longer than 4 MiB')
    if (part.length > 0 && length + more > LONGEST_PAGE) {
      yield part
      part = []
      length = 0
    }
    part.push(row)
    length += more
  }
  if (part.length > 0) yield part
}

async function sayRows(rows: Json[][]): Promise<void> {
  while (ahead >= MOST_PAGES_AHEAD) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  ahead += 1
  await say({ rows })
}

async function run(task: DuckTask): Promise<void> {
  let step: 'connect' | 'read' = 'connect'
  try {
    const instance = await open(task)
    const connection = await instance.connect()
    step = 'read'
    const statements = await connection.extractStatements(task.text)
    if (statements.count !== 1) throw new Error('send exactly one statement')
    const statement = await statements.prepare(0)
    if (statement.statementType !== StatementType.SELECT) throw new Error('only statements that read are allowed')
    const given = Array.isArray(task.params) ? task.params.length > 0 : Object.keys(task.params).length > 0
    if (given) statement.bind(task.params as DuckDBValue[])
    const result = await statement.stream()
    const columnTypes = result.columnTypes().map(String)
    const numeric = columnTypes.map((type) => /^(U?BIGINT|U?HUGEINT|DECIMAL)/.test(type))
    await say({
      columns: result.columnNames().map((name, index) => ({ name, type: columnTypes[index]!.toLowerCase() })),
    })
    let left = task.limit
    for await (const page of result.yieldRowsJson()) {
      const rows = page
        .slice(0, left)
        .map((cells) => cells.map((cell, at) => (numeric[at] && typeof cell === 'string' ? exactNumber(cell) : cell)))
      for (const part of inParts(rows as Json[][])) await sayRows(part)
      left -= rows.length
      if (left <= 0) break
    }
    await say({ done: true })
  } catch (error) {
    await say({ failed: inOneLine((error as Error).message), step })
  }
  process.disconnect()
}

process.on('message', (message: DuckTask | 'taken') => {
  if (message === 'taken') {
    ahead -= 1
    wake()
  } else void run(message)
})
