import { NodeFailure } from '#engine/node'
import type { ExecuteWarehouse } from '#engine/nodes/warehouse-execute'
import type { QueryWarehouse } from '#engine/nodes/warehouse-query'
import type { JsonObject } from '#model/definition'
import { MINUTE } from '#platform/clock'
import { isProblem } from '#platform/errors'
import { WarehouseFailure } from '#providers/warehouse/index'
import { type ConnectionUse, steps } from './using.ts'

const MAX_ROW_BYTES = 8 << 20
const MARGIN = 1 << 20

/** Runs one statement of a `warehouse.query` node, with limits on rows, bytes and time. */
export const makeQueryWarehouse =
  ({ queryConnection }: Pick<ConnectionUse, 'queryConnection'>): QueryWarehouse =>
  async ({ workspaceId, connectionId, query, params, limit, signal }) => {
    try {
      const result = await queryConnection(workspaceId, connectionId, {
        text: query,
        limit,
        // More than a node may return, so that the error below can say what to do.
        maxBytes: MAX_ROW_BYTES + MARGIN,
        timeoutMs: 5 * MINUTE,
        signal,
        ...(params !== undefined && { params }),
      })
      if (!result) throw new NodeFailure('unknown_reference', 'There is no such connection in this workspace.', final)
      const rows: JsonObject[] = []
      let bytes = 0
      for await (const page of result.pages) {
        for (const row of page) {
          bytes += JSON.stringify(row).length
          if (bytes > MAX_ROW_BYTES)
            throw new NodeFailure('result_too_large', 'The rows are too large for one node. Ask for fewer.', final)
          rows.push(row)
        }
      }
      return { rows, columns: result.columns }
    } catch (error) {
      if (isProblem(error, 'connection_revoked')) throw new NodeFailure('connection_revoked', error.message, final)
      if (!(error instanceof WarehouseFailure)) throw error
      // An invalid statement stays invalid. An unreachable warehouse may become available again.
      throw new NodeFailure('warehouse_failed', `${steps[error.step]}: ${error.message}`, {
        retryable: error.step === 'resolve' || error.step === 'connect',
        details: { step: error.step },
      })
    }
  }

const final = { retryable: false }

/**
 * Runs the writes of a `warehouse.execute` node at most once. A failure that changed nothing reports this and may be
 * retried. A failure with an unknown result is `outcome_unknown` and is never retried.
 */
export const makeExecuteWarehouse =
  ({ executeOnConnection }: Pick<ConnectionUse, 'executeOnConnection'>): ExecuteWarehouse =>
  async ({ workspaceId, connectionId, what, signal }) => {
    const nothing = { retryable: false, nothingDone: true }
    try {
      const done = await executeOnConnection(workspaceId, connectionId, what, { timeoutMs: 5 * MINUTE, signal })
      if (!done) throw new NodeFailure('unknown_reference', 'There is no such connection in this workspace.', nothing)
      if (done === 'read only')
        throw new NodeFailure(
          'connection_read_only',
          'The connection does not allow writing. Its owner can change that with allow_write.',
          nothing,
        )
      const counts = done.affected.filter((count) => count !== null)
      return { affected: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0) }
    } catch (error) {
      if (isProblem(error, 'connection_revoked')) throw new NodeFailure(error.code, error.message, nothing)
      if (!(error instanceof WarehouseFailure)) throw error
      const message = `${steps[error.step]}: ${error.message}`
      if (error.changed === 'unknown') throw new NodeFailure('outcome_unknown', message, { retryable: false })
      throw new NodeFailure('warehouse_failed', message, {
        retryable: error.step === 'resolve' || error.step === 'connect',
        nothingDone: true,
        details: { step: error.step },
      })
    }
  }
