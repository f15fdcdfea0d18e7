import { describe, expect, test } from 'vitest'
import type { Edge, Json, JsonObject, Node } from './definition.ts'
import { validateDefinition } from './graph.ts'
import type { NodeDescriptor } from './node.ts'

// The rules for definitions with loops and `finally` nodes.

const kind = (type: string, args_schema: JsonObject = { type: 'object' }): [string, NodeDescriptor] => [
  type,
  { type, kind: 'capability', args_schema, ports: ['out'] } as unknown as NodeDescriptor,
]
const withBody = { type: 'object', properties: { body: { 'x-value': 'graph' } } }
const KINDS = new Map([kind('set'), kind('map', withBody), kind('loop', withBody)])

const cel = (text: string): Json => ({ $cel: text })
const set = (id: string, value: Json, more: Partial<Node> = {}): Node => ({
  id,
  type: 'set',
  args: { values: { value } },
  ...more,
})
const around = (type: 'map' | 'loop', nodes: Node[], more: JsonObject = {}): Node => ({
  id: type,
  type,
  args: { body: { nodes, edges: [], output: 1 } as unknown as Json, ...more },
})
const edge = (from: string, to: string): Edge => ({ from: { node: from }, to })
const issuesOf = (nodes: Node[], edges: Edge[] = [], output: Json = null): string[] => {
  const result = validateDefinition({ nodes, edges, output }, KINDS)
  return result.ok ? [] : result.errors.map(({ path, message }) => `${path}: ${message}`)
}
const ONLY = (name: string): string =>
  expect.stringContaining(`"${name}" exists only inside a loop`) as unknown as string
const NOT_ITEM = expect.stringContaining('exists only inside the body of a map') as unknown as string

describe('names', () => {
  test.each<[string, Node[], string[]]>([
    ['state and turn in the body of a loop', [around('loop', [set('a', cel('[state, turn]'))])], []],
    ['state by reference', [around('loop', [set('a', { $ref: 'state.cursor' })])], []],
    [
      'state in the conditions of a loop',
      [around('loop', [], { while: cel('state < 3'), collect: { $ref: 'state' } })],
      [],
    ],
    ['turn in the delay of a loop', [around('loop', [], { until: cel('turn > 3'), delay_s: cel('turn * 2') })], []],
    ['state in the initial state of a loop', [around('loop', [], { state: { $ref: 'state' } })], [ONLY('state')]],
    ['turn outside a loop', [set('a', { $ref: 'turn' })], [ONLY('turn')]],
    ['item in a loop outside a map', [around('loop', [set('a', { $ref: 'item' })])], [NOT_ITEM]],
    ['state in a map', [around('map', [set('a', { $ref: 'state' })])], [ONLY('state')]],
    [
      'all four in a map in a loop',
      [around('loop', [around('map', [set('a', cel('[state, turn, item, index]'))])])],
      [],
    ],
    [
      'all four in a loop in a map',
      [around('map', [around('loop', [set('a', cel('[state, turn, item, index]'))])])],
      [],
    ],
    [
      'a macro variable with the name "state" outside a loop',
      [set('a', cel('[1].map(state, state)'))],
      [expect.stringContaining('"state" is taken') as unknown as string],
    ],
    [
      'a macro variable with the name "state" inside a loop',
      [around('loop', [set('a', cel('[1].map(state, state)'))])],
      [expect.stringContaining('"state" is taken') as unknown as string],
    ],
  ])('%s', (_case, nodes, expected) => {
    expect(issuesOf(nodes)).toEqual(expected)
  })
})

describe('finally', () => {
  const last = (id: string, value: Json = 1): Node => set(id, value, { finally: true })

  test.each<[string, Node[], Edge[], string[]]>([
    ['reads any other node', [set('a', 1), last('z', { $ref: 'nodes.a.output' })], [], []],
    ['follows another finally node', [last('y'), last('z', { $ref: 'nodes.y.output' })], [edge('y', 'z')], []],
    [
      'reads a finally node that it does not follow',
      [last('y'), last('z', { $ref: 'nodes.y.output' })],
      [],
      [expect.stringContaining('cannot have run before') as unknown as string],
    ],
    [
      'is read by a node that runs before it',
      [set('a', { $ref: 'nodes.z.output' }), last('z')],
      [],
      [expect.stringContaining('cannot have run before') as unknown as string],
    ],
    [
      'follows a node that is not a finally node',
      [set('a', 1), last('z')],
      [edge('a', 'z')],
      [expect.stringMatching(/^\/edges\/0: /)],
    ],
    [
      'leads to a node that is not a finally node',
      [set('a', 1), last('z')],
      [edge('z', 'a')],
      [expect.stringMatching(/^\/edges\/0: /)],
    ],
    [
      'is in the body of a loop',
      [around('loop', [last('z')])],
      [],
      [expect.stringMatching(/^\/nodes\/0\/args\/body\/nodes\/0\/finally: /)],
    ],
    [
      'has a value of finally that is not a boolean',
      [set('a', 1, { finally: 'yes' as never })],
      [],
      [expect.stringMatching(/^\/nodes\/0\/finally: /)],
    ],
  ])('a node that %s', (_case, nodes, edges, expected) => {
    expect(issuesOf(nodes, edges)).toEqual(expected)
  })

  test('the results cannot read the output of a finally node', () => {
    expect(issuesOf([last('z')], [], { $ref: 'nodes.z.output' })).toEqual([
      expect.stringContaining('cannot have run before'),
    ])
  })
})
