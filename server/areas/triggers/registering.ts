import { CredentialRefused } from '#areas/credentials/use'
import type { Quota } from '#areas/executions/start'
import { NodeFailure } from '#engine/node'
import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Database, Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import { emitEvent } from '#platform/outbox'
import type { RecordedExchange } from '#platform/wall/egress'
import { receivesSecret } from '#providers/services/pieces/secret-pieces'
import type { HookAddresses } from './hook-address.ts'
import * as hooks from './hook-store.ts'
import {
  type Called,
  type Left,
  type Registered,
  type Registration,
  register,
  removeUnconfirmed,
  renew,
  type VendorParts,
} from './hook-vendor.ts'
import { noteRenewalFailure, saveRenewal } from './renewal-store.ts'
import { type Claim, type Due, Overtaken, type Within } from './starts.ts'

// Registrations at vendors: created, renewed before they expire, and removed if no trigger refers to them.

const RENEW_AGAIN_S = 600

export type HookParts = VendorParts & { db: Database; quota: Quota; addresses: HookAddresses }

/** One pass over one trigger. */
export type Look = Claim & { parts: HookParts; within: Within; called: Called }

export const registrationOf = ({ due, row }: Claim, kept: JsonObject = row.store): Registration => ({
  workspaceId: due.workspace_id,
  args: row.args,
  store: kept,
  credentialId: row.credential_id,
  userId: row.principal_id,
})

/**
 * Registers a trigger under a new address. The address of an earlier attempt that was not confirmed is refused, so no
 * event arrives twice.
 */
export async function registerAnew(look: Look): Promise<Registered> {
  const { parts, due, row, within, called } = look
  const generation = await within((tx) => hooks.beginRegistration(tx, due.workspace_id, due.trigger_id, row.epoch))
  if (generation === undefined) throw new Overtaken()
  const hook = { workspaceId: due.workspace_id, triggerId: due.trigger_id, generation }
  const at = {
    url: parts.addresses.urlOf(hook),
    secret: parts.addresses.secretOf(hook),
    id: `heddle-${due.trigger_id}-${generation}`,
  }
  // Code that has access to a secret may have sent the secret.
  const holds = called.piece !== undefined && receivesSecret(called.service.piece!.name)
  const witness = ({ said, ...answered }: RecordedExchange) =>
    keepAnswer(look, { ...answered, ...(said !== undefined && !holds && { said }) })
  return register(parts, called, { ...registrationOf(look, {}), ...(called.piece && { witness }) }, at)
}

/**
 * Stores a response before the piece receives it. The piece continues even if storing fails, since the vendor has
 * already been called.
 */
const keepAnswer = ({ due, row, within }: Look, exchanged: RecordedExchange): Promise<void> =>
  within((tx) => hooks.noteExchange(tx, due.workspace_id, due.trigger_id, row.epoch, exchanged)).then(
    () => undefined,
    () => undefined,
  )

/**
 * `lost`: the vendor did not know the registration any more, and it was created again. Otherwise the state to store.
 */
type Renewed = { store: JsonObject; lost?: undefined } | { lost: Registered }

/** Renews a registration. A failure is reported once and retried; events that arrive in the meantime are handled. */
export async function renewRegistration(look: Look): Promise<Renewed> {
  const { parts, due, row, called } = look
  const hook = { workspaceId: due.workspace_id, triggerId: due.trigger_id, generation: row.confirmed }
  try {
    const renewed = await renew(parts, called, registrationOf(look), parts.addresses.urlOf(hook)).catch(lostOrThrow)
    if (renewed === 'lost') return { lost: await registerAnew(look) }
    if (!renewed) return await replaceRegistration(look)
    await saved(look, renewed, false, async () => {})
    return { store: renewed.store }
  } catch (error) {
    if (!(error instanceof NodeFailure) && !(error instanceof CredentialRefused)) throw error
    await notifyFailed(look, error.message.slice(0, 1_000))
    return { store: row.store }
  }
}

/**
 * For vendors that do not support renewal. The old registration counts until the new one is confirmed, and is then
 * removed.
 */
