import type { Readable } from 'node:stream'
import { hasFinished } from '#areas/executions/start'
import type { Views } from '#areas/executions/view'
import type { Engine, ExecutionView, NodeView } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import type { ChallengeAnswer } from './challenge.ts'
import type { InboundToken } from './inbound-token.ts'

// What a caller of a webhook is answered.

export type Reply = { status: number; headers: Record<string, string>; body: string | Readable }
export type ReplyParts = { engine: Engine; views: Views; blobs: Blobs; db: Database }

const JSON_TYPE = 'application/json; charset=utf-8'

/** A page of a tenant comes from the address of the service: whatever it says, it runs nothing there. */
const SANDBOX =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'"

const jsonReply = (status: number, value: unknown): Reply => ({
  status,
  headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store' },
  body: JSON.stringify(value ?? null),
})

export const challengeReply = ({ contentType, body }: ChallengeAnswer): Reply => ({
  status: 200,
  headers: { 'content-type': `${contentType}; charset=utf-8`, 'cache-control': 'no-store' },
  body,
})

function nodeReply(output: Json): Reply {
  const { status, headers, body } = output as { status: number; headers: JsonObject; body: Json }
  const isText = typeof body === 'string'
  const type = { 'content-type': isText ? 'text/plain; charset=utf-8' : JSON_TYPE, 'cache-control': 'no-store' }
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  const text = isText ? body : body === null ? '' : JSON.stringify(body)
  return { status, headers: { ...type, ...own, 'content-security-policy': SANDBOX }, body: text }
}

const failedRun = ({ execution_id, status }: ExecutionView) =>
  problem('run_failed', `The run ${toWire('exe', execution_id)} ended as ${status}.`)

const late = (token: InboundToken) =>
  problem('respond_timeout', `The workflow gave no answer within ${token.respond_timeout_s} s. It goes on.`)

/** `http.respond` nodes at the top level of the version that runs. */
async function respondNodes({ db }: ReplyParts, { workspace_id, version_id }: InboundToken): Promise<Set<string>> {
  const rows = await db.tenant({ workspaceId: workspace_id, userId: null }, (tx) =>
    tx.rows<{ id: string }>(
      `select n ->> 'id' as id from workflow_versions v cross join json_array_elements(v.definition -> 'nodes') n
       where v.workspace_id = $1 and v.version_id = $2 and n ->> 'type' = 'http.respond'`,
      [workspace_id, version_id],
    ),
  )
  return new Set(rows.map(({ id }) => id))
}

async function outputOf({ blobs }: ReplyParts, node: NodeView): Promise<Json> {
  const bytes = node.blob && (await blobs.get(node.blob.key))
  return bytes ? (JSON.parse(bytes.toString()) as Json) : (node.output ?? null)
}

const firstOf = (view: ExecutionView, ids: ReadonlySet<string>): NodeView | undefined =>
  view.nodes
    .filter(({ node_id, status }) => ids.has(node_id) && status === 'succeeded')
    .sort((a, b) => (a.finished_at ?? '').localeCompare(b.finished_at ?? ''))[0]

/** Looks at the execution whenever something of it was journalled, and every second in case nobody says so. */
async function watch(
  { engine }: ReplyParts,
  { workspace_id, respond_timeout_s }: InboundToken,
  executionId: string,
  signal: AbortSignal,
  found: (view: ExecutionView) => Promise<Reply | undefined>,
): Promise<Reply | undefined> {
  const until = performance.now() + respond_timeout_s * SECOND
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const off = engine.onAppended((ids) => {
      if (ids.includes(executionId) || ids.includes('*')) resolve()
    })
    let timer: NodeJS.Timeout | undefined
    try {
      const view = await engine.readExecution(workspace_id, executionId)
      const reply = view && (await found(view))
      const left = until - performance.now()
      if (reply || left <= 0 || signal.aborted || !view) return reply
      timer = setTimeout(resolve, Math.min(left, SECOND))
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
    } finally {
      clearTimeout(timer)
      off()
    }
  }
}

export async function replyTo(
  parts: ReplyParts,
  ctx: Context,
  token: InboundToken,
  executionId: string,
): Promise<Reply> {
  const accepted = { execution_id: toWire('exe', executionId), status: 'queued' }
  if (token.respond === 'accepted') return jsonReply(202, accepted)
  if (token.respond === 'result') {
    const ms = token.respond_timeout_s * SECOND
    const view = await parts.engine.waitFor(token.workspace_id, executionId, ms, ctx.signal)
    if (!view || !hasFinished(view)) throw late(token)
    if (view.status !== 'succeeded') throw failedRun(view)
    return { ...jsonReply(200, null), body: (await parts.views.results(view)) ?? 'null' }
  }
  const ids = await respondNodes(parts, token)
  const reply = await watch(parts, token, executionId, ctx.signal, async (view) => {
    const node = firstOf(view, ids)
    if (node) return nodeReply(await outputOf(parts, node))
    if (!hasFinished(view)) return undefined
    if (view.status !== 'succeeded') throw failedRun(view)
    return jsonReply(200, { ...accepted, status: view.status })
  })
  if (!reply) throw late(token)
  return reply
}
