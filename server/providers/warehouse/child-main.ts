// The process that connects to a warehouse: one task at a time, for one connection. It has no environment variables,
// its memory and processor time are limited, and its parent process ends it at the timeout.

import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { JsonObject } from '#model/definition'
import { makeGuard } from '#platform/outgoing/guard'
import { encodeFrame, makeFrameReader } from '#platform/sandbox/frames'
import {
  type ChildTask,
  type FromChild,
  MAX_PAGE_CHARS,
  MAX_PAGES_AHEAD,
  MAX_ROW_CHARS,
  MAX_TASK_BYTES,
  type ToChild,
} from './child-protocol.ts'
import { destroySockets, limitReceived, watchSockets } from './child-sockets.ts'
import { messageOf } from './common.ts'
import { type Warehouse, WarehouseFailure, type WarehouseKind } from './index.ts'

const { stdin, stdout, exit } = process

/** Loads only the required library. */
const makers: Record<WarehouseKind, (task: ChildTask) => Promise<Warehouse>> = {
  postgres: async (task) => (await import('./postgres.ts')).makePostgres(makeGuard(task.allowTargets)),
  redshift: async (task) => (await import('./postgres.ts')).makeRedshift(makeGuard(task.allowTargets)),
  clickhouse: async (task) => (await import('./clickhouse.ts')).makeClickhouse(makeGuard(task.allowTargets)),
  snowflake: async (task) => (await import('./snowflake.ts')).makeSnowflake(makeGuard(task.allowTargets)),
  databricks: async (task) => (await import('./databricks.ts')).makeDatabricks(makeGuard(task.allowTargets)),
  bigquery: async ({ allowTargets }) => {
    const { makeOutgoing } = await import('#platform/outgoing/outgoing')
    return (await import('./bigquery.ts')).makeBigquery(makeOutgoing({ allowTargets }))
  },
  mysql: async (task) => (await import('./mysql.ts')).makeMysql(makeGuard(task.allowTargets)),
  sqlserver: async (task) => (await import('./sqlserver.ts')).makeSqlserver(makeGuard(task.allowTargets)),
  duckdb: async ({ directory }) => (await import('./duckdb.ts')).makeDuckdb(directory),
}

let ahead = 0
let wake: () => void = () => {}

const say = (message: FromChild, body = ''): Promise<void> =>
  new Promise((resolve, reject) =>
    stdout.write(encodeFrame(message, body), (error) => (error ? reject(error) : resolve())),
  )

async function sayRows(rows: string[]): Promise<void> {
  while (ahead >= MAX_PAGES_AHEAD) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  ahead += 1
  await say({ rows: rows.length }, `[${rows.join(',')}]`)
}

/** Sends rows in pages of limited size, because drivers return any number of rows at once, of any length. */
async function sayPage(rows: JsonObject[]): Promise<void> {
  let part: string[] = []
  let length = 0
  for (const row of rows) {
    const text = JSON.stringify(row)
    if (text.length > MAX_ROW_CHARS) throw new WarehouseFailure('read', 'a row is longer than 4 MiB')
    if (part.length > 0 && length + text.length > MAX_PAGE_CHARS) {
      await sayRows(part)
      part = []
      length = 0
    }
    part.push(text)
    length += text.length
  }
  if (part.length > 0) await sayRows(part)
}

async function run(task: ChildTask): Promise<void> {
  const over = new AbortController()
  const tooMuch = Promise.withResolvers<never>()
  tooMuch.promise.catch(() => {})
  const stopWatching = limitReceived(task.maxReceived, () => {
    tooMuch.reject(new WarehouseFailure('read', `the server sent more than ${task.maxReceived} bytes`))
    over.abort()
    destroySockets()
  })
  try {
    await Promise.race([answer(task, over.signal), tooMuch.promise])
    await say({ done: true, spent: isLarge() })
  } catch (error) {
    const step = error instanceof WarehouseFailure ? error.step : 'read'
    const changed = error instanceof WarehouseFailure ? error.changed : 'unknown'
    await say({ failed: messageOf(error), step, changed, spent: over.signal.aborted || isLarge() })
  } finally {
    stopWatching()
    destroySockets()
  }
}

/**
 * The certificate authorities come from the service and are the same for every task. Reading them again would cost time
 * and memory.
 */
let isTrusting = false
function trust(ca: readonly string[]): void {
  if (isTrusting) return
  if (ca.length > 0) setDefaultCACertificates([...getCACertificates('default'), ...ca])
  isTrusting = true
}

/**
 * A process that once was this large may keep the memory mapped. The kernel counts this memory against the limit of the
 * next task, which then fails at an arbitrary allocation.
 */
const LARGE_KB = 256 * 1024
const isLarge = (): boolean => process.resourceUsage().maxRSS > LARGE_KB

async function answer(task: ChildTask, signal: AbortSignal): Promise<void> {
  trust(task.ca)
  const warehouse = await makers[task.kind](task)
  const { timeoutMs } = task.query
  if (task.do === 'probe') return warehouse.probe(task.target, { timeoutMs, signal })
  if (task.do === 'execute') {
    const work = { statements: task.statements, timeoutMs, signal, beyond: () => say({ beyond: true }) }
    const { affected } = await warehouse.execute!(task.target, work)
    return say({ affected })
  }
  const { columns, pages } = await warehouse.query(task.target, { ...task.query, signal })
  await say({ columns })
  for await (const page of pages) await sayPage(page)
}

watchSockets()
// An uncaught exception of a library ends the process, and the parent reports the failure of the task.
const read = makeFrameReader<ToChild>(MAX_TASK_BYTES, ({ header }) => {
  if (header.do === 'taken') {
    ahead -= 1
    wake()
  } else if (header.do === 'warm') {
    // If the import fails, the first task reports it.
    import('./duckdb-run.ts').catch(() => {})
  } else {
    ahead = 0
    void run(header)
  }
})
stdin.on('data', read)
stdin.on('end', () => exit(0))
