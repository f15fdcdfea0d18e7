import { z } from 'zod'
import { anyone, member } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { type CallbackParts, callBack } from './callback.ts'
import { CallbackTaken, EventTaken, NewEvent, type NewEvent as NewEventInput } from './schema.ts'
import { type EventParts, lockFirstWaits, sendEvent } from './send.ts'
import type { OpenWait } from './store.ts'

const called = {
  description:
    'The address is signed and can be used once. The body, or the query of a GET, becomes the data of the event. A call before the node waits is kept for a day. A second call gets 409 `not_waiting`. A call whose data does not match the schema gets 422; the address can then still be used.',
  extension: true as const,
  query: z.looseObject({}),
  answer: CallbackTaken,
  transaction: false as const,
}

export const eventRoutes = (parts: EventParts & CallbackParts): AnyRoute[] => {
  const run = (ctx: Context, input: { callback: string; body?: Buffer }, exchange: Exchange) =>
    callBack(parts, ctx, input, exchange)
  return routes(
    'Events',
    {
      sendEvent: ['POST', '/api/events', member('workspace'), 'run'],
      callBackByPost: ['POST', '/api/callbacks/:callback', anyone],
      callBackByGet: ['GET', '/api/callbacks/:callback', anyone],
    },
    {
      sendEvent: {
        summary: 'Send an event to the workspace',
        description:
          'Wakes every execution that waits for `key` (`wait.event`) and starts every workflow that subscribed to `name` (`settings.on_event`). All of it happens or nothing does.',
        body: NewEvent,
        answer: EventTaken,
        status: 202,
        extension: true,
        examples: { body: { key: 'order-7', name: 'order.paid', data: { amount: 12 }, event_id: 'evt-2026-0001' } },
        aheadWithInput: (ctx: Context, input: NewEventInput) => lockFirstWaits(ctx, input),
        run: (ctx: Context, input: NewEventInput, { ahead }: Exchange) =>
          sendEvent(parts, ctx, input, ahead as Promise<OpenWait[]> | undefined),
      },
      callBackByPost: {
        summary: 'Continue a waiting node from outside',
        ...called,
        bodyKind: 'any',
        idempotency: 'none',
        run,
      },
      callBackByGet: { summary: 'Continue a waiting node from outside, by opening a link', ...called, run },
    },
  )
}
