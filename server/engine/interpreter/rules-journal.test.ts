import { describe, expect, test } from 'vitest'
import type { Definition, Json, JsonObject, Node } from '#model/definition'
import { MAX_SHOWN_SIZE } from '#model/size'
import { NodeFailure } from '../node.ts'
import { advance, resume, startGraph } from './advance.ts'
import { replay } from './apply.ts'
import { backoff } from './backoff.ts'
import { errorOf } from './errors.ts'
import { compile } from './graph.ts'
import type { GraphMessage } from './graph-message.ts'
import { MAX_INLINE_SIZE } from './output-size.ts'
import { compute, decide, isUsedUp, MAX_PASS_STEPS, UNLIMITED } from './pass.ts'
import { scopeAt } from './scope.ts'
import { emptyState, type GraphState, hasActive, isSettled, type JournalEvent, type NodeState } from './state.ts'
import { commands, contextOf, edge, node, passOf, stateOf, types } from './testing.ts'
import { waitingFor } from './waiting.ts'

// The events that are written to the journal, and the state that results from the journal (docs/workflows.md).

const iso = (ms: number): string => new Date(ms).toISOString()
const eventsOf = (graph: Definition, nodes: Record<string, Partial<NodeState>>, message: GraphMessage, at = 1_000) =>
  advance(contextOf(graph), stateOf(nodes), [message], at).events.map(({ type, data }) => [type, data])
const beside = node('beside')

describe('the journal records for', () => {
  const graph: Definition = {
    nodes: [
      node('run'),
      node('gate', { type: 'approval', on_error: 'continue' }),
      node('ask', { type: 'clarification' }),
      node('sub', { type: 'subworkflow' }),
      node('each', { type: 'map' }),
      beside,
    ],
    edges: [],
  }
  const nodes: Record<string, Partial<NodeState>> = {
    run: { attempt: 2 },
    gate: { status: 'waiting', wait: { kind: 'approval', data: { request_id: 'r1' }, until: null } },
    ask: { status: 'waiting', wait: { kind: 'clarification', data: { clarification_id: 'c1' }, until: null } },
    sub: { status: 'waiting', wait: { kind: 'execution' } },
    each: { map: { total: 3, done: [] } },
    beside: {},
  }
  const blob = { key: 'k', sha256: 's', bytes: 5 }
  const error = { code: 'x', message: 'y' }
  test.each<[string, GraphMessage, [string, JsonObject][]]>([
    [
      'a result',
      { kind: 'done', node: 'run', attempt: 2, output: 7 },
      [['node.succeeded', { node_id: 'run', attempt: 2, output: 7 }]],
    ],
    [
      'a result on a port, stored as a blob, with its usage',
      { kind: 'done', node: 'run', attempt: 2, output: 7, port: 'left', blob, usage: { tokens: 3 } },
      [['node.succeeded', { node_id: 'run', attempt: 2, output: 7, port: 'left', blob, usage: { tokens: 3 } }]],
    ],
    [
      'a result on the default port',
      { kind: 'done', node: 'run', attempt: 2, output: 7, port: 'out' },
      [['node.succeeded', { node_id: 'run', attempt: 2, output: 7 }]],
    ],
    [
      'a step',
      { kind: 'step', node: 'run', name: 's', result: null },
      [['node.progress', { node_id: 'run', step: 's', result: null }]],
    ],
    [
      'progress',
      { kind: 'progress', node: 'run', data: { done: 3, node_id: 'other' } },
      [['node.progress', { node_id: 'run', done: 3 }]],
    ],
    [
      'items of a map',
      { kind: 'chunk', node: 'each', from: 0, to: 2, data: { failed: 1 } },
      [['node.progress', { node_id: 'each', from: 0, to: 2, failed: 1 }]],
    ],
    ['items of an unknown node', { kind: 'chunk', node: 'ghost', from: 0, to: 2, data: {} }, []],
    [
      'a gate with a due time',
      { kind: 'opened', node: 'run', people: 'approval', data: { request_id: 'r' }, dueAt: 5_000 },
      [['approval.opened', { node_id: 'run', request_id: 'r', due_at: iso(5_000) }]],
    ],
    [
      'a gate without a due time',
      { kind: 'opened', node: 'run', people: 'approval', data: { request_id: 'r' }, dueAt: null },
      [['approval.opened', { node_id: 'run', request_id: 'r' }]],
    ],
    [
      'the same gate again',
      { kind: 'opened', node: 'gate', people: 'approval', data: { request_id: 'r1' }, dueAt: 9 },
      [],
    ],
    [
      'another gate of the same node',
      { kind: 'opened', node: 'gate', people: 'approval', data: { request_id: 'r2' }, dueAt: null },
      [['approval.opened', { node_id: 'gate', request_id: 'r2' }]],
    ],
    [
      'another question of the same node',
      { kind: 'opened', node: 'ask', people: 'clarification', data: { clarification_id: 'c2' }, dueAt: null },
      [['clarification.asked', { node_id: 'ask', clarification_id: 'c2' }]],
    ],
    [
      'the same question again',
      { kind: 'opened', node: 'ask', people: 'clarification', data: { clarification_id: 'c1' }, dueAt: 9 },
      [],
    ],
    ['a gate of an unknown node', { kind: 'opened', node: 'ghost', people: 'approval', data: {}, dueAt: null }, []],
    [
      'a moved due time',
      { kind: 'postponed', node: 'gate', people: 'approval', dueAt: 6_000 },
      [['node.progress', { node_id: 'gate', due_at: iso(6_000) }]],
    ],
    [
      'a removed due time',
      { kind: 'postponed', node: 'ask', people: 'clarification', dueAt: null },
      [['node.progress', { node_id: 'ask', due_at: null }]],
    ],
    [
      'a vote',
      { kind: 'voted', node: 'gate', data: { by: 'ann' } },
      [['approval.voted', { node_id: 'gate', by: 'ann' }]],
    ],
    [
      'an approval',
      { kind: 'resolved', node: 'gate', outcome: 'approved', output: { ok: 1 }, data: { votes: 2 } },
      [
        ['approval.resolved', { node_id: 'gate', votes: 2, outcome: 'approved' }],
        ['node.succeeded', { node_id: 'gate', attempt: 1, output: { ok: 1 }, port: 'approved' }],
      ],
    ],
    [
      'an answer',
      { kind: 'answered', node: 'ask', answer: 'red', data: { by: 'ann' } },
      [
        ['clarification.answered', { node_id: 'ask', by: 'ann' }],
        ['node.succeeded', { node_id: 'ask', attempt: 1, output: 'red' }],
      ],
    ],
    [
      'a gate that ended without a decision and continues',
      { kind: 'refused', node: 'gate', error },
      [
        [
          'node.failed',
          {
            node_id: 'gate',
            attempt: 1,
            error: { ...error, node_id: 'gate', attempt: 1 },
            handled: 'continue',
            output: null,
          },
        ],
      ],
    ],
    [
      'the end of a child',
      { kind: 'child', node: 'sub', attempt: 1, results: 4, error: null },
      [['node.succeeded', { node_id: 'sub', attempt: 1, output: 4 }]],
    ],
    [
      'the end of a child whose results are a blob',
      { kind: 'child', node: 'sub', attempt: 1, results: 4, blob, error: null },
      [['node.succeeded', { node_id: 'sub', attempt: 1, output: 4, blob }]],
    ],
    ['a cancellation', { kind: 'cancel', data: { by: 'ann' } }, [['execution.cancelled', { by: 'ann' }]]],
    [
      'the timeout of the execution',
      { kind: 'timeout' },
      [
        [
          'execution.timed_out',
          { error: { code: 'timeout', message: 'the execution took longer than its timeout_s' } },
        ],
      ],
    ],
  ])('%s', (_what, message, expected) => {
    expect(eventsOf(graph, nodes, message)).toStrictEqual(expected)
  })

  test('a second message after the end of the execution: no event', () => {
    const step = advance(contextOf(graph), stateOf(nodes), [{ kind: 'timeout' }, { kind: 'cancel', data: {} }], 1)
    expect(types(step)).toEqual(['execution.timed_out'])
    expect(step.commands).toEqual([])
  })

  test('a result that is too large: the failure of that node', () => {
    const large = { kind: 'answered', node: 'ask', answer: 'x'.repeat(9 * 1024 * 1024), data: {} } as const
    const { state } = advance(contextOf(graph), stateOf(nodes), [large], 1)
    expect(state).toMatchObject({ status: 'failed', error: { code: 'result_too_large', node_id: 'ask', attempt: 1 } })
  })
})

