import { mayUseNamed } from '#areas/credentials/rights'
import { maySee } from '#areas/workflows/rights'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { OUTBOX_HINTS } from '#platform/outbox'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'
import * as deliveries from './deliveries-store.ts'
import { offMessages } from './off-notices.ts'
import type { Delivery, Destination, DestinationPatch, NewDestination } from './schema.ts'
import { newSigningSecret, openSigningSecret, sealSigningSecret } from './sign.ts'
import * as store from './store.ts'

export type ById = { destination_id: string }
export type DestinationParts = {
  vault: Vault
  outgoing: Pick<Outgoing, 'checkLiteral' | 'isExempt'>
  /** Throws if the plan of the workspace allows no more destinations. */
  checkDestinations(tx: Tx, workspaceId: string): Promise<void>
}

/** The time in which both the previous and the new secret sign. */
const OVERLAP_HOURS = 24

const view = (row: store.DestinationRow): Destination => ({
  ...row,
  off_message: row.off_reason && offMessages[row.off_reason],
})

export async function getDestination(ctx: Context, { destination_id }: ById): Promise<Destination> {
  const row = await store.findDestination(ctx.tx, ctx.workspace.workspace_id, destination_id)
  if (!row) throw problem('not_found')
  return view(row)
}

export async function listDestinations(ctx: Context, asked: ListInput) {
  const ownerId = ctx.workspace.role === 'owner' ? null : ctx.person.user_id
  const page = await store.listDestinations(ctx.tx, ctx.workspace.workspace_id, ownerId, asked)
  return { ...page, items: page.items.map(view) }
}

export async function createDestination(
  parts: DestinationParts,
  ctx: Context,
  input: NewDestination,
): Promise<Destination & { secret: string }> {
  const { workspace_id } = ctx.workspace
  const wanted = { ...input, workflow_id: input.workflow_id ?? null, credential_id: input.credential_id ?? null }
  await checkWanted(parts, ctx, wanted)
  await parts.checkDestinations(ctx.tx, workspace_id)
  const destination_id = newId()
  const secret = newSigningSecret()
  await store.insertDestination(ctx.tx, workspace_id, {
    ...wanted,
    destination_id,
    owner_id: ctx.person.user_id,
    secret: sealSigningSecret(parts.vault, { workspace_id, destination_id }, 'secret', secret),
  })
  await watch(ctx, wanted.event_types)
  await audit(ctx, destination_id, 'destination.created', describe(wanted))
  return { ...(await getDestination(ctx, { destination_id })), secret }
}

export async function updateDestination(
  parts: DestinationParts,
  ctx: Context,
  { destination_id, ...patch }: ById & DestinationPatch,
): Promise<Destination> {
  const { workspace_id } = ctx.workspace
  // Locks the destination, so that a delivery that ends in the meantime is not lost.
  await store.lockSecret(ctx.tx, workspace_id, destination_id)
  const present = await getDestination(ctx, { destination_id })
  const wanted = {
    url: patch.url ?? present.url,
    event_types: patch.event_types ?? present.event_types,
    workflow_id: patch.workflow_id === undefined ? present.workflow_id : patch.workflow_id,
    credential_id: patch.credential_id === undefined ? present.credential_id : patch.credential_id,
    enabled: patch.enabled ?? present.enabled,
  }
  // From now on the destination acts for the caller. So everything is checked, not only the changes.
  if (wanted.enabled) await checkWanted(parts, ctx, wanted)
  await store.updateDestination(ctx.tx, workspace_id, destination_id, { ...wanted, owner_id: ctx.person.user_id })
  if (wanted.enabled) await watch(ctx, wanted.event_types)
  ctx.tx.hint(OUTBOX_HINTS, '')
  await audit(ctx, destination_id, 'destination.changed', { ...describe(wanted), enabled: wanted.enabled })
  return getDestination(ctx, { destination_id })
}

export async function deleteDestination(ctx: Context, { destination_id }: ById): Promise<void> {
  await store.deleteDestination(ctx.tx, ctx.workspace.workspace_id, destination_id)
  await audit(ctx, destination_id, 'destination.deleted')
}

/**
 * Rotates the secret. Both secrets sign for a day, so that the receiver can switch to the new one without losing a
 * delivery.
 */
