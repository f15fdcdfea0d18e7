import { ACTIVATION_REQUIRED, type Quota, targetOf } from '#areas/executions/start'
import { readVariables } from '#areas/variables/service'
import { NodeFailure, type WorkflowDescription } from '#engine/node'
import type { EndedExecution, EnginePorts, StartTarget } from '#engine/ports'
import type { Definition, Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Database } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import { makeFailures, type TargetRow } from './failures.ts'
import { findPrincipal, mayRun } from './rights.ts'
import type { SystemWorkflow } from './system.ts'

// What the engine needs from workflows: definitions, the target of a sub-workflow, and actions after the end of an
// execution.

const DEFAULT_FINALLY_GRACE_S = 60

export type LoadAdhoc = (workspaceId: string, id: string) => Promise<Definition | undefined>

export function makeWorkflowPorts(options: {
  db: Database
  system: ReadonlyMap<string, SystemWorkflow>
  loadAdhoc: LoadAdhoc
  loadTrial: LoadAdhoc
  quota: Quota
}): Pick<EnginePorts, 'loadDefinition' | 'resolveWorkflow' | 'describeWorkflow' | 'readVariables' | 'finallyGrace'> & {
  ended(execution: EndedExecution): Promise<void>
} {
  const { db, system } = options
  const inWorkspace = (workspaceId: string) => ({ workspaceId, userId: null })

  const findTarget = (
    workspaceId: string,
    workflowId: string,
    versionId: string | null,
  ): Promise<TargetRow | undefined> =>
    db.tenant(inWorkspace(workspaceId), (tx) =>
      tx.maybe<TargetRow>(
        `select w.workflow_id, w.settings, w.owner_id, w.name, w.description, w.activation_required, v.version_id, v.definition -> 'inputs' as inputs,
           coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id from workflows w
         left join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id
           and case when $3::uuid is null then v.active else v.version_id = $3 end
         where w.workspace_id = $1 and w.workflow_id = $2 and w.deleted_at is null`,
        [workspaceId, workflowId, versionId],
      ),
    )

  const mayStart = (workspaceId: string, executionId: string, workflowId: string): Promise<boolean> =>
    db.tenant(inWorkspace(workspaceId), async (tx) => {
      const principal = await findPrincipal(tx, workspaceId, executionId)
      return principal !== undefined && mayRun(tx, workspaceId, workflowId, principal.user_id)
    })

  async function loadDefinition(workspaceId: string, ref: string): Promise<Definition> {
    const [kind, id] = [ref.slice(0, ref.indexOf(':')), ref.slice(ref.indexOf(':') + 1)]
    if (kind === 'system') {
      const workflow = system.get(id)
      if (workflow) return workflow.definition
    } else if (kind === 'version') {
      const definition = await db.tenant(
        inWorkspace(workspaceId),
        async (tx) =>
          (
            await tx.row<{ definition: Definition | null }>('select definition_of_version($1, $2) as definition', [
              workspaceId,
              id,
            ])
          ).definition,
      )
      if (definition) return definition
    } else if (kind === 'adhoc') {
      const definition = await options.loadAdhoc(workspaceId, id)
      if (definition) return definition
    } else if (kind === 'trial') {
      const definition = await options.loadTrial(workspaceId, id)
      if (definition) return definition
    }
    throw new Error(`there is no definition ${ref}`)
  }

  /** Finds a workflow that the execution may run, with its version. */
  async function findRunnable(
    workspaceId: string,
    wanted: { workflow_id: string; version_id?: string; executionId: string },
  ): Promise<TargetRow & { version_id: string }> {
    const workflowId = fromWire('wf', wanted.workflow_id)
    const versionId = wanted.version_id === undefined ? null : fromWire('wfv', wanted.version_id)
    // Looked up in the workspace of the execution, so that workflows of other workspaces are not found.
    const row =
      workflowId === undefined || versionId === undefined
        ? undefined
        : await findTarget(workspaceId, workflowId, versionId)
    if (!row)
      throw new NodeFailure('unknown_reference', `there is no workflow ${wanted.workflow_id} in this workspace`, {
        retryable: false,
      })
    if (!(await mayStart(workspaceId, wanted.executionId, row.workflow_id)))
      throw new NodeFailure(
        'workflow_not_allowed',
        `this run uses the rights of a person who may not run "${row.name}"; its owner can add them as a member`,
        { retryable: false },
      )
    if (row.activation_required)
      throw new NodeFailure('activation_required', `"${row.name}": ${ACTIVATION_REQUIRED}`, { retryable: false })
    if (row.version_id === null) {
      throw new NodeFailure('no_active_version', `workflow "${row.name}" has no such version; activate one`, {
        retryable: false,
      })
    }
    return row as TargetRow & { version_id: string }
  }

  async function resolveWorkflow(
    workspaceId: string,
    wanted: { workflow_id: string; version_id?: string; input: Json; executionId: string },
  ): Promise<StartTarget> {
    const known = system.get(wanted.workflow_id)
    if (known) {
      refuseBadInput(known.definition.inputs ?? true, wanted.input)
      return { definitionRef: `system:${known.slug}`, workflowId: null, versionId: null, systemSlug: known.slug }
    }
    const { inputs, ...target } = targetOf(await findRunnable(workspaceId, wanted))
    refuseBadInput(inputs, wanted.input)
    return target
  }

  async function describeWorkflow(
    workspaceId: string,
    wanted: { workflow_id: string; executionId: string },
  ): Promise<WorkflowDescription> {
    const known = system.get(wanted.workflow_id)
    if (known) return { name: known.name, description: known.description, inputs: known.definition.inputs ?? true }
    const { name, description, inputs } = await findRunnable(workspaceId, wanted)
    return { name, description, inputs: inputs ?? true }
  }

  const variablesOf: EnginePorts['readVariables'] = (workspaceId, names) =>
    db.tenant(inWorkspace(workspaceId), (tx) => readVariables(tx, workspaceId, names))

  /** Returns the current setting of the workflow. Job definitions and system workflows have no settings. */
  const finallyGrace = async (workspaceId: string, workflowId: string | null): Promise<number> => {
    const row =
      workflowId === null
        ? undefined
        : await db.tenant(inWorkspace(workspaceId), (tx) =>
            tx.maybe<{ grace: number | null }>(
              `select (settings ->> 'finally_grace_s')::float8 as grace from workflows
               where workspace_id = $1 and workflow_id = $2`,
              [workspaceId, workflowId],
            ),
          )
    return row?.grace ?? DEFAULT_FINALLY_GRACE_S
  }

  return {
    finallyGrace,
    loadDefinition,
    resolveWorkflow,
    describeWorkflow,
    readVariables: variablesOf,
    ended: makeFailures({ db, quota: options.quota, findTarget }),
  }
}

function refuseBadInput(inputs: Json, input: Json): void {
  const [issue] = validateJson(inputs, input)
  if (issue) throw new NodeFailure('invalid_input', `input${issue.path}: ${issue.message}`, { retryable: false })
}
