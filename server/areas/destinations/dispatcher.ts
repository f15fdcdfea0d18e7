import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { UNKNOWN_ID } from '#platform/ids'
import type { Logger } from '#platform/log'
import { OUTBOX_HINTS } from '#platform/outbox'
import { makePeriodicCheck, msUntilNextCheck, type PeriodicCheck } from '#platform/periodic-check'
import {
  type Claimed,
  type Loaded,
  loadDelivery,
  noteDelivered,
  noteFailed,
  noteGivenUp,
  takeDeliveries,
} from './deliveries-store.ts'
import { notifySwitchedOff } from './off-notices.ts'
import { blockAfter, GIVE_UP_AFTER_S, pauseAfter } from './pauses.ts'
import { ANSWER_WITHIN_S, type Outcome, type SendParts, sendDelivery } from './send.ts'
import { switchOff } from './store.ts'

// Turns the outbox into deliveries and sends those that are due. Any process may do either. If a process dies, another
// process sends its deliveries again after the lease has expired, with the same id.

const POLL_EVERY = 2 * SECOND
const BUSY_POLL_EVERY = 50
const CHECK_EVERY = 10 * SECOND
const LEASE_S = 4 * ANSWER_WITHIN_S

const MAX_AT_ONCE = 128
/** A slow receiver must not delay other destinations. */
const MAX_PER_DESTINATION = 8
const MAX_PER_WORKSPACE = 24
const FAN_OUT_OF_ONE = 200
const FAN_OUT = 2_000
/** The maximum number of pending deliveries of a destination. With more, the destination is disabled. */
export const MAX_PENDING = 100_000

export type DispatcherOptions = SendParts & { db: Database; log: Logger }

export function makeEventDispatcher(options: DispatcherOptions): Omit<PeriodicCheck, 'wake'> {
  const { db, log } = options
  const stopping = new AbortController()
  const sending = new Map<string, { of: Claimed; over: Promise<void> }>()
  let after = UNKNOWN_ID
  let checkedAt = Number.NEGATIVE_INFINITY

  const inWorkspace = (workspaceId: string) => ({ workspaceId, userId: null })

  async function fanOut(): Promise<boolean> {
    for (;;) {
      if (stopping.signal.aborted) return false
      const [row] = await db.maintain<{ taken: number }>('select fan_out_events($1, $2, $3) as taken', [
        FAN_OUT_OF_ONE,
        FAN_OUT,
        MAX_PENDING,
      ])
      if (row!.taken <= 0) return row!.taken < 0
    }
  }

  async function claim(): Promise<void> {
    for (;;) {
      const limit = MAX_AT_ONCE - sending.size
      if (limit <= 0 || stopping.signal.aborted) return
      const claimed = await takeDeliveries(db, {
        after,
        limit,
        ofDestination: MAX_PER_DESTINATION,
        ofWorkspace: MAX_PER_WORKSPACE,
        leaseS: LEASE_S,
        underWay: [...sending.values()].map(({ of }) => of.destination_id),
      })
      for (const of of claimed) begin(of)
      if (claimed.length === 0) return
      after = claimed.at(-1)!.destination_id
    }
  }

  function begin(of: Claimed): void {
    const over = deliver(of)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted)
          log.warn({ err: error, delivery_id: of.delivery_id }, 'a delivery failed and is tried again')
      })
      .finally(() => {
        sending.delete(of.delivery_id)
        periodicCheck.wake()
      })
    sending.set(of.delivery_id, { of, over })
  }

  async function deliver(of: Claimed): Promise<void> {
    const scope = inWorkspace(of.workspace_id)
    const event = await db.tenant(scope, (tx) => loadDelivery(tx, of.workspace_id, of.delivery_id))
    if (!event) return
    const outcome = event.visible ? await sendDelivery(options, event, stopping.signal) : NOT_VISIBLE
    await db.tenant(scope, async (tx) => {
      if (outcome.ok) return noteDelivered(tx, of, outcome)
      if (outcome === NOT_VISIBLE) return void (await noteGivenUp(tx, of, outcome))
      if (!outcome.gone && !isGivenUp(event)) {
        const pauseS = pauseAfter(event.attempts + 1, outcome.retryAfterS)
        return noteFailed(tx, of, outcome, { pauseS, blockS: blockAfter })
      }
      const noted = await noteGivenUp(tx, of, outcome)
      // One event that a receiver always refuses does not stop the others.
      if (outcome.gone || noted?.anySuccess === false)
        await switchOff(tx, of.workspace_id, of.destination_id, outcome.gone ? 'gone' : 'failing')
    })
    if (outcome.gone || isGivenUp(event)) checkedAt = Number.NEGATIVE_INFINITY
  }

  /** Disables the destinations that must stop, and notifies their owners. */
  async function disableFailing(): Promise<void> {
    if (performance.now() - checkedAt < msUntilNextCheck(CHECK_EVERY)) return
    checkedAt = performance.now()
    const rows = await db.maintain<Pick<Claimed, 'workspace_id' | 'destination_id'>>(
      'select * from stop_destinations()',
    )
    for (const { workspace_id, destination_id } of rows)
      await db.tenant(inWorkspace(workspace_id), (tx) => notifySwitchedOff(tx, workspace_id, destination_id))
  }

  async function check(): Promise<number> {
    const isBusy = await fanOut()
    await disableFailing()
    await claim()
    return isBusy ? BUSY_POLL_EVERY : POLL_EVERY
  }

  const periodicCheck = makePeriodicCheck({
    check,
    listen: (wake) => db.listen(OUTBOX_HINTS, wake),
    onError: (error) => log.warn({ err: error }, 'events could not be sent yet'),
  })

  return {
    start: periodicCheck.start,
    /** Aborts the running deliveries. Another process sends them again, with the same id. */
    async stop(): Promise<void> {
      stopping.abort()
      await periodicCheck.stop()
      await Promise.all([...sending.values()].map(({ over }) => over))
    },
  }
}

const isGivenUp = (event: Loaded): boolean => event.tried_for_s >= GIVE_UP_AFTER_S

const NOT_VISIBLE: Outcome = {
  ok: false,
  gone: false,
  retryAfterS: null,
  answer_status: null,
  answer_text: null,
  problem: 'was not sent: the owner of the destination may no longer see it',
  duration_ms: 0,
}
