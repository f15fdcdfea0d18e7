import { z } from 'zod'
import { editor, member, owner, sees, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page, reference } from '#platform/http/schema'
import type { BackfillParts } from './backfill.ts'
import { example } from './example.ts'
import { exportWorkflow, importWorkflow, type PortableParts } from './portable.ts'
import { scheduleRoutes } from './schedule-routes.ts'
import type { ScheduleParts } from './schedules.ts'
import {
  DeleteWorkflows,
  Exported,
  Imported,
  ImportRequest,
  NewWorkflow,
  Palette,
  Registry,
  Workflow,
  WorkflowMade,
  WorkflowPatch,
  WorkflowsDeleted,
  WorkflowUse,
  workflowQuery,
} from './schema.ts'
import type { Workflows } from './service.ts'
import { type TokenParts, tokenRoutes } from './token-routes.ts'
import { transferRoutes } from './transfer-routes.ts'
import { getWorkflowUse } from './use.ts'
import { versionRoutes } from './version-routes.ts'

export type WorkflowParts = TokenParts & {
  workflows: Workflows
  schedules: ScheduleParts & BackfillParts
  portable: PortableParts
  registry(): z.input<typeof Registry>
  palette(): z.input<typeof Palette>
}

export const workflowRoutes = (parts: WorkflowParts): AnyRoute[] => [
  ...definitionRoutes(parts),
  ...versionRoutes(parts.workflows),
  ...transferRoutes(),
  ...tokenRoutes(parts),
  ...scheduleRoutes(parts.schedules),
]

const definitionRoutes = ({ workflows, portable, registry, palette }: WorkflowParts): AnyRoute[] =>
  routes(
    'Workflows',
    {
      listWorkflows: ['GET', '/api/workflows', viewer('workspace')],
      createWorkflow: ['POST', '/api/workflows', member('workspace')],
      deleteWorkflows: ['POST', '/api/workflows/delete', viewer('workspace')],
      getRegistry: ['GET', '/api/workflows/registry', viewer('workspace')],
      getPalette: ['GET', '/api/workflows/palette', viewer('workspace')],
      getWorkflow: ['GET', '/api/workflows/:workflow_id', sees('workflow')],
      updateWorkflow: ['PATCH', '/api/workflows/:workflow_id', editor('workflow')],
      deleteWorkflow: ['DELETE', '/api/workflows/:workflow_id', owner('workflow')],
      pauseWorkflow: ['POST', '/api/workflows/:workflow_id/pause', editor('workflow')],
      resumeWorkflow: ['POST', '/api/workflows/:workflow_id/resume', editor('workflow')],
      exportWorkflow: ['GET', '/api/workflows/:workflow_id/export', viewer('workflow')],
      importWorkflow: ['POST', '/api/workflows/import', member('workspace')],
      getWorkflowUse: ['GET', '/api/workflows/:workflow_id/use', viewer('workflow')],
    },
    {
      listWorkflows: {
        summary: 'Workflows the caller owns or is a member of, the system ones first',
        description: '`?scope=workspace` lists all of the selected workspace.',
        query: workflowQuery,
        answer: page(Workflow),
        run: workflows.listWorkflows,
      },
      createWorkflow: {
        summary: 'Create a workflow; a definition becomes version 1, active',
        body: NewWorkflow,
        answer: WorkflowMade,
        besides: 'warnings',
        status: 201,
        location: ({ workflow_id }) => `/api/workflows/${workflow_id}`,
        examples: { body: example },
        run: workflows.createWorkflow,
      },
      getRegistry: {
        summary: 'Tools, capabilities and agents for the nodes of a workflow',
        answer: Registry,
        run: async () => registry(),
      },
      getPalette: { summary: 'The same, grouped for an editor', answer: Palette, run: async () => palette() },
      getWorkflow: { summary: 'One workflow', answer: Workflow, run: workflows.getWorkflow },
      updateWorkflow: {
        summary: 'Change name, description, settings; the owner also members',
        description:
          'Another `owner_id` only offers the workflow to that person, as `POST …/transfer` does: `owner_id` stays until they accept, and `pending_owner_id` names them.',
        body: WorkflowPatch,
        answer: Workflow,
        current: workflows.getWorkflow,
        run: workflows.updateWorkflow,
      },
      pauseWorkflow: {
        summary: 'Pause a workflow: no executions start, and new requests wait',
        description:
          'Active runs continue. Requests to start it (by a person, a webhook, a schedule, a job) are accepted, and their runs start at resume.',
        answer: Workflow,
        extension: true,
        run: workflows.pauseWorkflow,
      },
      resumeWorkflow: {
        summary: 'Resume a paused workflow: waiting executions start, as its settings allow',
        answer: Workflow,
        extension: true,
        run: workflows.resumeWorkflow,
      },
      deleteWorkflow: {
        summary: 'Delete a workflow',
        description: 'With live executions it is refused (409 `runs_live`) unless `?cancel_runs=true`.',
        query: z.strictObject({
          cancel_runs: z
            .enum(['true', 'false'])
            .default('false')
            .transform((text) => text === 'true'),
        }),
        status: 204,
        current: workflows.getWorkflow,
        run: workflows.deleteWorkflow,
      },
      deleteWorkflows: {
        summary: 'Delete several workflows',
        description:
          'Each is deleted as by `DELETE /api/workflows/{workflow_id}`, or refused as there; the answer says which.',
        body: DeleteWorkflows,
        answer: WorkflowsDeleted,
        extension: true,
        examples: { body: { workflow_ids: ['wf_01kf3v6h2he3wtpk1fw5c0wz9d'], cancel_runs: false } },
        run: workflows.deleteWorkflows,
      },
      exportWorkflow: {
        summary: 'A version as a document that names what it uses',
        description:
          'Credentials, connections, datasets, channels, sub-workflows, people and teams are named instead of referenced by id, so that another workspace can bind the names to its own. The default is the active version.',
        query: z.strictObject({ version_id: reference('wfv').optional() }),
        answer: Exported,
        extension: true,
        run: (ctx: Context, input: { workflow_id: string; version_id?: string | undefined }) =>
          exportWorkflow(portable, ctx, input),
      },
      importWorkflow: {
        summary: 'Create a workflow, or a version of one, from an exported document',
        description:
          'Names are bound to what the caller may use in this workspace. If a name is missing or ambiguous, it is listed in `errors` (422 `unknown_reference`) and nothing is created. A definition that the workflow already has creates no new version.',
        body: ImportRequest,
        answer: Imported,
        extension: true,
        alsoRefuses: [412],
        examples: { body: { document: { heddle: 'workflow/1', ...example } } },
        run: (ctx: Context, input: ImportRequest) => importWorkflow(portable, ctx, input),
      },
      getWorkflowUse: {
        summary: 'Where a workflow is used: by workflows, jobs, assistants and suites',
        description: 'At most 200 of each kind, and only those that the caller may see.',
        answer: WorkflowUse,
        extension: true,
        run: getWorkflowUse,
      },
    },
  )
