import { expect, test } from 'vitest'
import { advance, resume, startGraph } from './advance.ts'
import { replay } from './apply.ts'
import type { GraphMessage } from './graph-message.ts'
import { UNLIMITED } from './pass.ts'
import { emptyState, type GraphState } from './state.ts'
import { commands, contextOf, node } from './testing.ts'
import { waitingFor } from './waiting.ts'

// A node that waits for a gate or another execution while it runs. It continues as the same attempt.

const context = contextOf({
  nodes: [node('agent', { type: 'agent.run', retry: { max_attempts: 2, backoff_s: 1 } })],
  edges: [],
})

const gate = (id: string): GraphMessage => ({
  kind: 'suspended',
  node: 'agent',
  attempt: 1,
  on: { kind: 'approval', data: { request_id: id }, dueAt: null },
})
const resolved = (id: string): GraphMessage => ({
  kind: 'resolved',
  node: 'agent',
  outcome: 'approved',
  output: {},
  data: { request_id: id },
})
const onExecution = (id: string): GraphMessage => ({
  kind: 'suspended',
  node: 'agent',
  attempt: 1,
  on: { kind: 'execution', execution_id: id },
})
const ended = (execution: string): GraphMessage => ({ kind: 'ended', node: 'agent', execution })

/**
 * Plays each message in its own pass, and returns the last commands. Checks that the journal alone gives the same
 * state.
 */
function after(...messages: GraphMessage[]) {
  let step = startGraph(context, 0)
  let state: GraphState = step.state
  const events = [...step.events]
  for (const message of messages) {
    step = advance(context, state, [message], 1)
    state = step.state
    events.push(...step.events)
  }
  expect(replay(emptyState(), events).nodes).toEqual(state.nodes)
  const { status, attempt } = state.nodes.agent!
  return { status, attempt, commands: commands(step), state, events: events.map(({ type }) => type) }
}

test.each<[string, GraphMessage[], string, string[]]>([
  ['the agent waits for a gate', [gate('apr_1')], 'waiting', []],
  ['the agent runs when its gate is resolved', [gate('apr_1'), resolved('apr_1')], 'running', ['run agent']],
  [
    'the agent runs if its gate was resolved before it waited',
    [resolved('apr_1'), gate('apr_1')],
    'running',
    ['run agent'],
  ],
  [
    'the agent keeps waiting when an earlier gate of it is resolved again',
    [gate('apr_2'), resolved('apr_1')],
    'waiting',
    [],
  ],
  [
    'a gate that the agent no longer waits for does not run it again',
    [gate('apr_1'), resolved('apr_1'), resolved('apr_1')],
    'running',
    [],
  ],
  ['the agent waits for an execution', [onExecution('exe_1')], 'waiting', []],
  ['the agent runs when the execution ends', [onExecution('exe_1'), ended('exe_1')], 'running', ['run agent']],
  [
    'the agent runs if the execution ended before it waited',
    [ended('exe_1'), onExecution('exe_1')],
    'running',
    ['run agent'],
  ],
  ['the agent keeps waiting when another execution ends', [onExecution('exe_2'), ended('exe_1')], 'waiting', []],
  [
    'the agent runs when its wait is checked',
    [gate('apr_1'), { kind: 'check', node: 'agent' }],
    'running',
    ['run agent'],
  ],
])('%s', (_what, messages, status, commanded) => {
  expect(after(...messages)).toMatchObject({ status, attempt: 1, commands: commanded })
})

test('the execution shows what it waits for, and still waits for it after a takeover', () => {
  const gated = after(gate('apr_1')).state
  expect(waitingFor(gated)).toMatchObject([{ kind: 'approval', node_id: 'agent', request_id: 'apr_1' }])
  const busy = after(onExecution('exe_1')).state
  expect(waitingFor(busy)).toMatchObject([{ kind: 'execution', node_id: 'agent', execution_id: 'exe_1' }])
  for (const state of [gated, busy]) expect([...resume(context, state, UNLIMITED)]).toEqual([])
})

test('waiting does not use up an attempt: a failure after a wait is retried as the first failure', () => {
  const failure: GraphMessage = {
    kind: 'error',
    node: 'agent',
    attempt: 1,
    error: { code: 'provider_busy', message: 'busy' },
    retryable: true,
  }
  const { events, state } = after(gate('apr_1'), resolved('apr_1'), gate('apr_2'), resolved('apr_2'), failure)
  expect(events.at(-1)).toBe('node.retrying')
  expect(state.nodes.agent).toMatchObject({ status: 'waiting', attempt: 1 })
})

test('a gate that can no longer be decided fails the node', () => {
  const refused: GraphMessage = {
    kind: 'refused',
    node: 'agent',
    error: { code: 'dataset_changed', message: 'changed' },
  }
  expect(after(gate('apr_1'), refused).status).toBe('failed')
})
