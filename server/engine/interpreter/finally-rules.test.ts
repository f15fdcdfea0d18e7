import { describe, expect, test } from 'vitest'
import type { Definition, Json, Node } from '#model/definition'
import { NodeFailure } from '../node.ts'
import { advance, resume, type Step, startGraph } from './advance.ts'
import { closingOf, loopArgs, mapArgs } from './commands.ts'
import type { GraphMessage } from './graph-message.ts'
import { UNLIMITED } from './pass.ts'
import type { GraphState } from './state.ts'
import { commands, contextOf, edge, node, types } from './testing.ts'

// docs/workflows.md, "Finally": how an execution with `finally` nodes ends.

const graph: Definition = {
  nodes: [node('work'), node('tidy', { finally: true }), node('tell', { finally: true })],
  edges: [],
  output: { $ref: 'nodes.work.output' },
}
const context = contextOf(graph)

const done = (id: string, output: Json = id): GraphMessage => ({ kind: 'done', node: id, attempt: 1, output })
const error = (id: string, code = 'broken'): GraphMessage => ({
  kind: 'error',
  node: id,
  attempt: 1,
  error: { code, message: code },
  retryable: false,
})
const cancel: GraphMessage = { kind: 'cancel', data: { by: 'ann' } }
const timeout: GraphMessage = { kind: 'timeout' }

const last = ({ events }: Step) => {
  const { type, data } = events.at(-1)!
  return [type, (data as { error?: { code?: string } }).error?.code ?? null]
}

const endedBy = (how: GraphMessage): Step => advance(context, startGraph(context, 0).state, [how], 1_000)
const graced = (how: GraphMessage): GraphState =>
  advance(context, endedBy(how).state, [{ kind: 'grace', until: 5_000 }], 1_100).state

