import { viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { NewSavedViews, SavedViews } from './schema.ts'
import { getSavedViews, setSavedViews } from './service.ts'

export const viewRoutes = (): AnyRoute[] =>
  routes(
    'Workspaces',
    {
      getSavedViews: ['GET', '/api/views', viewer('workspace')],
      setSavedViews: ['PUT', '/api/views', viewer('workspace')],
    },
    {
      getSavedViews: {
        summary: 'Filters of lists that the caller has named in this workspace',
        description: 'The console shows them above the list. Each person has their own.',
        answer: SavedViews,
        extension: true,
        run: getSavedViews,
      },
      setSavedViews: {
        summary: 'Name filters of lists, for oneself in this workspace',
        body: NewSavedViews,
        answer: SavedViews,
        extension: true,
        current: getSavedViews,
        examples: { body: { views: [{ list: 'runs', name: 'Broken', filters: { status: 'failed,timed_out' } }] } },
        run: setSavedViews,
      },
    },
  )
