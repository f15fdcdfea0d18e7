import type { ExecutionError, Json, JsonObject } from '#model/definition'
import type { BlobRef } from '../ports.ts'
import { activate, argsOf } from './activate.ts'
import { type Command, closingOf, commandFor } from './commands.ts'
import { failed, finish } from './failing.ts'
import { compile } from './graph.ts'
import { type Pass, record, settle } from './pass.ts'
import { type Context, readiness } from './scope.ts'
import { activeNodes, emptyState, type Fact, type GraphState, hasActive, hasEnded, type NodeState } from './state.ts'

// The interpreter: pure, synchronous, no clock, no I/O. What happened outside goes in with the time at which it did; the
// facts to journal and the commands to carry out once they are durable come out.

export type Failure = { code: string; message: string; details?: Json }

/** What the outside world tells a graph. One about a node that no longer waits for it changes nothing. */
export type Happening =
  | { kind: 'done'; node: string; attempt: number; output: Json; blob?: BlobRef; port?: string; usage?: JsonObject }
  | { kind: 'error'; node: string; attempt: number; error: Failure; retryable: boolean; nothingDone?: boolean }
  | { kind: 'step'; node: string; name: string; result: Json }
  | { kind: 'progress'; node: string; data: JsonObject }
  | { kind: 'chunk'; node: string; from: number; to: number; data: JsonObject }
  | { kind: 'opened'; node: string; people: 'approval' | 'clarification'; data: JsonObject; dueAt: number | null }
  | { kind: 'postponed'; node: string; people: 'approval' | 'clarification'; dueAt: number | null }
  | { kind: 'voted'; node: string; data: JsonObject }
  | { kind: 'resolved'; node: string; outcome: 'approved' | 'rejected'; output: Json; data: JsonObject }
  | { kind: 'answered'; node: string; answer: Json; data: JsonObject }
  | { kind: 'refused'; node: string; error: Failure }
  | { kind: 'child'; node: string; attempt: number; results: Json; blob?: BlobRef; error: ExecutionError | null }
  /** What it waits for may be over, or gone. */
  | { kind: 'check'; node: string }
  | { kind: 'time' }
  | { kind: 'cancel'; data: JsonObject }
  | { kind: 'timeout' }

export type Step = { state: GraphState; facts: Fact[]; commands: Command[] }

const openPass = (context: Context, state: GraphState, at: number): Pass => ({
  context,
  compiled: compile(context.graph),
  state: { ...state, nodes: { ...state.nodes } },
  at,
  facts: [],
  commands: [],
  look: [],
})

const closePass = (pass: Pass): Step => {
  while (pass.look.length > 0 && !hasEnded(pass.state)) {
    const id = pass.look.pop() as string
    if (pass.state.nodes[id]) continue
    const ready = readiness(pass.context, pass.compiled, pass.state, id)
    if (ready === 'ready') activate(pass, id)
    else if (ready === 'skip') {
      record(pass, 'node.skipped', { node_id: id })
      settle(pass, id)
    } else if (typeof ready === 'object') failed(pass, id, 1, ready.failed, false)
  }
  if (!hasEnded(pass.state) && !hasActive(pass.state)) finish(pass)
  return { state: pass.state, facts: pass.facts, commands: hasEnded(pass.state) ? [] : pass.commands }
}

/** Begins a graph; `seed` holds results kept from the execution that is being retried. */
export const begin = (context: Context, at: number, seed: GraphState = emptyState()): Step => {
  const pass = openPass(context, seed, at)
  pass.look = pass.compiled.graph.nodes.map((node) => node.id).reverse()
  return closePass(pass)
}

const waitsOn = (pass: Pass, id: string, kind: string): NodeState | undefined => {
  const node = pass.state.nodes[id]
  return node?.status === 'waiting' && node.wait?.kind === kind ? node : undefined
}

/** The gate or question that it already waits for was opened again, and is the same. */
const isSameAsking = ({ wait }: NodeState, data: JsonObject): boolean => {
  const known = wait && 'data' in wait ? wait.data : {}
  return known.request_id === data.request_id && known.clarification_id === data.clarification_id
}

const succeed = (pass: Pass, id: string, attempt: number, data: JsonObject): void => {
  record(pass, 'node.succeeded', { node_id: id, attempt, ...data })
  settle(pass, id)
}

/** Whatever time alone brings: waits that are over, retries that are due, nodes that took too long. */
const passTime = (pass: Pass) => {
  for (const [id, node] of activeNodes(pass.state)) {
    if (hasEnded(pass.state)) return
    const wait = node.wait
    const wasOver = wait?.kind === 'timer' && node.expires !== undefined && wait.until <= node.expires
    if (node.expires !== undefined && node.expires <= pass.at && !wasOver) {
      failed(pass, id, node.attempt, { code: 'timeout', message: 'the node took longer than its timeout_s' }, true)
    } else if (wait?.kind === 'timer' && wait.until <= pass.at) {
      const waited = Math.max(0, wait.until - (node.started_at ?? wait.until)) / 1000
      succeed(pass, id, node.attempt, { output: { waited_s: waited } })
    } else if (wait?.kind === 'retry' && wait.until <= pass.at) {
      activate(pass, id, node.attempt + 1)
    } else if ((wait?.kind === 'approval' || wait?.kind === 'clarification') && wait.until !== null) {
      if (wait.until <= pass.at) pass.commands.push({ do: 'due', node: id, people: wait.kind })
    }
  }
}

