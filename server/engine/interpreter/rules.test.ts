import { describe, expect, test } from 'vitest'
import type { Definition, Edge, Json, JsonObject, Node, RetryPolicy } from '#model/definition'
import type { Effect } from '#model/node'
import { advance, resume, type Step, startGraph } from './advance.ts'
import { replay } from './apply.ts'
import { backoff } from './backoff.ts'
import { mapArgs } from './commands.ts'
import { downstream } from './graph.ts'
import type { GraphMessage } from './graph-message.ts'
import { UNLIMITED } from './pass.ts'
import { edgeState, readiness } from './scope.ts'
import { emptyState, type GraphState, hasEnded, type NodeState, nextDue, onlyWaits, type Wait } from './state.ts'
import { commands, contextOf, edge, node, passOf, stateOf, types } from './testing.ts'
import { waitingFor } from './waiting.ts'

// The rules of docs/workflows.md as truth tables of the pure functions.

const settledAt = { settled: 5 }

describe('an edge', () => {
  const decided = (source: Partial<NodeState> | undefined, port?: string, when?: string) => {
    const graph = { nodes: [node('a'), node('b')], edges: [edge('a', 'b', port, when)] }
    const state = stateOf(source ? { a: source } : {})
    return edgeState(passOf(contextOf(graph), state), graph.edges[0] as Edge)
  }
  test.each<[string, Partial<NodeState> | undefined, string | undefined, string | undefined, string]>([
    ['of a node that has not started', undefined, undefined, undefined, 'open'],
    ['of a running node', { status: 'running' }, undefined, undefined, 'open'],
    ['of a waiting node', { status: 'waiting' }, undefined, undefined, 'open'],
    ['of a node that succeeded', { status: 'succeeded', ...settledAt }, undefined, undefined, 'taken'],
    ['that names the port out', { status: 'succeeded', ...settledAt }, 'out', undefined, 'taken'],
    ['of another port', { status: 'succeeded', ...settledAt }, 'error', undefined, 'dead'],
    ['of the port that was taken', { status: 'succeeded', port: 'yes', ...settledAt }, 'yes', undefined, 'taken'],
    [
      'without a port, after a result on a named port',
      { status: 'succeeded', port: 'yes', ...settledAt },
      undefined,
      undefined,
      'dead',
    ],
    ['of a skipped node', { status: 'skipped', ...settledAt }, undefined, undefined, 'dead'],
    ['of a skipped node, with its port', { status: 'skipped', port: 'yes', ...settledAt }, 'yes', undefined, 'dead'],
    [
      'of a failed node that continues',
      { status: 'failed', output: null, ...settledAt },
      undefined,
      undefined,
      'taken',
    ],
    [
      'of a failed node that routes its error',
      { status: 'failed', port: 'error', ...settledAt },
      'error',
      undefined,
      'taken',
    ],
    [
      'with the port out, of a failed node that routes its error',
      { status: 'failed', port: 'error', ...settledAt },
      undefined,
      undefined,
      'dead',
    ],
    [
      'whose condition is true',
      { status: 'succeeded', output: 3, ...settledAt },
      undefined,
      'nodes.a.output == 3',
      'taken',
    ],
    [
      'whose condition is false',
      { status: 'succeeded', output: 4, ...settledAt },
      undefined,
      'nodes.a.output == 3',
      'dead',
    ],
    ['of another port, regardless of its condition', { status: 'succeeded', ...settledAt }, 'x', 'true', 'dead'],
  ])('%s', (_what, source, port, when, expected) => {
    expect(decided(source, port, when)).toBe(expected)
  })

  test('whose condition cannot be evaluated reports the failure', () => {
    expect(decided({ status: 'succeeded', ...settledAt }, undefined, 'input.absent > 1.0')).toHaveProperty('failed')
  })

  test('sees the nodes that had settled when its source settled, and no later ones', () => {
    const graph = {
      nodes: [node('a'), node('b'), node('late')],
      edges: [edge('a', 'b', undefined, '!has(nodes.late)')],
    }
    const at = (settled: number) =>
      edgeState(
        passOf(
          contextOf(graph),
          stateOf({ a: { status: 'succeeded', settled: 5 }, late: { status: 'succeeded', output: 1, settled } }),
        ),
        graph.edges[0] as Edge,
      )
    expect([at(4), at(5), at(6)]).toEqual(['dead', 'dead', 'taken'])
  })
})

