import { type NodeCall, NodeFailure } from '#engine/node'
import { isControl } from '#engine/nodes/kind'
import type { NodeTable } from '#engine/nodes/table'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { firstIdAt, newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { writePeriodically } from '#platform/periodic-write'

// Failures of actions, for the page of a service. They are collected in memory and written once a second, many
// workspaces in one statement. A killed process loses the failures of its last second; the executions themselves record
// all failures.

const FLUSH_EVERY = 1 * SECOND
/** The number of failures kept per workflow and service. */
const KEPT = 50
/** The maximum number of unwritten failures. Further failures are dropped to limit memory. */
const MAX_UNWRITTEN = 5_000
const MAX_CODE = 100
const MAX_MESSAGE = 1_000
const MAX_PATH = 500
const MAX_NAME = 200

type ErrorRow = {
  workspace_id: string
  execution_id: string
  step: string
  error_id: string
  workflow_id: string | null
  service: string
  action: string
  node_id: string
  code: string
  message: string
  failures: number
  failed_at: number
}

/** Replaces characters in a vendor's text that PostgreSQL does not accept. */
const stored = (text: string, length: number): string => text.slice(0, length).replaceAll('\0', '\uFFFD').toWellFormed()

export function makeServiceErrors({ db, log }: { db: Database; log: Logger }) {
  let rows = new Map<string, ErrorRow>()

  function note(call: NodeCall, { code, message }: NodeFailure, now = Date.now()): void {
    const { service, action } = call.args
    // A failure without a known action says nothing about a service.
    if (typeof service !== 'string' || typeof action !== 'string' || code === 'unknown_action') return
    const node_id = stored(call.nodePath, MAX_PATH)
    const step = node_id.replaceAll(/\[\d+\]/g, '[]')
    const key = `${call.workspaceId} ${call.executionId} ${step}`
    const before = rows.get(key)
    if (!before && rows.size >= MAX_UNWRITTEN) return
    rows.set(key, {
      workspace_id: call.workspaceId,
      execution_id: call.executionId,
      step,
      error_id: newId(),
      workflow_id: call.workflowId,
      service: stored(service, MAX_NAME),
      action: stored(action, MAX_NAME),
      node_id,
      code: stored(code, MAX_CODE),
      message: stored(message, MAX_MESSAGE),
      failures: (before?.failures ?? 0) + 1,
      failed_at: now,
    })
  }

  async function write(): Promise<void> {
    if (rows.size === 0) return
    const taken = [...rows.values()]
    rows = new Map()
    try {
      await db.appPool.query('select add_service_errors($1, $2)', [JSON.stringify(taken), KEPT])
    } catch (error) {
      log.warn({ err: error, errors: taken.length }, 'failures of services could not be stored')
    }
  }
  const { stop } = writePeriodically(FLUSH_EVERY, write)

  return {
    /** Returns the nodes with `service.call` wrapped, so that its failures are recorded. */
    watch: (nodes: NodeTable): NodeTable =>
      new Map(
        [...nodes].map(([type, kind]) => {
          if (type !== 'service.call' || isControl(kind)) return [type, kind]
          const run = async (call: NodeCall) => {
            try {
              return await kind.run(call)
            } catch (error) {
              if (error instanceof NodeFailure) note(call, error)
              throw error
            }
          }
          return [type, { ...kind, run }]
        }),
      ),
    stop,
  }
}

/** Deletes failures of executions that are older than the retention period. */
export async function forgetServiceErrors(
  db: Database,
  keptDays: number,
  now = Date.now(),
  atOnce = 10_000,
): Promise<void> {
  const before = firstIdAt(now - keptDays * 24 * 3600 * 1000)
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_service_errors($1, $2) as forgotten', [before, atOnce])
    )[0]!.forgotten
}
