import { type Quota, reasonAgainst, targetOf } from '#areas/executions/start'
import { NodeFailure } from '#engine/node'
import type { EndedExecution, EnginePorts, StartTarget } from '#engine/ports'
import type { Definition, Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Database } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { fromWire, newId, toWire } from '#platform/ids'
import type { SystemWorkflow } from './system.ts'

// What the engine needs of workflows: definitions, the target of a sub-workflow, and what follows an end.

export type LoadAdhoc = (workspaceId: string, id: string) => Promise<Definition | undefined>

type TargetRow = {
  workflow_id: string
  settings: { timeout_s?: number; max_concurrency?: number; error_workflow_id?: string }
  owner_id: string
  name: string
  version_id: string | null
  inputs: Json | null
}

export function makeWorkflowPorts(options: {
  db: Database
  system: ReadonlyMap<string, SystemWorkflow>
  loadAdhoc: LoadAdhoc
  quota: Quota
}): Pick<EnginePorts, 'loadDefinition' | 'resolveWorkflow'> & {
  ended(execution: EndedExecution): Promise<void>
} {
  const { db, system, quota } = options
  const inWorkspace = (workspaceId: string) => ({ workspaceId, userId: null })

  const findTarget = (
    workspaceId: string,
    workflowId: string,
    versionId: string | null,
  ): Promise<TargetRow | undefined> =>
    db.tenant(inWorkspace(workspaceId), (tx) =>
      tx.maybe<TargetRow>(
        `select w.workflow_id, w.settings, w.owner_id, w.name, v.version_id, v.definition -> 'inputs' as inputs from workflows w
         left join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id
           and case when $3::uuid is null then v.active else v.version_id = $3 end
         where w.workspace_id = $1 and w.workflow_id = $2 and w.deleted_at is null`,
        [workspaceId, workflowId, versionId],
      ),
    )

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
    }
    throw new Error(`there is no definition ${ref}`)
  }

  async function resolveWorkflow(
    workspaceId: string,
    wanted: { workflow_id: string; version_id?: string; input: Json },
  ): Promise<StartTarget> {
    const known = system.get(wanted.workflow_id)
    if (known) {
      refuseBadInput(known.definition.inputs ?? true, wanted.input)
      return { definitionRef: `system:${known.slug}`, workflowId: null, versionId: null, systemSlug: known.slug }
    }
    const workflowId = fromWire('wf', wanted.workflow_id)
    const versionId = wanted.version_id === undefined ? null : fromWire('wfv', wanted.version_id)
    // Looked up in the workspace of the execution: a workflow of another one does not exist here.
    const row =
      workflowId === undefined || versionId === undefined
        ? undefined
        : await findTarget(workspaceId, workflowId, versionId)
    if (!row)
      throw new NodeFailure('unknown_reference', `there is no workflow ${wanted.workflow_id} in this workspace`, {
        retryable: false,
      })
    if (row.version_id === null) {
      throw new NodeFailure('no_active_version', `workflow "${row.name}" has no such version; activate one`, {
        retryable: false,
      })
    }
    const { inputs, ...target } = targetOf(row as TargetRow & { version_id: string })
    refuseBadInput(inputs, wanted.input)
    return target
  }

  /** Owners hear of a failure; the error workflow is started once, although the end may be told several times. */
  async function ended(execution: EndedExecution): Promise<void> {
    if (execution.workflowId === null || execution.status === 'succeeded' || execution.status === 'cancelled') return
    const row = await findTarget(execution.workspaceId, execution.workflowId, null)
    if (!row) return
    const errorWorkflow =
      row.settings.error_workflow_id === undefined
        ? undefined
        : await findTarget(execution.workspaceId, row.settings.error_workflow_id, null)
    const report: JsonObject = {
      execution_id: toWire('exe', execution.executionId),
      workflow_id: toWire('wf', execution.workflowId),
      workflow_name: row.name,
      status: execution.status,
      error: execution.error as unknown as Json,
      input: execution.input,
      trigger: execution.trigger,
      finished_at: execution.finishedAt.toISOString(),
    }
    // One that itself handles a failure is not followed by another.
    const follows = errorWorkflow?.version_id && execution.trigger.kind !== 'workflow'
    const handler = follows ? targetOf(errorWorkflow as TargetRow & { version_id: string }) : undefined
    const refusal = handler ? await reasonAgainst(quota, execution.workspaceId) : null
    let started = false
    try {
      started = await tellFailure(execution, row, report, refusal === null ? handler : undefined, refusal)
    } finally {
      if (handler && refusal === null && !started) quota.giveBack(execution.workspaceId)
    }
  }

  /** Whether the error workflow was started. */
  const tellFailure = (
    execution: EndedExecution,
    row: TargetRow,
    report: JsonObject,
    handler: StartTarget | undefined,
    refusal: string | null,
  ): Promise<boolean> =>
    db.tenant(inWorkspace(execution.workspaceId), async (tx) => {
      const first = await tx.count(
        'insert into told_failures (workspace_id, execution_id) values ($1, $2) on conflict do nothing',
        [execution.workspaceId, execution.executionId],
      )
      if (first === 0) return false
      // A webhook can fail a thousand times a minute; its owner is told once an hour per workflow.
      const { quiet } = await tx.row<{ quiet: boolean }>(`select told_recently($1, 'execution.failed', $2) as quiet`, [
        row.owner_id,
        report.workflow_id,
      ])
      if (!quiet) {
        await deliverEvent(tx, {
          workspaceId: execution.workspaceId,
          kind: 'execution.failed',
          title: `"${row.name}" ${execution.status === 'timed_out' ? 'timed out' : 'failed'}`,
          body: [
            execution.error?.message ?? 'It took longer than its settings allow.',
            refusal && `Its error workflow was not started. ${refusal}`,
          ]
            .filter(Boolean)
            .join('\n'),
          data: { execution_id: report.execution_id, workflow_id: report.workflow_id },
          link: `/runs/${report.execution_id}`,
          to: [row.owner_id],
        })
      }
      if (!handler) return false
      const { outcome } = await tx.row<{ outcome: string }>('select engine.start($1, $2, $3, $4) as outcome', [
        execution.workspaceId,
        newId(),
        JSON.stringify(report),
        JSON.stringify({
          definition_ref: handler.definitionRef,
          workflow_id: handler.workflowId,
          version_id: handler.versionId,
          timeout_s: handler.timeoutS,
          max_concurrency: handler.maxConcurrency,
          trigger_kind: 'workflow',
          trigger_id: report.execution_id,
        }),
      ])
      return outcome === 'accepted'
    })

  return { loadDefinition, resolveWorkflow, ended }
}

function refuseBadInput(inputs: Json, input: Json): void {
  const [issue] = validateJson(inputs, input)
  if (issue) throw new NodeFailure('invalid_input', `input${issue.path}: ${issue.message}`, { retryable: false })
}
