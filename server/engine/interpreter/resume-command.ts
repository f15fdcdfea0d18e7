import type { Node } from '#model/definition'
import { argsOf } from './activate.ts'
import { type Command, commandFor } from './commands.ts'
import { errorOf } from './errors.ts'
import type { GraphMessage } from './graph-message.ts'
import type { Pass } from './pass.ts'
import type { NodeState } from './state.ts'

/**
 * A command, or a failure if the command is no longer possible: this release may have lower limits than the one that
 * started the node.
 */
export type ResumedCommand = Command | { do: 'tell'; message: GraphMessage }

export const resumeCommand = (pass: Pass, id: string, node: NodeState): ResumedCommand | undefined => {
  try {
    return commandFor(pass.compiled, id, node, () => argsOf(pass, pass.compiled.nodes.get(id) as Node, node.ready))
  } catch (cause) {
    const [error, { attempt }] = [errorOf(cause), node]
    const message: GraphMessage =
      node.status === 'running'
        ? { kind: 'error', node: id, attempt, error, retryable: false }
        : { kind: 'child', node: id, attempt, results: null, error }
    return { do: 'tell', message }
  }
}
