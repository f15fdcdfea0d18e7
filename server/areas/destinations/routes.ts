import { member, owner, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import {
  type NewDestination as Created,
  CreatedDestination,
  Delivery,
  Destination,
  DestinationPatch,
  DestinationTest,
  deliveryList,
  destinationList,
  NewDestination,
  type DestinationPatch as Patch,
  RotatedSecret,
} from './schema.ts'
import {
  type ById,
  createDestination,
  type DestinationParts,
  deleteDestination,
  getDestination,
  listDeliveries,
  listDestinations,
  redeliverEvent,
  requireDelivery,
  rotateDestinationSecret,
  updateDestination,
} from './service.ts'
import { type TestParts, testDestination } from './test-call.ts'

export const destinationRoutes = (parts: DestinationParts & TestParts): AnyRoute[] =>
  routes(
    'Event destinations',
    {
      listDestinations: ['GET', '/api/event-destinations', viewer('workspace')],
      createDestination: ['POST', '/api/event-destinations', member('workspace')],
      getDestination: ['GET', '/api/event-destinations/:destination_id', viewer('owned_destination')],
      updateDestination: ['PATCH', '/api/event-destinations/:destination_id', owner('owned_destination')],
      deleteDestination: ['DELETE', '/api/event-destinations/:destination_id', owner('owned_destination')],
      rotateDestinationSecret: ['POST', '/api/event-destinations/:destination_id/rotate-secret', owner('destination')],
      testDestination: ['POST', '/api/event-destinations/:destination_id/test', owner('destination'), 'run'],
      listDeliveries: ['GET', '/api/event-destinations/:destination_id/deliveries', viewer('destination')],
      redeliverEvent: [
        'POST',
        '/api/event-destinations/:destination_id/deliveries/:delivery_id/redeliver',
        owner('destination'),
        'run',
      ],
    },
    {
      listDestinations: {
        summary: 'Your event destinations, and for owners of the workspace all of them',
        extension: true,
        query: destinationList.query,
        answer: page(Destination),
        run: listDestinations,
      },
      createDestination: {
        summary: 'Send events to an address',
        description:
          'Each event is sent as a POST request, signed according to Standard Webhooks, at least once and in order for each execution. Failed deliveries are tried again for three days. The destination receives only events that you may see; `audit.*` is for owners of the workspace. The secret is only in this response.',
        extension: true,
        body: NewDestination,
        answer: CreatedDestination,
        status: 201,
        location: ({ destination_id }) => `/api/event-destinations/${destination_id}`,
        examples: { body: { url: 'https://example.com/heddle', event_types: ['execution.failed', 'approval.*'] } },
        run: (ctx: Context, input: Created) => createDestination(parts, ctx, input),
      },
      getDestination: { summary: 'One event destination', extension: true, answer: Destination, run: getDestination },
      updateDestination: {
        summary: 'Change an event destination, or switch it off or on',
        description:
          'Anyone who changes the destination becomes its owner: it then receives only events that this person may see. Events that waited while it was off are sent when it is switched on.',
        extension: true,
        body: DestinationPatch,
        answer: Destination,
        current: getDestination,
        examples: { body: { enabled: false } },
        run: (ctx: Context, input: ById & Patch) => updateDestination(parts, ctx, input),
      },
      deleteDestination: {
        summary: 'Delete an event destination, with its deliveries',
        extension: true,
        status: 204,
        current: getDestination,
        run: deleteDestination,
      },
      rotateDestinationSecret: {
        summary: 'Create a new signing secret; deliveries are also signed with the previous secret for a day',
        extension: true,
        answer: RotatedSecret,
        run: (ctx: Context, input: ById) => rotateDestinationSecret(parts, ctx, input),
      },
      testDestination: {
        summary: 'Send a test event now',
        description: 'The response is 200 whether the receiver accepts the event or not.',
        extension: true,
        answer: DestinationTest,
        transaction: false,
        run: (ctx: Context, input: ById) => testDestination(parts, ctx, input),
      },
      listDeliveries: {
        summary: 'The deliveries of an event destination, newest first',
        description: 'Kept for seven days after their end.',
        extension: true,
        query: deliveryList.query,
        answer: page(Delivery),
        run: listDeliveries,
      },
      redeliverEvent: {
        summary: 'Send an event again, with the same id',
        extension: true,
        answer: Delivery,
        status: 202,
        allowed: requireDelivery,
        run: redeliverEvent,
      },
    },
  )
