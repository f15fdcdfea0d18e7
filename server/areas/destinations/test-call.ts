import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { newId } from '#platform/ids'
import { type Attempt, type Loaded, noteDelivered, noteGivenUp } from './deliveries-store.ts'
import type { DestinationTest } from './schema.ts'
import { ANSWER_WITHIN_S, type SendParts, sendDelivery } from './send.ts'
import type { ById } from './service.ts'
import * as store from './test-store.ts'

export type TestParts = SendParts & { db: Database }

/**
 * Sends an event of the type `destination.test` at once, with a single attempt. It is listed among the other
 * deliveries.
 */
export async function testDestination(
  parts: TestParts,
  ctx: Context,
  { destination_id }: ById,
): Promise<DestinationTest> {
  const { workspace_id } = ctx.workspace
  const at = { workspace_id, destination_id, delivery_id: newId() }
  const event = await ctx.db.tenant(scopeOf(ctx), (tx) => store.insertTest(tx, at, ctx.person.user_id))
  if (!event) throw problem('not_found')
  const signal = AbortSignal.any([ctx.stepAside(), AbortSignal.timeout(2 * ANSWER_WITHIN_S * SECOND)])
  const outcome = await sendDelivery(parts, event as Loaded, signal).catch(async (error: unknown) => {
    await ctx.db.tenant(scopeOf(ctx), (tx) => noteGivenUp(tx, at, STOPPED))
    throw error
  })
  await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    if (outcome.ok) await noteDelivered(tx, at, outcome)
    else await noteGivenUp(tx, at, outcome)
  })
  const { ok, answer_status, answer_text, duration_ms } = outcome
  const message = ok ? `The receiver answered ${answer_status}.` : sentence(outcome.problem ?? 'it failed')
  return { ok, answer_status, answer_text, message, duration_ms, tested_at: new Date() }
}

/** No dispatcher takes a test, so a test that is stopped must be ended here. */
const STOPPED: Attempt = {
  ok: false,
  answer_status: null,
  answer_text: null,
  problem: 'the test was stopped before the receiver answered',
  duration_ms: 0,
}

const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`
