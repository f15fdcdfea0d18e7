import { hasFinished } from '#areas/executions/start'
import type { Engine, ExecutionView } from '#engine/ports'
import type { JsonObject } from '#model/definition'
import { systemClock } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { toWire } from '#platform/ids'
import { hashJson, linkAfter } from './chain.ts'
import type { Receipt, ReceiptEvent, ReceiptStatement } from './schema.ts'
import type { Signer } from './sign.ts'
import { findDefinitionSha256 } from './store.ts'

// A receipt states what an execution did, who approved what, and that nothing was changed since. It is created from the
// stored data on request. The signature covers hashes of its parts, so that a verification can name the part that was
// changed.

/** The number of events per page. A page is hashed without yielding to the event loop, so it is small. */
const EVENTS_AT_ONCE = 50
const MAX_EVENTS = 20_000

export type ReceiptDependencies = {
  engine: Pick<Engine, 'readExecution' | 'readEvents'>
  signer: Signer
  baseUrl(): string
  /** The gates of an execution with their votes, as JSON. */
  readGates(tx: Tx, workspaceId: string, executionId: string): Promise<JsonObject[]>
  systemDefinitionSha256(slug: string): string | null
}

export async function getReceipt(
  deps: ReceiptDependencies,
  ctx: Context,
  { execution_id }: { execution_id: string },
): Promise<Receipt> {
  const workspaceId = ctx.workspace.workspace_id
  const view = await deps.engine.readExecution(workspaceId, execution_id)
  if (!view) throw problem('not_found')
  if (!hasFinished(view))
    throw problem('conflict', 'The execution has not ended yet. Its receipt is available after it ends.')
  if (view.seq > MAX_EVENTS)
    throw problem('answer_too_large', `The journal has ${view.seq} events; a receipt has at most ${MAX_EVENTS}.`)
  const { gates, version } = await ctx.db.tenant(scopeOf(ctx), async (tx) => ({
    gates: await deps.readGates(tx, workspaceId, execution_id),
    version: view.version_id && (await findDefinitionSha256(tx, workspaceId, view.version_id)),
  }))
  const definition = view.system_slug === null ? version : deps.systemDefinitionSha256(view.system_slug)
  const events = await readChain(deps.engine, workspaceId, execution_id, ctx.signal)
  const execution = executionOf(view)
  const content = contentOf(view, definition ?? null)
  const statement: ReceiptStatement = {
    format: 'receipt/1',
    issued_at: systemClock.now().toISOString(),
    issuer: deps.baseUrl(),
    execution_sha256: hashJson(execution),
    content_sha256: hashJson(content),
    gates_sha256: gates.map(hashJson),
    events: events.length,
    journal: events.at(-1)?.link ?? '',
    key_id: deps.signer.keyId,
  }
  return {
    heddle: 'receipt/1',
    execution,
    content,
    gates,
    events,
    statement,
    public_key: deps.signer.publicKey,
    signature: deps.signer.sign(statement),
  }
}

async function readChain(
  engine: Pick<Engine, 'readEvents'>,
  workspaceId: string,
  executionId: string,
  signal: AbortSignal,
): Promise<ReceiptEvent[]> {
  const events: ReceiptEvent[] = []
  for (;;) {
    signal.throwIfAborted()
    const last = events.at(-1)
    const page = await engine.readEvents(workspaceId, executionId, last?.seq ?? 0, EVENTS_AT_ONCE)
    for (const { seq, type, at, data } of page) {
      const event = { seq, type, at: at.toISOString(), data_sha256: hashJson(data) }
      events.push({ ...event, link: linkAfter(events.at(-1)?.link ?? '', event) })
    }
    if (page.length === 0) return events
  }
}

const wired = (prefix: Parameters<typeof toWire>[0], id: string | null): string | null => id && toWire(prefix, id)
const time = (at: Date | null): string | null => at?.toISOString() ?? null

const executionOf = (view: ExecutionView): JsonObject => ({
  execution_id: toWire('exe', view.execution_id),
  workspace_id: toWire('ws', view.workspace_id),
  workflow_id: wired('wf', view.workflow_id) ?? view.system_slug,
  version_id: wired('wfv', view.version_id),
  status: view.status,
  error: view.error && { code: view.error.code, message: view.error.message },
  trigger: { ...view.trigger },
  started_by: wired('usr', view.started_by),
  principal_id: wired('usr', view.principal_id),
  initiated_by: view.initiated_by.map(({ kind, id, user_id }) => ({ kind, id, user_id: wired('usr', user_id) })),
  retry_of: wired('exe', view.retry_of),
  parent_execution_id: wired('exe', view.parent_execution_id),
  created_at: time(view.created_at),
  started_at: time(view.started_at),
  finished_at: time(view.finished_at),
})

/** Large results are stored separately, under the hash of their stored text. */
const contentOf = (view: ExecutionView, definition: string | null): JsonObject => ({
  definition_sha256: definition,
  input_sha256: hashJson(view.input),
  results_sha256: view.results_blob?.sha256 ?? hashJson(view.results),
  results_form: view.results_blob === null ? 'canonical' : 'stored',
})
