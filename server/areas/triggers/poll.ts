import { CredentialRefused } from '#areas/credentials/use'
import { ACTIVATION_REQUIRED, type Quota, reasonAgainst } from '#areas/executions/start'
import { findPieceTrigger } from '#areas/services/imported'
import type { OpenFor } from '#areas/services/open-credential'
import { enqueue } from '#engine/enqueue'
import { NodeFailure } from '#engine/node'
import { PIECES } from '#engine/nodes/service-call'
import { callService, type ServiceDeps } from '#engine/services/call'
import { askPiece } from '#engine/services/call-piece'
import type { Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { newId, UNKNOWN_ID } from '#platform/ids'
import type { Catalogue } from '#providers/services/catalogue'
import type { Service, ServiceTrigger } from '#providers/services/manifest'
import type { PieceTrigger } from '#providers/services/pieces/index'
import type { PieceRunner } from '#providers/services/pieces/runner'
import { freshOf, itemsOf, seenAfter } from './keys.ts'
import {
  type Claim,
  type Due,
  type Item,
  inputError,
  Overtaken,
  QueueFull,
  sortOut,
  startOf,
  tellsOfSkipped,
  type Within,
} from './starts.ts'
import * as store from './store.ts'

// One poll of a service. New items start the workflow. The starts and the stored keys are one transaction: after a
// crash the item is read again, and starts nothing twice. No lock or transaction is held while the service is called.

const LEASE_S = 300
const ANSWER_WITHIN = 120 * SECOND
const FEW = 100
const MANY = 2_000
const MAX_STARTS = 100
const NOT_NOW_S = 60
const MAX_PIECE_ITEMS = 1_000

export type PollParts = {
  db: Database
  catalogue: Catalogue
  deps: ServiceDeps
  openFor: OpenFor
  quota: Quota
  pieces: PieceRunner
}

/** `signal` is aborted when the process stops. */
type Taken = Claim & { parts: PollParts; signal: AbortSignal }
type Look = Taken & { service: Service; trigger: ServiceTrigger }

export async function pollTrigger(parts: PollParts, due: Due, signal: AbortSignal): Promise<void> {
  const within = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    parts.db.tenant({ workspaceId: due.workspace_id, userId: null }, work)
  const row = await within((tx) => store.claimTrigger(tx, due.workspace_id, due.trigger_id, LEASE_S))
  if (!row) return
  const fail = (error: string, inS = row.every_s): Promise<number> =>
    within((tx) =>
      store.settleTrigger(tx, due.workspace_id, due.trigger_id, {
        epoch: row.epoch,
        seen: null,
        inS,
        executionId: null,
        error: error.slice(0, 1_000),
      }),
    )
  const service = parts.catalogue.get(row.service)
  const trigger = service?.triggers.get(row.trigger)
  const piece = row.service.startsWith(PIECES)
    ? await within((tx) => findPieceTrigger(tx, due.workspace_id, row.service, row.trigger))
    : undefined
  if (!(service && trigger) && !piece?.trigger)
    return void (await fail(`There is no trigger "${row.trigger}" of "${row.service}" any more.`))
  if (row.activation_required) return void (await fail(ACTIVATION_REQUIRED))
  // Polled again when a version is active: items that arrive in the meantime are not lost.
  if (row.version_id === null) return void (await fail('The workflow has no active version.'))
  try {
    if (service && trigger) {
      const look = { parts, due, row, signal, service, trigger }
      await startFresh(look, await listItems(look), within)
    } else await pollPiece({ parts, due, row, signal }, piece!.service, piece!.trigger!, within)
  } catch (error) {
    if (signal.aborted) await within((tx) => store.releaseTrigger(tx, due.workspace_id, due.trigger_id, row.epoch))
    else if (error instanceof CredentialRefused) await fail(error.message)
    else if (error instanceof NodeFailure) await fail(error.message, Math.max(row.every_s, error.retryAfterS ?? 0))
    else {
      await fail('The service could not be asked because of a problem on our side.', NOT_NOW_S).catch(() => {})
      throw error
    }
  }
}

async function listItems({ parts, due, row, signal, service, trigger }: Look): Promise<Json[]> {
  const action = service.actions.get(trigger.action)!
  const credential =
    row.credential_id === null
      ? undefined
      : await parts.openFor({
          workspaceId: due.workspace_id,
          credentialId: row.credential_id,
          userId: row.principal_id,
        })
  const ask = async (most: number) => {
    const args: JsonObject = { ...row.args, ...trigger.fixed, ...(action.paginate && { max_items: most }) }
    const run = {
      workspaceId: due.workspace_id,
      executionId: UNKNOWN_ID,
      effectKey: `${due.trigger_id}:${row.epoch}`,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN)]),
      step: <T extends Json>(_name: string, work: () => Promise<T>): Promise<T> => work(),
      progress: () => {},
    }
    return itemsOf(await callService(parts.deps, { service, action, args, credential }, run))
  }
  // In an unsorted list, new items may be anywhere.
  const { items, more } = await ask(trigger.unsorted ? MANY : FEW)
  // All items are new, so there may be more new items.
  const isAllNew = row.seen !== null && row.seen.length > 0 && freshOf(trigger, items, row.seen).length === items.length
  return more && isAllNew && !trigger.unsorted ? (await ask(MANY)).items : items
}

