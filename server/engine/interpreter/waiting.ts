import type { WaitingFor } from '../ports.ts'
import { activeNodes, type GraphState } from './state.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/**
 * Returns what a waiting graph waits for, as users see it. `prefix` is the path of the item or iteration that the
 * graph belongs to.
 */
export const waitingFor = (state: GraphState, prefix = ''): WaitingFor[] =>
  activeNodes(state).flatMap(([id, node]): WaitingFor[] => {
    if (!node.wait) return []
    const common = { node_id: prefix + id, since: iso(node.started_at ?? 0) }
    switch (node.wait.kind) {
      case 'timer':
      case 'retry':
      case 'delay':
        return [{ kind: 'timer', ...common, until: iso(node.wait.until) }]
      case 'execution':
        return [
          { kind: 'execution', ...common, ...(node.wait.child !== undefined && { execution_id: node.wait.child }) },
        ]
      default:
        return [
          {
            ...node.wait.data,
            kind: node.wait.kind,
            ...common,
            ...(node.wait.until !== null && { until: iso(node.wait.due ?? node.wait.until) }),
          },
        ]
    }
  })