describe('a node is ready', () => {
  const taken = { status: 'succeeded', ...settledAt } as const
  const dead = { status: 'skipped', ...settledAt } as const
  const open = { status: 'running' } as const
  test.each([
    [[], 'ready', 'ready'],
    [[taken], 'ready', 'ready'],
    [[dead], 'skip', 'skip'],
    [[open], 'not yet', 'not yet'],
    [[taken, taken], 'ready', 'ready'],
    [[taken, dead], 'ready', 'ready'],
    [[taken, open], 'not yet', 'ready'],
    [[open, taken], 'not yet', 'ready'],
    [[dead, open], 'not yet', 'not yet'],
    [[dead, dead], 'skip', 'skip'],
    [[dead, dead, taken], 'ready', 'ready'],
    [[dead, taken, open], 'not yet', 'ready'],
  ] as [Partial<NodeState>[], string, string][])('with edges %j: join all %s, join any %s', (sources, all, any) => {
    const ids = sources.map((_source, index) => `s${index}`)
    const readinessOf = (join?: 'all' | 'any') => {
      const graph = {
        nodes: [...ids.map((id) => node(id)), node('j', join && { join })],
        edges: ids.map((id) => edge(id, 'j')),
      }
      const state = stateOf(Object.fromEntries(sources.map((source, index) => [`s${index}`, source])))
      return readiness(passOf(contextOf(graph), state), 'j')
    }
    expect([readinessOf(), readinessOf('all'), readinessOf('any')]).toEqual([all, all, any])
  })
})

describe('a failed attempt', () => {
  const retry: RetryPolicy = { max_attempts: 3, backoff_s: 1 }
  type Case = {
    retry?: RetryPolicy
    on_error?: Node['on_error']
    attempt?: number
    effect?: Effect
    retryable?: boolean
    nothingDone?: boolean
    errorEdge?: boolean
  }
  const outcome = ({ attempt = 1, effect = 'pure', retryable = true, nothingDone, errorEdge, ...more }: Case) => {
    const graph = {
      nodes: [node('f', more), node('next')],
      edges: errorEdge ? [edge('f', 'next', 'error')] : [edge('f', 'next')],
    }
    const context = contextOf(graph, { effectOf: () => effect })
    const message: GraphMessage = {
      kind: 'error',
      node: 'f',
      attempt,
      error: { code: 'x', message: 'y' },
      retryable,
      ...(nothingDone && { nothingDone }),
    }
    const { state } = advance(context, stateOf({ f: { attempt } }), [message], 1_000)
    const { f, next } = state.nodes
    return `${state.status} ${f?.status}${f?.wait ? ` ${f.wait.kind}` : ''}${f?.port ? ` by ${f.port}` : ''} → ${next?.status ?? '–'}`
  }
  const FAILS = 'failed failed → –'
  const RETRIES = 'running waiting retry → –'
  test.each<[Case, string]>([
    [{}, FAILS],
    [{ on_error: 'fail' }, FAILS],
    [{ on_error: 'continue' }, 'running failed → running'],
    [{ on_error: 'route', errorEdge: true }, 'running failed by error → running'],
    [{ on_error: 'route' }, FAILS],
    [{ errorEdge: true }, FAILS],
    [{ retry }, RETRIES],
    [{ retry, attempt: 2 }, RETRIES],
    [{ retry, attempt: 3 }, FAILS],
    [{ retry, attempt: 3, on_error: 'continue' }, 'running failed → running'],
    [{ retry, on_error: 'continue' }, RETRIES],
    [{ retry, retryable: false }, FAILS],
    [{ retry, effect: 'idempotent' }, RETRIES],
    [{ retry, effect: 'at_most_once' }, FAILS],
    [{ retry, effect: 'at_most_once', nothingDone: true }, RETRIES],
    [{ retry, effect: 'at_most_once', nothingDone: true, retryable: false }, FAILS],
    [{ retry: { max_attempts: 1, backoff_s: 1 } }, FAILS],
  ])('%j: %s', (given, expected) => {
    expect(outcome(given)).toBe(expected)
  })

  test('has the output null with continue, and the error as output with route', () => {
    const run = (on_error: 'continue' | 'route') => {
      const context = contextOf({ nodes: [node('f', { on_error }), node('n')], edges: [edge('f', 'n', 'error')] })
      const error = { code: 'x', message: 'y', details: { a: 1 } }
      return advance(
        context,
        stateOf({ f: {} }),
        [{ kind: 'error', node: 'f', attempt: 1, error, retryable: false }],
        1,
      ).state.nodes.f
    }
    expect(run('continue')).toMatchObject({ output: null, error: { code: 'x' } })
    expect(run('route')).toMatchObject({
      output: { code: 'x', message: 'y', node_id: 'f', attempt: 1, details: { a: 1 } },
    })
  })

  test('keeps the journalled steps for the next attempt, which starts after the pause', () => {
    const context = contextOf({ nodes: [node('f', { retry })], edges: [] })
    const failedOnce: GraphMessage = {
      kind: 'error',
      node: 'f',
      attempt: 1,
      error: { code: 'x', message: 'y' },
      retryable: true,
    }
    let step = advance(
      context,
      stateOf({ f: {} }),
      [{ kind: 'step', node: 'f', name: 'call', result: 7 }, failedOnce],
      1_000,
    )
    const due = nextDue(step.state) ?? 0
    expect(due).toBeGreaterThan(1_000)
    expect(advance(context, step.state, [{ kind: 'time' }], due - 1).commands).toEqual([])
    step = advance(context, step.state, [{ kind: 'time' }], due)
    expect(step.commands).toMatchObject([{ do: 'run', node: 'f', attempt: 2 }])
    expect(step.state.nodes.f).toMatchObject({ status: 'running', attempt: 2, steps: { call: 7 } })
  })
})

