import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'

// The definition or workflow that a job executes, and its bindings.

export const insertDefinition = (
  tx: Tx,
  workspaceId: string,
  definition: { definition_id: string; job_id: string; definition: Json; sha256: string; created_by: string },
): Promise<number> =>
  tx.count(
    `insert into job_definitions (workspace_id, definition_id, job_id, trigger_id, definition, sha256, created_by)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      workspaceId,
      definition.definition_id,
      definition.job_id,
      toWire('job', definition.job_id),
      JSON.stringify(definition.definition),
      definition.sha256,
      definition.created_by,
    ],
  )

export const findDefinition = (
  tx: Tx,
  workspaceId: string,
  definitionId: string,
): Promise<{ definition: Json; sha256: string } | undefined> =>
  tx.maybe('select definition, sha256 from job_definitions where workspace_id = $1 and definition_id = $2', [
    workspaceId,
    definitionId,
  ])

/** What a pinned job executes: the active version of its workflow. */
export type PinnedWorkflow = {
  owner_id: string
  role: 'editor' | 'member' | 'viewer' | null
  version_id: string | null
  inputs: Json
  activation_required: boolean
}
export const findPinnedWorkflow = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  userId: string | null,
): Promise<PinnedWorkflow | undefined> =>
  tx.maybe<PinnedWorkflow>(
    `select f.owner_id, f.activation_required, (select min(m.role) from workflow_people m
       where m.workspace_id = f.workspace_id and m.workflow_id = f.workflow_id and m.user_id = $3) as role,
       v.version_id, v.definition -> 'inputs' as inputs from workflows f
     left join workflow_versions v on v.workspace_id = f.workspace_id and v.workflow_id = f.workflow_id and v.active
     where f.workspace_id = $1 and f.workflow_id = $2 and f.deleted_at is null`,
    [workspaceId, workflowId, userId],
  )

export const exists = async (tx: Tx, what: 'datasets' | 'sources', workspaceId: string, id: string): Promise<boolean> =>
  (await tx.maybe(
    what === 'datasets'
      ? 'select from datasets where workspace_id = $1 and dataset_id = $2'
      : 'select from sources where workspace_id = $1 and source_id = $2',
    [workspaceId, id],
  )) !== undefined

/** Checks whether a source returns only rows that are new since the last run. */
export const hasCursor = async (tx: Tx, workspaceId: string, sourceId: string): Promise<boolean> =>
  (await tx.maybe('select from sources where workspace_id = $1 and source_id = $2 and cursor_column is not null', [
    workspaceId,
    sourceId,
  ])) !== undefined