const absorb = (pass: Pass, happening: Happening) => {
  if (hasEnded(pass.state)) return
  switch (happening.kind) {
    case 'time':
      return passTime(pass)
    case 'cancel':
      return record(pass, 'execution.cancelled', happening.data)
    case 'timeout': {
      const error = { code: 'timeout', message: 'the execution took longer than its timeout_s' }
      return record(pass, 'execution.timed_out', { error })
    }
  }
  const id = happening.node
  const node = pass.state.nodes[id]
  switch (happening.kind) {
    case 'done': {
      if (node?.status !== 'running' || node.attempt !== happening.attempt) return
      const { port, blob, output, usage } = happening
      const data: JsonObject = { output }
      if (blob) data.blob = blob
      if (port !== undefined && port !== 'out') data.port = port
      if (usage) data.usage = usage
      return succeed(pass, id, happening.attempt, data)
    }
    case 'error':
      if (node?.status !== 'running' || node.attempt !== happening.attempt) return
      return failed(pass, id, node.attempt, happening.error, happening.retryable, happening.nothingDone)
    case 'step':
      if (node?.status !== 'running' || Object.hasOwn(node.steps ?? {}, happening.name)) return
      return record(pass, 'node.progress', { node_id: id, step: happening.name, result: happening.result })
    case 'progress':
      if (node?.status !== 'running') return
      return record(pass, 'node.progress', { ...happening.data, node_id: id })
    case 'chunk':
      if (!node?.map) return
      return record(pass, 'node.progress', { ...happening.data, node_id: id, from: happening.from, to: happening.to })
    case 'opened': {
      const present = waitsOn(pass, id, happening.people)
      if (node?.status !== 'running' && !present) return
      if (present && isSameAsking(present, happening.data)) return
      const due: JsonObject = happening.dueAt === null ? {} : { due_at: new Date(happening.dueAt).toISOString() }
      const type = happening.people === 'approval' ? 'approval.opened' : 'clarification.asked'
      return record(pass, type, { ...happening.data, node_id: id, ...due })
    }
    case 'postponed': {
      if (!waitsOn(pass, id, happening.people)) return
      const due = happening.dueAt === null ? null : new Date(happening.dueAt).toISOString()
      return record(pass, 'node.progress', { node_id: id, due_at: due })
    }
    case 'voted':
      if (!waitsOn(pass, id, 'approval')) return
      return record(pass, 'approval.voted', { ...happening.data, node_id: id })
    case 'resolved': {
      const gate = waitsOn(pass, id, 'approval')
      if (!gate) return
      record(pass, 'approval.resolved', { ...happening.data, node_id: id, outcome: happening.outcome })
      const ways = pass.compiled.outgoing.get(id) ?? []
      if (happening.outcome === 'rejected' && !ways.some((edge) => edge.from.port === 'rejected')) {
        return failed(
          pass,
          id,
          gate.attempt,
          { code: 'approval_rejected', message: 'the approval was rejected' },
          false,
        )
      }
      return succeed(pass, id, gate.attempt, { output: happening.output, port: happening.outcome })
    }
    case 'answered': {
      const question = waitsOn(pass, id, 'clarification')
      if (!question) return
      record(pass, 'clarification.answered', { ...happening.data, node_id: id })
      return succeed(pass, id, question.attempt, { output: happening.answer })
    }
    case 'refused':
      if (!waitsOn(pass, id, 'approval') && !waitsOn(pass, id, 'clarification')) return
      return failed(pass, id, node?.attempt ?? 1, happening.error, false)
    case 'check': {
      const wait = node?.status === 'waiting' ? node.wait?.kind : undefined
      if (wait !== 'approval' && wait !== 'clarification' && wait !== 'execution') return
      const { ready } = node as NodeState
      const command = commandFor(pass.compiled, id, node as NodeState, () =>
        argsOf(pass.context, pass.compiled, pass.state, id, ready),
      )
      if (command) pass.commands.push(command)
      return
    }
    case 'child': {
      const parent = waitsOn(pass, id, 'execution')
      if (parent?.attempt !== happening.attempt) return
      if (happening.error) return failed(pass, id, parent.attempt, happening.error, true)
      const blob: JsonObject = happening.blob ? { blob: happening.blob } : {}
      return succeed(pass, id, parent.attempt, { output: happening.results, ...blob })
    }
  }
}

export const advance = (context: Context, state: GraphState, happenings: readonly Happening[], at: number): Step => {
  if (hasEnded(state)) return { state, facts: [], commands: [] }
  const pass = openPass(context, state, at)
  for (const happening of happenings) absorb(pass, happening)
  return closePass(pass)
}

/**
 * What an execution read back from the journal was doing: everything that ran is to be run again, and what may have been left
 * open is closed.
 */
export const resume = (context: Context, state: GraphState): Command[] => {
  if (hasEnded(state)) return []
  const compiled = compile(context.graph)
  const left = Object.entries(state.nodes).flatMap(([id, { status, wait, attempt }]) => {
    const node = status === 'failed' || wait?.kind === 'retry' ? compiled.nodes.get(id) : undefined
    return node ? closingOf(node, attempt) : []
  })
  const again = activeNodes(state).flatMap(([id, node]) => {
    if (node.status !== 'running' && node.wait?.kind !== 'execution') return []
    const command = commandFor(compiled, id, node, () => argsOf(context, compiled, state, id, node.ready))
    return command ? [command] : []
  })
  return [...left, ...again]
}
