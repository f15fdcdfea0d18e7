import type { NodeKind } from '#engine/node'
import type { Database } from '#platform/db/pool'

type Figures = {
  members: number
  workflows: number
  started: number
  succeeded: number
  failed: number
  cancelled: number
  waiting: number
}

/** `workspace.usage`: figures about the workspace of the execution, and no other. */
export const makeUsageNode = (db: Database): NodeKind => ({
  descriptor: {
    type: 'workspace.usage',
    kind: 'tool',
    group: 'data',
    title: 'Workspace usage',
    description: 'Counts people, workflows and runs of this workspace over the last days.',
    icon: 'chart',
    colour: '#0f766e',
    keywords: ['statistics', 'report', 'count', 'usage'],
    args_schema: {
      type: 'object',
      properties: {
        days: {
          type: 'integer',
          title: 'Days',
          description: 'The number of past days to count',
          minimum: 1,
          maximum: 366,
          default: 30,
        },
        include_jobs: {
          type: 'boolean',
          title: 'Include jobs',
          description: 'Also count the runs that jobs start for their records',
          default: false,
        },
      },
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        days: { type: 'integer' },
        members: { type: 'integer' },
        workflows: { type: 'integer' },
        executions: { type: 'object', additionalProperties: { type: 'integer' } },
      },
    },
    ports: ['out'],
    effect: 'pure',
    defaults: { days: 30 },
  },
  async run({ workspaceId, args }) {
    const days = typeof args.days === 'number' ? args.days : 30
    const figures = await db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.row<Figures>(
        `select (select count(*) from memberships where workspace_id = $1) as members,
           (select count(*) from workflows where workspace_id = $1 and deleted_at is null) as workflows,
           count(*) as started, count(*) filter (where status = 'succeeded') as succeeded,
           count(*) filter (where status in ('failed', 'timed_out')) as failed, count(*) filter (where status = 'cancelled') as cancelled,
           count(*) filter (where status = 'waiting') as waiting
         from executions where workspace_id = $1 and created_at > now() - make_interval(days => $2)
           and trigger_kind <> 'trial' and (trigger_kind <> 'job' or $3)`,
        [workspaceId, days, args.include_jobs === true],
      ),
    )
    const { members, workflows, ...executions } = figures
    const finished = executions.succeeded + executions.failed + executions.cancelled
    return { output: { days, members, workflows, executions: { ...executions, finished } } }
  },
})
