import { describe, expect, test } from 'vitest'
import type { Definition, Json, Node } from '#model/definition'
import { startGraph } from './advance.ts'
import type { Context } from './context.ts'

// Limits that only large graphs reach. These tests take a second, and mutation testing does not run them for every
// mutant.

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

const row = (length: number, node: (n: number) => Partial<Node>): Definition => ({
  nodes: Array.from({ length }, (_, n) => ({ id: `n${n}`, type: 'set', args: { values: {} }, ...node(n) })),
  edges: Array.from({ length: length - 1 }, (_, n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` })),
})

test('a pass has one budget for all its expressions', () => {
  const graph = row(450, () => ({ args: { values: { v: { $cel: HEAVY } } } }))
  const { state } = startGraph(contextOf(graph), 1)
  expect(state).toMatchObject({ status: 'failed', error: { code: 'expression_too_costly' } })
  const settled = Object.values(state.nodes).filter(({ status }) => status === 'succeeded').length
  expect(settled).toBeGreaterThan(50)
})

describe('values that multiply', () => {
  const copies = (count: number, $ref: string) => ({
    values: Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, { $ref }])),
  })

  test('400 references to a megabyte fail before anything is written', () => {
    const graph = { nodes: [{ id: 'wide', type: 'set', args: copies(400, 'input.big') }], edges: [] }
    const { state, events } = startGraph(contextOf(graph, { big: 'x'.repeat(1_000_000) }), 1)
    expect(state.error).toMatchObject({ code: 'result_too_large', node_id: 'wide' })
    expect(JSON.stringify(events).length).toBeLessThan(2_000)
  })

  test('thirty nodes that each double the value stop at 8 MiB, although memory use does not grow', () => {
    const graph = row(30, (n) => ({ args: copies(2, n === 0 ? 'input.small' : `nodes.n${n - 1}.output`) }))
    const { state } = startGraph(contextOf(graph, { small: 'x'.repeat(1_000) }), 1)
    expect(state.error).toMatchObject({ code: 'result_too_large', node_id: 'n13' })
  })

  test.each([
    ['the output of the definition', { nodes: [], edges: [], output: copies(9, 'input.big').values }, undefined],
    [
      'the input of a sub-workflow',
      { type: 'subworkflow', args: { workflow_id: 'wf', input: copies(9, 'input.big') } },
      'n',
    ],
    ['a gate', { type: 'approval', args: { title: 't', policy: {}, payload: copies(2, 'input.big') } }, 'n'],
    ['a question', { type: 'clarification', args: { question: { $cel: "'q'" }, schema: copies(2, 'input.big') } }, 'n'],
    ['the items of a map', { type: 'map', args: { items: copies(9, 'input.big'), body: { nodes: [] } } }, 'n'],
  ])('%s is limited too', (_name, given, node) => {
    const graph = 'nodes' in given ? given : { nodes: [{ id: 'n', ...given } as Node], edges: [] }
    const { state } = startGraph(contextOf(graph as Definition, { big: 'x'.repeat(1_000_000) }), 1)
    expect(state.error).toMatchObject({ code: 'result_too_large', ...(node && { node_id: node }) })
  })

  test('all outputs together have a limit, and a value that several nodes pass on counts once', () => {
    const big = { big: 'x'.repeat(1_000_000) }
    const nine = { nodes: row(10, () => ({ args: copies(7, 'input.big') })).nodes, edges: [] }
    expect(startGraph(contextOf(nine, big), 1).state.error).toMatchObject({ code: 'result_too_large' })
    const passed = row(20, (n) =>
      n === 0
        ? { args: copies(7, 'input.big') }
        : { type: 'branch', args: { cases: [{ port: 'out', when: { $cel: 'true' } }] } },
    )
    const { state, large } = startGraph(contextOf(passed, big), 1)
    expect(state.status).toBe('succeeded')
    expect(large).toHaveLength(20)
  })
})