describe('a message from outside', () => {
  const graph: Definition = {
    nodes: [
      node('run'),
      node('gate', { type: 'approval' }),
      node('question', { type: 'clarification' }),
      node('event', { type: 'wait.event' }),
      node('child', { type: 'subworkflow', args: { workflow_id: 'w' } }),
      node('pause', { type: 'wait' }),
    ],
    edges: [edge('gate', 'run', 'rejected')],
  }
  const wait = (kind: 'approval' | 'clarification' | 'event'): Wait => ({ kind, data: {}, until: null })
  const waiting = (): GraphState =>
    stateOf({
      run: { attempt: 2 },
      gate: { status: 'waiting', wait: wait('approval') },
      question: { status: 'waiting', wait: wait('clarification') },
      event: { status: 'waiting', wait: wait('event') },
      child: { status: 'waiting', attempt: 2, wait: { kind: 'execution' } },
      pause: { status: 'waiting', wait: { kind: 'timer', until: 9_000 } },
    })
  const error = { code: 'x', message: 'y' }
  const events = (message: GraphMessage, state = waiting()) => types(advance(contextOf(graph), state, [message], 1_000))
  const FAILED = ['node.failed', 'execution.failed']

  test.each<[string, GraphMessage, string[]]>([
    ['a result', { kind: 'done', node: 'run', attempt: 2, output: 1 }, ['node.succeeded']],
    ['the result of an old attempt', { kind: 'done', node: 'run', attempt: 1, output: 1 }, []],
    ['the result of a node that waits', { kind: 'done', node: 'gate', attempt: 1, output: 1 }, []],
    ['the result of an unknown node', { kind: 'done', node: 'ghost', attempt: 1, output: 1 }, []],
    ['an error', { kind: 'error', node: 'run', attempt: 2, error, retryable: false }, FAILED],
    ['the error of an old attempt', { kind: 'error', node: 'run', attempt: 1, error, retryable: false }, []],
    ['the error of a node that waits', { kind: 'error', node: 'gate', attempt: 1, error, retryable: false }, []],
    ['a step', { kind: 'step', node: 'run', name: 's', result: 1 }, ['node.progress']],
    ['a step of a node that waits', { kind: 'step', node: 'gate', name: 's', result: 1 }, []],
    ['progress', { kind: 'progress', node: 'run', data: {} }, ['node.progress']],
    ['progress of a node that waits', { kind: 'progress', node: 'gate', data: {} }, []],
    ['items of a node that is not a map', { kind: 'chunk', node: 'run', from: 0, to: 1, data: {} }, []],
    [
      'a gate that opens',
      { kind: 'opened', node: 'run', people: 'approval', data: {}, dueAt: null },
      ['approval.opened'],
    ],
    [
      'a gate that opens again as another request',
      { kind: 'opened', node: 'gate', people: 'approval', data: { request_id: 'apr_2' }, dueAt: null },
      ['approval.opened'],
    ],
    [
      'a gate that is already open with the same request',
      { kind: 'opened', node: 'gate', people: 'approval', data: {}, dueAt: null },
      [],
    ],
    [
      'a question',
      { kind: 'opened', node: 'run', people: 'clarification', data: {}, dueAt: null },
      ['clarification.asked'],
    ],
    [
      'a gate for a node that waits for a question',
      { kind: 'opened', node: 'question', people: 'approval', data: {}, dueAt: null },
      [],
    ],
    [
      'a moved due time of a gate',
      { kind: 'postponed', node: 'gate', people: 'approval', dueAt: 5 },
      ['node.progress'],
    ],
    [
      'a moved due time of a question for a gate',
      { kind: 'postponed', node: 'gate', people: 'clarification', dueAt: 5 },
      [],
    ],
    ['a vote', { kind: 'voted', node: 'gate', data: {} }, ['approval.voted']],
    ['a vote on a question', { kind: 'voted', node: 'question', data: {} }, []],
    [
      'an approval',
      { kind: 'resolved', node: 'gate', outcome: 'approved', output: 1, data: {} },
      ['approval.resolved', 'node.succeeded'],
    ],
    ['an approval of a question', { kind: 'resolved', node: 'question', outcome: 'approved', output: 1, data: {} }, []],
    [
      'an answer',
      { kind: 'answered', node: 'question', answer: 1, data: {} },
      ['clarification.answered', 'node.succeeded'],
    ],
    [
      'a wait for an event',
      { kind: 'opened', node: 'run', people: 'event', data: { wait_id: 'wait_1' }, dueAt: null },
      ['event.awaited'],
    ],
    [
      'a wait for an event that is already open',
      { kind: 'opened', node: 'event', people: 'event', data: {}, dueAt: null },
      [],
    ],
    ['an event', { kind: 'received', node: 'event', output: 1, data: {} }, ['event.received', 'node.succeeded']],
    ['an event for a question', { kind: 'received', node: 'question', output: 1, data: {} }, []],
    ['an event for a node that runs', { kind: 'received', node: 'run', output: 1, data: {} }, []],
    ['an answer to an awaited event', { kind: 'answered', node: 'event', answer: 1, data: {} }, []],
    ['an event that did not come in time', { kind: 'refused', node: 'event', error }, FAILED],
    [
      'a moved due time of an event',
      { kind: 'postponed', node: 'event', people: 'event', dueAt: 5 },
      ['node.progress'],
    ],
    ['an answer to a gate', { kind: 'answered', node: 'gate', answer: 1, data: {} }, []],
    ['a gate that ended without a decision', { kind: 'refused', node: 'gate', error }, FAILED],
    ['a question that ended without an answer', { kind: 'refused', node: 'question', error }, FAILED],
    ['an end without an answer for a node that waits for no person', { kind: 'refused', node: 'run', error }, []],
    ['the end of a child', { kind: 'child', node: 'child', attempt: 2, results: 1, error: null }, ['node.succeeded']],
    [
      'the end of the child of an old attempt',
      { kind: 'child', node: 'child', attempt: 1, results: 1, error: null },
      [],
    ],
    ['the failure of a child', { kind: 'child', node: 'child', attempt: 2, results: null, error }, FAILED],
    [
      'the end of a child for a node without a child',
      { kind: 'child', node: 'run', attempt: 2, results: 1, error: null },
      [],
    ],
    ['time before anything is due', { kind: 'time' }, []],
    ['a cancellation', { kind: 'cancel', data: {} }, ['execution.cancelled']],
    ['the timeout of the execution', { kind: 'timeout' }, ['execution.timed_out']],
  ])('%s', (_what, message, expected) => {
    expect(events(message)).toEqual(expected)
  })

  test.each<[string, GraphMessage]>([
    ['a result', { kind: 'done', node: 'run', attempt: 2, output: 1 }],
    ['a cancellation', { kind: 'cancel', data: {} }],
    ['the timeout', { kind: 'timeout' }],
  ])('%s changes nothing in an execution that has ended', (_what, message) => {
    expect(events(message, { ...waiting(), status: 'failed' })).toEqual([])
  })

  test.each([
    ['gate', ['open gate']],
    ['question', ['open question']],
    ['child', ['child child']],
    ['pause', []],
    ['run', []],
    ['ghost', []],
  ])('a check of %s repeats the command that its wait needs', (id, expected) => {
    const step = advance(contextOf(graph), waiting(), [{ kind: 'check', node: id }], 1_000)
    expect([types(step), commands(step)]).toEqual([[], expected])
  })

  test('a second step of the same name is not recorded', () => {
    const step: GraphMessage = { kind: 'step', node: 'run', name: 's', result: 1 }
    expect(types(advance(contextOf(graph), waiting(), [step, { ...step, result: 2 }], 1))).toEqual(['node.progress'])
  })

  test('a rejection takes the port rejected, and fails the execution if no edge leads from that port', () => {
    const rejected: GraphMessage = { kind: 'resolved', node: 'gate', outcome: 'rejected', output: 1, data: {} }
    const routed = advance(
      contextOf(graph),
      stateOf({ gate: { status: 'waiting', wait: wait('approval') } }),
      [rejected],
      1,
    )
    expect(routed.state.nodes).toMatchObject({
      gate: { status: 'succeeded', port: 'rejected', output: 1 },
      run: { status: 'running' },
    })
    const bare = contextOf({ nodes: [node('gate', { type: 'approval' })], edges: [] })
    expect(
      advance(bare, stateOf({ gate: { status: 'waiting', wait: wait('approval') } }), [rejected], 1).state,
    ).toMatchObject({
      status: 'failed',
      error: { code: 'approval_rejected', node_id: 'gate' },
    })
  })

  test('a failed child is retried as a new child if the policy of the node allows it', () => {
    const retried = contextOf({
      nodes: [
        node('child', { type: 'subworkflow', args: { workflow_id: 'w' }, retry: { max_attempts: 2, backoff_s: 1 } }),
      ],
      edges: [],
    })
    let step = startGraph(retried, 0)
    expect(commands(step)).toEqual(['child child'])
    step = advance(retried, step.state, [{ kind: 'child', node: 'child', attempt: 1, results: null, error }], 1)
    expect(types(step)).toEqual(['node.retrying'])
    step = advance(retried, step.state, [{ kind: 'time' }], 60_000)
    expect(step.commands).toMatchObject([{ do: 'child', attempt: 2 }])
  })
})

