// Runs probes and queries in separate processes: at worst, a malicious server can end the process that reads its data.

import { createHash } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import type { JsonObject } from '#model/definition'
import type { ChildPool } from '#platform/children/pool'
import { type ChildMessage, rowsOf, type WarehouseChild } from './child.ts'
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

/** The default maximum size of one result, as JSON. */
const MAX_BYTES = 1024 * 1024 * 1024
const MAX_PROBE_BYTES = 4 * 1024 * 1024
/** Allows for the overhead of protocols, and for values that are shorter as JSON. */
const receivedFor = (maxBytes: number): number => 4 * 1024 * 1024 + 2 * maxBytes

const mib = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MiB`

/**
 * Returns the authorities that the operator trusts in addition to Node's own list (NODE_EXTRA_CA_CERTS). The child's
 * environment does not contain this setting.
 */
function extraAuthorities(): string[] {
  const bundled = new Set(getCACertificates('bundled'))
  return getCACertificates('default').filter((certificate) => !bundled.has(certificate))
}

/**
 * Two connections never share a process, even within one workspace, so each process has the secrets of one connection
 * only.
 */
const keyOf = (kind: string, { workspaceId, config, secrets }: Target): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, workspaceId, config, secrets]))
    .digest('base64')

export function runInChild(warehouse: Warehouse, pool: ChildPool<WarehouseChild>, setup: Setup): Warehouse {
  const { kind } = warehouse

  /** Starts a task and yields its messages. If the caller stops reading or aborts, the process ends. */
  async function* converse(
    what: ChildTask['do'],
    target: Target,
    { text, params, limit, timeoutMs, maxBytes, signal }: Query,
    statements: Statement[] = [],
  ): AsyncGenerator<{ said: ChildMessage; taken(): void }> {
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

/**
 * Waits for an execution. A process that ended before it reported an irreversible change has changed nothing, because
 * the server rolls back.
 */
async function listen(
  conversation: AsyncGenerator<{ said: ChildMessage; taken(): void }>,
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

/** A process that ended is reported with the step `read`. */
const changedBeyond = (step: string, changed: Changed): Changed => (step === 'write' ? changed : 'unknown')

/**
 * Yields the pages. The limits are checked here again, because the process that read the rows may be compromised by its
 * server.
 */
async function* readPages(
  conversation: AsyncGenerator<{ said: ChildMessage; taken(): void }>,
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
    if (rows > limit) throw new WarehouseFailure('read', `it returned more than ${limit} rows`)
    yield page
    taken()
  }
}
