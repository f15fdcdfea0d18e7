import { serviceAccountInitiator } from '#engine/initiators'
import type { Started } from '#engine/ports'
import type { JsonObject } from '#model/definition'
import { isProblem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { toWire } from '#platform/ids'
import { startOptionsOf } from './options.ts'
import type { BatchAccepted, BatchRun } from './schema.ts'
import { checkInput, findTarget, idempotencyOf, type StartExecution, type Target } from './start.ts'

// Starts many executions of one workflow in one request. All inputs are checked before the first execution is started.
// Then each start is accepted or refused separately, because a queue or a quota can fill up during the batch.

export type BatchParts = { startExecution: StartExecution }

/** The number of concurrent starts. Their rows are written in shared statements. */
const AT_ONCE = 100

/** Returns the idempotency key of one start. Without its own key, it uses the request's key and its position. */
function keyOf(ctx: Context, workflowId: string, run: BatchRun, position: number) {
  const key = run.idempotency_key ?? (ctx.idempotencyKey === null ? null : `${ctx.idempotencyKey} #${position}`)
  const { idempotency_key: _key, ...body } = run
  const { credential, maybePerson, maybeWorkspace } = ctx
  return idempotencyOf(
    { credential, maybePerson, maybeWorkspace, idempotencyKey: key },
    JSON.stringify([workflowId, body]),
  )
}

async function targetsOf(ctx: Context, workflowId: string, runs: BatchRun[]): Promise<Map<string | undefined, Target>> {
  const versions = new Set(runs.map(({ version_id }) => version_id))
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const targets = new Map<string | undefined, Target>()
    for (const version of versions)
      targets.set(version, await findTarget(tx, ctx.workspace.workspace_id, workflowId, version))
    return targets
  })
}

export async function runBatch(
  parts: BatchParts,
  ctx: Context,
  { workflow_id, runs }: { workflow_id: string; runs: BatchRun[] },
): Promise<BatchAccepted> {
  const targets = await targetsOf(ctx, workflow_id, runs)
  const prepared = runs.map((run, position) => {
    const target = targets.get(run.version_id)!
    const input = (run.input ?? {}) as JsonObject
    checkInput(target.inputs, input, `/runs/${position}/input`)
    const more = startOptionsOf(target, run, `/runs/${position}`)
    return { target, input, more, idempotency: keyOf(ctx, workflow_id, run, position) }
  })
  const answers: BatchAccepted['runs'] = []
  for (let from = 0; from < prepared.length; from += AT_ONCE) {
    const some = prepared.slice(from, from + AT_ONCE)
    const started = await Promise.allSettled(
      some.map(({ target, input, more, idempotency }) =>
        parts.startExecution(ctx.workspace.workspace_id, target, input, {
          trigger: { kind: 'user', id: toWire('usr', ctx.person.user_id) },
          startedBy: ctx.person.user_id,
          ...(ctx.person.isServiceAccount && { initiatedBy: [serviceAccountInitiator(ctx.person.user_id)] }),
          traceparent: ctx.traceparent,
          more,
          ...(idempotency && { idempotency }),
        }),
      ),
    )
    answers.push(...started.map(answerOf))
  }
  const refused = answers.filter(({ error }) => error !== null).length
  ctx.status(202)
  return { runs: answers, started: answers.length - refused, refused }
}

function answerOf(outcome: PromiseSettledResult<Started>): BatchAccepted['runs'][number] {
  if (outcome.status === 'fulfilled') return { execution_id: outcome.value.executionId, status: 'queued', error: null }
  const { reason } = outcome
  if (!isProblem(reason)) throw reason
  return { execution_id: null, status: null, error: { code: reason.code, message: reason.message } }
}
