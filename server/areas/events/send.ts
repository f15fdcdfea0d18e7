import { createHash } from 'node:crypto'
import { ACTIVATION_REQUIRED, type Quota, reasonAgainst } from '#areas/executions/start'
import { maySee } from '#areas/workflows/rights'
import { isHeavyCheck, validateInTurn } from '#engine/checking'
import { enqueue } from '#engine/enqueue'
import { flowOf } from '#engine/flow/rules'
import type { Json, JsonObject } from '#model/definition'
import { MAX_STEPS, validateJson } from '#model/json-schema'
import { jsonSize } from '#model/size'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { newId, toWire } from '#platform/ids'
import { requireKeptCapacity } from './kept-limits.ts'
import type { EventTaken, NewEvent } from './schema.ts'
import * as store from './store.ts'
import { endWait, receivedOf, type WaitParts } from './waits.ts'

// An event from outside. One transaction wakes the executions that wait for it, starts the workflows that subscribed to
// it, and stores it.

export type EventParts = WaitParts & { quota: Quota }

const PORTION = 500
const MAX_WOKEN = 10_000
const MAX_SUBSCRIBERS = 100
/**
 * The maximum size of the data that one event may write. Each execution that it wakes or starts stores its own copy.
 */
const MAX_WRITTEN_BYTES = 32 * 1024 * 1024
/** Data larger than this is written in fair alternation with other workspaces. */
const LARGE_DATA = 64 * 1024

const tooMuchData = () =>
  problem(
    'too_large',
    'The data is too large for that number of executions. Send an address from which it can be read instead.',
  )

/**
 * Returns a check whether the data fits the schema of a wait. Each schema is read and checked once, and all schemas
 * share the step limit of one check.
 */
function makeSchemaCheck(parts: EventParts, tx: Tx, workspaceId: string, data: Json) {
  const known = new Map<string, boolean>()
  const shared = { steps: MAX_STEPS }
  return async (wait: store.OpenWait): Promise<boolean> => {
    const before = known.get(wait.schema_hash)
    if (before !== undefined) return before
    const schema = wait.small_schema ?? (await store.readSchema(tx, wait))
    if (isHeavyCheck(schema, data)) await parts.turns.next(workspaceId)
    const fits = validateJson(schema, data, { shared }).length === 0
    if (shared.steps < 0)
      throw problem(
        'too_large',
        'Checking the data against the schemas of all that wait for this key takes too much work.',
      )
    known.set(wait.schema_hash, fits)
    return fits
  }
}

/**
 * Locks the first waits that an event wakes. The query is sent together with the permission check of the sender, which
 * saves a round trip. Returns undefined for an event that may be a duplicate or is kept: its id is looked up first.
 */
export function lockFirstWaits(
  { maybeTx, maybeWorkspace }: Pick<Context, 'maybeTx' | 'maybeWorkspace'>,
  { key, event_id, keep_s }: NewEvent,
): Promise<store.OpenWait[]> | undefined {
  if (!maybeTx || !maybeWorkspace || key === undefined || event_id !== undefined || keep_s > 0) return undefined
  return store.lockWaits(maybeTx, maybeWorkspace.workspace_id, key, store.FIRST_ID, PORTION)
}

async function wake(
  parts: EventParts,
  tx: Tx,
  workspaceId: string,
  eventId: string,
  event: NewEvent & { key: string },
  first: Promise<store.OpenWait[]> | undefined,
) {
  const data = (event.data ?? null) as Json
  const size = jsonSize(data, MAX_WRITTEN_BYTES)
  const output = receivedOf({ event_id: eventId, name: event.name ?? null, data })
  const fits = makeSchemaCheck(parts, tx, workspaceId, data)
  let woken = 0
  let unfit = 0
  let waits = await (first ?? store.lockWaits(tx, workspaceId, event.key, store.FIRST_ID, PORTION))
  const isAlone = waits.length === 1 && event.name === undefined
  for (;;) {
    for (const wait of waits) {
      if (!(await fits(wait))) unfit += 1
      else {
        woken += 1
        if (woken * size > MAX_WRITTEN_BYTES) throw tooMuchData()
        if (size > LARGE_DATA) await parts.turns.next(workspaceId)
        endWait(parts, tx, wait, { status: 'received', output, eventId }, isAlone)
      }
    }
    if (waits.length < PORTION) return { woken, unfit }
    if (woken + unfit >= MAX_WOKEN)
      throw problem(
        'too_large',
        `More than ${MAX_WOKEN} executions wait for this key. Use keys that fewer executions share.`,
      )
    waits = await store.lockWaits(tx, workspaceId, event.key, waits.at(-1)!.wait_id, PORTION)
  }
}

const UNFIT = 'The event does not match its inputs'

/** Removes what describes the inputs of workflows whose versions the caller cannot see. */
async function withoutHiddenInputs(ctx: Context, answer: EventTaken): Promise<EventTaken> {
  const { workspace_id } = ctx.workspace
  const not_started: EventTaken['not_started'] = []
  for (const one of answer.not_started) {
    const isHidden =
      one.reason.startsWith(UNFIT) && !(await maySee(ctx.tx, workspace_id, one.workflow_id, ctx.person.user_id))
    not_started.push(isHidden ? { ...one, reason: `${UNFIT}.` } : one)
  }
  return { ...answer, not_started }
}

