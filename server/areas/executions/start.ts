import { createHash } from 'node:crypto'
import type { SystemWorkflow } from '#areas/workflows/system'
import type { Engine, Start, Started, StartTarget, TriggerKind } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Credential } from '#platform/http/context'

// From "run this workflow" to the start of an execution: the version, the check of the input, the limits. One way in for
// people, webhooks, widgets, schedules and jobs.

export type Target = StartTarget & { inputs: Json }

type Row = {
  workflow_id: string
  settings: { timeout_s?: number; max_concurrency?: number }
  version_id: string | null
  inputs: Json | null
}

export const targetOf = (row: Row & { version_id: string }): Target => ({
  definitionRef: `version:${row.version_id}`,
  workflowId: row.workflow_id,
  versionId: row.version_id,
  timeoutS: row.settings.timeout_s ?? null,
  maxConcurrency: row.settings.max_concurrency ?? null,
  inputs: row.inputs ?? true,
})

/** The active version, or the one that was asked for. */
export async function findTarget(tx: Tx, workspaceId: string, workflowId: string, versionId?: string): Promise<Target> {
  const row = await tx.maybe<Row>(
    `select w.workflow_id, w.settings, v.version_id, v.definition -> 'inputs' as inputs from workflows w
     left join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id
       and case when $3::uuid is null then v.active else v.version_id = $3 end
     where w.workspace_id = $1 and w.workflow_id = $2 and w.deleted_at is null`,
    [workspaceId, workflowId, versionId ?? null],
  )
  if (!row) throw problem('not_found')
  if (row.version_id === null) {
    throw versionId === undefined
      ? problem('no_active_version', 'Activate a version of the workflow, or name one with version_id.')
      : unknownReference('/version_id')
  }
  return targetOf(row as Row & { version_id: string })
}

export const systemTarget = (workflow: SystemWorkflow): Target => ({
  definitionRef: `system:${workflow.slug}`,
  workflowId: null,
  versionId: null,
  systemSlug: workflow.slug,
  inputs: workflow.definition.inputs ?? true,
})

export function checkInput(inputs: Json, input: JsonObject, path = '/input'): void {
  const issues = validateJson(inputs, input)
  if (issues.length > 0) {
    throw invalid(
      issues.slice(0, 50).map((issue) => ({ path: path + issue.path, message: issue.message })),
      'The input does not fit the inputs of the workflow.',
    )
  }
}

export type Quota = (workspaceId: string) => Promise<void>

/** `body` is what the key was sent with: the same key with another body is refused. */
export function idempotencyOf(
  credential: Credential,
  userId: string | null,
  key: string | null,
  body: string | Buffer,
): Start['idempotency'] {
  if (key === null) return undefined
  const who =
    credential.kind === 'session'
      ? `person:${userId}`
      : credential.kind === 'embed'
        ? `embed:${credential.id}:${credential.visitor_id}`
        : credential.kind === 'none'
          ? 'none'
          : `${credential.kind}:${credential.id}`
  const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()
  return { credentialHash: sha256(who), keyHash: sha256(key), bodySha256: sha256(body) }
}

export function makeStarter(options: { engine: Engine; countRun: Quota }) {
  const { engine } = options
  return async function startTarget(
    workspaceId: string,
    target: Target,
    input: JsonObject,
    by: {
      trigger: { kind: TriggerKind; id: string | null }
      startedBy: string | null
      idempotency?: Start['idempotency']
      inputPath?: string
      tellEnd?: boolean
    },
  ): Promise<Started> {
    checkInput(target.inputs, input, by.inputPath)
    await options.countRun(workspaceId)
    const { inputs: _inputs, ...start } = target
    return engine.start({
      ...start,
      workspaceId,
      input,
      trigger: by.trigger,
      startedBy: by.startedBy,
      ...(by.idempotency && { idempotency: by.idempotency }),
      ...(by.tellEnd && { tellEnd: true }),
    })
  }
}

export type StartExecution = ReturnType<typeof makeStarter>
