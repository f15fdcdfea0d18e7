import { z } from 'zod'
import { editor, member, owner, sees, viewer } from '#platform/access/words'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page, reference } from '#platform/http/schema'
import type { Vault } from '#platform/secrets'
import { type BackfillParts, backfillSchedule, findBackfilled } from './backfill.ts'
import { exportWorkflow, importWorkflow, type PortableParts } from './portable.ts'
import {
  Backfill,
  Backfilled,
  NewSchedule,
  Schedule,
  SchedulePatch,
  SchedulePut,
  scheduleList,
  WorkflowSchedule,
} from './schedule-schema.ts'
import * as schedules from './schedules.ts'
import {
  DeleteWorkflows,
  EmbedToken,
  EmbedTokenMade,
  EmbedTokenPatch,
  Exported,
  Imported,
  ImportRequest,
  NewEmbedToken,
  NewTransfer,
  NewVersion,
  NewWorkflow,
  Palette,
  Registry,
  Transfer,
  tokenList,
  transferList,
  Version,
  VersionDiff,
  VersionMade,
  versionList,
  Workflow,
  WorkflowMade,
  WorkflowPatch,
  WorkflowsDeleted,
  WorkflowUse,
  workflowQuery,
} from './schema.ts'
import type { Workflows } from './service.ts'
import type { makeEmbedTokens } from './tokens.ts'
import * as transfers from './transfers.ts'
import { getWorkflowUse } from './use.ts'
import {
  type NewWebhookToken as NewToken,
  NewWebhookToken,
  type WebhookTokenPatch as TokenPatch,
  WebhookToken,
  WebhookTokenMade,
  WebhookTokenPatch,
} from './webhook-token-schema.ts'
import * as webhookTokens from './webhook-tokens.ts'

export type WorkflowParts = {
  vault: Vault
  workflows: Workflows
  schedules: schedules.ScheduleParts & BackfillParts
  embedTokens: ReturnType<typeof makeEmbedTokens<{ workflow_id: string }>>
  portable: PortableParts
  registry(): z.input<typeof Registry>
  palette(): z.input<typeof Palette>
}

/** What a verb takes besides its parts and the context. */
type Body<Verb extends (parts: never, ctx: Context, input: never) => unknown> = Parameters<Verb>[2]

const example = {
  name: 'Greet',
  definition: {
    inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    nodes: [{ id: 'greet', type: 'set', args: { values: { text: { $cel: '"Hello " + input.name' } } } }],
    edges: [],
    output: { $cel: 'nodes.greet.output.text' },
  },
}

