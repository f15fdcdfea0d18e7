import { waitQuery } from '#areas/executions/schema'
import { editor, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { Trial, Tried, TryBody } from './schema.ts'
import { getTrial, type TrialDependencies, type TryInput, tryWorkflow } from './service.ts'

const example = {
  definition: {
    nodes: [
      { id: 'order', type: 'http.request', args: { url: 'https://shop.example/orders/7' } },
      { id: 'total', type: 'set', args: { values: { sum: { $cel: 'nodes.order.output.body.lines.sum()' } } } },
    ],
    edges: [{ from: { node: 'order' }, to: 'total' }],
    output: { $cel: 'nodes.total.output.sum' },
  },
  input: {},
  pinned: { order: { status: 200, headers: {}, body: { lines: [3, 4] } } },
  effects: 'mock',
}

export const trialRoutes = (deps: TrialDependencies): AnyRoute[] =>
  routes(
    'Workflows',
    {
      tryWorkflow: ['POST', '/api/workflows/:workflow_id/try', editor('workflow')],
      getTrial: ['GET', '/api/workflows/executions/:execution_id/trial', viewer('execution')],
    },
    {
      tryWorkflow: {
        summary: 'Try a draft: the whole, up to a node, or one node',
        description:
          'Makes no version. `plan` says which nodes act, which give pinned and which mocked answers; with `dry_run` it is all that happens. The run acts for the caller and is marked `trial`: it is in no list by default, in no statistics, bills, quotas or event destinations.',
        query: waitQuery,
        body: TryBody,
        answer: Tried,
        status: 202,
        alsoStatus: [200],
        transaction: false,
        idempotency: 'own',
        extension: true,
        examples: { body: example },
        run: (ctx: Context, input: TryInput, exchange) => tryWorkflow(deps, ctx, input, exchange),
      },
      getTrial: {
        summary: 'What was tried: the draft, and which nodes acted',
        answer: Trial,
        extension: true,
        run: getTrial,
      },
    },
  )
