import { member, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { getBulk, startBulk } from './bulk.ts'
import { Bulk, NewBulk } from './bulk-schema.ts'

export const bulkRoutes = (): AnyRoute[] =>
  routes(
    'Executions',
    {
      startBulk: ['POST', '/api/executions/bulk', member('workspace')],
      getBulk: ['GET', '/api/executions/bulk/:bulk_id', viewer('workspace')],
    },
    {
      startBulk: {
        summary: 'Cancel or retry all executions that a filter finds',
        description:
          'Answers at once; the work goes on in portions and survives a restart. Only executions of workflows that the caller may run are concerned, ' +
          'and only those that were there when it was asked for.',
        body: NewBulk,
        answer: Bulk,
        status: 202,
        location: ({ bulk_id }, path) => `${path}/${bulk_id}`,
        extension: true,
        examples: {
          body: {
            action: 'retry',
            filter: { error_code: 'http_status', from: '2026-01-31T00:00:00Z' },
            from: 'failed',
          },
        },
        run: startBulk,
      },
      getBulk: {
        summary: 'How far a cancellation or retry of many executions has come',
        answer: Bulk,
        extension: true,
        run: getBulk,
      },
    },
  )