export async function rotateDestinationSecret(parts: DestinationParts, ctx: Context, { destination_id }: ById) {
  const { workspace_id } = ctx.workspace
  const of = { workspace_id, destination_id }
  const present = await store.lockSecret(ctx.tx, workspace_id, destination_id)
  if (!present) throw problem('not_found')
  const secret = newSigningSecret()
  const previous = openSigningSecret(parts.vault, of, 'secret', present.secret)
  const { previous_secret_until } = await store.storeSecret(ctx.tx, workspace_id, destination_id, {
    secret: sealSigningSecret(parts.vault, of, 'secret', secret),
    previous: sealSigningSecret(parts.vault, of, 'previous_secret', previous),
    hours: OVERLAP_HOURS,
  })
  await audit(ctx, destination_id, 'destination.secret_rotated')
  return { secret, previous_secret_until }
}

export const listDeliveries = (ctx: Context, { destination_id, ...asked }: ById & ListInput) =>
  deliveries.listDeliveries(ctx.tx, ctx.workspace.workspace_id, destination_id, asked)

type ByDelivery = ById & { delivery_id: string }

export async function requireDelivery(ctx: Context, { destination_id, delivery_id }: ByDelivery): Promise<void> {
  if (!(await deliveries.hasDelivery(ctx.tx, ctx.workspace.workspace_id, destination_id, delivery_id)))
    throw problem('not_found')
}

export async function redeliverEvent(ctx: Context, { destination_id, delivery_id }: ByDelivery): Promise<Delivery> {
  const { workspace_id } = ctx.workspace
  const destination = await getDestination(ctx, { destination_id })
  if (!destination.enabled) throw problem('conflict', 'The destination is switched off. Switch it on first.')
  const row = await deliveries.redeliver(ctx.tx, workspace_id, destination_id, delivery_id)
  if (!row) throw problem('not_found')
  ctx.tx.hint(OUTBOX_HINTS, '')
  await audit(ctx, destination_id, 'destination.redelivered', { delivery_id: toWire('dlv', delivery_id) })
  return row
}

type Wanted = { url: string; event_types: string[]; workflow_id: string | null; credential_id: string | null }

const isAudit = (type: string): boolean => type.startsWith('audit.')
const isOfExecutions = (type: string): boolean => /^(execution|approval|clarification)\./.test(type)

async function checkWanted(parts: DestinationParts, ctx: Context, wanted: Wanted): Promise<void> {
  checkAddress(parts, wanted.url)
  const { workspace_id, role } = ctx.workspace
  const { user_id } = ctx.person
  if (wanted.event_types.some(isAudit) && role !== 'owner')
    throw problem('forbidden', 'Only owners of the workspace may send its audit log to a destination.')
  if (wanted.workflow_id !== null) {
    if (!(await maySee(ctx.tx, workspace_id, wanted.workflow_id, user_id))) throw unknownReference('/workflow_id')
    if (!wanted.event_types.every(isOfExecutions))
      throw invalid([
        { path: '/event_types', message: 'must be execution, approval or clarification events if workflow_id is set' },
      ])
  }
  const { credential_id } = wanted
  if (credential_id !== null && !(await mayUseNamed(ctx.tx, workspace_id, toWire('cred', credential_id), user_id)))
    throw unknownReference('/credential_id')
}

/** Host names are resolved with each delivery. Here only addresses that can never work are refused. */
function checkAddress({ outgoing }: DestinationParts, text: string): void {
  const refused = (message: string) => invalid([{ path: '/url', message }])
  if (!URL.canParse(text)) throw refused('must be an address such as https://example.com/events')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw refused('must not contain a user name and password; use a credential instead')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused('must begin with https://')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (url.protocol === 'http:' && !outgoing.isExempt(url.hostname, port)) throw refused('must begin with https://')
  try {
    outgoing.checkLiteral(url.hostname, port)
  } catch {
    throw refused('must be an address of the public internet')
  }
}

/** After this commit, the events of the workspace are kept for its destinations. */
const watch = (ctx: Context, types: string[]): Promise<unknown> =>
  store.watchWorkspace(ctx.tx, ctx.workspace.workspace_id, types.some(isOfExecutions))

/** Returns only the host, because the path may contain a token. */
const describe = ({ url, event_types }: Wanted) => ({ host: new URL(url).host, event_types })

const audit = (
  ctx: Context,
  destinationId: string,
  action: string,
  data: Record<string, unknown> = {},
): Promise<void> => recordAudit(ctx, ctx.tx, { action, subject: toWire('dest', destinationId), data })
