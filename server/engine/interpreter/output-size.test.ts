import { describe, expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { advance, startGraph } from './advance.ts'
import { apply as applyTo } from './apply.ts'
import { downstream } from './graph.ts'
import type { GraphMessage } from './graph-message.ts'
import {
  clearMeasured,
  countOutput,
  MAX_INLINE_SIZE,
  MAX_JOURNALLED_SIZE,
  MAX_OUTPUTS_SIZE,
  measureGraphs,
  measureOutputs,
  NO_OUTPUT,
  type OutputSize,
  SMALL_SIZE,
  TINY_SIZE,
} from './output-size.ts'
import { type GraphState, type JournalEvent, nextDue } from './state.ts'
import { contextOf, edge, node, stateOf } from './testing.ts'

// How much space the outputs of an execution take, and which of them are not stored in the journal.

const apply = (state: GraphState, event: JournalEvent): GraphState => {
  const copy = structuredClone(state)
  applyTo(copy, event)
  return copy
}

/** Returns a text that has this many characters as JSON. */
const sized = (size: number): string => 'x'.repeat(size - 2)
const blob = (key: string, bytes: number) => ({ key, bytes, sha256: 'x' }) as never

describe('counting the size of outputs', () => {
  test.each<[string, number, boolean, OutputSize]>([
    ['no output', 0, true, NO_OUTPUT],
    ['a tiny output', TINY_SIZE, true, NO_OUTPUT],
    ['an output in the journal', TINY_SIZE + 1, true, { memory: TINY_SIZE + 1, journal: TINY_SIZE + 1 }],
    ['an output outside the journal', TINY_SIZE + 1, false, { memory: TINY_SIZE + 1, journal: 0 }],
  ])('%s', (_name, size, isJournalled, expected) => {
    const held = { ...NO_OUTPUT, seen: new Set<Json>() }
    countOutput(held, size, 'value', isJournalled)
    expect({ memory: held.memory, journal: held.journal }).toEqual(expected)
  })

  test('starts with nothing', () => {
    expect(NO_OUTPUT).toEqual({ memory: 0, journal: 0 })
  })

  test('counts a value that two nodes pass on once in memory and twice in the journal', () => {
    const value = { text: sized(1_000) }
    const size = JSON.stringify(value).length
    const { memory, journal } = measureOutputs(
      stateOf({ a: { status: 'succeeded', output: value }, b: { status: 'succeeded', output: value }, c: {} }),
    )
    expect({ memory, journal }).toEqual({ memory: size, journal: 2 * size })
  })

  test('counts a value in the blob store by its bytes in memory, and not in the journal', () => {
    const { memory, journal } = measureOutputs(
      stateOf({
        a: { status: 'succeeded', output: null, blob: blob('k', 5_000) },
        b: { status: 'succeeded', output: null, blob: blob('k', 5_000) },
        c: { status: 'succeeded', output: sized(600) },
      }),
    )
    expect({ memory, journal }).toEqual({ memory: 5_600, journal: 600 })
  })

  test('adds up several graphs, and measures a finished graph once until its outputs are moved', () => {
    const state = stateOf({ a: { status: 'succeeded', output: sized(1_000) } })
    const other = stateOf({ b: { status: 'succeeded', output: sized(500) } })
    expect(measureGraphs([])).toEqual(NO_OUTPUT)
    expect(measureGraphs([{ state }, { state: other }])).toEqual({ memory: 1_500, journal: 1_500 })
    state.nodes.a = { ...state.nodes.a!, output: sized(2_000) }
    expect(measureGraphs([{ state }])).toEqual({ memory: 1_000, journal: 1_000 })
    expect(measureGraphs([{ state, unfinished: {} }])).toEqual({ memory: 2_000, journal: 2_000 })
    expect(measureGraphs([{ state }])).toEqual({ memory: 1_000, journal: 1_000 })
    clearMeasured(state)
    expect(measureGraphs([{ state }])).toEqual({ memory: 2_000, journal: 2_000 })
  })

  test('does not cache the size of an unfinished graph', () => {
    const state = stateOf({ a: { status: 'succeeded', output: sized(1_000) } })
    measureGraphs([{ state, unfinished: {} }])
    state.nodes.a = { ...state.nodes.a!, output: sized(2_000) }
    expect(measureGraphs([{ state }]).memory).toBe(2_000)
  })
})

describe('which outputs are moved out of the journal', () => {
  const done = (id: string, output: Json): GraphMessage => ({ kind: 'done', node: id, attempt: 1, output })
  const step = (output: Json, elsewhere: OutputSize = NO_OUTPUT, more = {}) => {
    const context = contextOf({ nodes: [node('a'), node('b')], edges: [] }, { otherGraphsSize: () => elsewhere })
    return advance(context, startGraph(context, 0).state, [{ ...done('a', output), ...more } as GraphMessage], 1)
  }
  const journal = (journalled: number): OutputSize => ({ memory: 0, journal: journalled })

  test.each<[string, number, OutputSize, string[]]>([
    ['an output of the maximum size of an event stays', MAX_INLINE_SIZE, NO_OUTPUT, []],
    ['an output larger than the maximum size of an event is moved', MAX_INLINE_SIZE + 1, NO_OUTPUT, ['a']],
    ['an output that fills the limit of all events stays', 10_000, journal(MAX_JOURNALLED_SIZE - 10_000), []],
    ['an output that exceeds the limit of all events is moved', 10_000, journal(MAX_JOURNALLED_SIZE - 9_999), ['a']],
    ['a small output stays, even if the limit is reached', SMALL_SIZE, journal(MAX_JOURNALLED_SIZE), []],
    [
      'an output just above the small size is moved if the limit is reached',
      SMALL_SIZE + 1,
      journal(MAX_JOURNALLED_SIZE),
      ['a'],
    ],
    ['a tiny output stays', TINY_SIZE, journal(MAX_JOURNALLED_SIZE), []],
  ])('%s', (_name, size, elsewhere, large) => {
    expect(step(sized(size), elsewhere).large).toEqual(large)
  })

  test('an output that is already in the blob store is not moved', () => {
    const { large, events } = step(null, journal(MAX_JOURNALLED_SIZE), { blob: blob('k', 100_000) })
    expect(large).toEqual([])
    expect(events[0]?.type).toBe('node.succeeded')
  })

  test.each<[number, string]>([
    [MAX_OUTPUTS_SIZE - 1_000, 'node.succeeded'],
    [MAX_OUTPUTS_SIZE - 999, 'node.failed'],
  ])('with %i bytes in other graphs, an output of a thousand bytes gives %s', (memory, type) => {
    const { events } = step(sized(1_000), { memory, journal: 0 })
    expect(events[0]?.type).toBe(type)
    if (type === 'node.failed') expect(events[0]?.data).toMatchObject({ error: { code: 'result_too_large' } })
  })

  test('a node whose output is too large is not retried', () => {
    const context = contextOf(
      { nodes: [node('a', { retry: { max_attempts: 3 } as never })], edges: [] },
      { otherGraphsSize: () => ({ memory: MAX_OUTPUTS_SIZE, journal: 0 }) },
    )
    const { events } = advance(context, startGraph(context, 0).state, [done('a', sized(1_000))], 1)
    expect(events.map(({ type }) => type)).toEqual(['node.failed', 'execution.failed'])
  })

  test('a tiny output is kept regardless of the total size', () => {
    expect(step(sized(TINY_SIZE), { memory: MAX_OUTPUTS_SIZE, journal: 0 }).events[0]?.type).toBe('node.succeeded')
    expect(step(sized(TINY_SIZE + 1), { memory: MAX_OUTPUTS_SIZE, journal: 0 }).events[0]?.type).toBe('node.failed')
  })

  test('in one pass, a moved output does not count for the next output, and a kept output does', () => {
    const context = contextOf(
      { nodes: [node('a'), node('b')], edges: [] },
      { otherGraphsSize: () => journal(MAX_JOURNALLED_SIZE - 20_000) },
    )
    const state = startGraph(context, 0).state
    expect(advance(context, state, [done('a', sized(15_000)), done('b', sized(5_001))], 1).large).toEqual(['b'])
    expect(advance(context, state, [done('a', sized(40_000)), done('b', sized(20_000))], 1).large).toEqual(['a'])
  })
})

describe('a node that waits', () => {
  const waiting = (wait: object) => stateOf({ n: { status: 'waiting', wait: wait as never } })

  test.each<[string, ReturnType<typeof stateOf>, number | null]>([
    ['nothing', stateOf({}), null],
    ['a running node', stateOf({ n: {} }), null],
    ['a running node with a timeout', stateOf({ n: { expires: 70 } }), 70],
    ['a timer', waiting({ kind: 'timer', until: 50 }), 50],
    ['a child', waiting({ kind: 'execution' }), null],
    ['a gate without a due time', waiting({ kind: 'approval', until: null, data: {} }), null],
    ['a gate', waiting({ kind: 'approval', until: 60, data: {} }), 60],
    [
      'a timer next to a child',
      stateOf({
        m: { status: 'waiting', wait: { kind: 'execution' } as never },
        n: { status: 'waiting', wait: { kind: 'timer', until: 50 } as never },
      }),
      50,
    ],
    ['a settled node', stateOf({ n: { status: 'succeeded', expires: 5 } }), null],
    ['the time limit of finally nodes', { ...stateOf({ n: { expires: 70 } }), ending: { until: 40 } as never }, 40],
  ])('%s is due at the expected time', (_name, state, due) => {
    expect(nextDue(state)).toBe(due)
  })

  const progress = (data: object) => ({
    type: 'node.progress' as const,
    at: 100,
    data: { node_id: 'n', ...data } as never,
  })
  test.each<[string, object | null, object]>([
    ['has its due time moved', '1970-01-01T00:00:01.000Z' as never, { until: 1_000 }],
    ['has its due time removed', null, { until: null }],
  ])('and %s', (_name, due_at, expected) => {
    const after = apply(waiting({ kind: 'approval', until: 50, due: 500, data: {} }), progress({ due_at }))
    expect(after.nodes.n?.wait).toMatchObject(expected)
    expect(after.nodes.n?.wait).not.toHaveProperty('due')
  })

  test('keeps its due time if it must be checked earlier', () => {
    const after = apply(
      waiting({ kind: 'approval', until: 50, due: 5_000, data: {} }),
      progress({ due_at: '1970-01-01T00:00:01Z' }),
    )
    expect(after.nodes.n?.wait).toMatchObject({ until: 1_000, due: 5_000 })
  })

  test('of kind loop records its iterations, and waits between them', () => {
    const looping = stateOf({ n: { loop: { turns: 1 } } as never })
    expect(apply(looping, progress({ turns: 2 })).nodes.n).toMatchObject({ loop: { turns: 2 } })
    const delayed = apply(looping, progress({ turns: 2, until: '1970-01-01T00:00:01Z' }))
    expect(delayed.nodes.n?.wait).toEqual({ kind: 'delay', until: 1_000 })
    expect(apply(delayed, progress({ turns: 3 })).nodes.n).not.toHaveProperty('wait')
  })
})

test('downstream nodes are found once, however many paths lead there', () => {
  const graph = {
    nodes: ['a', 'b', 'c', 'd', 'e'].map((id) => node(id)),
    edges: [edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd'), edge('d', 'b')],
  }
  expect([...downstream(graph, 'a')].toSorted()).toEqual(['a', 'b', 'c', 'd'])
  expect([...downstream(graph, 'e')]).toEqual(['e'])
  expect([...downstream(graph, 'gone')]).toEqual(['gone'])
})
