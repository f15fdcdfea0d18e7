import { findPieceTrigger } from '#areas/services/imported'
import type { OpenFor } from '#areas/services/open-credential'
import { PIECES } from '#engine/nodes/service-call'
import { callService, type ServiceDeps } from '#engine/services/call'
import { askPiece, asNodeFailure } from '#engine/services/call-piece'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import { UNKNOWN_ID } from '#platform/ids'
import type { RecordExchange, RecordedExchange } from '#platform/wall/egress'
import type { Catalogue } from '#providers/services/catalogue'
import type { Service, ServiceHook } from '#providers/services/manifest'
import { valueAt } from '#providers/services/paths'
import type { PieceRequest, PieceTrigger } from '#providers/services/pieces/index'
import type { PieceCall, PieceRunner } from '#providers/services/pieces/runner'
import { type Expiry, expiryOf, expiryOfPiece, requestedExpiry } from './expiry.ts'
import { itemsIn } from './hook-request.ts'
import type { Item, Within } from './starts.ts'

// Calls to a vendor about a trigger that the vendor calls: by a manifest, or by the code of a piece.

const ANSWER_WITHIN = 60 * SECOND

export type VendorParts = { catalogue: Catalogue; deps: ServiceDeps; openFor: OpenFor; pieces: PieceRunner }

export type Called =
  | { service: Service; hook: ServiceHook; piece?: undefined }
  | { service: Service; hook?: undefined; piece: PieceTrigger }

/** The rights with which the vendor is called, and the stored state of the registration. */
export type Registration = {
  workspaceId: string
  args: JsonObject
  store: JsonObject
  credentialId: string | null
  userId: string | null
  /** Receives each response of the vendor while the code of a piece registers. */
  witness?: RecordExchange
}

export async function findCalled(
  { catalogue }: Pick<VendorParts, 'catalogue'>,
  within: Within,
  workspaceId: string,
  named: { service: string; trigger: string },
): Promise<Called | undefined> {
  const service = catalogue.get(named.service)
  const hook = service?.hooks.get(named.trigger)
  if (service && hook) return { service, hook }
  if (!named.service.startsWith(PIECES)) return undefined
  const found = await within((tx) => findPieceTrigger(tx, workspaceId, named.service, named.trigger))
  return found?.trigger?.kind === 'webhook' ? { service: found.service, piece: found.trigger } : undefined
}

const opened = ({ openFor }: VendorParts, { workspaceId, credentialId, userId }: Registration) =>
  credentialId === null || userId === null ? Promise.resolve(undefined) : openFor({ workspaceId, credentialId, userId })

async function callAction(parts: VendorParts, service: Service, name: string, about: Registration, args: JsonObject) {
  const action = service.actions.get(name)!
  const known = action.args_schema.properties as JsonObject
  const run = {
    workspaceId: about.workspaceId,
    executionId: UNKNOWN_ID,
    effectKey: 'hook',
    signal: AbortSignal.timeout(ANSWER_WITHIN),
    step: <T extends Json>(_name: string, work: () => Promise<T>): Promise<T> => work(),
    progress: () => {},
  }
  const fitting = Object.fromEntries(Object.entries(args).filter(([field]) => Object.hasOwn(known, field)))
  return callService(parts.deps, { service, action, args: fitting, credential: await opened(parts, about) }, run)
}

const pieceCall = async (
  parts: VendorParts,
  { service, piece }: Called,
  about: Registration,
  request: PieceRequest,
): Promise<PieceCall> => ({
  workspaceId: about.workspaceId,
  piece: service.piece!,
  service: service.service,
  request: { part: piece!.part, args: about.args, store: about.store, ...request },
  credential: await opened(parts, about),
  credentialKey: about.credentialId ?? undefined,
  signal: AbortSignal.timeout(ANSWER_WITHIN),
})

const storeAfter = (store: JsonObject, written: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries({ ...store, ...written }).filter(([, value]) => value !== null))

async function askCode(parts: VendorParts, called: Called, about: Registration, request: PieceRequest) {
  const call = await pieceCall(parts, called, about, request)
  const { output, written } = await askPiece(parts.pieces, { ...call, witness: about.witness })
  return { output, store: storeAfter(about.store, written) }
}

/** The state to store, and how long the registration is valid. */
export type Registered = { store: JsonObject; expiry: Expiry | null }

/** Throws NodeFailure and CredentialRefused. */
export async function register(
  parts: VendorParts,
  called: Called,
  about: Registration,
  { url, secret, id }: { url: string; secret: string; id: string },
): Promise<Registered> {
  if (called.piece) {
    const { store } = await askCode(parts, called, about, { do: 'enable', webhook: url })
    return { store, expiry: expiryOfPiece(called.piece) }
  }
  const { service, hook } = called
  const given = { hook_url: url, hook_secret: secret, hook_id: id, ...requestedExpiry(hook) }
  const output = await callAction(parts, service, hook.register, about, { ...about.args, ...hook.fixed, ...given })
  return { store: keptOf(hook, output), expiry: expiryOf(hook, output) }
}

