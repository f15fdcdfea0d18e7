import { expect, test } from 'vitest'
import type { Execution } from '#sdk/types.generated'
import { applyFrame } from './apply-frame.ts'

const execution: Execution = {
  execution_id: 'exe_1',
  workflow_id: 'wf_1',
  version_id: 'wfv_1',
  status: 'queued',
  error: null,
  waiting_for: [],
  trigger: { kind: 'user', id: null },
  started_by: null,
  initiated_by: [],
  principal_id: null,
  retry_of: null,
  trial: false,
  parent_execution_id: null,
  priority: 0,
  tags: [],
  metadata: {},
  scheduled_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: null,
  finished_at: null,
  input: {},
  results: null,
  nodes: [],
  usage: { input_tokens: 0, output_tokens: 0, cost: 0, calls: 0, unpriced_calls: 0 },
  seq: 0,
}

const play = (...events: [type: string, data?: object][]): Execution =>
  events.reduce(
    (now, [type, data = {}], index) =>
      applyFrame(now, { seq: index + 1, type, at: `2026-01-01T00:00:0${index}.000Z`, data }),
    execution,
  )

test('a step changes its status with each of its events', () => {
  const events: [string, object?][] = [
    ['execution.started'],
    ['node.started', { node_id: 'a', attempt: 1 }],
    ['node.retrying', { node_id: 'a' }],
    ['node.started', { node_id: 'a', attempt: 2 }],
    ['node.succeeded', { node_id: 'a', attempt: 2, output: 5 }],
    ['node.skipped', { node_id: 'b' }],
    ['execution.succeeded'],
  ]
  const states = events.map((_, index) => play(...events.slice(0, index + 1)).nodes[0]?.status)
  expect(states).toEqual([undefined, 'running', 'waiting', 'running', 'succeeded', 'succeeded', 'succeeded'])
  const end = play(...events)
  expect(end.status).toBe('succeeded')
  expect(end.nodes).toMatchObject([
    { node_id: 'a', attempt: 2, output: 5, started_at: '2026-01-01T00:00:01.000Z' },
    { node_id: 'b', status: 'skipped' },
  ])
})

test('an event that is already included changes nothing, and events inside a map change no step of the graph', () => {
  const begun = play(['execution.started'], ['node.started', { node_id: 'a' }])
  expect(applyFrame(begun, { seq: 1, type: 'execution.failed', at: begun.created_at, data: {} })).toBe(begun)
  const inside = { seq: 3, type: 'node.failed', at: begun.created_at, data: { node_id: 'a[0].x', in_map: true } }
  expect(applyFrame(begun, inside).nodes).toEqual(begun.nodes)
})
