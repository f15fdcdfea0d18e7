import { expect, test } from 'vitest'
import type { NodeStatus } from '#model/definition'
import { readDoc } from '../document/document.ts'
import { edgesTaken, type NodeExit } from './edges-taken.ts'

const graph = readDoc({
  nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, type: 'set' })),
  edges: [
    { id: 'a-b', from: { node: 'a', port: 'large' }, to: 'b' },
    { id: 'a-c', from: { node: 'a', port: 'default' }, to: 'c' },
    { id: 'b-d', from: { node: 'b' }, to: 'd', when: { $cel: 'nodes.b.output > 1' } },
    { id: 'c-d', from: { node: 'c' }, to: 'd' },
  ],
})
const runs = (states: Record<string, NodeStatus | NodeExit>): Map<string, NodeExit> =>
  new Map(Object.entries(states).map(([id, way]) => [id, typeof way === 'string' ? { status: way } : way]))
const ways = (states: Record<string, NodeStatus | NodeExit>, holds?: Parameters<typeof edgesTaken>[2]) => {
  const { taken, left, doubtful } = edgesTaken(graph, runs(states), holds)
  return { taken: [...taken], left: [...left], doubtful: doubtful.map(({ id }) => id) }
}
const large: NodeExit = { status: 'succeeded', port: 'large' }

test('an execution leaves a node by the port in the journal', () => {
  expect(ways({ a: large, b: 'succeeded', c: 'skipped', d: 'succeeded' })).toEqual({
    taken: ['a-b', 'b-d'],
    left: ['a-c', 'c-d'],
    doubtful: [],
  })
})

test('no edge is decided before its source node has ended', () => {
  expect(ways({ a: 'running', b: 'pending', c: 'pending', d: 'pending' })).toEqual({
    taken: [],
    left: [],
    doubtful: [],
  })
})

test('an edge with a condition is undecided until its target starts or is skipped', () => {
  expect(ways({ a: large, b: 'succeeded', c: 'skipped', d: 'pending' }).taken).toEqual(['a-b'])
  expect(ways({ a: large, b: 'succeeded', c: 'skipped', d: 'skipped' }).left).toContain('b-d')
})

test('with several edges into a node that ran, the condition decides', () => {
  const all = { a: large, b: 'succeeded', c: 'succeeded', d: 'succeeded' } as const
  expect(ways(all)).toMatchObject({ taken: ['a-b', 'b-d', 'c-d'], doubtful: ['b-d'] })
  expect(ways(all, () => false)).toMatchObject({ taken: ['a-b', 'c-d'], left: ['a-c', 'b-d'], doubtful: [] })
})

test('a failure that ends the execution takes no edge; a handled failure continues', () => {
  expect(ways({ a: large, b: 'failed', c: 'skipped', d: 'skipped' }).taken).toEqual(['a-b'])
  expect(ways({ a: large, b: 'failed', c: 'skipped', d: 'succeeded' }).taken).toEqual(['a-b', 'b-d'])
})
