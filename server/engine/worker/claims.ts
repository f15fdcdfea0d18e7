import { SECOND } from '#platform/clock'
import { isConnectionLost, isNeverConnected } from '#platform/db/unavailable'
import { makeArrivals } from './arrivals.ts'
import type { Claimed, ClaimedOne, ExecutionRow, Routed } from './claim-store.ts'
import type { Identity } from './identity.ts'

// Takes queued executions, from workspace to workspace, as long as there is room for them.

type Named = { workspaceId: string; executionId: string }

export type HandOver = { workerId: string; take(found: ClaimedOne): void }

export type Claims = {
  /** Something may be queued. */
  soon(): void
  /** This one may be queued. */
  one(at: Named): void
  /** For one that is claimed in the transaction of a message to it: in whose name, and what to do once that is committed. */
  handOver(): HandOver
  /** Whether something is known to wait for its turn: then what starts now waits behind it. */
  queueKnown(): boolean
  /** Claimed, but not yet read. */
  isArriving(executionId: string): boolean
  stop(): Promise<void>
}

const CLAIM = 128
/** For so long the next claim waits for those that are being read. A blob store that hangs holds up those it has parts of. */
const READ_WITHIN = SECOND / 4
const NOWHERE = '00000000-0000-0000-0000-000000000000'

/** Resolves with it, or after that time. */
const atMost = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

export const makeClaims = (
  deps: Parameters<typeof makeArrivals>[0] & {
    limits: { perWorkspace: number; claimPerWorkspace: number }
    /** How many more may be in memory. */
    room(): number
    /** How much room there is for executions that may have killed their workers (`suspicion`). */
    suspectRoom(): number
    /** Some workspace has as many under way as it may. */
    someAtLimit(): boolean
    /** The rules of this workflow have to look at an execution that became due. */
    decideSoon(workspaceId: string, workflowId: string): void
  },
): Claims => {
  const { store, log, identities, limits } = deps
  const arrivals = makeArrivals(deps)
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
      total: Math.min(room, CLAIM),
      // A workspace that had the whole of the last claim to itself keeps nobody waiting.
      perWorkspace: alone ? CLAIM : limits.claimPerWorkspace,
      workspaceLimit: limits.perWorkspace,
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
      // Nothing to take, or only of workspaces that are at their limit: then the next end makes room.
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
    // It may have claimed what this worker knows nothing of, unless nothing was sent: a new name would only cost more connections.
    const mayHaveClaimed = isConnectionLost(error) && !isNeverConnected(error)
    if (mayHaveClaimed && of === identities.current()) identities.renew()
    log.warn({ err: error }, 'nothing could be claimed')
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
          new Map([[executionId, found.facts]]),
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

  const takeHanded = async (of: Identity, { row, facts, messages }: ClaimedOne): Promise<void> => {
    const { execution_id: id } = row
    arrivals.add(id, 0)
    await arrivals.takeUp(row, of, new Map([[id, facts]]), new Map([[id, messages]]))
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
      // Several at once are cheaper together.
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