describe('time', () => {
  const pause = (more: Partial<Node>, args: JsonObject): Step => {
    const context = contextOf({
      nodes: [node('p', { type: 'wait', args, ...more })],
      edges: [],
      output: { $ref: 'nodes.p.output' },
    })
    return startGraph(context, 10_000)
  }
  const at = (step: Step, graph: Definition, time: number) =>
    advance(contextOf(graph), step.state, [{ kind: 'time' }], time)
  const graphOf = (more: Partial<Node>, args: JsonObject): Definition => ({
    nodes: [node('p', { type: 'wait', args, ...more })],
    edges: [],
    output: { $ref: 'nodes.p.output' },
  })

  test('a wait ends at its time and not earlier', () => {
    const args = { for_s: 5 }
    const step = pause({}, args)
    expect(nextDue(step.state)).toBe(15_000)
    expect(at(step, graphOf({}, args), 14_999).events).toEqual([])
    expect(at(step, graphOf({}, args), 15_000).state).toMatchObject({ status: 'succeeded', results: { waited_s: 5 } })
  })

  test.each<[string, number | undefined, number, string]>([
    ['ends before its timeout', 10, 15_000, 'succeeded'],
    ['ends at its timeout', 5, 15_000, 'succeeded'],
    ['ended before its timeout, and is checked later', 10, 99_000, 'succeeded'],
    ['takes longer than its timeout', 3, 13_000, 'failed'],
    ['has not reached its timeout', 3, 12_999, 'running'],
    ['has no timeout', undefined, 14_999, 'running'],
  ])('a wait that %s', (_what, timeout, time, status) => {
    const more = timeout === undefined ? {} : { timeout_s: timeout }
    expect(at(pause(more, { for_s: 5 }), graphOf(more, { for_s: 5 }), time).state.status).toBe(status)
  })

  test.each<[JsonObject, number | string]>([
    [{ for_s: 0 }, 10_000],
    [{ for_s: 1.5 }, 11_500],
    [{ until: '1970-01-01T00:00:30Z' }, 30_000],
    [{ until: '1970-01-01T00:00:01Z' }, 1_000],
    [{ until: 'soon' }, 'failed'],
    [{}, 'failed'],
    [{ for_s: 'a' }, 'failed'],
  ])('a wait with %j ends at %s', (args, expected) => {
    const { state } = pause({}, args)
    expect(typeof expected === 'number' ? nextDue(state) : state.status).toBe(expected)
  })

  test('the area of a gate is told when the gate is due', () => {
    const context = contextOf({ nodes: [node('g', { type: 'approval' })], edges: [] })
    const state = stateOf({ g: { status: 'waiting', wait: { kind: 'approval', data: {}, until: 500 } } })
    expect(commands(advance(context, state, [{ kind: 'time' }], 499))).toEqual([])
    expect(commands(advance(context, state, [{ kind: 'time' }], 500))).toEqual(['due g'])
  })

  test('the timeout of a gate fails its node and closes the gate', () => {
    const context = contextOf({
      nodes: [node('g', { type: 'approval', timeout_s: 3, on_error: 'continue' }), node('h')],
      edges: [],
    })
    const step = advance(
      context,
      startGraph(context, 0).state,
      [{ kind: 'opened', node: 'g', people: 'approval', data: {}, dueAt: null }],
      1,
    )
    const over = advance(context, step.state, [{ kind: 'time' }], 3_000)
    expect(over.state.nodes.g).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    expect(commands(over)).toContain('close g')
  })

  test.each<[string, Record<string, Partial<NodeState>>, boolean, number | null]>([
    ['nothing active', { a: { status: 'succeeded' } }, true, null],
    ['a running node', { a: {} }, false, null],
    ['a timer', { a: { status: 'waiting', wait: { kind: 'timer', until: 7 } } }, true, 7],
    [
      'a timer and an earlier timeout',
      { a: { status: 'waiting', wait: { kind: 'timer', until: 7 }, expires: 5 } },
      true,
      5,
    ],
    [
      'a retry and a timer',
      {
        a: { status: 'waiting', wait: { kind: 'retry', until: 9 } },
        b: { status: 'waiting', wait: { kind: 'timer', until: 8 } },
      },
      true,
      8,
    ],
    ['a child', { a: { status: 'waiting', wait: { kind: 'execution' } } }, true, null],
    [
      'a gate without a due time',
      { a: { status: 'waiting', wait: { kind: 'approval', data: {}, until: null } } },
      true,
      null,
    ],
    [
      'a gate with a due time and a running node',
      { a: { status: 'waiting', wait: { kind: 'approval', data: {}, until: 3 } }, b: {} },
      false,
      3,
    ],
    [
      'a settled node that once had a timer',
      { a: { status: 'failed', wait: { kind: 'timer', until: 7 } } },
      true,
      null,
    ],
  ])('with %s: whether the graph only waits, and what is due next', (_what, nodes, waits, due) => {
    expect([onlyWaits(stateOf(nodes)), nextDue(stateOf(nodes))]).toEqual([waits, due])
  })

  test('an execution that has ended does not wait', () => {
    expect(onlyWaits({ ...stateOf({}), status: 'succeeded' })).toBe(false)
    expect(hasEnded({ ...stateOf({}), status: 'cancelled' })).toBe(true)
  })

  const policy = { max_attempts: 9, backoff_s: 10 }
  test.each<[RetryPolicy, number, number]>([
    [policy, 1, 10_000],
    [policy, 2, 20_000],
    [policy, 3, 40_000],
    [{ ...policy, factor: 1 }, 5, 10_000],
    [{ ...policy, factor: 3 }, 3, 90_000],
  ])('the pause of %j after attempt %i is %i ms, plus or minus a quarter', (retry, attempt, middle) => {
    const pauses = Array.from({ length: 200 }, (_value, index) => backoff(retry, attempt, `seed ${index}`))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(middle * 0.75)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(middle * 1.25)
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(middle * 0.4)
  })

  test('a pause is at most a day', () => {
    expect(backoff({ max_attempts: 99, backoff_s: 3_600, factor: 10 }, 20, 's')).toBe(86_400_000)
  })
})

