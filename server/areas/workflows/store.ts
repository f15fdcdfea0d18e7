import { sharesColumn } from '#areas/teams/shares'
import { hintFlow } from '#engine/flow/decider'
import type { FlowSettings } from '#engine/flow/rules'
import { nudge } from '#engine/nudges'
import type { Json } from '#model/definition'
import { TOKENS_CHANGED } from '#platform/auth/tokens'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { ActivationRule } from './activation.ts'
import { type Version, versionList, type Workflow, workflowList, type workflowStates } from './schema.ts'

export type WorkflowSettings = Omit<FlowSettings, 'paused_at'> & {
  timeout_s?: number
  retention_days?: number
  error_workflow_id?: string
  finally_grace_s?: number
  on_event?: string[]
  activation?: ActivationRule
}

export type SettingsPatch = { [name in keyof WorkflowSettings]?: WorkflowSettings[name] | null | undefined }

const columns = `w.workflow_id, 'user' as kind, w.name, w.description, w.owner_id, w.tags, w.settings - 'paused_at' as settings,
  (w.settings ->> 'paused_at')::timestamptz as paused_at, w.created_at, w.updated_at,
  coalesce((select json_agg(json_build_object('user_id', m.user_id, 'role', m.role) order by m.user_id) from workflow_members m
    where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id), '[]') as members,
  ${sharesColumn('w', 'workflow_id')},
  case when w.owner_id = app_user() then 'owner' else (select min(p.role) from workflow_people p
    where p.workspace_id = w.workspace_id and p.workflow_id = w.workflow_id and p.user_id = app_user()) end as role,
  (select v.version_id from workflow_versions v where v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active) as active_version_id,
  w.activation_required, (select t.to_user from workflow_transfers t
    where t.workspace_id = w.workspace_id and t.workflow_id = w.workflow_id) as pending_owner_id`

export const findWorkflow = (tx: Tx, workspaceId: string, workflowId: string): Promise<Workflow | undefined> =>
  tx.maybe<Workflow>(
    `select ${columns} from workflows w where w.workspace_id = $1 and w.workflow_id = $2 and w.deleted_at is null`,
    [workspaceId, workflowId],
  )

export type Rights = { owner_id: string; role: 'editor' | 'member' | 'viewer' | null }

export const findRights = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  userId: string,
): Promise<Rights | undefined> =>
  tx.maybe<Rights>(
    `select w.owner_id, (select min(m.role) from workflow_people m
       where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = $3) as role from workflows w
     where w.workspace_id = $1 and w.workflow_id = $2 and w.deleted_at is null`,
    [workspaceId, workflowId, userId],
  )

export type Only = { tag?: string | undefined; state?: (typeof workflowStates)[number] | undefined }

/** Lists the workflows that the person owns or is a member of, or all of the workspace if `userId` is null. */
export const listWorkflows = (tx: Tx, workspaceId: string, userId: string | null, asked: ListInput, only: Only = {}) =>
  readList<Workflow>(tx, workflowList, asked, {
    sql: `select ${columns} from workflows w
      where w.workspace_id = $1 and w.deleted_at is null
        and ($2::uuid is null or w.owner_id = $2 or exists (select from workflow_people m
          where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = $2))
        and ($3::text is null or $3 = any (w.tags))
        and ($4::text is null or $4 = case when not exists (select from workflow_versions v
            where v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active) then 'draft'
          when w.settings ? 'paused_at' then 'paused' else 'live' end)`,
    values: [workspaceId, userId, only.tag ?? null, only.state ?? null],
  })

export const insertWorkflow = (
  tx: Tx,
  workspaceId: string,
  workflow: {
    workflow_id: string
    owner_id: string
    name: string
    description: string | null
    tags: string[]
    settings: WorkflowSettings
  },
): Promise<number> =>
  tx.count(
    'insert into workflows (workspace_id, workflow_id, owner_id, name, description, tags, settings) values ($1, $2, $3, $4, $5, $6, $7)',
    [
      workspaceId,
      workflow.workflow_id,
      workflow.owner_id,
      workflow.name,
      workflow.description,
      workflow.tags,
      workflow.settings,
    ],
  )

