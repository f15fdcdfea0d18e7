import { CredentialRefused } from '#areas/credentials/use'
import { reasonAgainst } from '#areas/executions/start'
import { enqueue } from '#engine/enqueue'
import { NodeFailure } from '#engine/node'
import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import * as hooks from './hook-store.ts'
import { findCalled, itemsOf, unregister } from './hook-vendor.ts'
import {
  type HookParts,
  type Look,
  lostOrThrow,
  registerAnew,
  registrationOf,
  removeRegistration,
  removeUnconfirmedRegistration,
  renewRegistration,
} from './registering.ts'
import { type Due, type Item, inputError, Overtaken, QueueFull, sortOut, startOf, type Within } from './starts.ts'
import * as store from './store.ts'

// One pass over a trigger that the vendor calls. While the trigger is enabled and a version of the workflow is active,
// the trigger is registered at the vendor. Received events start executions in the order of arrival. The executions of
// an event and its end are one transaction.

const LEASE_S = 300
const NOT_NOW_S = 60
const AT_ONCE = 50
const MAX_ATTEMPTS = 5
const MAX_ITEMS = 1_000

export async function serveHook(parts: HookParts, due: Due): Promise<void> {
  const within: Within = (work) => parts.db.tenant({ workspaceId: due.workspace_id, userId: null }, work)
  const row = await within((tx) => store.claimTrigger(tx, due.workspace_id, due.trigger_id, LEASE_S))
  if (!row) return
  const settle = (settled: Partial<hooks.Settled>): Promise<number> =>
    within((tx) =>
      hooks.settleHook(tx, due.workspace_id, due.trigger_id, {
        epoch: row.epoch,
        enabled: row.enabled,
        registered: row.registered && !row.expired,
        confirmed: false,
        store: undefined,
        expiry: undefined,
        inS: row.every_s,
        error: null,
        failed: false,
        wanted: isWanted(row),
        ...settled,
      }),
    )
  const fail = (settled: Partial<hooks.Settled>): Promise<number> => settle({ ...settled, failed: true })
  const called = await findCalled(parts, within, due.workspace_id, row)
  if (!called) return void (await fail({ error: `There is no trigger "${row.trigger}" of "${row.service}" any more.` }))
  const look = { parts, due, row, within, called }
  try {
    const settled = await lookAt(look)
    // The trigger was deleted, or another process took over, while the vendor was called.
    if ((await settle(settled)) === 0 && settled.registered && settled.store)
      await removeRegistration(look, settled.store)
  } catch (error) {
    // If the trigger was disabled in the meantime, this process still has to settle it.
    if (error instanceof Overtaken) await settle({})
    else if (error instanceof CredentialRefused || error instanceof Later) await fail({ error: error.message })
    else if (error instanceof NodeFailure)
      await fail({ error: error.message.slice(0, 1_000), inS: Math.max(NOT_NOW_S, error.retryAfterS ?? 0) })
    else {
      const why = 'The vendor could not be called because of an internal error.'
      await fail({ error: why, inS: NOT_NOW_S }).catch(() => {})
      throw error
    }
  }
}

const isWanted = ({ enabled, version_id, activation_required }: store.Claimed): boolean =>
  enabled && version_id !== null && !activation_required

async function lookAt(look: Look): Promise<Partial<hooks.Settled>> {
  const { row } = look
  // A disabled trigger has no next pass, unless it was enabled in the meantime: then immediately.
  const then = row.enabled ? {} : { inS: 0 }
  const isRegistered = row.registered && !row.expired
  // A process died during registration, so it is unknown whether the vendor was called.
  if (!row.registered && row.unconfirmed) {
    await removeUnconfirmedRegistration(look)
    if (!isWanted(row)) return { confirmed: true, ...then }
  }
  if (!isWanted(row)) {
    if (!row.registered) return {}
    if (isRegistered) await unregister(look.parts, look.called, registrationOf(look), '').catch(lostOrThrow)
    return { registered: false, store: {}, expiry: null, ...then }
  }
  if (!isRegistered) return { registered: true, confirmed: true, ...(await registerAnew(look)), inS: 0 }
  if (!row.renew_due) return serveEvents(look)
  const outcome = await renewRegistration(look)
  // A registration that the vendor has lost is created again. The next pass handles the events.
  if (outcome.lost) return { registered: true, confirmed: true, ...outcome.lost, inS: 0 }
  return serveEvents({ ...look, row: { ...row, store: outcome.store } })
}

async function serveEvents(look: Look): Promise<Partial<hooks.Settled>> {
  const { parts, due, row, within, called } = look
  const { workspace_id, trigger_id } = due
  const events = await within(async (tx) => {
    await hooks.forgetOldEvents(tx, workspace_id, trigger_id)
    return hooks.listOpenEvents(tx, workspace_id, trigger_id, AT_ONCE)
  })
  let kept = row.store
  let lost: string | null = null
  for (const event of events) {
    try {
      const given = await itemsOf(parts, called, registrationOf(look, kept), event.payload)
      lost = (await startItems(look, event, given)) ?? lost
      kept = given.store
    } catch (error) {
      if (!(error instanceof NodeFailure) && !(error instanceof Unfit)) throw error
      const isLast = error instanceof Unfit || event.attempts + 1 >= MAX_ATTEMPTS
      await within((tx) =>
        isLast ? hooks.endEvent(tx, workspace_id, event.event_id) : hooks.noteAttempt(tx, workspace_id, event.event_id),
      )
      if (!isLast) throw error
      lost = `An event could not start an execution: ${error.message}`.slice(0, 1_000)
    }
  }
  return { error: lost, ...(events.length === AT_ONCE && { inS: 0 }) }
}

/** The event does not fit the workflow, and retrying does not help. */
class Unfit extends Error {}

/** Returns a report about the items that do not fit the workflow, if others do. */
async function startItems(
  look: Look,
  { event_id }: hooks.OpenEvent,
  { items: given, store: kept }: { items: Item[]; store: JsonObject },
): Promise<string | null> {
  const { parts, due, row, within } = look
  const workspaceId = due.workspace_id
  if (given.length > MAX_ITEMS) throw new Unfit(`the piece returned more than ${MAX_ITEMS} items`)
  const { fitting: items, skipped } = sortOut(look, given)
  if (given.length > 0 && items.length === 0) throw new Unfit(inputError(look, given[0]!)!)
  let allowed = 0
  let isStarted = false
  try {
    for (; allowed < items.length; allowed += 1) {
      const refused = await reasonAgainst(parts.quota, workspaceId)
      if (refused !== null) throw new Later(refused)
    }
    await within(async (tx: Tx) => {
      let executionId: string | null = null
      for (const item of items) {
        executionId = newId()
        if ((await enqueue(tx, startOf(look, executionId, item))) !== 'accepted') throw new QueueFull()
      }
      const progress = { epoch: row.epoch, store: kept, executionId }
      if ((await hooks.saveProgress(tx, workspaceId, due.trigger_id, progress)) === 0) throw new Overtaken()
      if ((await hooks.endEvent(tx, workspaceId, event_id)) === 0) throw new Overtaken()
    })
    isStarted = true
    return skipped
  } catch (error) {
    if (error instanceof QueueFull) throw new Later('Too many executions are queued.')
    throw error
  } finally {
    if (!isStarted) for (let unused = 0; unused < allowed; unused += 1) parts.quota.giveBack(workspaceId)
  }
}

/** The event is valid and waits without a time limit. */
class Later extends Error {}
