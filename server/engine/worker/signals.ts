import type { JsonObject } from '#model/definition'
import type { Command } from '../interpreter/commands.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import type { JournalEvent, NodeState } from '../interpreter/state.ts'
import type { Signal } from '../ports.ts'

// Converts messages from outside to messages for the interpreter and events for the journal.

/**
 * Returns the event for a result kept from the retried execution. It is journalled again, so that this journal is
 * complete on its own.
 */
export const keptEvent = (id: string, node: NodeState, at: number): JournalEvent => {
  const { attempt, output, blob, port, error } = node
  const data: JsonObject = { node_id: id, attempt, kept: true }
  if (output !== undefined) data.output = output
  if (blob) data.blob = blob
  if (port !== undefined) data.port = port
  if (error) data.error = error
  const type = node.status === 'skipped' ? 'node.skipped' : node.status === 'failed' ? 'node.failed' : 'node.succeeded'
  return { type, at, data }
}

export const outcomeUnknown = (command: Command): GraphMessage => ({
  kind: 'error',
  node: command.node,
  attempt: 'attempt' in command ? command.attempt : 1,
  error: {
    code: 'outcome_unknown',
    message: 'the worker stopped while this node was running; the node may have taken effect, so it was not retried',
  },
  retryable: false,
})

export const messageOf = (signal: Signal, node: string, attempt: number): GraphMessage | undefined => {
  switch (signal.type) {
    case 'approval.voted':
      return { kind: 'voted', node, data: signal.data }
    case 'approval.edited':
      return { kind: 'edited', node, data: signal.data }
    case 'approval.resolved':
      return { kind: 'resolved', node, outcome: signal.outcome, output: signal.output, data: signal.data }
    case 'clarification.answered':
      return { kind: 'answered', node, answer: signal.answer, data: signal.data }
    case 'event.received':
      return { kind: 'received', node, output: signal.output, data: signal.data }
    case 'node.failed':
      return { kind: 'refused', node, error: signal.error }
    case 'check':
      return { kind: 'check', node }
    case 'child.ended':
      return {
        kind: 'child',
        node,
        attempt,
        results: signal.results,
        error: signal.error,
        ...(signal.isPermanent && { isPermanent: true }),
      }
    default:
      return undefined
  }
}
