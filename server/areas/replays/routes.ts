import { member, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { NewReplay, Replay, ReplayReport, replayList, reportQuery } from './schema.ts'
import {
  cancelReplay,
  createReplay,
  getReplay,
  listReplays,
  type ReplayDependencies,
  requireVersion,
} from './service.ts'

export const replayRoutes = (deps: ReplayDependencies): AnyRoute[] =>
  routes(
    'Replays',
    {
      createReplay: ['POST', '/api/workflows/:workflow_id/versions/:version_id/replay', member('workflow'), 'run'],
      listReplays: ['GET', '/api/workflows/:workflow_id/replays', viewer('workflow')],
      getReplay: ['GET', '/api/replays/:replay_id', viewer('replay')],
      cancelReplay: ['POST', '/api/replays/:replay_id/cancel', member('replay'), 'run'],
    },
    {
      createReplay: {
        summary: 'Replay past runs of a workflow with a version',
        description:
          'Nothing is sent. Effects get the output that the past run recorded for the same node and arguments; otherwise they are mocked and reported. Answers of people are used if the question is the same.',
        body: NewReplay,
        answer: Replay,
        status: 202,
        location: ({ replay_id }) => `/api/replays/${replay_id}`,
        extension: true,
        allowed: requireVersion,
        examples: { body: { filter: { status: ['succeeded'] }, limit: 1000 } },
        run: (ctx: Context, input: Parameters<typeof createReplay>[2]) => createReplay(deps, ctx, input),
      },
      listReplays: {
        summary: 'Replays of a workflow, newest first',
        query: replayList.query,
        answer: page(Replay),
        extension: true,
        run: listReplays,
      },
      getReplay: {
        summary: 'A replay with its totals, run by run',
        query: reportQuery,
        answer: ReplayReport,
        extension: true,
        run: getReplay,
      },
      cancelReplay: {
        summary: 'Cancel a replay; what it has found is kept',
        answer: Replay,
        extension: true,
        run: cancelReplay,
      },
    },
  )