describe('an execution with finally nodes', () => {
  test('does not start its finally nodes with the other nodes', () => {
    expect(commands(startGraph(context, 0))).toEqual(['run work'])
  })

  test.each<[string, GraphMessage, string]>([
    ['succeeded', done('work'), 'succeeded'],
    ['failed', error('work'), 'failed'],
    ['cancelled', cancel, 'cancelled'],
    ['timed out', timeout, 'timed_out'],
  ])('that ends as %s announces its end, requests the time limit and runs its finally nodes', (_name, how, status) => {
    const step = endedBy(how)
    expect(step.events.find(({ type }) => type === 'execution.ending')?.data).toMatchObject({ status })
    expect(commands(step)).toEqual(['grace ', 'run tidy', 'run tell'])
    expect(step.state.nodes.work?.status).toBe(status === 'succeeded' ? 'succeeded' : 'failed')
  })

  test('interrupts active nodes', () => {
    const { state } = endedBy(cancel)
    expect(state.nodes.work).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
  })

  const both: GraphMessage[] = [done('tidy'), done('tell')]
  const oneFails: GraphMessage[] = [error('tidy', 'untidy'), done('tell')]
  test.each<[string, GraphMessage, GraphMessage[], number, string, string | null]>([
    [
      'that succeeds and whose finally nodes succeed ends as succeeded',
      done('work'),
      both,
      2_000,
      'execution.succeeded',
      null,
    ],
    [
      'that succeeds and of which a finally node fails ends as failed',
      done('work'),
      oneFails,
      2_000,
      'execution.failed',
      'untidy',
    ],
    [
      'that succeeds and whose finally nodes take too long ends as failed',
      done('work'),
      [{ kind: 'time' }],
      5_000,
      'execution.failed',
      'finally_timeout',
    ],
    [
      'that fails and whose finally nodes succeed ends as failed',
      error('work'),
      both,
      2_000,
      'execution.failed',
      'broken',
    ],
    [
      'that fails and of which a finally node fails keeps its own error',
      error('work'),
      oneFails,
      2_000,
      'execution.failed',
      'broken',
    ],
    [
      'that fails and whose finally nodes take too long keeps its own error',
      error('work'),
      [{ kind: 'time' }],
      5_000,
      'execution.failed',
      'broken',
    ],
    [
      'that is cancelled and whose finally nodes succeed ends as cancelled',
      cancel,
      both,
      2_000,
      'execution.cancelled',
      null,
    ],
    [
      'that is cancelled and of which a finally node fails ends as cancelled',
      cancel,
      oneFails,
      2_000,
      'execution.cancelled',
      null,
    ],
    [
      'that is cancelled and whose finally nodes take too long ends as cancelled',
      cancel,
      [{ kind: 'time' }],
      5_000,
      'execution.cancelled',
      null,
    ],
    [
      'that times out and whose finally nodes succeed ends as timed out',
      timeout,
      both,
      2_000,
      'execution.timed_out',
      'timeout',
    ],
    [
      'that times out and of which a finally node fails ends as timed out',
      timeout,
      oneFails,
      2_000,
      'execution.timed_out',
      'timeout',
    ],
    [
      'that times out and whose finally nodes take too long ends as timed out',
      timeout,
      [{ kind: 'time' }],
      5_000,
      'execution.timed_out',
      'timeout',
    ],
  ])('%s', (_name, how, then, at, type, code) => {
    expect(last(advance(context, graced(how), then, at))).toEqual([type, code])
  })

  test('returns the results from before its finally nodes', () => {
    const step = advance(context, endedBy(done('work', 7)).state, both, 2_000)
    expect(step.events.at(-1)!.data).toMatchObject({ results: 7 })
  })

  test('ends only after all of its finally nodes', () => {
    const step = advance(context, graced(done('work')), [error('tidy')], 2_000)
    expect(types(step)).not.toContain('execution.failed')
    expect(last(advance(context, step.state, [done('tell')], 2_000))).toEqual(['execution.failed', 'broken'])
  })

  test('cuts its finally nodes short only after their time limit, and sets the time limit once', () => {
    const state = graced(done('work'))
    expect(advance(context, state, [{ kind: 'time' }], 4_999).events).toEqual([])
    expect(advance(context, state, [{ kind: 'grace', until: 9_000 }], 2_000).events).toEqual([])
    expect(advance(context, startGraph(context, 0).state, [{ kind: 'grace', until: 9_000 }], 2_000).events).toEqual([])
  })

  test('cannot be cancelled while its finally nodes run', () => {
    const step = advance(context, graced(done('work')), [cancel, timeout], 2_000)
    expect(step.events).toEqual([])
    expect(last(advance(context, step.state, both, 2_500))).toEqual(['execution.succeeded', null])
  })

  test('runs a finally node after another finally node failed', () => {
    const chained = contextOf({
      nodes: [node('work'), node('tidy', { finally: true }), node('then', { finally: true })],
      edges: [edge('tidy', 'then')],
    })
    const ending = advance(chained, startGraph(chained, 0).state, [done('work')], 1_000)
    expect(commands(ending)).toEqual(['grace ', 'run tidy'])
    expect(commands(advance(chained, ending.state, [error('tidy')], 2_000))).toEqual(['run then'])
    expect(commands(advance(chained, ending.state, [done('tidy')], 2_000))).toEqual(['run then'])
  })

  test('skips finally nodes that no taken edge leads to', () => {
    const apart = contextOf({
      nodes: [node('work'), node('tidy', { finally: true }), node('then', { finally: true })],
      edges: [edge('tidy', 'then', 'other')],
    })
    const ending = advance(apart, startGraph(apart, 0).state, [done('work')], 1_000)
    const step = advance(apart, ending.state, [done('tidy')], 2_000)
    expect(step.state.nodes.then?.status).toBe('skipped')
    expect(last(step)).toEqual(['execution.succeeded', null])
  })

  test('closes what other nodes left open when it ends', () => {
    const asking = contextOf({
      nodes: [
        node('gate', { type: 'approval', args: { title: 'Go?' } }),
        node('sub', { type: 'subworkflow', args: { workflow_id: 'wf' } }),
        node('free', { type: 'subworkflow', args: { workflow_id: 'wf', wait: false } }),
        node('after'),
        node('tidy', { finally: true }),
      ],
      edges: [edge('gate', 'after')],
    })
    const step = advance(asking, startGraph(asking, 0).state, [cancel], 1_000)
    expect(commands(step).toSorted()).toEqual(['abandon sub', 'close gate', 'grace ', 'run tidy'].toSorted())
  })

  test.each<[string, Node]>([
    ['a timer', node('other', { type: 'wait', args: { for_s: 2 } })],
    ['a timeout', node('other', { type: 'wait', args: { for_s: 9 }, timeout_s: 2, on_error: 'continue' })],
    ['a retry', node('other', { retry: { max_attempts: 2, backoff_s: 1, jitter: 0 } })],
  ])('starts nothing but finally nodes when %s was due at the time at which another node failed', (_name, other) => {
    const due = contextOf({
      nodes: [
        node('late', { type: 'wait', args: { for_s: 9 }, timeout_s: 1 }),
        other,
        node('after'),
        node('tidy', { finally: true }),
      ],
      edges: [edge('other', 'after')],
    })
    const failing: GraphMessage = { ...error('other'), retryable: true } as GraphMessage
    const waiting = advance(due, startGraph(due, 0).state, [failing], 0)
    const step = advance(due, waiting.state, [{ kind: 'time' }], 3_000)
    expect(types(step)).toEqual(['node.failed', 'execution.ending', 'node.started'])
    expect(commands(step)).toEqual(['grace ', 'run tidy'])
  })

  test('requests the time limit again after a takeover, unless it is known', () => {
    const again = (state: GraphState) => [...resume(context, state, UNLIMITED)].map((command) => command.do)
    expect(again(endedBy(done('work')).state)).toContain('grace')
    expect(again(graced(done('work')))).not.toContain('grace')
    expect(again(graced(done('work')))).toEqual(['run', 'run'])
  })
})

