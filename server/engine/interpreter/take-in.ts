import type { JsonObject } from '#model/definition'
import { NodeFailure, type SuspendedOn } from '../node.ts'
import { commandAgain } from './again.ts'
import { mayBeSuspended } from './commands.ts'
import { conclude, cutShort } from './ending.ts'
import { failed } from './failing.ts'
import type { Happening } from './happening.ts'
import { type Pass, record } from './pass.ts'
import { type Asking, activeNodes, hasEnded, type NodeState } from './state.ts'
import { succeed } from './succeed.ts'

// Applies what happened outside to the state of the graph.

/** The event types for an opened request. */
const OPENED = { approval: 'approval.opened', clarification: 'clarification.asked', event: 'event.awaited' } as const

const waitsOn = (pass: Pass, id: string, kind: string): NodeState | undefined => {
  const node = pass.state.nodes[id]
  return node?.status === 'waiting' && node.wait?.kind === kind ? node : undefined
}

/** Checks whether the gate or question that was opened again is the one that the node already waits for. */
const isSameAsking = ({ wait }: NodeState, data: JsonObject): boolean => {
  const known = wait && 'data' in wait ? wait.data : {}
  return (
    known.request_id === data.request_id &&
    known.clarification_id === data.clarification_id &&
    known.wait_id === data.wait_id
  )
}