async function startFresh(look: Look, items: readonly Json[], within: Within): Promise<void> {
  const { parts, due, row, trigger } = look
  const workspaceId = due.workspace_id
  // The first poll only records the existing items.
  const fresh = row.seen === null ? [] : freshOf(trigger, items, row.seen)
  // An item that does not fit the workflow does not block the others. It stays new until the workflow accepts it.
  const unfit = new Map(fresh.map((one) => [one.key, inputError(look, one)]))
  const fitting = fresh.filter(({ key }) => unfit.get(key) === null)
  const wanted = fitting.slice(0, MAX_STARTS)
  let error: string | null = null
  let allowed = 0
  while (allowed < wanted.length && error === null) {
    error = await reasonAgainst(parts.quota, workspaceId)
    if (error === null) allowed += 1
  }
  let started = 0
  try {
    await within(async (tx) => {
      let executionId: string | null = null
      for (const one of wanted.slice(0, allowed)) {
        const id = newId()
        const outcome = await enqueue(tx, startOf(look, id, one))
        if (outcome !== 'accepted') {
          error = 'Too many executions are queued.'
          break
        }
        executionId = id
        started += 1
      }
      const later = fitting.slice(started)
      const refused = fresh.filter(({ key }) => unfit.get(key) !== null)
      const left = new Set([...later, ...refused].map(({ key }) => key))
      const settled = await store.settleTrigger(tx, workspaceId, due.trigger_id, {
        epoch: row.epoch,
        seen: seenAfter(trigger, items, row.seen ?? [], left),
        inS: later.length > 0 && error === null ? 0 : row.every_s,
        executionId,
        error: error ?? unfit.get(refused[0]?.key ?? '') ?? null,
      })
      // Another process has polled since, or the trigger was deleted, so the starts are rolled back.
      if (settled === 0) throw new Overtaken()
    })
  } catch (problem) {
    started = 0
    if (!(problem instanceof Overtaken)) throw problem
  } finally {
    for (let unused = started; unused < allowed; unused += 1) parts.quota.giveBack(workspaceId)
  }
}

/**
 * The trigger of a piece determines itself what is new, with the state that it stored before. The state and the starts
 * are one transaction: if the plan or the queue does not admit all items, none is started, and the next poll returns the
 * same items. An item that does not fit the workflow is skipped: the piece will not return it again.
 */
async function pollPiece(taken: Taken, service: Service, trigger: PieceTrigger, within: Within): Promise<void> {
  const { parts, due, row, signal } = taken
  const workspaceId = due.workspace_id
  const credential =
    row.credential_id === null
      ? undefined
      : await parts.openFor({ workspaceId, credentialId: row.credential_id, userId: row.principal_id })
  const isFirst = row.seen === null
  const { output, written } = await askPiece(parts.pieces, {
    workspaceId,
    piece: service.piece!,
    service: service.service,
    request: { do: isFirst ? 'enable' : 'trigger', part: trigger.part, args: row.args, store: row.store },
    credential,
    credentialKey: row.credential_id ?? undefined,
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN)]),
  })
  const items = isFirst || !Array.isArray(output) ? [] : output
  const kept = Object.entries({ ...row.store, ...written }).filter(([, value]) => value !== null)
  if (items.length > MAX_PIECE_ITEMS)
    throw new NodeFailure('result_too_large', `The piece returned more than ${MAX_PIECE_ITEMS} items.`)
  const { fitting, skipped } = sortOut(
    taken,
    items.map((item) => ({ item })),
  )
  const report = items.length === 0 && tellsOfSkipped(row.last_error) ? row.last_error : skipped
  await startAll(taken, { items: fitting, report, remembered: Object.fromEntries(kept) }, within)
}

async function startAll(
  taken: Taken,
  { items, report, remembered }: { items: readonly Item[]; report: string | null; remembered: JsonObject },
  within: Within,
): Promise<void> {
  const { parts, due, row } = taken
  const workspaceId = due.workspace_id
  let allowed = 0
  let refused: string | null = null
  while (refused === null && allowed < items.length) {
    refused = await reasonAgainst(parts.quota, workspaceId)
    if (refused === null) allowed += 1
  }
  let started = 0
  try {
    await within(async (tx) => {
      let executionId: string | null = null
      for (const item of refused === null ? items : []) {
        executionId = newId()
        if ((await enqueue(tx, startOf(taken, executionId, item))) !== 'accepted') throw new QueueFull()
      }
      const settled = await store.settleTrigger(tx, workspaceId, due.trigger_id, {
        epoch: row.epoch,
        seen: refused === null ? [] : null,
        inS: row.every_s,
        executionId,
        error: refused ?? report,
        ...(refused === null && { store: remembered }),
      })
      if (settled === 0) throw new Overtaken()
    })
    if (refused === null) started = items.length
  } catch (problem) {
    if (problem instanceof QueueFull) throw new NodeFailure('queue_full', 'Too many executions are queued.')
    if (!(problem instanceof Overtaken)) throw problem
  } finally {
    for (let unused = started; unused < allowed; unused += 1) parts.quota.giveBack(workspaceId)
  }
}