async function replaceRegistration(look: Look): Promise<Renewed> {
  const { due, row } = look
  const made = await registerAnew(look)
  try {
    await saved(look, made, true, (tx) => hooks.keepRemoval(tx, due.workspace_id, row))
  } catch (error) {
    if (error instanceof Overtaken) await removeRegistration(look, made.store)
    throw error
  }
  return { store: made.store }
}

async function saved(
  { due, row, within }: Look,
  { store, expiry }: Registered,
  confirmed: boolean,
  also: (tx: Tx) => Promise<void>,
): Promise<void> {
  await within(async (tx) => {
    const renewal = { epoch: row.epoch, store, expiry, confirmed }
    if ((await saveRenewal(tx, due.workspace_id, due.trigger_id, renewal)) === 0) throw new Overtaken()
    await also(tx)
  })
}

/** The vendor may have ended the registration early. */
export function lostOrThrow(error: unknown): 'lost' {
  const details = error instanceof NodeFailure && error.code === 'service_refused' ? (error.details ?? null) : null
  if (isObject(details) && (details.status === 404 || details.status === 410)) return 'lost'
  throw error
}

/** Notifies people of the first failure, and again only after a successful renewal. */
async function notifyFailed({ due, row, within, called }: Look, problem: string): Promise<void> {
  const error = `The registration at ${called.service.title} could not be renewed: ${problem}`
  await within(async (tx) => {
    const failure = { epoch: row.epoch, error, againInS: RENEW_AGAIN_S }
    const isFirst = await noteRenewalFailure(tx, due.workspace_id, due.trigger_id, failure)
    if (isFirst === undefined) throw new Overtaken()
    if (!isFirst) return
    const trigger_id = toWire('trg', due.trigger_id)
    const workflow_id = toWire('wf', row.workflow_id)
    const { service, trigger } = row
    await emitEvent(tx, {
      workspaceId: due.workspace_id,
      type: 'trigger.renewal_failed',
      subjectId: due.trigger_id,
      data: { trigger_id, workflow_id, service, trigger, problem },
    })
    await deliverEvent(tx, {
      workspaceId: due.workspace_id,
      kind: 'trigger.renewal_failed',
      title: `A trigger at ${called.service.title} could not be renewed`,
      body: `${problem}. The renewal is retried until the subscription expires; after that, the vendor sends no events.`,
      data: { trigger_id, workflow_id },
      link: `/workflows/${workflow_id}`,
      to: [...new Set([row.principal_id, ...(row.created_by === null ? [] : [row.created_by])])],
    })
  })
}

/**
 * Removes a registration that its trigger does not refer to. If the vendor keeps one per trigger, the newer one has
 * replaced it.
 */
export async function removeRegistration({ due, row, within, called }: Look, left: JsonObject): Promise<void> {
  await within(async (tx) => {
    const isReplaced = called.hook?.keep === undefined && (await hooks.hasTrigger(tx, due.workspace_id, due.trigger_id))
    if (!isReplaced) await hooks.keepRemoval(tx, due.workspace_id, { ...row, store: left })
  })
}

/**
 * Removes what an unconfirmed registration left. If the vendor refuses to list registrations, the trigger is registered
 * again anyway.
 */
export async function removeUnconfirmedRegistration(look: Look): Promise<void> {
  const { parts, due, row, called } = look
  try {
    await removeUnconfirmed(parts, called, registrationOf(look, {}), leftOf(parts, due, row.hook_exchanges))
  } catch (error) {
    if (!(error instanceof NodeFailure) || error.code !== 'service_refused') throw error
  }
}

/** Returns what an unconfirmed registration may have left. */
export const leftOf = (
  { addresses }: Pick<HookParts, 'addresses'>,
  { workspace_id, trigger_id }: Due,
  exchanges: readonly RecordedExchange[] | null,
): Left => ({
  isLeft: (url) => addresses.isFor(url, trigger_id),
  url: addresses.urlOf({ workspaceId: workspace_id, triggerId: trigger_id, generation: '0' }),
  exchanges,
})
