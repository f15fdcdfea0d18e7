import { bodyOf } from '#model/body'
import type { Definition, Graph } from '#model/definition'
import type { JournalEvent } from './interpreter/state.ts'
import type { EnginePorts, ExecutionEventType } from './ports.ts'

// Old and new releases work side by side during an update. An older release may not understand what a newer one
// defined or journalled, and then leaves the execution alone. If no newer release was ever seen, an unknown type is
// an error.

/** This release does not understand the execution, but a newer release that works on this database does. */
export class NeedsNewerRelease extends Error {}

/** Node types that the interpreter executes itself. */
const control = new Set([
  'set',
  'branch',
  'map',
  'loop',
  'wait',
  'subworkflow',
  'fail',
  'approval',
  'clarification',
  'wait.event',
])

const eventTypes: Record<ExecutionEventType, true> = {
  'execution.started': true,
  'execution.waiting': true,
  'execution.resumed': true,
  'execution.ending': true,
  'execution.succeeded': true,
  'execution.failed': true,
  'execution.cancelled': true,
  'execution.timed_out': true,
  'node.started': true,
  'node.progress': true,
  'node.succeeded': true,
  'node.failed': true,
  'node.retrying': true,
  'node.skipped': true,
  'approval.opened': true,
  'approval.edited': true,
  'approval.voted': true,
  'approval.resolved': true,
  'clarification.asked': true,
  'clarification.answered': true,
  'event.awaited': true,
  'event.received': true,
}

export type ReleaseSupport = {
  ofDefinition(definition: Definition): boolean
  ofJournal(events: readonly JournalEvent[]): boolean
}

export const makeReleaseSupport = (nodes: EnginePorts['nodes']): ReleaseSupport => {
  const known = new WeakMap<Graph, boolean>()

  const ofGraph = (graph: Graph): boolean =>
    graph.nodes.every((node) => {
      const body = bodyOf(node)
      return (control.has(node.type) || Object.hasOwn(nodes, node.type)) && (!body || ofGraph(body as unknown as Graph))
    })

  return {
    ofDefinition: (definition) => {
      const found = known.get(definition)
      if (found !== undefined) return found
      const understood = ofGraph(definition)
      known.set(definition, understood)
      return understood
    },
    ofJournal: (events) => events.every(({ type }) => Object.hasOwn(eventTypes, type)),
  }
}
