import { owner, signedIn, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { Colleague, colleagueList, ListedPresence, Presence, presenceList, RecordPresence } from './schema.ts'
import * as presence from './service.ts'

export const presenceRoutes = (): AnyRoute[] =>
  routes(
    'Presence',
    {
      listPresence: ['GET', '/api/presence', signedIn],
      recordPresence: ['POST', '/api/presence', signedIn],
      getPresence: ['GET', '/api/presence/:presence_id', owner('presence')],
      deletePresence: ['DELETE', '/api/presence/:presence_id', owner('presence')],
      listColleagues: ['GET', '/api/workspaces/:workspace_id/presence', viewer('workspace')],
    },
    {
      listPresence: {
        summary: "The caller's own presence, one entry for each workspace (operators: all)",
        query: presenceList.query,
        answer: page(ListedPresence),
        run: presence.listPresence,
      },
      recordPresence: {
        summary: "Record the caller's presence in the selected workspace; it is valid for 60 seconds",
        body: RecordPresence,
        answer: Presence,
        status: 201,
        alsoStatus: [200],
        location: ({ presence_id }) => `/api/presence/${presence_id}`,
        examples: { body: { status: 'busy', context: { page: 'inbox' } } },
        allowed: async (ctx) => ctx.workspace,
        run: presence.recordPresence,
      },
      getPresence: { summary: "One of the caller's own", answer: Presence, run: presence.getPresence },
      deletePresence: {
        summary: "Delete one of the caller's own",
        status: 204,
        current: presence.getPresence,
        run: presence.deletePresence,
      },
      listColleagues: {
        summary: 'The recorded presence of the people in the workspace',
        query: colleagueList.query,
        answer: page(Colleague),
        extension: true,
        run: presence.listColleagues,
      },
    },
  )
