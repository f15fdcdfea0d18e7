import type { JsonObject } from '#model/definition'
import { NodeFailure, type SuspendedOn } from '../node.ts'
import { mayBeSuspended } from './commands.ts'
import { conclude, cutShort } from './ending.ts'
import { failed } from './failing.ts'
import type { GraphMessage } from './graph-message.ts'
import { type Pass, record } from './pass.ts'
import { resumeCommand } from './resume-command.ts'
import { activeNodes, hasEnded, type NodeState, type RequestKind } from './state.ts'
import { succeed } from './succeed.ts'

// Applies what happened outside to the state of the graph.

/** The event types for an opened request. */
const OPENED = { approval: 'approval.opened', clarification: 'clarification.asked', event: 'event.awaited' } as const

const waitsOn = (pass: Pass, id: string, kind: string): NodeState | undefined => {
  const node = pass.state.nodes[id]
  return node?.status === 'waiting' && node.wait?.kind === kind ? node : undefined
}

/** Checks whether the gate or question that was opened again is the one that the node already waits for. */
const isSameRequest = ({ wait }: NodeState, data: JsonObject): boolean => {
  const known = wait && 'data' in wait ? wait.data : {}
  return (
    known.request_id === data.request_id &&
    known.clarification_id === data.clarification_id &&
    known.wait_id === data.wait_id
  )
}

/** Applies everything that is due: waits that have ended, retries, and nodes that exceeded their timeout. */
const applyTime = (pass: Pass) => {
  const { ending } = pass.state
  if (ending?.until !== undefined && ending.until <= pass.at) return cutShort(pass, ending)
  for (const [id, node] of activeNodes(pass.state)) {
    // A node of this list has failed the execution, and that closed the others.
    if (hasEnded(pass.state) || (!ending && pass.state.ending)) return
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
      pass.toRetry.unshift([id, node.attempt + 1])
    } else if (wait && 'data' in wait && wait.until !== null) {
      if (wait.until <= pass.at) pass.commands.push({ do: 'due', node: id, people: wait.kind })
    }
  }
}

