import type { Node } from '#model/definition'
import type { Command } from '../interpreter/commands.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import type { CallEnd } from './record.ts'

// Converts the record of a past execution to messages for the interpreter.

/** Returns the message for the end of a call. */
export const endMessage = (command: Command, node: Node, attempt: number, end: CallEnd): GraphMessage => {
  if (command.do === 'child') {
    const error = end.kind === 'succeeded' ? null : end.error
    return { kind: 'child', node: node.id, attempt, results: end.kind === 'succeeded' ? end.output : null, error }
  }
  if (end.kind === 'succeeded')
    return {
      kind: 'done',
      node: node.id,
      attempt,
      output: end.output,
      ...(end.port !== undefined && { port: end.port }),
      ...(end.usage && { usage: end.usage }),
    }
  const { code, message, details } = end.error
  return {
    kind: 'error',
    node: node.id,
    attempt,
    error: { code, message, ...(details !== undefined && { details }) },
    retryable: end.kind === 'retrying',
    nothingDone: end.kind === 'retrying',
  }
}

/** Returns the message for the answer to a question, a gate or a wait for an event. */
export const answerMessage = ({ id, type }: Node, end: CallEnd): GraphMessage => {
  if (end.kind !== 'succeeded') {
    if (end.error.code === 'approval_rejected')
      return { kind: 'resolved', node: id, outcome: 'rejected', output: null, data: {} }
    return { kind: 'refused', node: id, error: { code: end.error.code, message: end.error.message } }
  }
  if (type === 'approval')
    return {
      kind: 'resolved',
      node: id,
      outcome: end.port === 'rejected' ? 'rejected' : 'approved',
      output: end.output,
      data: {},
    }
  if (type === 'clarification') return { kind: 'answered', node: id, answer: end.output, data: {} }
  return { kind: 'received', node: id, output: end.output, data: {} }
}
