import { validateInTurn } from '#engine/checking'
import { NodeFailure } from '#engine/node'
import { checkArgs } from '#engine/nodes/kind'
import { waitEvent } from '#engine/nodes/wait-event'
import type { Engine, Opened, Settled, WaitRequest } from '#engine/ports'
import type { Turns } from '#engine/worker/turns'
import type { Json, JsonObject } from '#model/definition'
import { checkSchema } from '#model/json-schema-check'
import { type Database, isUniqueViolation, type Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import { callbackHashOf } from './callback-address.ts'
import type { Wait, Where } from './store.ts'
import * as store from './store.ts'

// Executions that wait for events. The transaction that ends a wait also sends the signal to the execution, so an event
// wakes an execution exactly once, even if a process crashes.

export type WaitParts = { db: Database; engine(): Pick<Engine, 'send'>; turns: Pick<Turns, 'next'> }

/** The output of the node. */
export type Received = {
  data: Json
  event_id: string | null
  name: string | null
  received_at: string
  timed_out: boolean
}

const MAX_KEPT_LOOKED_AT = 50

const opened = (wait: Wait): Opened => ({
  data: {
    wait_id: toWire('wait', wait.wait_id),
    ...(wait.key !== null && { key: wait.key }),
    ...(wait.due_at && { due_at: wait.due_at.toISOString() }),
  },
  dueAt: wait.due_at,
})

const expired = ({ node_path: nodePath, key }: Ended): Settled => ({
  type: 'node.failed',
  nodePath,
  error: { code: 'event_overdue', message: `no event${key === null ? '' : ` with the key "${key}"`} came in time` },
})

type Ended = Omit<Wait, 'schema'>

/** Returns the signal that tells the execution how its wait ended. */
function outcomeOf(wait: Ended): Settled {
  if (wait.status === 'expired' && wait.on_due === 'fail') return expired(wait)
  const output = wait.output as Received
  const data: JsonObject = { wait_id: toWire('wait', wait.wait_id), timed_out: output.timed_out }
  if (output.event_id !== null) data.event_id = output.event_id
  return { type: 'event.received', nodePath: wait.node_path, output: output as unknown as JsonObject, data }
}

export const receivedOf = (event: { event_id: string; name?: string | null; data: Json }): Received => ({
  data: event.data,
  event_id: toWire('evt', event.event_id),
  name: event.name ?? null,
  received_at: new Date().toISOString(),
  timed_out: false,
})

/** Ends a locked wait: records the end and signals the execution in one transaction. */
export function endWait(
  parts: Pick<WaitParts, 'engine'>,
  tx: Tx,
  wait: Omit<Wait, 'schema' | 'output'>,
  ended: { status: 'received' | 'expired'; output: Received | null; eventId: string | null },
  /** True if this transaction sends no signal to another execution. */
  isLast = false,
): Ended {
  const after: Ended = { ...wait, status: ended.status, output: ended.output as unknown as Json }
  store.sendEnded(tx, wait, ended.status, after.output, ended.eventId)
  parts
    .engine()
    .send(
      tx,
      { workspaceId: wait.workspace_id, executionId: wait.execution_id, key: `event:${wait.wait_id}` },
      outcomeOf(after),
      { isLast },
    )
  return after
}

/**
 * Ends a new wait with a kept event, if one fits. If a kept call of the callback address does not fit, it is deleted,
 * so that the address can be called again.
 */
async function takeKept(parts: WaitParts, tx: Tx, wait: Wait, callbackHash: Buffer): Promise<Ended | undefined> {
  let after = store.FIRST_ID
  for (let n = 0; n < MAX_KEPT_LOOKED_AT; n += 1) {
    const event = await store.nextKept(tx, wait, callbackHash, after)
    if (!event) return undefined
    const issues = await validateInTurn(parts.turns, wait.workspace_id, wait.schema, event.data)
    if (issues.length === 0)
      return endWait(parts, tx, wait, { status: 'received', output: receivedOf(event), eventId: event.event_id })
    if (event.callback_hash !== null) await store.deleteIncoming(tx, wait.workspace_id, event.event_id)
    after = event.event_id
  }
  return undefined
}

async function openWait(parts: WaitParts, wait: WaitRequest): Promise<Opened> {
  const callbackHash = callbackHashOf(wait.nodePath)
  return parts.db.tenant({ workspaceId: wait.workspaceId, userId: null }, async (tx) => {
    const present = await store.lockLatest(tx, wait)
    // A retry of the node waits again for what did not come in time.
    const isRetry = present?.status === 'expired' && present.on_due === 'fail' && wait.attempt > 1
    if (present && !isRetry)
      return present.status === 'open' ? opened(present) : { ...opened(present), settled: outcomeOf(present) }
    await store.lockKey(tx, wait.workspaceId, `${wait.executionId}:${callbackHash.toString('hex')}`, true)
    if (typeof wait.args.key === 'string') await store.lockKey(tx, wait.workspaceId, wait.args.key, true)
    const made = await store.insertWait(tx, wait, callbackHash)
    const taken = await takeKept(parts, tx, made, callbackHash)
    return taken ? { ...opened(made), settled: outcomeOf(taken) } : opened(made)
  })
}

/**
 * Opens a wait. If two workers open the same wait at once, the unique index refuses the second, which then reads the
 * existing wait.
 */
export async function awaitEvent(parts: WaitParts, wait: WaitRequest): Promise<Opened> {
  const args = Object.fromEntries(Object.entries(wait.args).filter(([, value]) => value !== null))
  checkArgs(waitEvent.descriptor, args)
  const [wrong] = checkSchema(args.schema ?? {})
  if (wrong)
    throw new NodeFailure('args_invalid', `Wait for an event: schema${wrong.path} ${wrong.message}`, {
      retryable: false,
    })
  const open = () => openWait(parts, { ...wait, args })
  return open().catch((error: unknown) => {
    if (!isUniqueViolation(error, 'event_waits_one_open')) throw error
    return open()
  })
}

/** Called when the execution ended, or the node ended for another reason. */
export const cancelEventWaits = store.cancelOpen

export const eventDue = (parts: WaitParts, where: Where): Promise<{ dueAt: Date | null }> =>
  parts.db.tenant({ workspaceId: where.workspaceId, userId: null }, async (tx) => {
    const wait = await store.lockLatest(tx, where)
    if (wait?.status !== 'open' || wait.due_at === null) return { dueAt: null }
    // The database's clock decides: a timer that fires early does not end the wait before its time.
    const { passed } = await tx.row<{ passed: boolean }>('select $1::timestamptz <= now() as passed', [wait.due_at])
    if (!passed) return { dueAt: wait.due_at }
    const nothing: Received = {
      data: null,
      event_id: null,
      name: null,
      received_at: new Date().toISOString(),
      timed_out: true,
    }
    endWait(parts, tx, wait, { status: 'expired', output: nothing, eventId: null })
    return { dueAt: null }
  })