describe('an execution that was read back', () => {
  const graph: Definition = {
    nodes: [
      node('run', { args: { value: { $ref: 'input.x' } }, timeout_s: 4 }),
      node('gate', { type: 'approval', args: { title: 't' } }),
      node('child', { type: 'subworkflow', args: { workflow_id: 'w' } }),
      node('each', { type: 'map', args: { items: [1, 2], body: { nodes: [], edges: [] } } }),
      node('pause', { type: 'wait' }),
    ],
    edges: [],
  }
  const context = contextOf(graph, { input: { x: 5 } })
  const resumed = (nodes: Record<string, Partial<NodeState>>) => [...resume(context, stateOf(nodes), UNLIMITED)]
  test.each<[string, Record<string, Partial<NodeState>>, object[]]>([
    [
      'runs a running node again',
      { run: { attempt: 2 } },
      [{ do: 'run', node: 'run', attempt: 2, args: { value: 5 }, timeoutS: 4 }],
    ],
    ['opens a gate again that was being opened', { gate: {} }, [{ do: 'open', node: 'gate', people: 'approval' }]],
    [
      'leaves an open gate unchanged',
      { gate: { status: 'waiting', wait: { kind: 'approval', data: {}, until: null } } },
      [],
    ],
    [
      'starts its child again with the same id',
      { child: { status: 'waiting', attempt: 3, wait: { kind: 'execution' } } },
      [{ do: 'child', node: 'child', attempt: 3 }],
    ],
    ['continues its map', { each: {} }, [{ do: 'map', node: 'each', attempt: 1, again: true }]],
    ['leaves a timer unchanged', { pause: { status: 'waiting', wait: { kind: 'timer', until: 5 } } }, []],
    ['does not repeat settled nodes', { run: { status: 'succeeded' }, gate: { status: 'skipped' } }, []],
    [
      'closes a gate that a failed node may have left open',
      { gate: { status: 'failed' } },
      [{ do: 'close', node: 'gate' }],
    ],
    [
      'closes a gate that a retried node may have left open',
      { gate: { status: 'waiting', wait: { kind: 'retry', until: 5 } } },
      [{ do: 'close', node: 'gate' }],
    ],
    [
      'cancels the child of a failed node',
      { child: { status: 'failed', attempt: 2 } },
      [{ do: 'abandon', node: 'child', attempt: 2 }],
    ],
    [
      'closes gates that items of a failed map may have left open',
      { each: { status: 'failed', attempt: 1 } },
      [{ do: 'close', node: 'each[' }],
    ],
    [
      'closes gates that items of a later attempt may have left open',
      { each: { status: 'failed', attempt: 2 } },
      [{ do: 'close', node: 'each#2[' }],
    ],
    ['has nothing to close after a failed tool', { run: { status: 'failed' } }, []],
  ])('%s', (_what, nodes, expected) => {
    expect(resumed(nodes)).toMatchObject(expected)
    expect(resumed(nodes)).toHaveLength(expected.length)
  })

  test('does nothing if it has ended', () => {
    expect([...resume(context, { ...stateOf({ run: {} }), status: 'cancelled' }, UNLIMITED)]).toEqual([])
  })
})