const handleMessage = (pass: Pass, message: GraphMessage) => {
  if (hasEnded(pass.state)) return
  switch (message.kind) {
    case 'time':
      return applyTime(pass)
    case 'cancel':
      return conclude(pass, 'cancelled', message.data, message.notStarted)
    case 'timeout': {
      const error = { code: 'timeout', message: 'the execution took longer than its timeout_s' }
      return conclude(pass, 'timed_out', { error })
    }
    case 'grace':
      if (!pass.state.ending || pass.state.ending.until !== undefined) return
      return record(pass, 'execution.ending', { until: new Date(message.until).toISOString() })
  }
  const id = message.node
  const node = pass.state.nodes[id]
  switch (message.kind) {
    case 'done': {
      if (node?.status !== 'running' || node.attempt !== message.attempt) return
      const { port, blob, output, usage } = message
      const data: JsonObject = { output }
      if (blob) data.blob = blob
      if (port !== undefined && port !== 'out') data.port = port
      if (usage) data.usage = usage
      return succeed(pass, id, message.attempt, data)
    }
    case 'error':
      if (node?.status !== 'running' || node.attempt !== message.attempt) return
      return failed(pass, id, node.attempt, message.error, message.retryable, {
        nothingDone: message.nothingDone,
        retryAfterS: message.retryAfterS,
        isPermanent: message.isPermanent,
      })
    case 'suspended':
      if (node?.status !== 'running' || node.attempt !== message.attempt) return
      return suspend(pass, id, message.on)
    case 'ended':
      return onExecutionEnded(pass, id, message.execution)
    case 'step':
      if (node?.status !== 'running' || Object.hasOwn(node.steps ?? {}, message.name)) return
      return record(pass, 'node.progress', { node_id: id, step: message.name, result: message.result })
    case 'progress':
      if (node?.status !== 'running') return
      return record(pass, 'node.progress', { ...message.data, node_id: id })
    case 'chunk':
      if (!node?.map) return
      return record(pass, 'node.progress', { ...message.data, node_id: id, from: message.from, to: message.to })
    case 'turns': {
      if (!node?.loop || node.status !== 'running' || node.attempt !== message.attempt) return
      const { turns, until } = message
      const delay: JsonObject = until === undefined ? {} : { until: new Date(until).toISOString() }
      return record(pass, 'node.progress', { node_id: id, turns, ...delay })
    }
    case 'opened': {
      const present = waitsOn(pass, id, message.people)
      if (node?.status !== 'running' && !present) return
      if (present && isSameRequest(present, message.data)) return
      return recordOpened(pass, id, message.people, message)
    }
    case 'postponed': {
      if (!waitsOn(pass, id, message.people)) return
      const due = message.dueAt === null ? null : new Date(message.dueAt).toISOString()
      return record(pass, 'node.progress', { node_id: id, due_at: due })
    }
    case 'voted':
      if (!waitsOn(pass, id, 'approval') && !(node?.status === 'running' && maySuspend(pass, id))) return
      return record(pass, 'approval.voted', { ...message.data, node_id: id })
    case 'edited':
      if (maySuspend(pass, id)) onGateEnded(pass, id, 'approval.edited', message.data)
      return
    case 'resolved': {
      if (maySuspend(pass, id))
        return onGateEnded(pass, id, 'approval.resolved', { ...message.data, outcome: message.outcome })
      const gate = waitsOn(pass, id, 'approval')
      if (!gate) return
      record(pass, 'approval.resolved', { ...message.data, node_id: id, outcome: message.outcome })
      const ways = pass.compiled.outgoing.get(id) ?? []
      if (message.outcome === 'rejected' && !ways.some((edge) => edge.from.port === 'rejected')) {
        return failed(
          pass,
          id,
          gate.attempt,
          { code: 'approval_rejected', message: 'the approval was rejected' },
          false,
          { isFinal: true },
        )
      }
      return succeed(pass, id, gate.attempt, { output: message.output, port: message.outcome })
    }
    case 'answered': {
      const question = waitsOn(pass, id, 'clarification')
      if (!question) return
      record(pass, 'clarification.answered', { ...message.data, node_id: id })
      return succeed(pass, id, question.attempt, { output: message.answer })
    }
    case 'received': {
      const awaited = waitsOn(pass, id, 'event')
      if (!awaited) return
      record(pass, 'event.received', { ...message.data, node_id: id })
      return succeed(pass, id, awaited.attempt, { output: message.output })
    }
    case 'refused':
      if (node?.status !== 'waiting' || !node.wait || !('data' in node.wait)) return
      return failed(pass, id, node?.attempt ?? 1, message.error, false)
    case 'check': {
      const wait = node?.status === 'waiting' ? node.wait : undefined
      if (!wait || !('data' in wait || wait.kind === 'execution')) return
      if (maySuspend(pass, id)) return wake(pass, id)
      const again = resumeCommand(pass, id, node as NodeState)
      if (again?.do !== 'tell' && again) pass.commands.push(again)
      return
    }
    case 'child': {
      const parent = waitsOn(pass, id, 'execution')
      if (parent?.attempt !== message.attempt) return
      if (message.error) {
        const { error, isPermanent } = message
        return failed(pass, id, parent.attempt, error, true, { isPermanent })
      }
      const blob: JsonObject = message.blob ? { blob: message.blob } : {}
      return succeed(pass, id, parent.attempt, { output: message.results, ...blob })
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
  people: RequestKind,
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
  const again = resumeCommand(pass, id, pass.state.nodes[id] as NodeState)
  if (again?.do === 'tell') handleMessage(pass, again.message)
  else if (again) pass.commands.push(again)
}

/**
 * Handles the end of a gate of a suspendable node. A gate that is resolved or replaced before the node waits for it
 * is recorded.
 */
const onGateEnded = (pass: Pass, id: string, type: 'approval.edited' | 'approval.resolved', data: JsonObject): void => {
  const waiting = waitsOn(pass, id, 'approval')?.wait
  const isAwaited = waiting && 'data' in waiting && waiting.data.request_id === data.request_id
  if (!isAwaited && pass.state.nodes[id]?.status !== 'running') return
  record(pass, type, { ...data, node_id: id })
  if (isAwaited) wake(pass, id)
}

const onExecutionEnded = (pass: Pass, id: string, execution: string): void => {
  const waiting = waitsOn(pass, id, 'execution')?.wait
  if (waiting?.kind === 'execution' && waiting.child === execution) wake(pass, id)
  else if (pass.state.nodes[id]?.status === 'running') record(pass, 'node.progress', { node_id: id, ended: execution })
}

/** Applies a message. If the output of a node is too large, that node fails. */
export const applyMessage = (pass: Pass, message: GraphMessage): void => {
  try {
    handleMessage(pass, message)
  } catch (error) {
    if (!(error instanceof NodeFailure) || !('node' in message)) throw error
    failed(pass, message.node, pass.state.nodes[message.node]?.attempt ?? 1, error, false)
  }
}
