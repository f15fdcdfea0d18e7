import { editor, member } from '#platform/access/words'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { NewTrigger, type NewTrigger as NewTriggerInput, Trigger, triggerList } from './schema.ts'
import { createTrigger, deleteTrigger, getTrigger, listTriggers, type TriggerParts } from './service.ts'

type OfWorkflow = { workflow_id: string }

export const triggerRoutes = (parts: TriggerParts): AnyRoute[] =>
  routes(
    'Workflows',
    {
      listTriggers: ['GET', '/api/workflows/:workflow_id/triggers', member('workflow')],
      createTrigger: ['POST', '/api/workflows/:workflow_id/triggers', editor('workflow')],
      getTrigger: ['GET', '/api/workflows/:workflow_id/triggers/:trigger_id', member('workflow')],
      deleteTrigger: ['DELETE', '/api/workflows/:workflow_id/triggers/:trigger_id', editor('workflow')],
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
        summary: 'Start the workflow with what a service lists anew',
        description:
          'Looks every `every_s` seconds while a version is active, with the credential of the person who activated it. The first look starts nothing; from then on each new item starts one execution with `input.item`.',
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
      deleteTrigger: {
        summary: 'Delete a trigger',
        extension: true,
        status: 204,
        current: getTrigger,
        run: deleteTrigger,
      },
    },
  )
