import { z } from 'zod'
import { anyone, editor, member } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { type ReceiveParts, receiveEvent } from './receive.ts'
import { NewTrigger, type NewTrigger as NewTriggerInput, Trigger, TriggerPatch, triggerList } from './schema.ts'
import { createTrigger, deleteTrigger, getTrigger, listTriggers, type TriggerParts, updateTrigger } from './service.ts'

type OfWorkflow = { workflow_id: string }

const called = {
  description:
    'The address belongs to one registration at the vendor. It is signed, and stops working when the trigger is deleted. If the vendor signs its requests, the signature is verified. The response is sent after the event is stored; a repeated delivery gets the same response and starts nothing.',
  extension: true as const,
  query: z.looseObject({}),
  produces: ['application/json', 'text/plain'],
  examples: { answer: { status: 'accepted' } },
  transaction: false as const,
}

export const triggerRoutes = (parts: TriggerParts & ReceiveParts): AnyRoute[] => {
  const receive = (ctx: Context, input: { hook: string; body?: Buffer }, exchange: Exchange) =>
    receiveEvent(parts, ctx, input, exchange)
  return routes(
    'Workflows',
    {
      listTriggers: ['GET', '/api/workflows/:workflow_id/triggers', member('workflow')],
      createTrigger: ['POST', '/api/workflows/:workflow_id/triggers', editor('workflow')],
      getTrigger: ['GET', '/api/workflows/:workflow_id/triggers/:trigger_id', member('workflow')],
      updateTrigger: ['PATCH', '/api/workflows/:workflow_id/triggers/:trigger_id', editor('workflow')],
      deleteTrigger: ['DELETE', '/api/workflows/:workflow_id/triggers/:trigger_id', editor('workflow')],
      receiveServiceEvent: ['POST', '/api/triggers/in/:hook', anyone],
      answerServiceHandshake: ['GET', '/api/triggers/in/:hook', anyone],
    },
    {
      listTriggers: {
        summary: 'The triggers of a workflow, the newest first',
        extension: true,
        query: triggerList.query,
        answer: page(Trigger),
        run: listTriggers,
      },
      createTrigger: {
        summary: 'Start the workflow with what is new at a service',
        description:
          'A trigger of kind `polling` reads the service every `every_s` seconds while a version is active, with the rights of the person who activated it. The first poll starts nothing; from then on each new item starts one execution with `input.item`. A trigger of kind `webhook` is registered at the vendor while a version is active, and each event starts one execution; the registration is removed when the trigger or the workflow is deleted.',
        extension: true,
        body: NewTrigger,
        answer: Trigger,
        status: 201,
        location: ({ workflow_id, trigger_id }) => `/api/workflows/${workflow_id}/triggers/${trigger_id}`,
        alsoRefuses: [409],
        examples: { body: { service: 'rss', trigger: 'new_item', args: { url: 'https://example.com/feed.xml' } } },
        run: (ctx: Context, input: OfWorkflow & NewTriggerInput) => createTrigger(parts, ctx, input),
      },
      getTrigger: { summary: 'One trigger', extension: true, answer: Trigger, run: getTrigger },
      updateTrigger: {
        summary: 'Switch a trigger off or on',
        description:
          'A trigger that is off starts nothing. The registration of a webhook trigger is removed at the vendor, and made again when the trigger is switched on. Events and items from the time between start nothing.',
        extension: true,
        body: TriggerPatch,
        answer: Trigger,
        current: getTrigger,
        examples: { body: { enabled: false } },
        run: updateTrigger,
      },
      deleteTrigger: {
        summary: 'Delete a trigger',
        extension: true,
        status: 204,
        current: getTrigger,
        run: deleteTrigger,
      },
      receiveServiceEvent: {
        summary: 'The address to which a vendor sends the events of a trigger',
        ...called,
        bodyKind: 'any',
        idempotency: 'none',
        run: receive,
      },
      answerServiceHandshake: {
        summary: 'The address at which a vendor verifies the receiver of events',
        ...called,
        alsoRefuses: [405],
        run: receive,
      },
    },
  )
}
