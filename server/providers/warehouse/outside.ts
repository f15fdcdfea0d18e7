// Probes and queries in processes of their own: whatever a server sends, the most it can do is end the process that reads it.

import { createHash } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import type { JsonObject } from '#model/definition'
import type { ChildPool } from '#platform/children/pool'
import { rowsOf, type Said, type WarehouseChild } from './child.ts'
import type { ChildTask } from './child-protocol.ts'
import {
  type Changed,
  type Executed,
  type Query,
  type QueryResult,
  type Statement,
  type Target,
  type Warehouse,
  WarehouseFailure,
  type Work,
} from './index.ts'

export type Setup = Pick<ChildTask, 'allowTargets' | 'directory'>

/** Of one result, as JSON, where nobody says less. */
const MAX_BYTES = 1024 * 1024 * 1024
const MAX_PROBE_BYTES = 4 * 1024 * 1024
/** What protocols add to the values themselves, and values that are shorter as JSON. */
const receivedFor = (maxBytes: number): number => 4 * 1024 * 1024 + 2 * maxBytes

const mib = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MiB`

/** What the operator trusts beyond Node's own list (NODE_EXTRA_CA_CERTS): the child's environment does not name it. */
function extraAuthorities(): string[] {
  const bundled = new Set(getCACertificates('bundled'))
  return getCACertificates('default').filter((certificate) => !bundled.has(certificate))
}

/** Two connections never share a process, not even of one workspace: each sees the secrets of one alone. */
const keyOf = (kind: string, { workspaceId, config, secrets }: Target): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, workspaceId, config, secrets]))
    .digest('base64')

export function runOutside(warehouse: Warehouse, pool: ChildPool<WarehouseChild>, setup: Setup): Warehouse {
  const { kind } = warehouse

  /** Begins a task, and gives what is said about it one by one. Anyone who stops listening, or aborts, ends the process. */
  async function* converse(
    what: ChildTask['do'],
    target: Target,
    { text, params, limit, timeoutMs, maxBytes, signal }: Query,
    statements: Statement[] = [],
  ): AsyncGenerator<{ said: Said; taken(): void }> {
    await warehouse.prepare?.(target)
    if (what === 'execute') await warehouse.prepareWriting?.(target)
    const lease = await pool.lease(target.workspaceId, keyOf(kind, target), signal).catch(() => {
      throw new WarehouseFailure('connect', 'it was cancelled')
    })
    if (!lease) throw new WarehouseFailure('connect', 'too many queries are waiting; try again later')
    const { child } = lease
    const stop = (): void => child.end()
    signal.addEventListener('abort', stop, { once: true })
    let clean = false
    try {
      if (signal.aborted) throw new WarehouseFailure('connect', 'it was cancelled')
      child.begin({
        do: what,
        kind,
        target,
        query: { text, limit, timeoutMs, ...(params !== undefined && { params }) },
        statements,
        maxReceived: what !== 'query' ? MAX_PROBE_BYTES : receivedFor(maxBytes ?? MAX_BYTES),
        ca: extraAuthorities(),
        ...setup,
      })
      for (;;) {
        const said = await child.next()
        if ('failed' in said.header) {
          clean = !said.header.spent
          throw new WarehouseFailure(said.header.step, said.header.failed, said.header.changed)
        }
        if ('done' in said.header) {
          clean = !said.header.spent
          return
        }
        yield { said, taken: child.taken }
      }
    } finally {
      signal.removeEventListener('abort', stop)
      lease.giveBack({ clean })
    }
  }

  return {
    ...warehouse,
    async probe(target, options) {
      for await (const _said of converse('probe', target, { text: '', limit: 1, ...options }));
    },
    async query(target, query): Promise<QueryResult> {
      const conversation = converse('query', target, query)
      const first = await conversation.next()
      const header = first.done ? undefined : first.value.said.header
      const columns = header && 'columns' in header ? header.columns : []
      return { columns, pages: readPages(conversation, query) }
    },
    ...(warehouse.execute && {
      execute: (target: Target, work: Work): Promise<Executed> => {
        const { timeoutMs, signal } = work
        const conversation = converse('execute', target, { text: '', limit: 0, timeoutMs, signal }, work.statements)
        return listen(conversation, warehouse.writing?.transaction === true)
      },
    }),
  }
}

/** A process that ended, or was ended, before it said that there is no way back has changed nothing: the server rolls back. */
async function listen(
  conversation: AsyncGenerator<{ said: Said; taken(): void }>,
  transaction: boolean,
): Promise<Executed> {
  let isBeyond = !transaction
  let executed: Executed | undefined
  try {
    for await (const { said } of conversation) {
      if ('beyond' in said.header) isBeyond = true
      if ('affected' in said.header) executed = { affected: said.header.affected }
    }
  } catch (error) {
    const { step, message, changed } = error as WarehouseFailure
    if (!(error instanceof WarehouseFailure)) throw error
    if (step !== 'write' && step !== 'read') throw error
    throw new WarehouseFailure('write', message, isBeyond ? changedBeyond(step, changed) : 'nothing')
  }
  return executed ?? { affected: [] }
}

/** `read` is what is said of a process that ended. */
const changedBeyond = (step: string, changed: Changed): Changed => (step === 'write' ? changed : 'unknown')

/** Counted here once more: the process that read the rows has met a server that may be anybody's. */
async function* readPages(
  conversation: AsyncGenerator<{ said: Said; taken(): void }>,
  { limit, maxBytes = MAX_BYTES }: Query,
): AsyncGenerator<JsonObject[]> {
  let rows = 0
  let bytes = 0
  for await (const { said, taken } of conversation) {
    if (!('rows' in said.header)) continue
    bytes += said.body.length
    if (bytes > maxBytes) throw new WarehouseFailure('read', `the rows are larger than ${mib(maxBytes)}`)
    const page = rowsOf(said)
    rows += page.length
    if (rows > limit) throw new WarehouseFailure('read', `it gave more than ${limit} rows`)
    yield page
    taken()
  }
}
