import { describe, expect, test } from 'vitest'
import type { Definition, Json, Node } from '#model/definition'
import { advance, continuePass, type Step, startGraph } from './advance.ts'
import type { Context } from './context.ts'
import type { GraphMessage } from './graph-message.ts'

// A pass that may compute only a little at a time: how often it stops, and that the result does not depend on where
// it stops.

const contextOf = (graph: Definition, input: Json = {}): Context => ({
  graph,
  input,
  execution: {},
  seed: 'seed',
  effectOf: () => 'pure',
})

const list = '[0,1,2,3,4,5,6,7,8,9]'
/** About 30,000 steps. */
const HEAVY = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`

/** Continues until the pass is finished. Each slice evaluates at least one expression. */
const inSlices = (first: Step, allowed: number): Step & { slices: number } => {
  const events = [...first.events]
  const large = [...first.large]
  let step = first
  let slices = 1
  while (step.unfinished) {
    expect(step.commands).toEqual([])
    step = continuePass(step.unfinished, { left: allowed })
    events.push(...step.events)
    large.push(...step.large)
    slices += 1
  }
  return { ...step, events, large, slices }
}

const row = (length: number, node: (n: number) => Partial<Node>): Definition => ({
  nodes: Array.from({ length }, (_, n) => ({ id: `n${n}`, type: 'set', args: { values: {} }, ...node(n) })),
  edges: Array.from({ length: length - 1 }, (_, n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` })),
})

const graphs: Record<string, Definition> = {
  'set nodes in a row': row(8, () => ({ args: { values: { v: { $cel: HEAVY } } } })),
  'a branch with expensive cases': {
    nodes: [
      {
        id: 'b',
        type: 'branch',
        args: { cases: Array.from({ length: 8 }, (_, n) => ({ port: `p${n}`, when: { $cel: `!${HEAVY}` } })) },
      },
      { id: 'd', type: 'set', args: { values: { v: 1 } } },
    ],
    edges: [{ from: { node: 'b', port: 'default' }, to: 'd' }],
    output: { $ref: 'nodes.d.output.v' },
  },
  'edges with expensive conditions to one node': {
    nodes: [
      ...Array.from({ length: 7 }, (_, n) => ({ id: `s${n}`, type: 'set', args: { values: { n } } })),
      { id: 'join', type: 'echo', args: { value: { $ref: 'nodes.s3.output.n' } } },
    ],
    edges: Array.from({ length: 7 }, (_, n) => ({ from: { node: `s${n}` }, to: 'join', when: { $cel: HEAVY } })),
  },
  'parallel nodes that run outside the interpreter': {
    nodes: Array.from({ length: 7 }, (_, n) => ({ id: `r${n}`, type: 'echo', args: { value: { $cel: HEAVY } } })),
    edges: [],
  },
  'nodes in a row next to a node that fails': {
    nodes: [
      ...row(6, () => ({ args: { values: { v: { $cel: HEAVY } } } })).nodes,
      { id: 'beside', type: 'echo', args: { value: 1 } },
      { id: 'stop', type: 'fail', args: { message: { $cel: `${HEAVY} ? 'no' : 'yes'` } } },
    ],
    edges: row(6, () => ({})).edges ?? [],
  },
}

describe.each(Object.entries(graphs))('%s', (_name, graph) => {
  test('are recorded as if they had been computed in one pass', () => {
    const context = contextOf(graph)
    const whole = startGraph(context, 1)
    const { slices, ...sliced } = inSlices(startGraph(context, 1, undefined, { left: 1 }), 1)
    expect(whole.unfinished).toBeUndefined()
    expect(slices).toBeGreaterThan(5)
    expect(sliced.events).toEqual(whole.events)
    expect(sliced.commands).toEqual(whole.commands)
    expect(sliced.state).toEqual(whole.state)
  })
})

test('retried nodes are started in slices, in their order', () => {
  const nodes = Array.from({ length: 8 }, (_, n) => ({
    id: `r${n}`,
    type: 'echo',
    args: { value: { $cel: HEAVY } },
    retry: { max_attempts: 3, backoff_s: 1 },
  }))
  const context = contextOf({ nodes, edges: [] })
  const failed = nodes.map(
    ({ id }): GraphMessage => ({
      kind: 'error',
      node: id,
      attempt: 1,
      error: { code: 'no', message: 'no' },
      retryable: true,
    }),
  )
  const { state } = advance(context, startGraph(context, 1).state, failed, 2)
  const whole = advance(context, state, [{ kind: 'time' }], 1_000_000)
  const sliced = inSlices(advance(context, state, [{ kind: 'time' }], 1_000_000, { left: 1 }), 1)
  expect(whole.events.map(({ data }) => data.node_id)).toEqual(nodes.map(({ id }) => id))
  expect(sliced.events).toEqual(whole.events)
  expect(sliced.slices).toBe(8)
})
