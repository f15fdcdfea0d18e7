import { bodyOf } from '#model/body'
import type { Definition, Graph, Json, JsonObject } from '#model/definition'
import type { Effect } from '#model/node'
import { toWire } from '#platform/ids'
import { mayBeSuspended } from '../interpreter/commands.ts'
import type { Context } from '../interpreter/context.ts'
import type { GraphState } from '../interpreter/state.ts'
import type { StartRow } from '../journal/batch.ts'
import type { DefinitionRef, EnginePorts, Initiator, Signal, TriggerKind } from '../ports.ts'
import { callbacksIn } from './callbacks.ts'

export type InboxMessage = { n: number; payload: Signal }

/** The data of an execution when this worker starts to own it. */
export type Owned = {
  workspaceId: string
  executionId: string
  workflowId: string | null
  versionId: string | null
  systemSlug: string | null
  definitionRef: DefinitionRef
  input: Json
  trigger: { kind: TriggerKind; id: string | null }
  startedBy: string | null
  /** The people and things that led to the execution, nearest first. */
  initiatedBy: Initiator[]
  principalId: string | null
  parent: { executionId: string; node: string } | null
  depth: number
  /** The trace of the caller that started the execution. */
  traceparent: string | null
  /** Rules of the workflow decided when the execution started. */
  isGated: boolean
  tellEnd: boolean
  /** A gate or question may have been opened, so its area must be told of the end. */
  mayHaveOpenedRequests: boolean
  epoch: number
  crashes: number
  seen: number
  inbox: InboxMessage[]
  snapshotSeq: number
  /** Whether the journal has any events. */
  hasStarted: boolean
  /** The state to continue from. Before the start: the results kept from the retried execution. */
  state?: GraphState
  /** The number of bytes loaded from the blob store. */
  loadedBytes: number
  /** The time of the timeout, in milliseconds of the database clock. */
  deadline: number | null
  context: Context
}

const PEOPLE = new Set(['approval', 'clarification', 'wait.event'])

const startsExecutions = (graph: Graph): boolean =>
  graph.nodes.some((node) => {
    const body = bodyOf(node)
    const isStarter = node.type === 'subworkflow' || mayBeSuspended(node.type)
    return isStarter || (body !== undefined && startsExecutions(body as unknown as Graph))
  })

const startersIn = new WeakMap<Graph, boolean>()

/** Checks whether a node in the body of a map or loop may start other executions. */
export const mayStartInBodies = (graph: Graph): boolean => {
  const known = startersIn.get(graph)
  if (known !== undefined) return known
  const found = graph.nodes.some((node) => {
    const body = bodyOf(node)
    return body !== undefined && startsExecutions(body as unknown as Graph)
  })
  startersIn.set(graph, found)
  return found
}

const opensRequests = (graph: Graph): boolean =>
  graph.nodes.some((node) => {
    const body = bodyOf(node)
    return (
      PEOPLE.has(node.type) ||
      mayBeSuspended(node.type) ||
      (body !== undefined && opensRequests(body as unknown as Graph))
    )
  })

const peopleIn = new WeakMap<Graph, boolean>()

export const mayOpenRequests = (definition: Definition): boolean => {
  const known = peopleIn.get(definition)
  if (known !== undefined) return known
  const found = opensRequests(definition)
  peopleIn.set(definition, found)
  return found
}

export const contextOf = (
  about: {
    workspaceId: string
    executionId: string
    workflowId: string | null
    startedBy: string | null
    input: Json
    scheduledAt: Date | null
    vars: JsonObject | undefined
  },
  trigger: { kind: TriggerKind; id: string | null },
  definition: Definition,
  effectOf: (type: string, args?: JsonObject) => Effect,
  callbackUrl?: EnginePorts['callbackUrl'],
): Context => {
  const { workflowId, startedBy } = about
  const execution: JsonObject = {
    execution_id: toWire('exe', about.executionId),
    workspace_id: toWire('ws', about.workspaceId),
    workflow_id: workflowId && toWire('wf', workflowId),
    started_by: startedBy && toWire('usr', startedBy),
    scheduled_at: about.scheduledAt?.toISOString() ?? null,
    trigger: { kind: trigger.kind, id: trigger.id },
  }
  const { workspaceId, executionId } = about
  const urlOf = callbackUrl && ((nodePath: string) => callbackUrl({ workspaceId, executionId, nodePath }))
  return {
    graph: definition,
    input: about.input,
    execution,
    vars: about.vars,
    seed: executionId,
    effectOf,
    ...(urlOf && { callbackUrl: urlOf, ...callbacksIn(definition, '', urlOf) }),
  }
}

export const ownedFromStart = (
  at: { workspaceId: string; executionId: string; clock: number },
  start: StartRow,
  definition: Definition,
  vars: JsonObject | undefined,
  effectOf: (type: string, args?: JsonObject) => Effect,
  callbackUrl?: EnginePorts['callbackUrl'],
): Owned => {
  const { workflowId, versionId, startedBy, input, trigger } = start
  const scheduledAt = start.labels?.scheduledAt ?? null
  return {
    workspaceId: at.workspaceId,
    executionId: at.executionId,
    workflowId,
    versionId,
    systemSlug: start.systemSlug ?? null,
    definitionRef: start.definitionRef,
    input,
    trigger,
    startedBy,
    initiatedBy: start.initiatedBy,
    principalId: start.principalId ?? null,
    parent: start.parent ?? null,
    depth: start.depth,
    traceparent: start.labels?.traceparent ?? null,
    isGated: false,
    tellEnd: start.tellEnd,
    mayHaveOpenedRequests: mayOpenRequests(definition),
    epoch: 0,
    crashes: 0,
    seen: 0,
    inbox: [],
    snapshotSeq: 0,
    hasStarted: false,
    loadedBytes: 0,
    ...(start.snapshot && { state: start.snapshot }),
    deadline: start.timeoutS == null ? null : at.clock + start.timeoutS * 1000,
    context: contextOf(
      { ...at, workflowId, startedBy, input, scheduledAt, vars },
      trigger,
      definition,
      effectOf,
      callbackUrl,
    ),
  }
}