export const updateWorkflow = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  patch: {
    name?: string | undefined
    description?: string | null | undefined
    tags?: string[] | null | undefined
    settings?: SettingsPatch | null | undefined
  },
): Promise<number> =>
  tx.count(
    `update workflows set name = coalesce($3, name), description = case when $4::boolean then $5 else description end,
       settings = case when $6::boolean then coalesce(jsonb_strip_nulls(settings || $7::jsonb),
         jsonb_strip_nulls(jsonb_build_object('paused_at', settings -> 'paused_at'))) else settings end,
       tags = coalesce($8::text[], tags), updated_at = now()
     where workspace_id = $1 and workflow_id = $2 and deleted_at is null`,
    [
      workspaceId,
      workflowId,
      patch.name ?? null,
      patch.description !== undefined,
      patch.description ?? null,
      patch.settings !== undefined,
      patch.settings ?? null,
      patch.tags === undefined ? null : (patch.tags ?? []),
    ],
  )

/** Webhook tokens are cached with the settings and the active version of their workflow. */
export function hintSettings(tx: Tx, workspaceId: string, workflowId: string): void {
  hintFlow(tx, workspaceId, workflowId)
  tx.hint(TOKENS_CHANGED, workflowId)
}

/** A workflow that is already paused keeps the time of its pause. */
export async function setPaused(tx: Tx, workspaceId: string, workflowId: string, isPaused: boolean): Promise<void> {
  await tx.count(
    `update workflows set settings = case when $3::boolean
       then jsonb_build_object('paused_at', to_jsonb(now())) || settings else settings - 'paused_at' end, updated_at = now()
     where workspace_id = $1 and workflow_id = $2 and deleted_at is null and (settings ? 'paused_at') <> $3`,
    [workspaceId, workflowId, isPaused],
  )
  hintSettings(tx, workspaceId, workflowId)
}

/** Returns the positions of people who are not in the workspace. */
export async function findUnknownPeople(tx: Tx, workspaceId: string, userIds: string[]): Promise<number[]> {
  const rows = await tx.rows<{ user_id: string }>(
    'select user_id from memberships where workspace_id = $1 and user_id = any ($2)',
    [workspaceId, userIds],
  )
  const known = new Set(rows.map(({ user_id }) => user_id))
  return userIds.flatMap((userId, position) => (known.has(userId) ? [] : [position]))
}

/** Returns people who may start the workflow, besides its owner. */
export const listStarters = (tx: Tx, workspaceId: string, workflowId: string): Promise<{ user_id: string }[]> =>
  tx.rows<{ user_id: string }>(
    `select distinct user_id from workflow_people where workspace_id = $1 and workflow_id = $2 and role <> 'viewer' limit 2`,
    [workspaceId, workflowId],
  )

export async function replaceMembers(
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  members: { user_id: string; role: string }[],
): Promise<void> {
  await tx.count('delete from workflow_members where workspace_id = $1 and workflow_id = $2', [workspaceId, workflowId])
  await tx.count(
    `insert into workflow_members (workspace_id, workflow_id, user_id, role) select $1, $2, * from unnest($3::uuid[], $4::text[])`,
    [workspaceId, workflowId, members.map(({ user_id }) => user_id), members.map(({ role }) => role)],
  )
}