describe('control nodes', () => {
  const end = (graph: Definition, input: Json = {}): GraphState => startGraph(contextOf(graph, { input }), 1).state
  const cases = [
    { port: 'big', when: { $cel: 'input.x > 10.0' } },
    { port: 'mid', when: { $cel: 'input.x > 5.0' } },
  ]
  test.each([
    [11, 'big'],
    [7, 'mid'],
    [5, 'default'],
  ])('a branch with x = %i takes the port %s with its input as output', (x, port) => {
    const state = end({ nodes: [node('b', { type: 'branch', args: { cases } })], edges: [] }, { x })
    expect(state.nodes.b).toMatchObject({ status: 'succeeded', port, output: { x } })
  })

  test('a branch passes on the output of the node that led to it', () => {
    const set = node('s', { type: 'set', args: { values: { a: 1 } } })
    const state = end(
      { nodes: [set, node('b', { type: 'branch', args: { cases: [] } })], edges: [edge('s', 'b')] },
      { x: 1 },
    )
    expect(state.nodes.b).toMatchObject({ port: 'default', output: { a: 1 } })
  })

  test('a disabled node runs nothing, and its output is that of the node before it or the input', () => {
    const set = node('s', { type: 'set', args: { values: { a: 1 } } })
    const off = (id: string): Node => node(id, { disabled: true })
    const nodes = [set, off('after'), off('first'), node('next')]
    const graph = { nodes, edges: [edge('s', 'after'), edge('first', 'next')] }
    const step = startGraph(contextOf(graph, { input: { x: 1 } }), 1)
    expect(step.state.nodes.after).toMatchObject({ status: 'succeeded', output: { a: 1 } })
    expect(step.state.nodes.first).toMatchObject({ status: 'succeeded', output: { x: 1 } })
    expect(commands(step)).toEqual(['run next'])
  })

  test('fail ends the execution with its code and message', () => {
    const state = end({
      nodes: [node('f', { type: 'fail', args: { code: 'no_stock', message: 'none left' } })],
      edges: [],
    })
    expect(state).toMatchObject({ status: 'failed', error: { code: 'no_stock', message: 'none left', node_id: 'f' } })
  })

  test('nodes after a skipped node are skipped, and their output is null', () => {
    const state = end({
      nodes: [
        node('b', { type: 'branch', args: { cases: [{ port: 'yes', when: { $cel: 'false' } }] } }),
        node('x', { type: 'set', args: { values: {} } }),
        node('y', { type: 'set', args: { values: {} } }),
      ],
      edges: [edge('b', 'x', 'yes'), edge('x', 'y')],
      output: { $ref: 'nodes.y.output' },
    })
    expect(state).toMatchObject({
      status: 'succeeded',
      results: null,
      nodes: { x: { status: 'skipped' }, y: { status: 'skipped' } },
    })
  })

  test.each<[JsonObject, object]>([
    [{ items: [1] }, { concurrency: 10, onItemError: 'fail' }],
    [{ items: [1], concurrency: 3 }, { concurrency: 3 }],
    [{ items: [1], concurrency: 0 }, { concurrency: 1 }],
    [{ items: [1], concurrency: 1_000 }, { concurrency: 100 }],
    [{ items: [1], concurrency: 2.9 }, { concurrency: 2 }],
    [{ items: [1], on_item_error: 'collect' }, { onItemError: 'collect' }],
  ])('a map with %j runs with %j', (args, expected) => {
    expect(mapArgs(args)).toMatchObject(expected)
  })

  test('a map over a value that is not a list fails', () => {
    const state = end({
      nodes: [node('m', { type: 'map', args: { items: { a: 1 }, body: { nodes: [], edges: [] } } })],
      edges: [],
    })
    expect(state).toMatchObject({ status: 'failed', error: { code: 'map_items' } })
  })
})