/** Applies everything that is due: waits that have ended, retries, and nodes that exceeded their timeout. */
const passTime = (pass: Pass) => {
  const { ending } = pass.state
  if (ending?.until !== undefined && ending.until <= pass.at) return cutShort(pass, ending)
  for (const [id, node] of activeNodes(pass.state)) {
    if (hasEnded(pass.state)) return
    const wait = node.wait
    const wasOver = wait?.kind === 'timer' && node.expires !== undefined && wait.until <= node.expires
    if (node.expires !== undefined && node.expires <= pass.at && !wasOver) {
      failed(pass, id, node.attempt, { code: 'timeout', message: 'the node took longer than its timeout_s' }, true)
    } else if (wait?.kind === 'timer' && wait.until <= pass.at) {
      const waited = Math.max(0, wait.until - (node.started_at ?? wait.until)) / 1000
      succeed(pass, id, node.attempt, { output: { waited_s: waited } })
    } else if (wait?.kind === 'delay' && wait.until <= pass.at) {
      record(pass, 'node.progress', { node_id: id, turns: node.loop?.turns ?? 0 })
    } else if (wait?.kind === 'retry' && wait.until <= pass.at) {
      pass.again.unshift([id, node.attempt + 1])
    } else if (wait && 'data' in wait && wait.until !== null) {
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
      return conclude(pass, 'cancelled', happening.data, happening.notBegun)
    case 'timeout': {
      const error = { code: 'timeout', message: 'the execution took longer than its timeout_s' }
      return conclude(pass, 'timed_out', { error })
    }
    case 'grace':
      if (!pass.state.ending || pass.state.ending.until !== undefined) return
      return record(pass, 'execution.ending', { until: new Date(happening.until).toISOString() })
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
      return failed(pass, id, node.attempt, happening.error, happening.retryable, {
        nothingDone: happening.nothingDone,
        retryAfterS: happening.retryAfterS,
        isPermanent: happening.isPermanent,
      })
    case 'suspended':
      if (node?.status !== 'running' || node.attempt !== happening.attempt) return
      return suspend(pass, id, happening.on)
    case 'ended':
      return executionOver(pass, id, happening.execution)
    case 'step':
      if (node?.status !== 'running' || Object.hasOwn(node.steps ?? {}, happening.name)) return
      return record(pass, 'node.progress', { node_id: id, step: happening.name, result: happening.result })
    case 'progress':
      if (node?.status !== 'running') return
      return record(pass, 'node.progress', { ...happening.data, node_id: id })
    case 'chunk':
      if (!node?.map) return
      return record(pass, 'node.progress', { ...happening.data, node_id: id, from: happening.from, to: happening.to })
    case 'turns': {
      if (!node?.loop || node.status !== 'running' || node.attempt !== happening.attempt) return
      const { turns, until } = happening
      const delay: JsonObject = until === undefined ? {} : { until: new Date(until).toISOString() }
      return record(pass, 'node.progress', { node_id: id, turns, ...delay })
    }
    case 'opened': {
      const present = waitsOn(pass, id, happening.people)
      if (node?.status !== 'running' && !present) return
      if (present && isSameAsking(present, happening.data)) return
      return recordOpened(pass, id, happening.people, happening)
    }
    case 'postponed': {
      if (!waitsOn(pass, id, happening.people)) return
      const due = happening.dueAt === null ? null : new Date(happening.dueAt).toISOString()
      return record(pass, 'node.progress', { node_id: id, due_at: due })
    }
    case 'voted':
      if (!waitsOn(pass, id, 'approval') && !(node?.status === 'running' && maySuspend(pass, id))) return
      return record(pass, 'approval.voted', { ...happening.data, node_id: id })
    case 'edited':
      if (maySuspend(pass, id)) gateOver(pass, id, 'approval.edited', happening.data)
      return
    case 'resolved': {
      if (maySuspend(pass, id))
        return gateOver(pass, id, 'approval.resolved', { ...happening.data, outcome: happening.outcome })
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
          { isFinal: true },
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
    case 'received': {
      const awaited = waitsOn(pass, id, 'event')
      if (!awaited) return
      record(pass, 'event.received', { ...happening.data, node_id: id })
      return succeed(pass, id, awaited.attempt, { output: happening.output })
    }
    case 'refused':
      if (node?.status !== 'waiting' || !node.wait || !('data' in node.wait)) return
      return failed(pass, id, node?.attempt ?? 1, happening.error, false)
    case 'check': {
      const wait = node?.status === 'waiting' ? node.wait : undefined
      if (!wait || !('data' in wait || wait.kind === 'execution')) return
      if (maySuspend(pass, id)) return wake(pass, id)
      const again = commandAgain(pass, id, node as NodeState)
      if (again?.do !== 'tell' && again) pass.commands.push(again)
      return
    }
    case 'child': {
      const parent = waitsOn(pass, id, 'execution')
      if (parent?.attempt !== happening.attempt) return
      if (happening.error) {
        const { error, isPermanent } = happening
        return failed(pass, id, parent.attempt, error, true, { isPermanent })
      }
      const blob: JsonObject = happening.blob ? { blob: happening.blob } : {}
      return succeed(pass, id, parent.attempt, { output: happening.results, ...blob })
    }
  }
}

/**
 * Checks whether the node requests approval or starts executions while it runs, unlike nodes that only wait for
 * these.
 */
const maySuspend = ({ compiled }: Pass, id: string): boolean => mayBeSuspended(compiled.nodes.get(id)?.type ?? '')

const recordOpened = (
  pass: Pass,
  id: string,
  people: Asking,
  { data, dueAt }: { data: JsonObject; dueAt: number | null },
): void => {
  // A gate may have to be checked before it is due, for a reminder.
  const look = dueAt === null ? null : new Date(dueAt).toISOString()
  const { due_at = look } = data
  const due: JsonObject = look === null ? {} : { due_at, ...(due_at !== look && { look_at: look }) }
  record(pass, OPENED[people], { ...data, node_id: id, ...due })
}

const suspend = (pass: Pass, id: string, on: SuspendedOn): void => {
  const { over = [] } = pass.state.nodes[id] as NodeState
  if (on.kind === 'approval') recordOpened(pass, id, 'approval', on)
  else record(pass, 'node.progress', { node_id: id, waits_for: on.execution_id })
  const awaited = on.kind === 'approval' ? on.data.request_id : on.execution_id
  if (over.includes(String(awaited))) wake(pass, id)
}

/** Runs a suspended node again as the same attempt, which reads the result that it waited for. */
const wake = (pass: Pass, id: string): void => {
  record(pass, 'node.progress', { node_id: id, woken: true })
  const again = commandAgain(pass, id, pass.state.nodes[id] as NodeState)
  if (again?.do === 'tell') absorb(pass, again.happening)
  else if (again) pass.commands.push(again)
}

/**
 * Handles the end of a gate of a suspendable node. A gate that is resolved or replaced before the node waits for it
 * is recorded.
 */
const gateOver = (pass: Pass, id: string, type: 'approval.edited' | 'approval.resolved', data: JsonObject): void => {
  const waiting = waitsOn(pass, id, 'approval')?.wait
  const isAwaited = waiting && 'data' in waiting && waiting.data.request_id === data.request_id
  if (!isAwaited && pass.state.nodes[id]?.status !== 'running') return
  record(pass, type, { ...data, node_id: id })
  if (isAwaited) wake(pass, id)
}

const executionOver = (pass: Pass, id: string, execution: string): void => {
  const waiting = waitsOn(pass, id, 'execution')?.wait
  if (waiting?.kind === 'execution' && waiting.child === execution) wake(pass, id)
  else if (pass.state.nodes[id]?.status === 'running') record(pass, 'node.progress', { node_id: id, ended: execution })
}

/** Applies a happening. If the output of a node is too large, that node fails. */
export const takeIn = (pass: Pass, happening: Happening): void => {
  try {
    absorb(pass, happening)
  } catch (error) {
    if (!(error instanceof NodeFailure) || !('node' in happening)) throw error
    failed(pass, happening.node, pass.state.nodes[happening.node]?.attempt ?? 1, error, false)
  }
}
