import { timeOfId } from '#platform/ids'
import type { FinishedRun } from '../finished-run.ts'
import type { Live } from './live-types.ts'

/** Returns an execution as its worker has it in memory when it ends. */
export function finishedRun({ owned, top }: Live, finishedAt: number): FinishedRun {
  const { state, context } = top
  const createdAt = Math.min(timeOfId(owned.executionId), finishedAt)
  const nodes: FinishedRun['nodes'][number][] = []
  let startedAt = finishedAt
  for (const { id, type } of context.graph.nodes) {
    const node = state.nodes[id]
    if (node === undefined) continue
    // A retry also contains nodes that were kept from the retried execution.
    const isOwn = node.status !== 'skipped' && node.started_at !== undefined && node.started_at >= createdAt - SKEW
    const began = isOwn ? (node.started_at as number) : null
    if (began !== null && began < startedAt) startedAt = began
    nodes.push({
      id,
      type,
      status: node.status,
      attempt: node.attempt,
      startedAt: began,
      finishedAt: node.finished_at ?? null,
      errorCode: node.error?.code ?? null,
    })
  }
  return {
    workspaceId: owned.workspaceId,
    executionId: owned.executionId,
    workflowId: owned.workflowId,
    versionId: owned.versionId,
    trigger: owned.trigger,
    parentExecutionId: owned.parent?.executionId ?? null,
    traceparent: owned.traceparent,
    input: owned.input,
    results: state.results ?? null,
    status: state.status,
    error: state.error ?? null,
    createdAt,
    startedAt: nodes.some((node) => node.startedAt !== null) ? startedAt : createdAt,
    finishedAt,
    nodes,
  }
}

/** The tolerance in milliseconds: ids are made by the clock of a process, which may be ahead of the database clock. */
const SKEW = 1_000
