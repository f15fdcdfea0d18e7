import type { Database } from '#platform/db/pool'
import { isConnectionLost } from '#platform/db/unavailable'
import type { Logger } from '#platform/log'
import { nudge } from '../nudges.ts'
import type { Store } from '../worker/store.ts'

// Lets executions start when the rules of their workflows allow it. The pending decisions are in the database
// (`flow_dirty`). A hint only makes a decision happen sooner than the next tick of a worker.

const CHANNEL = 'flows'
/** The maximum number of executions that one statement decides. Then the next workflow has its turn. */
const PORTION = 500
const LANES = 2
/**
 * The pause before a retry if another process decides for the same workflow. That process may not have seen the
 * newest change.
 */
const BUSY_PAUSE_MS = 15
const MAX_BUSY = 20

export type FlowDecider = {
  /** Requests a decision soon. There may be nothing to decide for the workflow. */
  soon(workspaceId: string, workflowId: string): void
  stop(): Promise<void>
}

type Flows = Pick<Database, 'hint' | 'listen'>

/** Sends the hint. Call it in the transaction that starts an execution with rules or that changes the rules. */
export const hintFlow = (through: Pick<Flows, 'hint'>, workspaceId: string, workflowId: string): void =>
  through.hint(CHANNEL, `${workspaceId} ${workflowId}`)

export const onFlowHinted = (
  db: Flows,
  decide: (workspaceId: string, workflowId: string) => void,
): Promise<() => Promise<void>> =>
  db.listen(CHANNEL, (payload) => {
    const [workspaceId, workflowId] = payload.split(' ')
    if (workspaceId && workflowId) decide(workspaceId, workflowId)
  })

export const makeFlowDecider = (deps: {
  db: Pick<Database, 'hint'>
  store: Pick<Store, 'decideFlow'>
  log: Logger
  /** Called when executions were queued. */
  queued(): void
}): FlowDecider => {
  const { db, store, log } = deps
  /** Workflows in the order of their turns, with the number of times each was busy. */
  const turns = new Map<string, { workspaceId: string; workflowId: string; busy: number }>()
  const deciding = new Set<string>()
  const lanes = new Set<Promise<void>>()
  const timers = new Set<NodeJS.Timeout>()
  let active = 0
  let stopped = false

  const later = (workspaceId: string, workflowId: string, busy: number): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      add(workspaceId, workflowId, busy)
    }, BUSY_PAUSE_MS)
    timers.add(timer)
  }

  const decideOnce = async (workspaceId: string, workflowId: string, busy: number): Promise<void> => {
    const decided = await store.decideFlow(workspaceId, workflowId, PORTION)
    if (decided.busy) {
      if (busy < MAX_BUSY) later(workspaceId, workflowId, busy + 1)
      return
    }
    for (const executionId of decided.cancelled) nudge(db, executionId)
    if (decided.queued > 0 || decided.cancelled.length > 0) deps.queued()
    if (decided.more) add(workspaceId, workflowId, 0)
  }

  /**
   * Decides until no turn is left. `active` decreases in the same step, so a turn that is added later starts a new
   * lane.
   */
  const lane = async (): Promise<void> => {
    active += 1
    try {
      for (;;) {
        const next = [...turns.entries()].find(([key]) => !deciding.has(key))
        if (!next || stopped) return
        const [key, { workspaceId, workflowId, busy }] = next
        turns.delete(key)
        deciding.add(key)
        await decideOnce(workspaceId, workflowId, busy).catch((error: unknown) => {
          const level = isConnectionLost(error) ? 'warn' : 'error'
          log[level]({ err: error, workflow_id: workflowId }, 'the start rules of a workflow could not be applied yet')
        })
        deciding.delete(key)
      }
    } finally {
      active -= 1
    }
  }

  const add = (workspaceId: string, workflowId: string, busy: number): void => {
    if (stopped) return
    const key = `${workspaceId} ${workflowId}`
    if (!turns.has(key)) turns.set(key, { workspaceId, workflowId, busy })
    if (active >= LANES) return
    const begun = lane().finally(() => lanes.delete(begun))
    lanes.add(begun)
  }

  return {
    soon: (workspaceId, workflowId) => add(workspaceId, workflowId, 0),
    stop: async () => {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(lanes)
    },
  }
}