/** Returns why a subscriber cannot be started, or null if it can. */
async function reasonNotToStart(
  parts: EventParts,
  ctx: Context,
  of: store.Subscriber,
  input: JsonObject,
): Promise<string | null> {
  const { workspace_id } = ctx.workspace
  if (of.activation_required) return ACTIVATION_REQUIRED
  if (of.version_id === null) return 'It has no active version.'
  const inputs = await store.readInputs(ctx.tx, workspace_id, of.version_id)
  const [issue] = await validateInTurn(parts.turns, workspace_id, inputs ?? true, input)
  return issue ? `${UNFIT}: ${issue.path || '/'} ${issue.message}.` : null
}

async function startSubscribers(
  parts: EventParts,
  ctx: Context,
  name: string,
  input: JsonObject,
  taken: { count: number },
): Promise<Pick<EventTaken, 'started' | 'not_started'>> {
  const { workspace_id } = ctx.workspace
  const started: string[] = []
  const not_started: EventTaken['not_started'] = []
  const size = jsonSize(input, MAX_WRITTEN_BYTES)
  for (const of of await store.listSubscribers(ctx.tx, workspace_id, name, MAX_SUBSCRIBERS)) {
    if ((started.length + 1) * size > MAX_WRITTEN_BYTES) throw tooMuchData()
    let reason = (await reasonNotToStart(parts, ctx, of, input)) ?? (await reasonAgainst(parts.quota, workspace_id))
    if (reason === null) {
      taken.count += 1
      const executionId = newId()
      const outcome = await enqueue(ctx.tx, {
        workspaceId: workspace_id,
        executionId,
        input,
        definitionRef: `version:${of.version_id}`,
        workflowId: of.workflow_id,
        versionId: of.version_id,
        timeoutS: of.settings.timeout_s ?? null,
        flow: flowOf(of.settings),
        trigger: { kind: 'event', id: String(input.event_id) },
        startedBy: null,
        principalId: of.principal_id,
        initiatedBy: [{ kind: 'event', id: String(input.event_id), user_id: ctx.person.user_id }],
      })
      if (outcome === 'accepted') started.push(executionId)
      else reason = 'Too many executions of the workspace are queued.'
    }
    if (reason !== null) not_started.push({ workflow_id: of.workflow_id, reason })
  }
  return { started, not_started }
}

async function take(
  parts: EventParts,
  ctx: Context,
  event: NewEvent,
  taken: { count: number },
  first: Promise<store.OpenWait[]> | undefined,
): Promise<EventTaken> {
  const { tx } = ctx
  const { workspace_id } = ctx.workspace
  const { key, name, data, event_id, keep_s } = event
  const eventId = newId()
  const idHash = event_id === undefined ? null : createHash('sha256').update(event_id).digest()
  const isStored = idHash !== null || (keep_s > 0 && key !== undefined)
  if (isStored) {
    if (keep_s > 0) await requireKeptCapacity(tx, workspace_id)
    if (keep_s > 0 && key !== undefined) await store.lockKey(tx, workspace_id, key, false)
    const row = { event_id: eventId, id_hash: idHash, key, name, data, keep_s: key === undefined ? 0 : keep_s }
    if (!(await store.insertIncoming(tx, workspace_id, row))) {
      const before = await store.findAnswer<EventTaken>(tx, workspace_id, idHash!)
      return { ...before!.answer, duplicate: true }
    }
  }
  const input: JsonObject = {
    event_id: toWire('evt', eventId),
    key: key ?? null,
    name: name ?? null,
    data: (data ?? null) as Json,
    received_at: new Date().toISOString(),
  }
  const answer: EventTaken = {
    event_id: eventId,
    ...(key === undefined
      ? { woken: 0, unfit: 0 }
      : await wake(parts, tx, workspace_id, eventId, { ...event, key }, first)),
    ...(name === undefined ? { started: [], not_started: [] } : await startSubscribers(parts, ctx, name, input, taken)),
    kept_until: keep_s > 0 && key !== undefined ? new Date(Date.now() + keep_s * 1000) : null,
    duplicate: false,
  }
  if (idHash !== null) await store.writeAnswer(tx, workspace_id, eventId, answer)
  return answer
}

/** `first`: the first waits that the event wakes, if they were already queried. */
export async function sendEvent(
  parts: EventParts,
  ctx: Context,
  event: NewEvent,
  first?: Promise<store.OpenWait[]>,
): Promise<EventTaken> {
  const taken = { count: 0 }
  try {
    const answer = await withoutHiddenInputs(ctx, await take(parts, ctx, event, taken, first))
    for (let n = answer.duplicate ? 0 : answer.started.length; n < taken.count; n++)
      parts.quota.giveBack(ctx.workspace.workspace_id)
    return answer
  } catch (error) {
    for (let n = 0; n < taken.count; n++) parts.quota.giveBack(ctx.workspace.workspace_id)
    throw error
  }
}
