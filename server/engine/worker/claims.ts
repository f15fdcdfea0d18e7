import { SECOND } from '#platform/clock'
import { isConnectionLost, isNeverConnected } from '#platform/db/unavailable'
import type { Claimed, ClaimedOne, ExecutionRow, Routed } from './claim-store.ts'
import type { Identity } from './identity.ts'
import { makeLoadingExecutions } from './loading.ts'

// Claims queued executions, one workspace after another, while there is room for them.

type Named = { workspaceId: string; executionId: string }

export type HandOver = { workerId: string; take(found: ClaimedOne): void }

export type Claims = {
  /** Requests a claim: some execution may be queued. */
  soon(): void
  /** Requests a claim of this execution, which may be queued. */
  one(at: Named): void
  /** Returns the worker id for a claim in the transaction of a message, and the function to call after its commit. */
  handOver(): HandOver
  /** Checks whether executions are known to be queued. A new start then waits behind them. */
  queueKnown(): boolean
  /** Checks whether the execution is claimed but not yet read. */
  isArriving(executionId: string): boolean
  stop(): Promise<void>
}

const CLAIM = 128
/**
 * How long the next claim waits for executions that are being read. A hanging blob store then delays only executions
 * with blobs.
 */
const READ_WITHIN = SECOND / 4
const NOWHERE = '00000000-0000-0000-0000-000000000000'

/** Resolves when the work is done, or after `ms` milliseconds. */
const atMost = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

export const makeClaims = (
  deps: Parameters<typeof makeLoadingExecutions>[0] & {
    limits: { claimPerWorkspace: number }
    /** The number of further executions that fit in memory. */
    room(): number
    /** The maximum number of running executions of one workspace, with this number of places left. */
    shareOf(left: number): number
    /** The room for executions that may have killed their workers (`suspicion`). */
    suspectRoom(): number
    /** Checks whether a workspace has reached its limit of running executions. */
    someAtLimit(): boolean
    /** Requests a decision of the rules of this workflow about an execution that became due. */
    decideSoon(workspaceId: string, workflowId: string): void
  },
): Claims => {
  const { store, log, identities, limits } = deps
  const arrivals = makeLoadingExecutions(deps)
  let after = NOWHERE
  let alone = false
  let queueKnown = false
  let claiming: Promise<void> | undefined
  let naming: Promise<void> | undefined
  const handed = new Set<Promise<void>>()
  let again = false
  let stopped = false

  const claim = async (
    of: Identity,
    room: number,
  ): Promise<Omit<Claimed, 'rows'> & { rows: ExecutionRow[]; routed: number }> => {
    const wanted = {
      // If few places are left, a claim takes some of them: the shares of the workspaces shrink with each.
      total: Math.min(Math.ceil(room / 4), CLAIM),
      // If all executions of the last claim belonged to one workspace, a larger claim delays no other workspace.
      perWorkspace: alone ? CLAIM : limits.claimPerWorkspace,
      workspaceLimit: deps.shareOf(room),
      suspects: deps.suspectRoom() - arrivals.suspicion(),
    }
    const claimed = await store.claim(of.workerId, after, wanted)
    const found = await claimed.rows
    const routed = found.filter((row): row is Routed => 'routed' in row)
    for (const { workspace_id, workflow_id } of routed) deps.decideSoon(workspace_id, workflow_id)
    const rows = found.filter((row): row is ExecutionRow => !('routed' in row))
    alone = rows.length > 0 && rows.every((row) => row.workspace_id === after)
    after = rows.at(-1)?.workspace_id ?? NOWHERE
    return { ...claimed, rows, routed: routed.length }
  }

  const claimOnce = async (of: Identity): Promise<boolean> => {
    const room = deps.room() - arrivals.count()
    if (room <= 0 || stopped || identities.renewing()) return false
    const { rows, routed, ...coming } = await claim(of, room)
    if (rows.length === 0) {
      if (routed > 0) return true
      // Nothing can be claimed, or only executions of workspaces at their limit. In the second case, the next end
      // makes room.
      queueKnown = deps.someAtLimit()
      return false
    }
    for (const row of rows) arrivals.add(row.execution_id, row.crashes)
    const [events, inbox] = await Promise.all([coming.events, coming.inbox]).catch((error: unknown) => {
      for (const row of rows) arrivals.remove(row.execution_id)
      throw error
    })
    await atMost(READ_WITHIN, Promise.all(rows.map((row) => arrivals.takeUp(row, of, events, inbox))))
    return true
  }

  const claimFailed = (error: unknown, of: Identity): void => {
    // The lost claim may have claimed executions that this worker does not know, so it needs a new identity. If
    // nothing was sent, a new identity would only cost more connections.
    const mayHaveClaimed = isConnectionLost(error) && !isNeverConnected(error)
    if (mayHaveClaimed && of === identities.current()) identities.renew()
    log.warn({ err: error }, 'no executions could be claimed')
  }

  const claimAll = async (): Promise<void> => {
    let of = identities.current()
    try {
      do {
        again = false
        of = identities.current()
      } while ((await claimOnce(of)) || again)
    } catch (error) {
      claimFailed(error, of)
    } finally {
      claiming = undefined
    }
  }

  const soon = (): void => {
    queueKnown = true
    if (stopped) return
    if (claiming) again = true
    else claiming = claimAll()
  }

  const claimOne = async ({ workspaceId, executionId }: Named): Promise<void> => {
    const of = identities.current()
    arrivals.add(executionId, 0)
    try {
      const found = await store.claimOne(of.workerId, workspaceId, executionId)
      if (found)
        await arrivals.takeUp(
          found.row,
          of,
          new Map([[executionId, found.journal]]),
          new Map([[executionId, found.messages]]),
        )
      else soon()
    } catch (error) {
      claimFailed(error, of)
    } finally {
      arrivals.remove(executionId)
      naming = undefined
    }
  }

  const takeHanded = async (of: Identity, { row, journal: events, messages }: ClaimedOne): Promise<void> => {
    const { execution_id: id } = row
    arrivals.add(id, 0)
    await arrivals.takeUp(row, of, new Map([[id, events]]), new Map([[id, messages]]))
  }

  return {
    soon,
    handOver: () => {
      const of = identities.current()
      return {
        workerId: of.workerId,
        take: (found) => {
          const taking = takeHanded(of, found).finally(() => handed.delete(taking))
          handed.add(taking)
        },
      }
    },
    one: (at) => {
      // Several claims are cheaper together.
      if (stopped || claiming || naming) soon()
      else naming = claimOne(at)
    },
    queueKnown: () => queueKnown,
    isArriving: (executionId) => arrivals.has(executionId),
    stop: async () => {
      stopped = true
      arrivals.stop()
      await Promise.all([claiming, naming, ...handed])
    },
  }
}