export const workflowRoutes = ({
  vault,
  workflows,
  schedules: scheduling,
  embedTokens,
  portable,
  registry,
  palette,
}: WorkflowParts): AnyRoute[] =>
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
      listVersions: ['GET', '/api/workflows/:workflow_id/versions', viewer('workflow')],
      createVersion: ['POST', '/api/workflows/:workflow_id/versions', editor('workflow')],
      getVersion: ['GET', '/api/workflows/:workflow_id/versions/:version_id', viewer('workflow')],
      activateVersion: ['POST', '/api/workflows/:workflow_id/versions/:version_id/activate', editor('workflow')],
      diffVersions: ['GET', '/api/workflows/:workflow_id/versions/:version_a/diff/:version_b', viewer('workflow')],
      exportWorkflow: ['GET', '/api/workflows/:workflow_id/export', viewer('workflow')],
      importWorkflow: ['POST', '/api/workflows/import', member('workspace')],
      getWorkflowUse: ['GET', '/api/workflows/:workflow_id/use', viewer('workflow')],
      listTransfers: ['GET', '/api/workflow-transfers', viewer('workspace')],
      offerWorkflow: ['POST', '/api/workflows/:workflow_id/transfer', owner('workflow')],
      getTransfer: ['GET', '/api/workflows/:workflow_id/transfer', sees('workflow')],
      withdrawTransfer: ['DELETE', '/api/workflows/:workflow_id/transfer', owner('workflow')],
      acceptTransfer: ['POST', '/api/workflows/:workflow_id/transfer/accept', sees('workflow')],
      declineTransfer: ['POST', '/api/workflows/:workflow_id/transfer/decline', sees('workflow')],
      listWebhookTokens: ['GET', '/api/workflows/:workflow_id/tokens', member('workflow')],
      createWebhookToken: ['POST', '/api/workflows/:workflow_id/tokens', owner('workflow')],
      getWebhookToken: ['GET', '/api/workflows/:workflow_id/tokens/:token_id', member('workflow')],
      updateWebhookToken: ['PATCH', '/api/workflows/:workflow_id/tokens/:token_id', owner('workflow')],
      deleteWebhookToken: ['DELETE', '/api/workflows/:workflow_id/tokens/:token_id', owner('workflow')],
      listEmbedTokens: ['GET', '/api/workflows/:workflow_id/embed-tokens', member('workflow')],
      createEmbedToken: ['POST', '/api/workflows/:workflow_id/embed-tokens', owner('workflow')],
      getEmbedToken: ['GET', '/api/workflows/:workflow_id/embed-tokens/:token_id', member('workflow')],
      updateEmbedToken: ['PATCH', '/api/workflows/:workflow_id/embed-tokens/:token_id', owner('workflow')],
      deleteEmbedToken: ['DELETE', '/api/workflows/:workflow_id/embed-tokens/:token_id', owner('workflow')],
      getSchedule: ['GET', '/api/workflows/:workflow_id/schedule', viewer('workflow')],
      putSchedule: ['PUT', '/api/workflows/:workflow_id/schedule', owner('workflow')],
      deleteSchedule: ['DELETE', '/api/workflows/:workflow_id/schedule', owner('workflow')],
      listSchedules: ['GET', '/api/workflows/:workflow_id/schedules', viewer('workflow')],
      createSchedule: ['POST', '/api/workflows/:workflow_id/schedules', owner('workflow')],
      getOneSchedule: ['GET', '/api/workflows/:workflow_id/schedules/:schedule_id', viewer('workflow')],
      updateSchedule: ['PATCH', '/api/workflows/:workflow_id/schedules/:schedule_id', owner('workflow')],
      removeSchedule: ['DELETE', '/api/workflows/:workflow_id/schedules/:schedule_id', owner('workflow')],
      backfillSchedule: ['POST', '/api/workflows/:workflow_id/schedules/:schedule_id/backfill', owner('workflow')],
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
        summary: 'Pause a workflow: nothing of it begins, and what is asked for waits',
        description:
          'Runs that have begun go on. Whatever starts it (a person, a webhook, a schedule, a job) is accepted, and runs at resume.',
        answer: Workflow,
        extension: true,
        run: workflows.pauseWorkflow,
      },
      resumeWorkflow: {
        summary: 'Let a paused workflow go on: what waits begins, as its settings allow',
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
      listVersions: {
        summary: 'Versions, newest first',
        query: versionList.query,
        answer: page(Version),
        run: workflows.listVersions,
      },
      createVersion: {
        summary: 'Create a version; the first is active at once, a later one with `activate`',
        body: NewVersion,
        answer: VersionMade,
        status: 201,
        location: ({ version_id }, path) => `${path}/${version_id}`,
        examples: { body: { definition: example.definition, note: 'First draft', activate: true } },
        run: workflows.createVersion,
      },
      getVersion: { summary: 'One version', extension: true, answer: Version, run: workflows.getVersion },
      activateVersion: {
        summary: 'Make this version the active one',
        answer: Version,
        allowed: workflows.getVersion,
        run: workflows.activateVersion,
      },
      diffVersions: {
        summary: 'What changed between two versions',
        answer: VersionDiff,
        extension: true,
        run: workflows.diffVersions,
      },
      exportWorkflow: {
        summary: 'A version as a document that names what it uses',
        description:
          'Credentials, connections, datasets, channels, sub-workflows, people and teams stand in it by name, so that another workspace can bind them to its own. The active version unless `version_id` names another.',
        query: z.strictObject({ version_id: reference('wfv').optional() }),
        answer: Exported,
        extension: true,
        run: (ctx: Context, input: { workflow_id: string; version_id?: string | undefined }) =>
          exportWorkflow(portable, ctx, input),
      },
      importWorkflow: {
        summary: 'Create a workflow, or a version of one, from an exported document',
        description:
          'Names are bound to what the caller may use here. What is missing or ambiguous is listed in `errors` (422 `unknown_reference`), and nothing is created then. A definition that stands there already makes no new version.',
        body: ImportRequest,
        answer: Imported,
        extension: true,
        alsoRefuses: [412],
        examples: { body: { document: { heddle: 'workflow/1', ...example } } },
        run: (ctx: Context, input: ImportRequest) => importWorkflow(portable, ctx, input),
      },
      getWorkflowUse: {
        summary: 'Where a workflow is used: by workflows, jobs, assistants and suites',
        description: 'At most 200 of each kind, and only what the caller may know of.',
        answer: WorkflowUse,
        extension: true,
        run: getWorkflowUse,
      },
      listTransfers: {
        summary: 'Workflows that are offered to the caller',
        query: transferList.query,
        answer: page(Transfer),
        extension: true,
        run: transfers.listTransfers,
      },
      offerWorkflow: {
        summary: 'Offer the workflow to somebody; they own it once they accept',
        description:
          'They find it in `GET /api/workflow-transfers` and among their notifications. One offer at a time (409 `conflict`); the same one again answers 200.',
        body: NewTransfer,
        answer: Transfer,
        status: 201,
        alsoStatus: [200],
        location: (_transfer, path) => path,
        extension: true,
        run: transfers.offerWorkflow,
      },
      getTransfer: {
        summary: 'The offer, for its sender and its receiver',
        answer: Transfer,
        extension: true,
        run: transfers.getTransfer,
      },
      withdrawTransfer: {
        summary: 'Take the offer back',
        status: 204,
        extension: true,
        current: transfers.getTransfer,
        run: transfers.withdrawTransfer,
      },
      acceptTransfer: {
        summary: 'Become the owner of a workflow that one was offered',
        description:
          'It is refused with 409 `activation_required` until the new owner, or an editor, has activated a version: then it runs with their rights.',
        answer: Transfer,
        extension: true,
        allowed: transfers.getOffer,
        run: transfers.acceptTransfer,
      },
      declineTransfer: {
        summary: 'Decline a workflow that one was offered',
        answer: Transfer,
        extension: true,
        allowed: transfers.getOffer,
        run: transfers.declineTransfer,
      },
      listWebhookTokens: {
        summary: 'Webhook tokens, without their secrets',
        query: tokenList.query,
        answer: page(WebhookToken),
        run: webhookTokens.listWebhookTokens,
      },
      createWebhookToken: {
        summary: 'Create a webhook token; `token` is shown this once',
        description:
          'A `bearer` token starts the workflow at `/api/webhooks/workflow/{workflow_id}/trigger`. With another `auth` it is called at `/api/webhooks/in/{token_or_id}`: `url` has its secret there, `basic` and `hmac` their id, and the caller proves itself by a password or a signature.',
        body: NewWebhookToken,
        answer: WebhookTokenMade,
        status: 201,
        location: ({ token_id }, path) => `${path}/${token_id}`,
        examples: { body: { name: 'GitHub', auth: { kind: 'hmac', preset: 'github' } } },
        run: (ctx: Context, input: webhookTokens.OfWorkflow & NewToken) =>
          webhookTokens.createWebhookToken({ vault }, ctx, input),
      },
      getWebhookToken: {
        summary: 'One webhook token, without its secret',
        extension: true,
        answer: WebhookToken,
        run: webhookTokens.getWebhookToken,
      },
      updateWebhookToken: {
        summary: 'Rename, enable or disable a webhook token; change its secret or how it is called',
        body: WebhookTokenPatch,
        answer: WebhookToken,
        current: webhookTokens.getWebhookToken,
        run: (ctx: Context, input: webhookTokens.OneToken & TokenPatch) =>
          webhookTokens.updateWebhookToken({ vault }, ctx, input),
      },
      deleteWebhookToken: {
        summary: 'Delete a webhook token',
        status: 204,
        current: webhookTokens.getWebhookToken,
        run: webhookTokens.deleteWebhookToken,
      },
      listEmbedTokens: {
        summary: 'Embed tokens, without their secrets',
        query: tokenList.query,
        answer: page(EmbedToken),
        run: embedTokens.listEmbedTokens,
      },
      createEmbedToken: {
        summary: 'Create an embed token for a widget on another site; `token` is shown this once',
        body: NewEmbedToken,
        answer: EmbedTokenMade,
        status: 201,
        location: ({ token_id }, path) => `${path}/${token_id}`,
        run: embedTokens.createEmbedToken,
      },
      getEmbedToken: {
        summary: 'One embed token, without its secret',
        extension: true,
        answer: EmbedToken,
        run: embedTokens.getEmbedToken,
      },
      updateEmbedToken: {
        summary: 'Change name, origins or state of an embed token',
        body: EmbedTokenPatch,
        answer: EmbedToken,
        current: embedTokens.getEmbedToken,
        run: embedTokens.updateEmbedToken,
      },
      deleteEmbedToken: {
        summary: 'Delete an embed token',
        status: 204,
        current: embedTokens.getEmbedToken,
        run: embedTokens.deleteEmbedToken,
      },
      getSchedule: {
        summary: 'When the workflow starts by itself',
        answer: Schedule,
        extension: true,
        run: schedules.getSchedule,
      },
      putSchedule: {
        summary: 'Set the schedule: cron of five fields in a time zone',
        description:
          'A time missed while the service was down is made up for once. In the hour that daylight saving skips, it fires at the first minute that exists.',
        body: SchedulePut,
        answer: Schedule,
        extension: true,
        examples: { body: { cron: '0 9 * * 1-5', timezone: 'Europe/Amsterdam', input: {} } },
        current: schedules.presentSchedule,
        run: (ctx: Context, input: Body<typeof schedules.putSchedule>) => schedules.putSchedule(scheduling, ctx, input),
      },
      deleteSchedule: {
        summary: 'Remove the schedule',
        status: 204,
        extension: true,
        current: schedules.getSchedule,
        run: schedules.deleteFirstSchedule,
      },
      listSchedules: {
        summary: 'The schedules of a workflow, the oldest first',
        query: scheduleList.query,
        answer: page(WorkflowSchedule),
        extension: true,
        run: schedules.listSchedules,
      },
      createSchedule: {
        summary: 'Add a schedule: a cron pattern, an interval or one moment',
        body: NewSchedule,
        answer: WorkflowSchedule,
        status: 201,
        location: ({ schedule_id }, path) => `${path}/${schedule_id}`,
        extension: true,
        examples: { body: { cron: '0 9 * * 1-5', timezone: 'Europe/Amsterdam', overlap: 'skip', catch_up: 'none' } },
        run: (ctx: Context, input: Body<typeof schedules.createSchedule>) =>
          schedules.createSchedule(scheduling, ctx, input),
      },
      getOneSchedule: {
        summary: 'One schedule, with its next five times',
        answer: WorkflowSchedule,
        extension: true,
        run: schedules.getOneSchedule,
      },
      updateSchedule: {
        summary: 'Change a schedule; its next time is computed anew from now',
        body: SchedulePatch,
        answer: WorkflowSchedule,
        extension: true,
        current: schedules.getOneSchedule,
        run: (ctx: Context, input: Body<typeof schedules.updateSchedule>) =>
          schedules.updateSchedule(scheduling, ctx, input),
      },
      removeSchedule: {
        summary: 'Delete a schedule',
        status: 204,
        extension: true,
        current: schedules.getOneSchedule,
        run: schedules.removeSchedule,
      },
      backfillSchedule: {
        summary: 'Run a schedule for times that have passed, at most 500',
        description:
          'Each run has `scheduled_at`, the time it runs for. A time that was asked for within the last day is not run again. ' +
          '`overlap` and `catch_up` do not concern these runs; the settings of the workflow do.',
        body: Backfill,
        answer: Backfilled,
        status: 202,
        transaction: false,
        idempotency: 'own',
        extension: true,
        examples: { body: { from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z' } },
        allowed: findBackfilled,
        run: (ctx: Context, input: Body<typeof backfillSchedule>) => backfillSchedule(scheduling, ctx, input),
      },
    },
  )
