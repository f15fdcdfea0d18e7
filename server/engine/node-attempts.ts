import type { ExecutionError, JsonObject } from '#model/definition'
import type { NodeState } from './interpreter/state.ts'
import type { AttemptView } from './node-view.ts'
import type { BlobRef, ExecutionEventType } from './ports.ts'

export type NodeEvent = { type: ExecutionEventType; at: Date; data: JsonObject }

/** Returns the attempts of a node, from its events. */
export function attemptsOf(events: NodeEvent[]): AttemptView[] {
  const attempts = new Map<number, AttemptView>()
  for (const { type, at, data } of events) {
    const attempt = Number(data.attempt ?? 1)
    const known = attempts.get(attempt) ?? { attempt, status: 'running', started_at: null, finished_at: null }
    const time = at.toISOString()
    if (type === 'node.started') attempts.set(attempt, { ...known, started_at: time })
    if (type === 'node.succeeded' || type === 'node.failed' || type === 'node.retrying') {
      const { output, blob, error, next_attempt_at, usage } = data
      attempts.set(attempt, {
        ...known,
        status: type === 'node.succeeded' ? 'succeeded' : 'failed',
        started_at: known.started_at ?? time,
        finished_at: time,
        ...(type === 'node.succeeded' && blob === undefined && { output: output ?? null }),
        ...(blob !== undefined && { blob: blob as unknown as BlobRef }),
        ...(error !== undefined && { error: error as unknown as ExecutionError }),
        ...(typeof next_attempt_at === 'string' && { next_attempt_at }),
        ...(usage !== undefined && { usage }),
      })
    }
  }
  return [...attempts.values()]
}

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

/** Only the last attempt of a node inside an item or iteration is kept. */
export const lastAttempt = (node: NodeState): AttemptView[] =>
  node.status === 'skipped' || node.status === 'pending'
    ? []
    : [
        {
          attempt: node.attempt,
          status: node.status,
          started_at: iso(node.started_at),
          finished_at: iso(node.finished_at),
          ...(node.output !== undefined && !node.blob && { output: node.output }),
          ...(node.blob && { blob: node.blob }),
          ...(node.error && { error: node.error }),
        },
      ]
