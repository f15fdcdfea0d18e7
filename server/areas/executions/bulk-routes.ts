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
          'Responds at once; the work continues in batches and survives a restart. It includes only executions of workflows that the caller may run, ' +
          'and only those that existed at the time of the request.',
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
        summary: 'The progress of a bulk cancellation or retry',
        answer: Bulk,
        extension: true,
        run: getBulk,
      },
    },
  )