describe('the state of an execution', () => {
  test.each<[GraphMessage, string]>([
    [{ kind: 'cancel', data: {} }, 'cancelled'],
    [{ kind: 'timeout' }, 'timed_out'],
  ])('after %j has its active nodes interrupted', (message, status) => {
    const context = contextOf({ nodes: [node('a'), node('b')], edges: [edge('a', 'b')] })
    const { state } = advance(context, startGraph(context, 1).state, [message], 2)
    expect(state.status).toBe(status)
    expect(state.nodes.a).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
    expect(state.nodes.b).toBeUndefined()
  })

  test('is failed if the results cannot be computed', () => {
    const context = contextOf({ nodes: [], edges: [], output: { $cel: 'input.absent + 1.0' } })
    expect(startGraph(context, 1).state.status).toBe('failed')
  })

  test('can be replayed from the journal alone', () => {
    const context = contextOf({
      nodes: [node('a'), node('b', { type: 'wait', args: { for_s: 1 } })],
      edges: [edge('a', 'b')],
    })
    const first = startGraph(context, 1)
    const second = advance(context, first.state, [{ kind: 'done', node: 'a', attempt: 1, output: 1 }], 2)
    expect(replay(emptyState(), [...first.events, ...second.events])).toEqual(second.state)
  })

  test('downstream nodes are found through every edge', () => {
    const graph = {
      nodes: ['a', 'b', 'c', 'd'].map((id) => node(id)),
      edges: [edge('a', 'b'), edge('b', 'c', 'error'), edge('d', 'c')],
    }
    expect([...downstream(graph, 'a')].sort()).toEqual(['a', 'b', 'c'])
    expect([...downstream(graph, 'c')]).toEqual(['c'])
  })

  test('shows each wait with its kind, node and end', () => {
    const state = stateOf({
      t: { status: 'waiting', started_at: 0, wait: { kind: 'timer', until: 1_000 } },
      r: { status: 'waiting', started_at: 0, wait: { kind: 'retry', until: 2_000 } },
      c: { status: 'waiting', started_at: 0, wait: { kind: 'execution' } },
      g: { status: 'waiting', started_at: 0, wait: { kind: 'approval', data: { request_id: 'apr_1' }, until: null } },
      run: {},
    })
    const since = '1970-01-01T00:00:00.000Z'
    expect(waitingFor(state, 'm[0].')).toEqual([
      { kind: 'timer', node_id: 'm[0].t', since, until: '1970-01-01T00:00:01.000Z' },
      { kind: 'timer', node_id: 'm[0].r', since, until: '1970-01-01T00:00:02.000Z' },
      { kind: 'execution', node_id: 'm[0].c', since },
      { kind: 'approval', node_id: 'm[0].g', since, request_id: 'apr_1' },
    ])
  })
})