describe('the commands that close what a node may have left open', () => {
  test.each<[string, Parameters<typeof closingOf>[0], number, string[]]>([
    ['a gate', node('n', { type: 'approval' }), 1, ['close n']],
    ['a question', node('n', { type: 'clarification' }), 1, ['close n']],
    ['an awaited event', node('n', { type: 'wait.event' }), 1, ['close n']],
    ['the gates of a map', node('n', { type: 'map' }), 1, ['close n[']],
    ['the gates of a loop that is retried', node('n', { type: 'loop' }), 2, ['close n#2[']],
    ['a child', node('n', { type: 'subworkflow' }), 3, ['abandon n']],
    ['a child that is not awaited', node('n', { type: 'subworkflow', args: { wait: false } }), 1, []],
    ['nothing', node('n'), 1, []],
  ])('%s', (_name, what, attempt, expected) => {
    expect(closingOf(what, attempt).map((command) => `${command.do} ${command.node}`)).toEqual(expected)
  })
})

describe('arguments of a loop', () => {
  test.each<[Json, boolean]>([
    [1, true],
    [10_000, true],
    [10_001, false],
    [0, false],
    [-1, false],
    [1.5, false],
    ['3', false],
    [null, false],
  ])('max_iterations %j is accepted: %s', (max, isTaken) => {
    const read = () => loopArgs({ max_iterations: max, body: {} })
    if (isTaken) expect(read().maxIterations).toBe(max)
    else expect(read).toThrow(NodeFailure)
  })

  test('are the given arguments and nothing else', () => {
    expect(loopArgs({ max_iterations: 1, body: {} })).toStrictEqual({ body: {}, maxIterations: 1, state: null })
    expect(loopArgs({ max_iterations: 1, body: {}, while: { $cel: 5 } })).not.toHaveProperty('while')
    expect(
      loopArgs({
        max_iterations: 2,
        body: {},
        while: { $cel: 'a' },
        until: { $cel: 'b' },
        delay_s: 0,
        collect: null,
        state: { n: 1 },
      }),
    ).toEqual({ body: {}, maxIterations: 2, while: 'a', until: 'b', delayS: 0, collect: null, state: { n: 1 } })
    expect(loopArgs({ max_iterations: 2, body: {}, while: true, until: null, delay_s: null })).toEqual({
      body: {},
      maxIterations: 2,
      state: null,
    })
  })
})

describe('arguments of a map', () => {
  test.each<[Json | undefined, number]>([
    [undefined, 10],
    [0, 1],
    [1, 1],
    [7.9, 7],
    [100, 100],
    [101, 100],
    ['5', 10],
  ])('concurrency %j is %i', (concurrency, expected) => {
    const args = mapArgs({ items: [], body: {}, ...(concurrency !== undefined && { concurrency }) })
    expect(args).toEqual({ items: [], body: {}, concurrency: expected, onItemError: 'fail' })
  })

  test('items must be a list, and item errors are collected only with on_item_error collect', () => {
    expect(() => mapArgs({ items: 'a', body: {} })).toThrow(NodeFailure)
    expect(mapArgs({ items: [1], body: {}, on_item_error: 'collect' }).onItemError).toBe('collect')
    expect(mapArgs({ items: [1], body: {}, on_item_error: 'other' }).onItemError).toBe('fail')
  })
})
