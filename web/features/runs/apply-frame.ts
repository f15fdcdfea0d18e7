import type { Frame } from '#sdk/sockets'
import type { Execution } from '#sdk/types.generated'

type Node = Execution['nodes'][number]
type Data = {
  node_id?: string
  attempt?: number
  in_map?: boolean
  until?: string
  output?: unknown
  port?: string
  error?: Node['error']
}

const ends: Record<string, Execution['status']> = {
  'execution.succeeded': 'succeeded',
  'execution.failed': 'failed',
  'execution.cancelled': 'cancelled',
  'execution.timed_out': 'timed_out',
}

/** Applies one journal event to the shown execution. Events that it already includes change nothing. */
export function applyFrame(execution: Execution, frame: Frame): Execution {
  if (frame.seq <= execution.seq) return execution
  const next = { ...execution, seq: frame.seq }
  const data = (frame.data ?? {}) as Data
  const end = ends[frame.type]
  if (end) return { ...next, status: end, finished_at: frame.at, waiting_for: [] }
  if (frame.type === 'execution.waiting') return { ...next, status: 'waiting' }
  if (frame.type === 'execution.started' || frame.type === 'execution.resumed') {
    return { ...next, status: 'running', started_at: execution.started_at ?? frame.at, waiting_for: [] }
  }
  if (frame.type === 'execution.ending' && data.until === undefined) {
    // Active nodes are interrupted; the finally nodes follow.
    const isActive = ({ status }: Node): boolean => status === 'running' || status === 'waiting'
    const closed = (node: Node): Node => ({ ...node, status: 'failed', finished_at: frame.at })
    return { ...next, waiting_for: [], nodes: execution.nodes.map((node) => (isActive(node) ? closed(node) : node)) }
  }
  if (data.node_id === undefined || data.in_map) return next
  const old = execution.nodes.find(({ node_id }) => node_id === data.node_id)
  const changed = changeNode(old ?? fresh(data.node_id), frame, data)
  if (!changed) return next
  const nodes = old ? execution.nodes.map((node) => (node === old ? changed : node)) : [...execution.nodes, changed]
  return { ...next, nodes }
}

const fresh = (node_id: string): Node => ({
  node_id,
  status: 'pending',
  attempt: 0,
  started_at: null,
  finished_at: null,
})

function changeNode(node: Node, frame: Frame, data: Data): Node | undefined {
  const attempt = data.attempt ?? node.attempt
  switch (frame.type) {
    case 'node.started':
      return {
        ...node,
        attempt,
        status: data.until === undefined ? 'running' : 'waiting',
        started_at: node.started_at ?? frame.at,
      }
    case 'node.retrying':
    case 'approval.opened':
    case 'clarification.asked':
    case 'event.awaited':
      return { ...node, status: 'waiting' }
    case 'approval.edited':
    case 'approval.resolved':
    case 'clarification.answered':
    case 'event.received':
      return { ...node, status: 'running' }
    case 'node.succeeded':
      return {
        ...node,
        attempt,
        status: 'succeeded',
        finished_at: frame.at,
        ...(data.output !== undefined && { output: data.output }),
        ...(data.port !== undefined && { port: data.port }),
      }
    case 'node.failed':
      return {
        ...node,
        attempt,
        status: 'failed',
        finished_at: frame.at,
        ...(data.error && { error: data.error }),
        ...(data.port !== undefined && { port: data.port }),
      }
    case 'node.skipped':
      return { ...node, status: 'skipped', finished_at: frame.at }
    default:
      return undefined
  }
}
