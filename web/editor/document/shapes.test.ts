import { describe, expect, test } from 'vitest'
import { undeclaredFields } from '../check/undeclared-fields.ts'
import { type Doc, TOP } from './document.ts'
import { withFirstList } from './first-list.ts'
import { makeShapes } from './shapes.ts'
import { kinds } from './testing.ts'
import { branchesOf, sourcesFor } from './upstream.ts'

const listOfOrders = { type: 'array', items: { type: 'object', properties: { total: { type: 'number' } } } }

const orders: Doc = {
  inputs: {
    type: 'object',
    properties: {
      orders: listOfOrders,
      name: { type: 'string' },
    },
  },
  nodes: [
    {
      id: 'make',
      type: 'set',
      args: { values: { text: 'a', count: { $cel: '1 + 1' }, list: { $ref: 'input.orders' } } },
    },
    {
      id: 'each',
      type: 'map',
      args: {
        items: { $ref: 'nodes.make.output.list' },
        body: {
          nodes: [{ id: 'line', type: 'set', args: { values: { sum: { $ref: 'item.total' } } } }],
          edges: [],
        },
      },
    },
  ],
  edges: [{ id: 'e1', from: { node: 'make' }, to: 'each' }],
  layout: { positions: {} },
} as unknown as Doc

describe('known data before the first execution', () => {
  const shapes = makeShapes(orders, kinds)

  test('includes the fields of "Set values", through references', () => {
    expect(shapes.outputOf(orders.nodes[0]!, TOP)).toEqual({
      type: 'object',
      properties: { text: { type: 'string' }, count: {}, list: listOfOrders },
      additionalProperties: false,
    })
  })

  test('includes the items of a map, and the output of a map', () => {
    expect(shapes.itemAt(['each'])).toEqual({ type: 'object', properties: { total: { type: 'number' } } })
    expect(shapes.outputOf(orders.nodes[1]!, TOP)).toEqual({
      type: 'array',
      items: { type: 'object', properties: { sum: { type: 'number' } }, additionalProperties: false },
    })
  })

  test('is offered for selection', () => {
    const sources = sourcesFor(orders, ['each'], { kind: 'node', id: 'line' }, kinds, null)
    const fields = (reference: string) =>
      branchesOf(sources.find((source) => source.reference === reference)!).map(({ key }) => key)
    expect(fields('item')).toEqual(['total'])
    expect(fields('nodes.make.output')).toEqual(['text', 'count', 'list'])
    expect(fields('input')).toEqual(['orders', 'name'])
  })

  test('gives a "For each" the nearest list', () => {
    const begun = (after: string | undefined) =>
      withFirstList(kinds.get('map')!, orders, TOP, after, kinds, null).defaults.items
    expect(begun('make')).toEqual({ $ref: 'nodes.make.output.list' })
    expect(begun(undefined)).toEqual({ $ref: 'input.orders' })
  })
})

describe('undeclared fields', () => {
  const told = (nodes: unknown[], inputs: unknown = orders.inputs) =>
    undeclaredFields({ ...orders, inputs, nodes } as unknown as Doc, kinds).map(
      ({ path, message }) => `${path}: ${message}`,
    )
  const set = (value: unknown) => [orders.nodes[0], { id: 'b', type: 'set', args: { values: { v: value } } }]
  const at = '/nodes/1/args/values/v'

  test.each<[unknown, string[]]>([
    [{ $ref: 'input.name' }, []],
    [{ $ref: 'input.nmae' }, [`${at}: the input declares no field "nmae"; did you mean "name"?`]],
    [{ $cel: '"a" + input.nmae' }, [`${at}: the input declares no field "nmae"; did you mean "name"?`]],
    [{ $cel: 'has(input.nmae) ? 1 : 2' }, []],
    [{ $cel: 'input.?nmae.orValue(1)' }, []],
    [{ $ref: 'nodes.make.output.txt' }, [`${at}: "make" has no field "txt" in its output; did you mean "text"?`]],
    [{ $cel: 'nodes.make.output.text' }, []],
    [{ $cel: 'this does not parse' }, []],
  ])('%j is reported as %j', (value, expected) => {
    expect(told(set(value))).toEqual(expected)
  })

  test('are reported for an item whose list is declared', () => {
    const body = { nodes: [{ id: 'x', type: 'set', args: { values: { v: { $ref: 'item.totl' } } } }], edges: [] }
    expect(told([{ id: 'e', type: 'map', args: { items: { $ref: 'input.orders' }, body } }])).toEqual([
      '/nodes/0/args/body/nodes/0/args/values/v: an item has no field "totl"; did you mean "total"?',
    ])
  })

  test('are reported only for a list if no input is declared', () => {
    const map = { id: 'e', type: 'map', args: { items: { $ref: 'input.items' }, body: { nodes: [], edges: [] } } }
    expect(told([map], {})).toEqual(['/nodes/0/args/items: the input declares no field "items"'])
    expect(told(set({ $ref: 'input.any' }), {})).toEqual([])
    expect(told(set({ $ref: 'input.any' }), { type: 'object', additionalProperties: true })).toEqual([])
  })
})
