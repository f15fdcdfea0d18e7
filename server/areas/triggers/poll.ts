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
  leftOutReport,
  Overtaken,
  sortOut,
  splitLeftOut,
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
const MAX_PIECE_STARTS = 1_000
/** The items that are left are stored again with every thousand that start. Of more items, the first are accepted. */
const MAX_PIECE_ITEMS = 10_000

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
  const { row, trigger } = look
  // The first poll only records the existing items.
  const fresh = row.seen === null ? [] : freshOf(trigger, items, row.seen)
  // An item that does not fit the workflow does not block the others. It stays new until the workflow accepts it.
  const unfit = new Map(fresh.map((one) => [one.key, inputError(look, one)]))
  const fitting = fresh.filter(({ key }) => unfit.get(key) === null)
  const refused = fresh.filter(({ key }) => unfit.get(key) !== null)
  await startFirst(look, fitting.slice(0, MAX_STARTS), within, (started, error) => {
    const later = fitting.slice(started)
    const left = new Set([...later, ...refused].map(({ key }) => key))
    return {
      seen: seenAfter(trigger, items, row.seen ?? [], left),
      inS: later.length > 0 && error === null ? 0 : row.every_s,
      error: error ?? unfit.get(refused[0]?.key ?? '') ?? null,
    }
  })
}

/**
 * The trigger of a piece determines itself what is new, with the state that it stored before, and returns each item only
 * once. Items that are not started yet are stored with that state; the piece is asked again when they have started. An
 * item that does not fit the workflow is skipped. Both that and items beyond the maximum are reported until the piece
 * returns new items.
 */
async function pollPiece(taken: Taken, service: Service, trigger: PieceTrigger, within: Within): Promise<void> {
  const { row } = taken
  const continues = row.unstarted.length > 0
  const { items, remembered, leftOut } = continues
    ? { items: row.unstarted, remembered: row.store, leftOut: null }
    : await askForItems(taken, service, trigger)
  const { fitting, skipped } = sortOut(
    taken,
    items.slice(0, MAX_PIECE_STARTS).map((item) => ({ item })),
  )
  const before = splitLeftOut(continues || items.length === 0 ? row.last_error : null)
  const skippedBefore = tellsOfSkipped(before.rest) ? before.rest : null
  await startFirst(taken, fitting, within, (started, error) => {
    const unstarted = [...fitting.slice(started).map(({ item }) => item), ...items.slice(MAX_PIECE_STARTS)]
    return {
      seen: continues ? null : [],
      inS: unstarted.length > 0 && error === null ? 0 : row.every_s,
      error: joinReports(leftOut ?? before.leftOut, error ?? skipped ?? skippedBefore),
      store: remembered,
      unstarted,
    }
  })
}

const joinReports = (...reports: (string | null)[]): string | null =>
  reports
    .filter((report) => report !== null)
    .join(' ')
    .slice(0, 1_000) || null

async function askForItems(
  { parts, due, row, signal }: Taken,
  service: Service,
  trigger: PieceTrigger,
): Promise<{ items: Json[]; remembered: JsonObject; leftOut: string | null }> {
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
  const returned: Json[] = isFirst || !Array.isArray(output) ? [] : output
  const beyond = returned.length - MAX_PIECE_ITEMS
  const kept = Object.entries({ ...row.store, ...written }).filter(([, value]) => value !== null)
  return {
    items: returned.slice(0, MAX_PIECE_ITEMS),
    remembered: Object.fromEntries(kept),
    leftOut: beyond > 0 ? leftOutReport(returned.length, beyond) : null,
  }
}

/**
 * Starts executions for these items in order, until the plan or the queue refuses one. `settle` returns what the trigger
 * stores in the same transaction.
 */
async function startFirst(
  taken: Taken,
  wanted: readonly Item[],
  within: Within,
  settle: (started: number, error: string | null) => Omit<store.Settled, 'epoch' | 'executionId'>,
): Promise<void> {
  const { parts, due, row } = taken
  const workspaceId = due.workspace_id
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
        const outcome = await enqueue(tx, startOf(taken, id, one))
        if (outcome !== 'accepted') {
          error = 'Too many executions are queued.'
          break
        }
        executionId = id
        started += 1
      }
      const settled = { ...settle(started, error), epoch: row.epoch, executionId }
      // Another process has polled since, or the trigger was deleted, so the starts are rolled back.
      if ((await store.settleTrigger(tx, workspaceId, due.trigger_id, settled)) === 0) throw new Overtaken()
    })
  } catch (problem) {
    started = 0
    if (!(problem instanceof Overtaken)) throw problem
  } finally {
    for (let unused = started; unused < allowed; unused += 1) parts.quota.giveBack(workspaceId)
  }
}
