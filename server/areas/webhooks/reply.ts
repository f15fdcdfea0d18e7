import type { Readable } from 'node:stream'
import { hasFinished } from '#areas/executions/start'
import type { Views } from '#areas/executions/view'
import { type HttpResponse, isHttpResponse } from '#engine/nodes/http-respond'
import type { BlobRef, Engine, ExecutionView } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import type { ChallengeAnswer } from './challenge.ts'
import type { InboundToken } from './inbound-token.ts'

// The responses to callers of a webhook.

export type Reply = { status: number; headers: Record<string, string>; body: string | Readable }
export type ReplyParts = { engine: Engine; views: Views; blobs: Blobs; db: Database }

/** The number of events per read while a caller waits. */
const PAGE = 200
const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * The content security policy of a tenant's page. The page has the origin of the service, so it must not run scripts.
 */
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

function nodeReply({ status, headers, body }: HttpResponse): Reply {
  const isText = typeof body === 'string'
  const type = { 'content-type': isText ? 'text/plain; charset=utf-8' : JSON_TYPE, 'cache-control': 'no-store' }
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const text = isText ? body : body === null ? '' : JSON.stringify(body)
  return { status, headers: { ...type, ...own, 'content-security-policy': SANDBOX }, body: text }
}

const failedRun = ({ execution_id, status }: Pick<ExecutionView, 'execution_id' | 'status'>) =>
  problem('run_failed', `The run ${toWire('exe', execution_id)} ended as ${status}.`)

const late = (token: InboundToken) =>
  problem('respond_timeout', `The workflow did not respond within ${token.respond_timeout_s} s. It continues to run.`)

/**
 * Returns the `http.respond` nodes at the top level of the executed version. A disabled one answers nothing: its output
 * is the output of another node.
 */
async function respondNodes({ db }: ReplyParts, { workspace_id, version_id }: InboundToken): Promise<Set<string>> {
  const rows = await db.tenant({ workspaceId: workspace_id, userId: null }, (tx) =>
    tx.rows<{ id: string }>(
      `select n ->> 'id' as id from workflow_versions v cross join json_array_elements(v.definition -> 'nodes') n
       where v.workspace_id = $1 and v.version_id = $2 and n ->> 'type' = 'http.respond'
         and n ->> 'disabled' is distinct from 'true'`,
      [workspace_id, version_id],
    ),
  )
  return new Set(rows.map(({ id }) => id))
}

/** Returns the first response in the journal after `seen`. Each event is read only once. */
async function findAnswer(
  { engine }: ReplyParts,
  { workspace_id }: InboundToken,
  executionId: string,
  ids: ReadonlySet<string>,
  seen: { seq: number },
): Promise<JsonObject | undefined> {
  for (;;) {
    const events = await engine.readEvents(workspace_id, executionId, seen.seq, PAGE)
    for (const { seq, type, data } of events) {
      seen.seq = seq
      if (type === 'node.succeeded' && data.in_map !== true && ids.has(String(data.node_id))) return data
    }
    if (events.length === 0) return undefined
  }
}

async function outputOf({ blobs }: ReplyParts, { blob, output }: JsonObject): Promise<Json> {
  const bytes = blob && (await blobs.get((blob as unknown as BlobRef).key))
  return bytes ? (JSON.parse(bytes.toString()) as Json) : (output ?? null)
}

/** Checks the execution whenever its journal grows, and every second in case a notification is lost. */
async function watch(
  { engine }: ReplyParts,
  { respond_timeout_s }: InboundToken,
  executionId: string,
  signal: AbortSignal,
  look: () => Promise<Reply | undefined>,
): Promise<Reply | undefined> {
  const until = performance.now() + respond_timeout_s * SECOND
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const off = engine.onAppended((ids) => {
      if (ids.includes(executionId) || ids.includes('*')) resolve()
    })
    const leave = (): void => resolve()
    let timer: NodeJS.Timeout | undefined
    try {
      const reply = await look()
      const left = until - performance.now()
      if (reply || left <= 0 || signal.aborted) return reply
      timer = setTimeout(resolve, Math.min(left, SECOND))
      signal.addEventListener('abort', leave, { once: true })
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
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
    const view = await parts.engine.waitFor(token.workspace_id, executionId, ms, ctx.stepAside())
    if (!view || !hasFinished(view)) throw late(token)
    if (view.status !== 'succeeded') throw failedRun(view)
    return { ...jsonReply(200, null), body: (await parts.views.results(view)) ?? 'null' }
  }
  const ids = await respondNodes(parts, token)
  const seen = { seq: 0 }
  const reply = await watch(parts, token, executionId, ctx.stepAside(), async () => {
    // The status is read first, so that the journal then contains everything before the end.
    const status = await parts.engine.statusOf(token.workspace_id, executionId)
    const answered = await findAnswer(parts, token, executionId, ids, seen)
    if (answered) {
      const output = await outputOf(parts, answered)
      if (!isHttpResponse(output)) throw problem('run_failed', 'The workflow gave no valid response.')
      return nodeReply(output)
    }
    if (status === undefined || !hasFinished({ status })) return undefined
    if (status !== 'succeeded') throw failedRun({ execution_id: executionId, status })
    return jsonReply(200, { ...accepted, status })
  })
  if (!reply) throw late(token)
  return reply
}
