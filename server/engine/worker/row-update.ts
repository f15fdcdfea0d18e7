import type { ExecutionError, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { toWire } from '#platform/ids'
import { hasEnded, nextDue } from '../interpreter/state.ts'
import { waitingFor } from '../interpreter/waiting.ts'
import type { RowUpdate } from '../journal/batch.ts'
import type { BlobRef, WaitingFor } from '../ports.ts'
import { journalEvent } from './advance-frame.ts'
import { childId } from './child-id.ts'
import { type Frame, settlingOf } from './frame.ts'
import type { Self, Work } from './live-types.ts'
import { shortenWaits } from './shorten-waits.ts'

// Decides the update of the execution's row: it ends, parks, goes back to the queue, or continues.

const HOLD_TIMER = 1 * SECOND
const SNAPSHOT_EVERY = 1000

/** Returns the time of the timeout of the whole execution. It does not apply to `finally` nodes. */
export const deadlineOf = ({ owned, top }: Self): number | null => (top.state.ending ? null : owned.deadline)

/**
 * Returns the next time at which a node of the frame must be looked at. While the execution is being released, gates
 * and questions that are due are left to the next worker.
 */
export const nextDueIn = ({ effects, releasing }: Self, { prefix, state }: Frame): number | null =>
  nextDue(state, (id) => releasing || effects.has(settlingOf(prefix + id)))

export const dueAt = (self: Self): number | null => {
  let due = deadlineOf(self) ?? Number.POSITIVE_INFINITY
  for (const frame of self.frames.values()) due = Math.min(due, nextDueIn(self, frame) ?? due)
  return Number.isFinite(due) ? due : null
}

/** Adds the id of the execution that a node waits for. */
const withChild = (executionId: string, frame: Frame, wait: WaitingFor): WaitingFor => {
  if (wait.kind !== 'execution' || wait.node_id === undefined || wait.execution_id !== undefined) return wait
  const node = wait.node_id.slice(frame.prefix.length)
  const attempt = frame.state.nodes[node]?.attempt ?? 1
  return { ...wait, execution_id: toWire('exe', childId(executionId, frame, node, attempt)) }
}

const allWaits = ({ owned, frames }: Self): WaitingFor[] => {
  const waits: WaitingFor[] = []
  for (const frame of frames.values())
    for (const wait of waitingFor(frame.state, frame.prefix)) waits.push(withChild(owned.executionId, frame, wait))
  return waits.slice(0, 1000)
}

/** Returns the update of the row at the end of the whole execution. */
const finishing = ({ top, owned, cancel, seen }: Self, work: Work): RowUpdate => {
  const { status, results, error } = top.state
  const isReported = owned.tellEnd || status !== 'succeeded' || owned.parent !== null || owned.mayHaveOpenedRequests
  const last = work.events.findLast((event) => event.type === 'execution.succeeded')
  return {
    status,
    seen: cancel?.n ?? seen,
    ...(status === 'succeeded' && { results: results ?? null }),
    ...(last?.data.blob !== undefined && { resultsBlob: last.data.blob as unknown as BlobRef }),
    ...(error && { error: error as ExecutionError }),
    finishedAt: work.at,
    ...(isReported && { tellEnd: true }),
  }
}

const parking = (self: Self, work: Work): RowUpdate | undefined => {
  const { top, seen } = self
  if (self.inFlight > 0 || work.commands.length > 0 || self.mailbox.length > 0 || self.cancel || self.reading)
    return undefined
  const due = dueAt(self)
  // The next worker reads held messages again, and opens their gates and questions.
  if (self.releasing) return { status: 'queued', seen, snapshot: top.state }
  if (self.held.length > 0) return undefined
  if (due !== null && due - work.at < HOLD_TIMER) return undefined
  const waits = shortenWaits(allWaits(self))
  // A wait shorter than HOLD_TIMER is a timer in memory. An execution without any wait does not park.
  if (waits.length === 0) return undefined
  journalEvent(self, work, {
    type: 'execution.waiting',
    at: work.at,
    data: { waiting_for: waits as unknown as JsonObject[] },
  })
  return { status: 'waiting', parking: true, seen, dueAt: due, waitingFor: waits, snapshot: top.state }
}

/** Returns undefined if the row does not change. */
export const rowUpdateAfter = (self: Self, work: Work, seenBefore: number): RowUpdate | undefined => {
  const { top } = self
  if (hasEnded(top.state)) return finishing(self, work)
  const park = parking(self, work)
  if (park) return park
  const long = top.state.seq - self.snapshotSeq >= SNAPSHOT_EVERY
  if (self.seen === seenBefore && !long) return undefined
  return { status: 'running', seen: self.seen, ...(long && { snapshot: top.state }) }
}