/** Returns undefined if the vendor does not support renewal. Then the trigger is registered again. */
export async function renew(
  parts: VendorParts,
  called: Called,
  about: Registration,
  url: string,
): Promise<Registered | undefined> {
  if (called.piece) {
    const { store } = await askCode(parts, called, about, { do: 'renew', webhook: url })
    return { store, expiry: expiryOfPiece(called.piece) }
  }
  const { service, hook } = called
  if (hook.renew === undefined) return undefined
  const output = await callAction(parts, service, hook.renew, about, {
    ...about.args,
    ...about.store,
    ...requestedExpiry(hook),
  })
  return { store: about.store, expiry: expiryOf(hook, output) }
}

const keptOf = ({ keep = {} }: ServiceHook, output: Json): JsonObject =>
  Object.fromEntries(Object.entries(keep).map(([name, path]) => [name, valueAt(output, path) ?? null]))

/** An unconfirmed registration: our addresses, and the vendor's responses to the code of a piece. */
export type Left = { isLeft(url: string): boolean; url: string; exchanges: readonly RecordedExchange[] | null }

/**
 * Removes an unconfirmed registration. If the vendor has no list and sent no response, the registration stays, but its
 * address is refused.
 */
export async function removeUnconfirmed(
  parts: VendorParts,
  called: Called,
  about: Registration,
  left: Left,
): Promise<void> {
  if (called.piece) return removeUnconfirmedPiece(parts, called, about, left)
  const { service, hook } = called
  if (!hook.find) return
  const output = await callAction(parts, service, hook.find.action, about, about.args)
  const listed = isObject(output) && Array.isArray(output.items) ? output.items : []
  for (const item of listed) {
    const url = valueAt(item, hook.find.url)
    if (typeof url === 'string' && left.isLeft(url))
      await unregister(parts, called, { ...about, store: keptOf(hook, item) }, url)
  }
}

/**
 * Repeats the registration code with the recorded responses and without sending requests. The resulting state names
 * what must be removed. If the code invented a name, it is different this time, so it is replaced by the recorded name.
 */
async function removeUnconfirmedPiece(
  parts: VendorParts,
  called: Called,
  about: Registration,
  { url, exchanges }: Left,
): Promise<void> {
  if (!exchanges || exchanges.length === 0) return
  const call = await pieceCall(parts, called, about, { do: 'enable', webhook: url })
  const { written, invented } = await parts.pieces.call({ ...call, replay: exchanges }).catch((error: unknown) => {
    throw asNodeFailure(error, 'read')
  })
  const store = asThen(storeAfter({}, written), invented)
  if (Object.keys(store).length > 0) await unregister(parts, called, { ...about, store }, url)
}

/** Replaces invented names. They are plain words, so they appear unescaped in JSON text. */
function asThen(store: JsonObject, invented: ReadonlyMap<string, string>): JsonObject {
  let text = JSON.stringify(store)
  for (const [now, then] of invented) text = text.replaceAll(now, then)
  return JSON.parse(text) as JsonObject
}

export async function unregister(parts: VendorParts, called: Called, about: Registration, url: string): Promise<void> {
  if (called.piece) await askCode(parts, called, about, { do: 'disable', webhook: url })
  else await callAction(parts, called.service, called.hook.unregister, about, { ...about.args, ...about.store })
}

/** Returns the items of one event, and the state after it. */
export async function itemsOf(
  parts: VendorParts,
  called: Called,
  about: Registration,
  payload: JsonObject,
): Promise<{ items: Item[]; store: JsonObject }> {
  if (called.piece) {
    const asked = { body: payload.body ?? null, headers: payload.headers ?? {}, queryParams: payload.query ?? {} }
    const { output, store } = await askCode(parts, called, about, {
      do: 'trigger',
      payload: { ...asked, rawBody: payload.raw_body ?? null },
    })
    return { items: (Array.isArray(output) ? output : []).map((item) => ({ item })), store }
  }
  return { items: itemsIn(called.hook, payload), store: about.store }
}

/** Returns the response of a piece to a vendor's handshake. */
export async function answerHandshake(parts: VendorParts, called: Called, about: Registration, payload: JsonObject) {
  const { output } = await askCode(parts, called, about, { do: 'handshake', payload })
  const { status, body, headers } = isObject(output) ? output : {}
  return {
    status: typeof status === 'number' && status >= 200 && status < 500 ? Math.trunc(status) : 200,
    body: body ?? null,
    type: isObject(headers) ? String(headers['Content-Type'] ?? headers['content-type'] ?? '') : '',
  }
}
