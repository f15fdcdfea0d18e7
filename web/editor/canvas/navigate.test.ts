import { expect, test } from 'vitest'
import { readDoc } from '../document/document.ts'
import { neighbour, placeAfter } from './navigate.ts'

const doc = readDoc({
  nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, type: 'set' })),
  edges: [
    { from: { node: 'a' }, to: 'c' },
    { from: { node: 'a' }, to: 'b' },
  ],
  layout: { positions: { a: { x: 0, y: 0 }, b: { x: 300, y: 0 }, c: { x: 300, y: 200 }, d: { x: 0, y: 400 } } },
})
const place = (id: string) => doc.layout.positions[id]!

test('the arrow keys follow the edges, then the positions of nodes', () => {
  expect(neighbour(doc, place, 'a', 'right')).toBe('b')
  expect(neighbour(doc, place, 'b', 'down')).toBe('c')
  expect(neighbour(doc, place, 'c', 'left')).toBe('a')
  expect(neighbour(doc, place, 'a', 'down')).toBe('d')
  expect(neighbour(doc, place, 'd', 'right')).toBe('c')
  expect(neighbour(doc, place, 'a', 'up')).toBeUndefined()
})

test('a new node gets a free position', () => {
  expect(placeAfter(doc, place, 'a')).toEqual({ x: 300, y: 330 })
  expect(placeAfter(doc, place, undefined)).toEqual({ x: 0, y: 510 })
  expect(placeAfter(readDoc({}), place, undefined)).toEqual({ x: 0, y: 0 })
})