describe('the state after', () => {
  const started = (data: JsonObject = {}): JournalEvent => ({
    type: 'node.started',
    at: 100,
    data: { node_id: 'a', attempt: 1, ...data },
  })
  const event = (type: JournalEvent['type'], data: JsonObject = {}, at = 200): JournalEvent => ({
    type,
    at,
    data: { node_id: 'a', ...data },
  })
  const nodeAfter = (...events: JournalEvent[]) => replay(emptyState(), events).nodes.a
  const error = { code: 'x', message: 'y' }
  test.each<[string, JournalEvent[], object | undefined]>([
    ['a start', [started()], { status: 'running', attempt: 1, ready: 1, started_at: 100 }],
    [
      'a start without an attempt',
      [event('node.started', {}, 100)],
      { status: 'running', attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'the start of a wait',
      [started({ until: iso(900) })],
      { status: 'waiting', wait: { kind: 'timer', until: 900 }, attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'the start of a child',
      [started({ child_execution: true })],
      { status: 'waiting', wait: { kind: 'execution' }, attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'the start of a map',
      [started({ total: 3 })],
      { status: 'running', map: { total: 3, done: [] }, attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'a start with a timeout',
      [started({ expires: iso(700) })],
      { status: 'running', expires: 700, attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'a result',
      [started(), event('node.succeeded', { attempt: 1, output: 5, port: 'left', blob: { key: 'k' } })],
      {
        status: 'succeeded',
        attempt: 1,
        ready: 1,
        settled: 2,
        started_at: 100,
        finished_at: 200,
        output: 5,
        port: 'left',
        blob: { key: 'k' },
      },
    ],
    [
      'a result of a node that never started',
      [event('node.succeeded', { output: null })],
      { status: 'succeeded', attempt: 1, ready: 1, settled: 1, started_at: 200, finished_at: 200, output: null },
    ],
    [
      'a failure',
      [started(), event('node.failed', { attempt: 1, error })],
      { status: 'failed', attempt: 1, ready: 1, settled: 2, started_at: 100, finished_at: 200, error },
    ],
    [
      'a skip',
      [event('node.skipped')],
      { status: 'skipped', attempt: 0, ready: 1, settled: 1, started_at: 200, finished_at: 200 },
    ],
    [
      'a pause before the next attempt, which removes the timeout and the items',
      [started({ expires: iso(700), total: 3 }), event('node.retrying', { next_attempt_at: iso(800) })],
      { status: 'waiting', attempt: 1, ready: 1, started_at: 100, wait: { kind: 'retry', until: 800 } },
    ],
    [
      'a pause without a time',
      [started(), event('node.retrying')],
      { status: 'waiting', attempt: 1, ready: 1, started_at: 100, wait: { kind: 'retry', until: 200 } },
    ],
    [
      'a pause of a node that failed before it started',
      [event('node.retrying', { attempt: 1, next_attempt_at: iso(800) })],
      { status: 'waiting', attempt: 1, ready: 1, started_at: 200, wait: { kind: 'retry', until: 800 } },
    ],
    [
      'another attempt, which keeps the start time and the recorded steps',
      [
        started(),
        event('node.progress', { step: 's', result: 1 }),
        event('node.retrying', { next_attempt_at: iso(800) }),
        { ...started({ attempt: 2 }), at: 900 },
      ],
      { status: 'running', attempt: 2, ready: 1, started_at: 100, steps: { s: 1 } },
    ],
    [
      'a step',
      [started(), event('node.progress', { step: 's', result: 1 })],
      { status: 'running', attempt: 1, ready: 1, started_at: 100, steps: { s: 1 } },
    ],
    [
      'two steps, one without a result',
      [started(), event('node.progress', { step: 's', result: 1 }), event('node.progress', { step: 't' })],
      { status: 'running', attempt: 1, ready: 1, started_at: 100, steps: { s: 1, t: null } },
    ],
    ['progress of a node that never started', [event('node.progress', { step: 's' })], undefined],
    [
      'progress for people',
      [started(), event('node.progress', { done: 3 })],
      { status: 'running', attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'a gate',
      [started(), event('approval.opened', { request_id: 'r', due_at: iso(500) })],
      {
        status: 'waiting',
        attempt: 1,
        ready: 1,
        started_at: 100,
        wait: { kind: 'approval', data: { request_id: 'r' }, until: 500 },
      },
    ],
    [
      'a question',
      [started(), event('clarification.asked', { question: 'q' })],
      {
        status: 'waiting',
        attempt: 1,
        ready: 1,
        started_at: 100,
        wait: { kind: 'clarification', data: { question: 'q' }, until: null },
      },
    ],
    ['a gate of a node that never started', [event('approval.opened')], undefined],
    [
      'a moved due time of a gate',
      [started(), event('approval.opened'), event('node.progress', { due_at: iso(600) })],
      { status: 'waiting', attempt: 1, ready: 1, started_at: 100, wait: { kind: 'approval', data: {}, until: 600 } },
    ],
    [
      'a removed due time of a question',
      [started(), event('clarification.asked', { due_at: iso(500) }), event('node.progress', { due_at: null })],
      {
        status: 'waiting',
        attempt: 1,
        ready: 1,
        started_at: 100,
        wait: { kind: 'clarification', data: {}, until: null },
      },
    ],
    [
      'a due time of a node that does not wait',
      [started(), event('node.progress', { due_at: iso(600) })],
      { status: 'running', attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'a due time of a timer',
      [started({ until: iso(900) }), event('node.progress', { due_at: iso(600) })],
      { status: 'waiting', wait: { kind: 'timer', until: 900 }, attempt: 1, ready: 1, started_at: 100 },
    ],
    [
      'a vote',
      [started(), event('approval.opened'), event('approval.voted')],
      { status: 'waiting', attempt: 1, ready: 1, started_at: 100, wait: { kind: 'approval', data: {}, until: null } },
    ],
    ['an event inside a map', [event('node.started', { in_map: true })], undefined],
  ])('%s', (_what, events, expected) => {
    expect(nodeAfter(...events)).toStrictEqual(expected)
  })

  test.each<[string, [number, number][], [number, number][]]>([
    ['one range', [[0, 2]], [[0, 2]]],
    [
      'adjacent ranges',
      [
        [0, 2],
        [2, 4],
      ],
      [[0, 4]],
    ],
    [
      'ranges with a gap',
      [
        [0, 2],
        [3, 4],
      ],
      [
        [0, 2],
        [3, 4],
      ],
    ],
    [
      'ranges in any order',
      [
        [3, 4],
        [0, 2],
      ],
      [
        [0, 2],
        [3, 4],
      ],
    ],
    [
      'overlapping ranges',
      [
        [0, 3],
        [1, 2],
      ],
      [[0, 3]],
    ],
    [
      'a gap that closes',
      [
        [0, 2],
        [3, 4],
        [2, 3],
      ],
      [[0, 4]],
    ],
  ])('items of a map settled as %s', (_what, ranges, done) => {
    const events = ranges.map(([from, to]) => event('node.progress', { from, to }))
    expect(nodeAfter(started({ total: 4 }), ...events)?.map).toEqual({ total: 4, done })
  })

  test.each<[JsonObject]>([[{ from: 0 }], [{ to: 1 }], [{ from: '0', to: 1 }]])(
    'items without a range is unchanged: %j',
    (data) => {
      expect(nodeAfter(started({ total: 4 }), event('node.progress', data))?.map).toEqual({ total: 4, done: [] })
    },
  )

  test('a range of a node that is not a map is unchanged', () => {
    expect(nodeAfter(started(), event('node.progress', { from: 0, to: 1 }))).not.toHaveProperty('map')
  })

  test.each<[JournalEvent['type'], JsonObject, object]>([
    ['execution.succeeded', { results: 5 }, { status: 'succeeded', results: 5 }],
    ['execution.succeeded', {}, { status: 'succeeded', results: null }],
    ['execution.failed', { error }, { status: 'failed', error }],
    ['execution.timed_out', { error }, { status: 'timed_out', error }],
    ['execution.cancelled', {}, { status: 'cancelled' }],
    ['execution.waiting', {}, { status: 'running', parked: true }],
    ['execution.resumed', {}, { status: 'running' }],
  ])('%s with %j', (type, data, expected) => {
    expect(replay(emptyState(), [{ type, at: 1, data }])).toEqual({ seq: 1, nodes: {}, ...expected })
  })

  test('a resumed execution is not parked', () => {
    const events = (['execution.waiting', 'execution.resumed'] as const).map((type) => ({ type, at: 1, data: {} }))
    expect(replay(emptyState(), events)).toEqual({ seq: 2, status: 'running', nodes: {} })
  })

  test('the end of an execution has active nodes failed, settled nodes unchanged and no waits left', () => {
    const state: GraphState = stateOf({
      done: { status: 'succeeded', output: 1 },
      skipped: { status: 'skipped' },
      ran: { expires: 9, map: { total: 1, done: [] }, steps: { s: 1 } },
      waited: { status: 'waiting', attempt: 2, wait: { kind: 'timer', until: 9 } },
    })
    const { nodes } = replay(state, [{ type: 'execution.cancelled', at: 50, data: {} }])
    const interrupted = (id: string, attempt: number) => ({
      status: 'failed',
      attempt,
      ready: 0,
      finished_at: 50,
      error: { code: 'interrupted', message: 'the execution ended before this node did', node_id: id, attempt },
    })
    expect(nodes).toEqual({
      done: state.nodes.done,
      skipped: state.nodes.skipped,
      ran: interrupted('ran', 1),
      waited: interrupted('waited', 2),
    })
    expect(state.nodes.ran?.status).toBe('running')
  })
})

describe('a node that starts', () => {
  const input = { x: 5, big: 'x'.repeat(MAX_SHOWN_SIZE) }
  const begun = (more: Partial<Node>, at = 10_000) =>
    startGraph(contextOf({ nodes: [node('n', more)], edges: [] }, { input }), at)
  test.each<[string, Partial<Node>, object[], object]>([
    [
      'runs',
      { args: { v: { $ref: 'input.x' } } },
      [{ do: 'run', node: 'n', type: 'echo', attempt: 1, args: { v: 5 } }],
      { status: 'running' },
    ],
    [
      'runs without arguments',
      {},
      [{ do: 'run', node: 'n', type: 'echo', attempt: 1, args: {} }],
      { status: 'running' },
    ],
    [
      'runs with its own timeout',
      { timeout_s: 3 },
      [{ do: 'run', node: 'n', type: 'echo', attempt: 1, args: {}, timeoutS: 3 }],
      { status: 'running' },
    ],
    [
      'opens a gate',
      { type: 'approval', args: { title: 't' } },
      [{ do: 'open', node: 'n', people: 'approval', args: { title: 't' } }],
      { status: 'running' },
    ],
    [
      'asks a question with a timeout',
      { type: 'clarification', timeout_s: 3 },
      [{ do: 'open', node: 'n', people: 'clarification', args: {} }],
      { status: 'running', expires: 13_000 },
    ],
    [
      'opens a gate with a timeout',
      { type: 'approval', timeout_s: 3 },
      [{ do: 'open', node: 'n', people: 'approval', args: {} }],
      { status: 'running', expires: 13_000 },
    ],
    [
      'starts a child',
      { type: 'subworkflow', args: { workflow_id: 'w' }, timeout_s: 2 },
      [{ do: 'child', node: 'n', attempt: 1, args: { workflow_id: 'w' } }],
      { status: 'waiting', wait: { kind: 'execution' }, expires: 12_000 },
    ],
    [
      'maps',
      { type: 'map', args: { items: [1, 2], body: { nodes: [], edges: [] } }, timeout_s: 2 },
      [
        {
          do: 'map',
          node: 'n',
          attempt: 1,
          args: { items: [1, 2], body: { nodes: [], edges: [] }, concurrency: 10, onItemError: 'fail' },
        },
      ],
      { status: 'running', map: { total: 2, done: [] }, expires: 12_000 },
    ],
    [
      'waits',
      { type: 'wait', args: { for_s: 2 }, timeout_s: 3 },
      [],
      { status: 'waiting', wait: { kind: 'timer', until: 12_000 }, expires: 13_000 },
    ],
    [
      'waits, with an until that is null',
      { type: 'wait', args: { for_s: 2, until: null } },
      [],
      { status: 'waiting', wait: { kind: 'timer', until: 12_000 } },
    ],
    [
      'waits until a time',
      { type: 'wait', args: { until: '1970-01-01T00:00:30Z' } },
      [],
      { status: 'waiting', wait: { kind: 'timer', until: 30_000 } },
    ],
  ])('%s', (_what, more, expected, state) => {
    const step = begun(more)
    expect(step.commands).toStrictEqual(expected)
    expect(step.state.nodes.n).toEqual({ attempt: 1, ready: 1, started_at: 10_000, ...state })
  })

  test.each<[string, Partial<Node>, string, string]>([
    [
      'a wait with both for_s and until',
      { type: 'wait', args: { for_s: 1, until: '1970-01-01T00:00:30Z' } },
      'args_invalid',
      '',
    ],
    ['a wait with neither for_s nor until', { type: 'wait' }, 'args_invalid', ''],
    ['a wait longer than a year', { type: 'wait', args: { for_s: 31_536_001 } }, 'args_invalid', ''],
    ['a map whose items are not a list', { type: 'map', args: { items: 1 } }, 'map_items', 'must be a list'],
    ['a failure without a message', { type: 'fail', args: { code: 'c' } }, 'args_invalid', 'message'],
    ['a failure whose message is not a text', { type: 'fail', args: { message: 3 } }, 'args_invalid', 'message'],
    ['a failure without a code', { type: 'fail', args: { message: 'm' } }, 'failed', 'm'],
    ['a failure', { type: 'fail', args: { message: 'm', code: 'own' } }, 'own', 'm'],
    [
      'a gate whose payload is too large',
      { type: 'approval', args: { payload: { $ref: 'input.big' } } },
      'result_too_large',
      '',
    ],
    [
      'a question that is too large',
      { type: 'clarification', args: { question: { $ref: 'input.big' } } },
      'result_too_large',
      '',
    ],
    ['an argument that cannot be computed', { args: { v: { $cel: 'input.absent + 1.0' } } }, 'expression_failed', ''],
  ])('%s fails and is not retried', (_what, more, code, text) => {
    const { state } = begun({ ...more, retry: { max_attempts: 3, backoff_s: 1 } })
    expect(state).toMatchObject({ status: 'failed', error: { code, node_id: 'n', attempt: 1 } })
    expect(state.error?.message).toContain(text)
  })

  test('can receive arguments that are too large to be shown to people', () => {
    expect(commands(begun({ args: { v: { $ref: 'input.big' } } }))).toEqual(['run n'])
  })

  test('as a set returns its values, or an empty object without values', () => {
    expect(
      [begun({ type: 'set', args: { values: { a: { $ref: 'input.x' } } } }), begun({ type: 'set' })].map(
        ({ state }) => state.nodes.n?.output,
      ),
    ).toEqual([{ a: 5 }, {}])
  })
})

describe('expressions see', () => {
  const settled = (at: number, output?: Json): Partial<NodeState> => ({
    status: 'succeeded',
    settled: at,
    ...(output !== undefined && { output }),
  })
  test('nodes that had settled up to a position, null for a node without output, and the outer nodes of a map', () => {
    const state = stateOf({ a: settled(3, 1), b: settled(5), c: settled(6, 3), d: {} })
    const context = contextOf(
      { nodes: [], edges: [] },
      { input: 7, execution: { id: 'e' }, outer: { o: { output: 9 } } },
    )
    expect(scopeAt(context, state, 5)).toEqual({
      input: 7,
      execution: { id: 'e' },
      vars: {},
      nodes: { o: { output: 9 }, a: { output: 1 }, b: { output: null } },
    })
  })

  test.each<[object, object]>([
    [
      { item: 4, index: 0 },
      { item: 4, index: 0 },
    ],
    [{ index: 2 }, { item: null, index: 2 }],
    [{}, {}],
  ])('in a map with %j: %j', (given, expected) => {
    const {
      input: _input,
      nodes: _nodes,
      execution: _execution,
      vars: _vars,
      ...rest
    } = scopeAt(contextOf({ nodes: [], edges: [] }, given), stateOf({}), 0)
    expect(rest).toEqual(expected)
  })

  test('the outputs of the nodes before, in arguments', () => {
    const graph = {
      nodes: [
        node('s', { type: 'set', args: { values: { v: 3 } } }),
        node('n', { args: { v: { $ref: 'nodes.s.output.v' } } }),
      ],
      edges: [edge('s', 'n')],
    }
    expect(startGraph(contextOf(graph), 1).commands).toMatchObject([{ args: { v: 3 } }])
  })
})

describe('a branch passes on', () => {
  const branch = node('b', { type: 'branch', args: { cases: [] } })
  const passed = (
    sources: Record<string, Partial<NodeState>>,
    edges = Object.keys(sources).map((id) => edge(id, 'b')),
  ) => {
    const context = contextOf(
      {
        nodes: [...Object.keys(sources).map((id) => node(id)), node('last'), branch],
        edges: [...edges, edge('last', 'b', 'never')],
      },
      { input: 'input' },
    )
    const state = stateOf({ ...sources, last: {} })
    return advance(context, state, [{ kind: 'done', node: 'last', attempt: 1, output: 0 }], 1).state.nodes.b
  }
  const blob = { key: 'k', sha256: 's', bytes: 5 }
  test.each<[string, Record<string, Partial<NodeState>>, object]>([
    ['the output of the node before it', { a: { status: 'succeeded', settled: 2, output: 3 } }, { output: 3 }],
    ['null if that node has no output', { a: { status: 'failed', settled: 2 } }, { output: null }],
    [
      'the output of the first source whose edge was taken',
      { a: { status: 'skipped', settled: 2, output: 3 }, c: { status: 'succeeded', settled: 2, output: 4 } },
      { output: 4 },
    ],
    ['a blob reference unchanged', { a: { status: 'succeeded', settled: 2, output: 3, blob } }, { output: 3, blob }],
  ])('%s', (_what, sources, expected) => {
    const { status, port, output, blob: kept } = passed(sources) as NodeState
    expect({ status, port, output, ...(kept && { blob: kept }) }).toEqual({
      status: 'succeeded',
      port: 'default',
      ...expected,
    })
  })

  test('the input of the execution if no node led to the branch, also without cases', () => {
    const { state } = startGraph(contextOf({ nodes: [node('b', { type: 'branch' })], edges: [] }, { input: 'in' }), 1)
    expect(state.nodes.b).toMatchObject({ port: 'default', output: 'in' })
  })

  test('nothing if a case cannot be evaluated: the branch fails', () => {
    const cases = [{ port: 'p', when: { $cel: 'input.absent > 1.0' } }]
    expect(
      startGraph(contextOf({ nodes: [node('b', { type: 'branch', args: { cases } })], edges: [] }), 1).state.status,
    ).toBe('failed')
  })
})

describe('time brings', () => {
  const at = (more: Partial<Node>, state: Partial<NodeState>, time: number, rest: Node[] = [beside]) =>
    advance(
      contextOf({ nodes: [node('n', more), ...rest], edges: [] }),
      stateOf({ n: state, beside: {} }),
      [{ kind: 'time' }],
      time,
    )
  const timer = (until: number): Partial<NodeState> => ({ status: 'waiting', wait: { kind: 'timer', until } })

  test.each<[string, Partial<NodeState>, number, Json]>([
    ['a wait that ends in time', { ...timer(9_000), started_at: 4_000 }, 9_000, 5],
    ['a wait that is noticed late', { ...timer(9_000), started_at: 4_000 }, 20_000, 5],
    ['a wait until a time in the past', { ...timer(3_000), started_at: 4_000 }, 4_000, 0],
    ['a wait that an older release started', timer(9_000), 9_000, 0],
  ])('%s: how long it waited', (_what, state, time, waited) => {
    expect(at({ type: 'wait' }, state, time).state.nodes.n?.output).toEqual({ waited_s: waited })
  })

  test.each<[string, Partial<NodeState>, number, string]>([
    ['a timeout', { expires: 500 }, 500, 'timeout'],
    ['no timeout before its time', { expires: 500 }, 499, '–'],
    [
      'a timeout during the pause before the next attempt',
      { status: 'waiting', wait: { kind: 'retry', until: 900 }, expires: 500 },
      500,
      'timeout',
    ],
    ['no timeout of a timer that ended before it', { ...timer(400), expires: 500 }, 600, '–'],
    ['a timeout of a timer that ends after it', { ...timer(600), expires: 500 }, 600, 'timeout'],
    [
      'a timeout of a gate whose due time comes at the same time',
      { status: 'waiting', wait: { kind: 'approval', data: {}, until: 500 }, expires: 500 },
      500,
      'timeout',
    ],
    ['no timeout of a settled node', { status: 'succeeded', expires: 500 }, 900, '–'],
  ])('%s', (_what, state, time, code) => {
    expect(at({ on_error: 'continue' }, state, time).state.nodes.n?.error?.code ?? '–').toBe(code)
  })

  test('a retry after a timeout if the policy allows it', () => {
    const retry = { max_attempts: 2, backoff_s: 1 }
    expect(at({ retry }, { expires: 500 }, 500).state.nodes.n).toMatchObject({
      status: 'waiting',
      wait: { kind: 'retry' },
    })
  })

  test.each<[string, Partial<NodeState>, number, string[]]>([
    [
      'the due time of a question',
      { status: 'waiting', wait: { kind: 'clarification', data: {}, until: 500 } },
      500,
      ['due n'],
    ],
    [
      'nothing before the due time',
      { status: 'waiting', wait: { kind: 'clarification', data: {}, until: 500 } },
      499,
      [],
    ],
    ['nothing without a due time', { status: 'waiting', wait: { kind: 'approval', data: {}, until: null } }, 500, []],
    ['nothing for a child', { status: 'waiting', wait: { kind: 'execution' } }, 500, []],
    ['the next attempt', { status: 'waiting', wait: { kind: 'retry', until: 500 } }, 500, ['run n']],
    ['no attempt before its time', { status: 'waiting', wait: { kind: 'retry', until: 500 } }, 499, []],
  ])('%s', (_what, state, time, expected) => {
    expect(commands(at({}, state, time))).toEqual(expected)
  })

  test('the next attempts in the order of the nodes', () => {
    const retrying: Partial<NodeState> = { status: 'waiting', attempt: 2, wait: { kind: 'retry', until: 5 } }
    const context = contextOf({ nodes: [node('a'), node('b')], edges: [] })
    const step = advance(context, stateOf({ a: retrying, b: retrying }), [{ kind: 'time' }], 5)
    expect(step.events.map(({ data }) => [data.node_id, data.attempt])).toEqual([
      ['a', 3],
      ['b', 3],
    ])
  })

  test('nothing more after the first timeout has ended the execution', () => {
    const context = contextOf({ nodes: [node('a'), node('b')], edges: [] })
    const step = advance(context, stateOf({ a: { expires: 1 }, b: { expires: 1 } }), [{ kind: 'time' }], 5)
    expect(types(step)).toEqual(['node.failed', 'execution.failed'])
  })
})

describe('an execution that is retried from a node', () => {
  test('keeps the nodes before that node and continues with that node', () => {
    const graph = {
      nodes: [node('a'), node('b', { args: { v: { $ref: 'nodes.a.output' } } })],
      edges: [edge('a', 'b')],
    }
    const kept = stateOf({ a: { status: 'succeeded', settled: 5, output: 3 } })
    const step = startGraph(contextOf(graph), 1, kept)
    expect(step.commands).toMatchObject([{ do: 'run', node: 'b', args: { v: 3 } }])
    expect(types(step)).toEqual(['node.started'])
    expect(kept.nodes.b).toBeUndefined()
  })

  test('starts its first nodes in the order of the definition', () => {
    const graph = { nodes: ['c', 'a', 'b'].map((id) => node(id)), edges: [] }
    expect(commands(startGraph(contextOf(graph), 1))).toEqual(['run c', 'run a', 'run b'])
  })

  test('ends if nothing is left to do', () => {
    const graph = { nodes: [node('a')], edges: [], output: { $ref: 'nodes.a.output' } }
    const step = startGraph(contextOf(graph), 1, stateOf({ a: { status: 'succeeded', settled: 5, output: 3 } }))
    expect(step.state).toMatchObject({ status: 'succeeded', results: 3 })
    expect(startGraph(contextOf({ nodes: [], edges: [] }), 1).state).toMatchObject({
      status: 'succeeded',
      results: null,
    })
  })
})

describe('after a crash', () => {
  const resumed = (graph: Definition, nodes: Record<string, Partial<NodeState>>) => [
    ...resume(contextOf(graph), stateOf(nodes), UNLIMITED),
  ]
  const costly = { args: { v: { $cel: 'input.absent + 1.0' } } }
  test('a running node whose arguments can no longer be computed fails', () => {
    expect(resumed({ nodes: [node('n', costly)], edges: [] }, { n: { attempt: 2 } })).toEqual([
      {
        do: 'tell',
        message: {
          kind: 'error',
          node: 'n',
          attempt: 2,
          error: expect.objectContaining({ code: 'expression_failed' }),
          retryable: false,
        },
      },
    ])
  })

  test('a node that waited for a child fails if its arguments can no longer be computed', () => {
    const graph = { nodes: [node('n', { type: 'subworkflow', ...costly })], edges: [] }
    expect(resumed(graph, { n: { status: 'waiting', attempt: 2, wait: { kind: 'execution' } } })).toEqual([
      {
        do: 'tell',
        message: {
          kind: 'child',
          node: 'n',
          attempt: 2,
          results: null,
          error: expect.objectContaining({ code: 'expression_failed' }),
        },
      },
    ])
  })

  test('a check of a node whose arguments can no longer be computed does nothing', () => {
    const context = contextOf({ nodes: [node('n', { type: 'subworkflow', ...costly })], edges: [] })
    const state = stateOf({ n: { status: 'waiting', wait: { kind: 'execution' } } })
    expect(advance(context, state, [{ kind: 'check', node: 'n' }], 1)).toMatchObject({ events: [], commands: [] })
  })

  test('a node that the definition no longer has is ignored', () => {
    expect(resumed({ nodes: [], edges: [] }, { gone: {}, failed: { status: 'failed' } })).toEqual([])
  })

  test('arguments see only the nodes that had settled when the node became ready', () => {
    const graph = { nodes: [node('a'), node('n', { args: { v: { $ref: 'nodes.a.output' } } })], edges: [] }
    const told = (ready: number) => resumed(graph, { a: { status: 'succeeded', settled: 5, output: 3 }, n: { ready } })
    expect(told(5)).toMatchObject([{ args: { v: 3 } }])
    expect(told(4)).not.toMatchObject([{ args: { v: 3 } }])
  })

  test('control nodes are not repeated', () => {
    const nodes = ['set', 'branch', 'fail', 'wait'].map((type) => node(type, { type }))
    expect(resumed({ nodes, edges: [] }, { set: {}, branch: {}, fail: {}, wait: {} })).toEqual([])
  })
})

describe('an error is reported', () => {
  class Ours extends Error {
    code = 'secret'
  }
  test.each<[string, unknown, object]>([
    [
      'as the node reported it',
      new NodeFailure('c', 'm', { retryable: false, details: { a: 1 } }),
      { code: 'c', message: 'm', details: { a: 1 } },
    ],
    ['as plain data', { code: 'c', message: 'm' }, { code: 'c', message: 'm' }],
    ['with details', { code: 'c', message: 'm', details: [1] }, { code: 'c', message: 'm', details: [1] }],
    [
      'without internal details',
      new Ours('password'),
      { code: 'internal', message: 'the node failed because of an internal error' },
    ],
    [
      'without a value that is not an error',
      'text',
      { code: 'internal', message: 'the node failed because of an internal error' },
    ],
    ['without null', null, { code: 'internal', message: 'the node failed because of an internal error' }],
    [
      'without an error that has no message',
      { code: 'c' },
      { code: 'internal', message: 'the node failed because of an internal error' },
    ],
    [
      'without an error that has no code',
      { message: 'm' },
      { code: 'internal', message: 'the node failed because of an internal error' },
    ],
    [
      'without characters that cannot be stored',
      { code: 'c\u0000', message: '\ud800m', details: { 'k\u0000': ['\u0000', 1, null, { d: 'x\u0000' }] } },
      { code: 'c', message: '\ufffdm', details: { k: ['', 1, null, { d: 'x' }] } },
    ],
  ])('%s', (_what, error, expected) => {
    expect(errorOf(error)).toStrictEqual(expected)
    expect(errorOf(error, 'n', 2)).toEqual({ ...expected, node_id: 'n', attempt: 2 })
  })
})

describe('the output of a node', () => {
  const result = (size: number, blob?: { key: string; sha256: string; bytes: number }) => {
    const context = contextOf({ nodes: [node('c', { type: 'subworkflow' }), beside], edges: [] })
    const state = stateOf({ c: { status: 'waiting', wait: { kind: 'execution' } }, beside: {} })
    const message: GraphMessage = {
      kind: 'child',
      node: 'c',
      attempt: 1,
      results: 'x'.repeat(size - 2),
      error: null,
      ...(blob && { blob }),
    }
    return advance(context, state, [message], 1)
  }
  test('goes to the blob store if it is over 32 KiB and is not already there', () => {
    expect(result(MAX_INLINE_SIZE).large).toEqual([])
    expect(result(MAX_INLINE_SIZE + 1).large).toEqual(['c'])
    expect(result(10, { key: 'k', sha256: 's', bytes: MAX_INLINE_SIZE + 1 }).large).toEqual([])
  })

  test('is at most 8 MiB, in the journal or in the blob store', () => {
    const bytes = 8 * 1024 * 1024
    expect(result(10, { key: 'k', sha256: 's', bytes }).state.status).toBe('running')
    expect(result(10, { key: 'k', sha256: 's', bytes: bytes + 1 }).state.error).toMatchObject({
      code: 'result_too_large',
    })
  })

  test('counts once per blob towards 64 MiB', () => {
    const bytes = 8 * 1024 * 1024
    const kept = (keys: string[]) =>
      Object.fromEntries(
        keys.map((key, n) => [
          `k${n}`,
          { status: 'succeeded', blob: { key, sha256: 's', bytes } } as Partial<NodeState>,
        ]),
      )
    const run = (keys: string[]) => {
      const context = contextOf({ nodes: [node('n'), ...keys.map((_key, n) => node(`k${n}`))], edges: [] })
      const done: GraphMessage = {
        kind: 'done',
        node: 'n',
        attempt: 1,
        output: null,
        blob: { key: 'new', sha256: 's', bytes },
      }
      return advance(context, stateOf({ ...kept(keys), n: {} }), [done], 1).state.nodes.n?.status
    }
    expect(run(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('succeeded')
    expect(run(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])).toBe('failed')
    expect(run(['a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'])).toBe('succeeded')
  })
})

test('a graph is compiled once, and edges to unknown nodes are ignored', () => {
  const graph: Definition = {
    nodes: [node('a'), node('b')],
    edges: [edge('a', 'b'), edge('a', 'gone'), edge('gone', 'b')],
  }
  expect(compile(graph)).toBe(compile(graph))
  expect(compile(graph).incoming.get('b')).toHaveLength(2)
  expect(compile(graph).outgoing.get('a')).toHaveLength(2)
  expect(compile({ nodes: [node('a')] } as unknown as Definition).outgoing.get('a')).toEqual([])
})

test.each<[NodeState['status'] | undefined, boolean, boolean]>([
  [undefined, false, false],
  ['running', false, true],
  ['waiting', false, true],
  ['succeeded', true, false],
  ['failed', true, false],
  ['skipped', true, false],
])('a node that is %s: settled is %s, active is %s', (status, settled, active) => {
  const nodes: Record<string, Partial<NodeState>> = status === undefined ? {} : { a: { status } }
  expect([isSettled(stateOf(nodes).nodes.a), hasActive(stateOf(nodes))]).toEqual([settled, active])
})

test.each([
  ['a', 11_792],
  ['seed', 11_692],
  ['seed:n', 7_629],
])('the backoff of %s is the same on every machine and in every release: %i ms', (seed, pause) => {
  expect(backoff({ max_attempts: 3, backoff_s: 10 }, 1, seed)).toBe(pause)
})

describe('the budget of a pass is charged for', () => {
  const run = (take: typeof decide, work: (budget: { steps: number; size: number }) => void) => {
    const pass = passOf(contextOf({ nodes: [node('a'), node('b')], edges: [] }), stateOf({}))
    pass.allowance = { left: 1_000_000 }
    take(pass, work)
    return { steps: MAX_PASS_STEPS - pass.steps, allowance: 1_000_000 - pass.allowance.left }
  }
  const values: typeof decide = (pass, work) => compute(pass, 1_000, work)
  // 100 for the expression itself, one for each node of the graph, one for each 16 characters.
  test.each<[string, typeof decide, number, number, object]>([
    ['the steps of a condition and a share of its size', decide, 7, 32, { steps: 7, allowance: 7 + 100 + 2 + 2 }],
    ['a condition that used no steps', decide, 0, 0, { steps: 0, allowance: 102 }],
    [
      'all remaining steps if a condition exceeds its limit',
      decide,
      150_001,
      0,
      { steps: 150_000, allowance: 150_102 },
    ],
    ['the steps of values and a share of their size', values, 7, 16, { steps: 7, allowance: 7 + 100 + 2 + 1 }],
    ['all remaining steps if values exceed their limit', values, 500_001, 0, { steps: 500_000, allowance: 500_102 }],
  ])('%s', (_what, take, steps, size, expected) => {
    const used = run(take, (budget) => {
      budget.steps -= steps
      budget.size -= size
    })
    expect(used).toEqual(expected)
  })

  test('an expression that throws, and the error is rethrown', () => {
    const failing = () =>
      run(decide, () => {
        throw new Error('no')
      })
    expect(failing).toThrow('no')
  })

  test('no more steps than the pass has left', () => {
    const pass = passOf(contextOf({ nodes: [], edges: [] }), stateOf({}))
    pass.steps = 5
    expect([decide(pass, ({ steps }) => steps), compute(pass, 9, ({ steps, size }) => [steps, size])]).toEqual([
      5,
      [5, 9],
    ])
  })

  test.each([
    [1, false],
    [0, true],
    [-1, true],
  ])('nothing more when it is used up; with %i steps left it is used up: %s', (left, spent) => {
    const pass = passOf(contextOf({ nodes: [], edges: [] }), stateOf({}))
    pass.allowance = { left }
    expect(isUsedUp(pass)).toBe(spent)
  })
})

test('a wait is shown with the start of its node and its due time, and only for waiting nodes', () => {
  const gate = { kind: 'approval', data: { request_id: 'r' }, until: 9_000 } as const
  const state = stateOf({
    g: { status: 'waiting', started_at: 5_000, wait: gate },
    old: { status: 'waiting', wait: gate },
    run: {},
  })
  const shown = (id: string, since: number) => ({
    kind: 'approval',
    request_id: 'r',
    node_id: id,
    since: iso(since),
    until: iso(9_000),
  })
  expect(waitingFor(state)).toStrictEqual([shown('g', 5_000), shown('old', 0)])
})
