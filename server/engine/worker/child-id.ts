import { createHash } from 'node:crypto'
import type { Frame } from './frame.ts'

/**
 * Derives the id of a child from its parent, so that a worker that takes over starts the same child, and the child of
 * an earlier attempt is distinguished from the awaited one. The time in the id is that of the parent's node.
 */
export const childId = (executionId: string, frame: Frame, node: string, attempt: number | string): string => {
  const hash = createHash('sha256').update(`${executionId}:${frame.prefix}${node}:${attempt}`).digest('hex')
  const startedAt = frame.state.nodes[node]?.started_at ?? 0
  const time = Math.trunc(startedAt).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}
