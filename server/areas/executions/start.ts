import { createHash } from 'node:crypto'
import type { SystemWorkflow } from '#areas/workflows/system'
import { validateInTurn } from '#engine/checking'
import { type Flow, type FlowSettings, flowOf } from '#engine/flow/rules'
import type { Engine, ExecutionView, Initiator, Start, Started, StartTarget, TriggerKind } from '#engine/ports'
import type { Turns } from '#engine/worker/turns'
import type { Json, JsonObject } from '#model/definition'
import type { Issue } from '#model/issue'
import { validateJson } from '#model/json-schema'
import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { invalid, isProblem, type Problem, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { keyOwnerOf } from '#platform/http/idempotency'
import { newId } from '#platform/ids'

// Everything between a request to run a workflow and the start of the execution: the version, the check of the input,
// the limits. People, webhooks, widgets, schedules and jobs all use this code.

export type Target = StartTarget & { inputs: Json }

type Row = {
  workflow_id: string
  settings: FlowSettings & { timeout_s?: number }
  version_id: string | null
  inputs: Json | null
  principal_id: string | null
}

export const targetOf = (row: Row & { version_id: string }): Target => ({
  definitionRef: `version:${row.version_id}`,
  workflowId: row.workflow_id,
  versionId: row.version_id,
  timeoutS: row.settings.timeout_s ?? null,
  flow: flowOf(row.settings),
  principalId: row.principal_id,
  inputs: row.inputs ?? true,
})

/** The start time, and the properties by which the execution is searched and ordered. */
export type StartOptions = Pick<Start, 'startAt' | 'startInS' | 'concurrencyKey' | 'labels'>

/** Returns the active version, or the requested one. */
export async function findTarget(tx: Tx, workspaceId: string, workflowId: string, versionId?: string): Promise<Target> {
  const row = await tx.maybe<Row & { activation_required: boolean }>(
    `select w.workflow_id, w.settings, w.activation_required, v.version_id, v.definition -> 'inputs' as inputs,
       coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id from workflows w
     left join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id
       and case when $3::uuid is null then v.active else v.version_id = $3 end
     where w.workspace_id = $1 and w.workflow_id = $2 and w.deleted_at is null`,
    [workspaceId, workflowId, versionId ?? null],
  )
  if (!row) throw problem('not_found')
  if (row.activation_required) throw activationRequired()
  if (row.version_id === null) {
    throw versionId === undefined
      ? problem('no_active_version', 'Activate a version of the workflow, or name one with version_id.')
      : unknownReference('/version_id')
  }
  return targetOf(row as Row & { version_id: string })
}

/** Returns the current flow rules of a workflow. */
export async function findFlow(tx: Tx, workspaceId: string, workflowId: string): Promise<Flow | null> {
  const row = await tx.maybe<Pick<Row, 'settings'>>(
    'select settings from workflows where workspace_id = $1 and workflow_id = $2 and deleted_at is null',
    [workspaceId, workflowId],
  )
  return row ? flowOf(row.settings) : null
}

/** Used after a workflow was transferred to a new owner, until a version is activated. */
export const ACTIVATION_REQUIRED =
  'The workflow has a new owner. It can run again after its owner or an editor has activated a version.'
export const activationRequired = (): Problem => problem('activation_required', ACTIVATION_REQUIRED)

export async function requireActivated(tx: Tx, workspaceId: string, workflowId: string): Promise<void> {
  const waits = await tx.maybe(
    'select from workflows where workspace_id = $1 and workflow_id = $2 and activation_required',
    [workspaceId, workflowId],
  )
  if (waits) throw activationRequired()
}

export const systemTarget = (workflow: SystemWorkflow): Target => ({
  definitionRef: `system:${workflow.slug}`,
  workflowId: null,
  versionId: null,
  systemSlug: workflow.slug,
  inputs: workflow.definition.inputs ?? true,
})

export const checkInput = (inputs: Json, input: JsonObject, path?: string): void =>
  refuseIssues(validateJson(inputs, input), path)

function refuseIssues(issues: Issue[], path = '/input'): void {
  if (issues.length === 0) return
  throw invalid(
    issues.slice(0, 50).map((issue) => ({ path: path + issue.path, message: issue.message })),
    'The input does not match the inputs of the workflow.',
  )
}

/**
 * Checks an input. An expensive check waits for a turn of its workspace, so that many of them do not block other
 * workspaces.
 */
export async function checkInputInTurn(
  turns: Pick<Turns, 'next'>,
  workspaceId: string,
  { inputs, input, path }: { inputs: Json; input: JsonObject; path?: string | undefined },
): Promise<void> {
  refuseIssues(await validateInTurn(turns, workspaceId, inputs, input), path)
}

const finished = new Set<ExecutionView['status']>(['succeeded', 'failed', 'cancelled', 'timed_out'])
export const hasFinished = ({ status }: Pick<ExecutionView, 'status'>): boolean => finished.has(status)

/**
 * Returns the execution if it ended within `waitS` of its start. The time counts from the start and not from the
 * request, so that a repetition with the same key after the end gets the same response as the request that waited.
 */
export async function endedInTime(
  engine: Pick<Engine, 'waitFor'>,
  workspaceId: string,
  executionId: string,
  waitS: number,
  caller: Pick<Context, 'stepAside'>,
): Promise<ExecutionView | undefined> {
  if (waitS <= 0) return undefined
  const view = await engine.waitFor(workspaceId, executionId, waitS * SECOND, caller.stepAside())
  const took = view?.finished_at ? view.finished_at.getTime() - view.created_at.getTime() : Number.POSITIVE_INFINITY
  return took <= waitS * SECOND ? view : undefined
}

/**
 * The executions that the plan of a workspace allows. One is taken before a start, and given back if the start fails.
 */
export type Quota = { take(workspaceId: string): Promise<void>; giveBack(workspaceId: string): void }

/** Takes one execution of the quota. Returns why the plan refuses, or null if it was taken. */
export const reasonAgainst = (quota: Quota, workspaceId: string): Promise<string | null> =>
  quota.take(workspaceId).then(
    () => null,
    (error: unknown) => {
      if (isProblem(error, 'quota_exceeded')) return error.message
      throw error
    },
  )

/** `body` is the request that the key was sent with. The same key with another body is refused. */
export function idempotencyOf(
  ctx: Pick<Context, 'credential' | 'maybePerson' | 'maybeWorkspace' | 'idempotencyKey'>,
  body: string | Buffer,
): Start['idempotency'] {
  const { credential, maybePerson, maybeWorkspace, idempotencyKey: key } = ctx
  if (key === null) return undefined
  const holder = keyOwnerOf(credential, maybePerson?.user_id ?? null, maybeWorkspace?.workspace_id ?? null)
  const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()
  return { credentialHash: sha256(holder), keyHash: sha256(key), bodySha256: sha256(body) }
}

/**
 * Counts a start against the plan. A repetition counts nothing, and gets its response even if a new start would be
 * refused in the meantime, for example by an exhausted quota or by a version with other inputs.
 */
export const makeCountedStart =
  ({ engine, quota }: { engine: Engine; quota: Quota }) =>
  async (
    workspaceId: string,
    idempotency: Start['idempotency'],
    check: () => unknown,
    start: () => Promise<Started>,
  ): Promise<Started> => {
    try {
      await check()
      await quota.take(workspaceId)
    } catch (refusal) {
      const before = idempotency && (await engine.startedBefore(workspaceId, idempotency))
      if (before) return before
      throw refusal
    }
    let begun = false
    try {
      const started = await start()
      begun = !started.replayed
      return started
    } finally {
      if (!begun) quota.giveBack(workspaceId)
    }
  }

/** Records that an execution uses the files that its input names and that the starting person uploaded. */
export type TakeFiles = (of: { workspaceId: string; executionId: string; input: Json; userId: string }) => Promise<void>

export function makeStarter(options: {
  engine: Engine
  quota: Quota
  turns: Pick<Turns, 'next'>
  takeFiles: TakeFiles
}) {
  const { engine, turns } = options
  const counted = makeCountedStart(options)
  return async function startTarget(
    workspaceId: string,
    target: Target,
    input: JsonObject,
    by: {
      trigger: { kind: TriggerKind; id: string | null }
      startedBy: string | null
      initiatedBy?: Initiator[]
      idempotency?: Start['idempotency']
      inputPath?: string
      tellEnd?: boolean
      executionId?: string
      traceparent?: string | null
      more?: StartOptions
      /** Called when only the commit of the start is missing. */
      onCommitting?: () => void
    },
  ): Promise<Started> {
    const { inputs, ...start } = target
    return counted(
      workspaceId,
      by.idempotency,
      () => checkInputInTurn(turns, workspaceId, { inputs, input, path: by.inputPath }),
      async () => {
        const executionId = by.executionId ?? newId()
        if (by.startedBy !== null) await options.takeFiles({ workspaceId, executionId, input, userId: by.startedBy })
        by.onCommitting?.()
        return engine.start({
          ...start,
          executionId,
          workspaceId,
          input,
          trigger: by.trigger,
          startedBy: by.startedBy,
          // A system workflow has no principal and acts for the person who runs it.
          principalId: start.principalId ?? by.startedBy,
          ...(by.initiatedBy && { initiatedBy: by.initiatedBy }),
          ...(by.idempotency && { idempotency: by.idempotency }),
          ...(by.tellEnd && { tellEnd: true }),
          ...by.more,
          ...(by.traceparent && { labels: { ...by.more?.labels, traceparent: by.traceparent } }),
        })
      },
    )
  }
}

export type StartExecution = ReturnType<typeof makeStarter>