export const markDeleted = (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  tx.count(
    `with gone as (update workflows set deleted_at = now() where workspace_id = $1 and workflow_id = $2 and deleted_at is null returning workflow_id),
       unscheduled as (delete from schedules where workspace_id = $1 and workflow_id = $2),
       offers as (delete from workflow_transfers where workspace_id = $1 and workflow_id = $2),
       hooks as (delete from webhook_tokens where workspace_id = $1 and workflow_id = $2),
       embeds as (delete from embed_tokens where workspace_id = $1 and workflow_id = $2)
     select from gone`,
    [workspaceId, workflowId],
  )

// By the index of each status: a workflow can have many more executions that have ended.
const LIVE = `select execution_id from executions where workspace_id = $1 and workflow_id = $2 and status = 'queued'
  union all select execution_id from executions where workspace_id = $1 and workflow_id = $2 and status = 'running'
  union all select execution_id from executions where workspace_id = $1 and workflow_id = $2 and status = 'waiting'`

export const countLiveExecutions = async (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  (await tx.row<{ live: number }>(`select count(*) as live from (${LIVE}) as live`, [workspaceId, workflowId])).live

type WorkflowKey = { workspace_id: string; workflow_id: string }

const hasLive = (status: string): string => `exists (select from executions e
  where e.workspace_id = d.workspace_id and e.workflow_id = d.workflow_id and e.status = '${status}')`

/** As heddle_engine: returns those of these workflows of any workspace that have live executions, in one statement. */
export const findWithLiveExecutions = (tx: Tx, workflows: WorkflowKey[]): Promise<WorkflowKey[]> =>
  tx.rows<WorkflowKey>(
    `select d.workspace_id, d.workflow_id from unnest($1::uuid[], $2::uuid[]) as d (workspace_id, workflow_id)
     where ${hasLive('queued')} or ${hasLive('running')} or ${hasLive('waiting')}`,
    [workflows.map(({ workspace_id }) => workspace_id), workflows.map(({ workflow_id }) => workflow_id)],
  )

/** Cancels live executions in one statement, since a workflow can have a hundred thousand of them. */
export async function cancelLiveExecutions(
  tx: Tx,
  { workspaceId, workflowId }: { workspaceId: string; workflowId: string },
  { by, reason }: { by: string | null; reason: string | null },
): Promise<void> {
  const cancelled = await tx.rows<{ execution_id: string }>(
    'select execution_id from engine.cancel_workflow($1, $2, $3, $4) as execution_id',
    [workspaceId, workflowId, by, reason],
  )
  for (const { execution_id } of cancelled) nudge(tx, execution_id)
}

const versionColumns =
  'version_id, workflow_id, number, active, definition, sha256, note, created_by, activated_by, created_at'

export const listVersions = (tx: Tx, workspaceId: string, workflowId: string, asked: ListInput) =>
  readList<Version>(tx, versionList, asked, {
    sql: `select ${versionColumns}, coalesce(bytes, octet_length(definition::text)) + 1000 as page_size from workflow_versions where workspace_id = $1 and workflow_id = $2`,
    values: [workspaceId, workflowId],
    size: 'page.page_size',
  })

export const findVersion = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  versionId: string,
): Promise<Version | undefined> =>
  tx.maybe<Version>(
    `select ${versionColumns} from workflow_versions where workspace_id = $1 and workflow_id = $2 and version_id = $3`,
    [workspaceId, workflowId, versionId],
  )

export const findActiveVersion = (tx: Tx, workspaceId: string, workflowId: string): Promise<Version | undefined> =>
  tx.maybe<Version>(
    `select ${versionColumns} from workflow_versions where workspace_id = $1 and workflow_id = $2 and active`,
    [workspaceId, workflowId],
  )

/** Serializes changes to the versions of a workflow, so that numbers have no gaps and exactly one version is active. */
export const lockWorkflow = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
): Promise<{ workflow_id: string } | undefined> =>
  tx.maybe<{ workflow_id: string }>(
    'select workflow_id from workflows where workspace_id = $1 and workflow_id = $2 and deleted_at is null for no key update',
    [workspaceId, workflowId],
  )

export const insertVersion = (
  tx: Tx,
  workspaceId: string,
  version: {
    version_id: string
    workflow_id: string
    definition: Json
    sha256: string
    note: string | null
    created_by: string
  },
): Promise<Version> => {
  const definition = JSON.stringify(version.definition)
  return tx.row<Version>(
    `insert into workflow_versions (workspace_id, version_id, workflow_id, number, definition, bytes, sha256, note, created_by)
     select $1, $2, $3, coalesce(max(number), 0) + 1, $4, $8, $5, $6, $7 from workflow_versions where workspace_id = $1 and workflow_id = $3
     returning ${versionColumns}`,
    [
      workspaceId,
      version.version_id,
      version.workflow_id,
      definition,
      version.sha256,
      version.note,
      version.created_by,
      Buffer.byteLength(definition),
    ],
  )
}

/** Activates a version. Its executions act for the person who activates it. */
export async function activateVersion(
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  versionId: string,
  userId: string,
): Promise<void> {
  // Two statements, because the unique index for one active version is checked row by row.
  await tx.count(
    'update workflow_versions set active = false where workspace_id = $1 and workflow_id = $2 and active and version_id <> $3',
    [workspaceId, workflowId, versionId],
  )
  await tx.count(
    `with run_again as (
       update workflows set activation_required = false
       where workspace_id = $1 and workflow_id = $2 and activation_required)
     update workflow_versions set active = true, activated_by = $4
     where workspace_id = $1 and workflow_id = $2 and version_id = $3`,
    [workspaceId, workflowId, versionId, userId],
  )
  tx.hint(TOKENS_CHANGED, workflowId)
}
