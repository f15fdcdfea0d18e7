import { ACTIVATION_REQUIRED, type Quota, reasonAgainst, targetOf } from '#areas/executions/start'
import { enqueue } from '#engine/enqueue'
import type { FlowSettings } from '#engine/flow/rules'
import { initiatorsOfFollower } from '#engine/initiators'
import type { EndedExecution, StartTarget } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import { newId, toWire } from '#platform/ids'
import { findPrincipal, mayRun } from './rights.ts'

export type TargetRow = {
  workflow_id: string
  settings: FlowSettings & { timeout_s?: number; error_workflow_id?: string }
  owner_id: string
  name: string
  description: string | null
  version_id: string | null
  inputs: Json | null
  principal_id: string | null
  activation_required: boolean
}

/**
 * Handles a failed execution: notifies its owner and starts the error workflow, once each even if the end is reported
 * several times. An error workflow counts against the plan like any other execution. If the plan is used up, the owner
 * is notified of that too.
 */
export function makeFailures(options: {
  db: Database
  quota: Quota
  findTarget(workspaceId: string, workflowId: string, versionId: null): Promise<TargetRow | undefined>
}) {
  const { db, quota, findTarget } = options

  /** Reads the input, which may be up to a megabyte, only when it is needed. */
  const inputOf = async (tx: Tx, { workspaceId, executionId }: EndedExecution): Promise<Json> =>
    (
      await tx.row<{ input: Json }>('select input from executions where workspace_id = $1 and execution_id = $2', [
        workspaceId,
        executionId,
      ])
    ).input

  /** Returns whether the error workflow was started. */
  const tellFailure = (
    execution: EndedExecution,
    row: TargetRow,
    report: JsonObject,
    handler: StartTarget | undefined,
    refusal: string | null,
  ): Promise<boolean> =>
    db.tenant({ workspaceId: execution.workspaceId, userId: null }, async (tx) => {
      const first = await tx.count(
        'insert into told_failures (workspace_id, execution_id) values ($1, $2) on conflict do nothing',
        [execution.workspaceId, execution.executionId],
      )
      if (first === 0) return false
      // A webhook can fail a thousand times a minute, so its owner is notified once an hour per workflow.
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
      const outcome = await enqueue(tx, {
        ...handler,
        workspaceId: execution.workspaceId,
        executionId: newId(),
        input: { ...report, input: await inputOf(tx, execution) },
        trigger: { kind: 'workflow', id: toWire('exe', execution.executionId) },
        startedBy: null,
        initiatedBy: initiatorsOfFollower(
          {
            kind: 'error_workflow',
            executionId: execution.executionId,
            principalId: execution.principalId ?? row.owner_id,
            chain: execution.initiatedBy,
          },
          handler.principalId ?? null,
        ),
      })
      // Nothing is recorded, so the end is reported again in a few seconds, when there may be room.
      if (outcome === 'queue_full')
        throw problem('queue_full', 'Too many executions of this workspace are queued for its error workflow.')
      return outcome === 'accepted'
    })

  const reasonAgainstHandler = async ({ workspaceId, executionId }: EndedExecution, handler: TargetRow) => {
    if (handler.activation_required) return ACTIVATION_REQUIRED
    const allowed = await db.tenant({ workspaceId, userId: null }, async (tx) => {
      const principal = await findPrincipal(tx, workspaceId, executionId)
      return principal !== undefined && mayRun(tx, workspaceId, handler.workflow_id, principal.user_id)
    })
    return allowed
      ? reasonAgainst(quota, workspaceId)
      : `The execution used the rights of a person who may not run "${handler.name}".`
  }

  return async (execution: EndedExecution): Promise<void> => {
    // The person who tries a draft sees the result.
    if (execution.trigger.kind === 'trial') return
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
      trigger: execution.trigger,
      finished_at: execution.finishedAt.toISOString(),
    }
    // The failure of an error workflow does not start another error workflow.
    const follows = errorWorkflow?.version_id && execution.trigger.kind !== 'workflow'
    const handler = follows ? targetOf(errorWorkflow as TargetRow & { version_id: string }) : undefined
    const refusal = handler && errorWorkflow ? await reasonAgainstHandler(execution, errorWorkflow) : null
    let started = false
    try {
      started = await tellFailure(execution, row, report, refusal === null ? handler : undefined, refusal)
    } finally {
      if (handler && refusal === null && !started) quota.giveBack(execution.workspaceId)
    }
  }
}
