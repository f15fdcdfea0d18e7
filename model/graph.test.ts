import { describe, expect, it } from 'vitest'
import { definitionText } from './canonical.ts'
import type { Definition, Json, JsonObject } from './definition.ts'
import { validateDefinition } from './graph.ts'
import { diffDefinitions } from './graph-diff.ts'
import { literalIds } from './graph-ids.ts'
import type { NodeDescriptor } from './node.ts'

const kind = (
  type: string,
  properties: JsonObject,
  required: string[] = [],
  ports = ['out'],
): [string, NodeDescriptor] => [
  type,
  {
    type,
    kind: 'tool',
    group: 'tools',
    title: type,
    description: '',
    icon: '',
    colour: '',
    keywords: [],
    args_schema: { type: 'object', properties, required, additionalProperties: false },
    output_schema: {},
    ports,
    effect: 'pure',
    defaults: {},
  },
]
const condition = {
  'x-value': 'condition',
  type: 'object',
  required: ['$cel'],
  additionalProperties: false,
  properties: { $cel: { type: 'string' } },
}
const kinds = new Map([
  kind('set', { values: { type: 'object' } }),
  kind(
    'http',
    { url: { type: 'string' }, retries: { type: 'integer' }, workflow_id: { type: 'string', 'x-id': 'wf' } },
    ['url'],
  ),
  kind('code', { source: { type: 'string', 'x-value': 'literal' } }),
  kind(
    'branch',
    { cases: { type: 'array', items: { type: 'object', properties: { port: { type: 'string' }, when: condition } } } },
    ['cases'],
    ['default'],
  ),
  kind('map', { items: {}, body: { 'x-value': 'graph' } }, ['items', 'body']),
  kind('approval', { policy: { type: 'object', properties: { quorum: {} } } }, [], ['approved', 'rejected']),
  kind('clarification', { question: { type: 'string' }, schema: { type: 'object' } }),
  kind('fail', { message: { type: 'string' } }, [], []),
])

const errorsOf = (definition: unknown): { path: string; message: string }[] => {
  const result = validateDefinition(definition, kinds)
  return result.ok ? [] : result.errors
}
const pathsOf = (definition: unknown): string[] => errorsOf(definition).map((error) => error.path)
const set = (id: string, value: Json = 1) => ({ id, type: 'set', args: { values: { v: value } } })
const edge = (from: string, to: string, port?: string) => ({ from: { node: from, ...(port ? { port } : {}) }, to })

describe('a definition', () => {
  it('needs only ids and types', () => {
    expect(validateDefinition({ nodes: [{ id: 'a', type: 'set' }] }, kinds)).toEqual({
      ok: true,
      definition: { nodes: [{ id: 'a', type: 'set' }], edges: [] },
    })
  })

  it('is refused with the path of each error', () => {
    expect(pathsOf(null)).toEqual([''])
    expect(pathsOf({})).toEqual(['/nodes'])
    expect(pathsOf({ nodes: [], extra: 1 })).toEqual(['/extra'])
    expect(pathsOf({ nodes: [{ id: 'a' }] })).toEqual(['/nodes/0/type'])
    expect(pathsOf({ nodes: [{ id: 'a b', type: 'set', colour: 1 }] })).toEqual(['/nodes/0/id', '/nodes/0/colour'])
    for (const id of ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'])
      expect(pathsOf({ nodes: [{ id, type: 'set' }] })).toEqual(['/nodes/0/id'])
    expect(pathsOf({ nodes: [{ id: 'a', type: 'nothing' }] })).toEqual(['/nodes/0/type'])
    expect(pathsOf({ nodes: [{ id: 'a', type: '__proto__' }] })).toEqual(['/nodes/0/type'])
    expect(pathsOf({ nodes: [set('a'), set('a')] })).toEqual(['/nodes/1/id'])
    expect(pathsOf({ nodes: [{ ...set('a'), retry: { max_attempts: 0, backoff_s: 1 } }] })).toEqual([
      '/nodes/0/retry/max_attempts',
    ])
    expect(pathsOf({ nodes: [{ ...set('a'), on_error: 'ignore' }] })).toEqual(['/nodes/0/on_error'])
    expect(pathsOf({ nodes: [set('a')], edges: [edge('a', 'z'), edge('y', 'a')] })).toEqual([
      '/edges/0/to',
      '/edges/1/from/node',
    ])
    expect(pathsOf({ nodes: [set('a')], edges: [{ from: 'a', to: 'a' }] })).toEqual(['/edges/0/from'])
    expect(pathsOf({ nodes: [], inputs: { type: 'sting' } })).toEqual(['/inputs/type'])
    expect(pathsOf({ nodes: [], layout: 1 })).toEqual(['/layout'])
  })

  it('checks arguments against the schema of the node, and accepts expressions in place of values', () => {
    const http = (args: JsonObject) => ({
      nodes: [set('z'), set('y'), { id: 'a', type: 'http', args }],
      edges: [edge('z', 'a')],
    })
    expect(pathsOf(http({ url: 1 }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({}))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: 'x', retries: 'many', more: 1 }))).toEqual([
      '/nodes/2/args/retries',
      '/nodes/2/args/more',
    ])
    expect(pathsOf(http({ url: { $ref: 'input.url' }, retries: { $cel: 'input.n + 1' } }))).toEqual([])
    expect(pathsOf(http({ url: { $cel: 'input.url +' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $ref: 'nodes.z.output.v' } }))).toEqual([])
    expect(pathsOf(http({ url: { $ref: 'nodes.y.output.v' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $cel: 'nodes.y.output.v' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $cel: 'nodes["z"].output.v + string(nodes.z.output.w)' } }))).toEqual([])
    expect(pathsOf(http({ url: { $cel: 'nodes[input.x].output' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $cel: 'nodes.exists(n, n == "z")' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $ref: 'nodes.a.output' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $ref: 'nodes.z' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $ref: 'item.x' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $ref: 'input.__proto__' } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $ref: 'input.x', also: 1 } }))).toEqual(['/nodes/2/args/url'])
    expect(pathsOf(http({ url: { $cel: 1 } }))).toContain('/nodes/2/args/url')
  })

  it('refuses code that is computed from data', () => {
    expect(pathsOf({ nodes: [{ id: 'c', type: 'code', args: { source: { $ref: 'input.code' } } }] })).toEqual([
      '/nodes/0/args/source',
    ])
  })

  it('refuses cycles and names the edge that closes a cycle', () => {
    const nodes = [set('a'), set('b'), set('c')]
    expect(errorsOf({ nodes, edges: [edge('a', 'b'), edge('b', 'c'), edge('c', 'a')] })).toEqual([
      { path: '/edges/2', message: 'this edge closes a cycle: a → b → c → a' },
    ])
    expect(pathsOf({ nodes, edges: [edge('a', 'a')] })).toEqual(['/edges/0'])
    expect(pathsOf({ nodes, edges: [edge('a', 'b'), edge('a', 'c'), edge('b', 'c')] })).toEqual([])
  })

  it('refuses to continue after a failure if the node has no port `out`', () => {
    const cases = (port: string) => [{ port, when: { $cel: 'input.x > 5' } }]
    const nodes = [
      { id: 'b', type: 'branch', args: { cases: cases('big') }, on_error: 'continue' },
      { id: 'g', type: 'approval', on_error: 'continue' },
      { id: 'o', type: 'branch', args: { cases: cases('out') }, on_error: 'continue' },
      { id: 'r', type: 'approval', on_error: 'route' },
      { id: 'f', type: 'fail', on_error: 'continue' },
      { ...set('a'), on_error: 'continue' },
    ]
    expect(pathsOf({ nodes })).toEqual(['/nodes/0/on_error', '/nodes/1/on_error'])
  })

  it('knows the ports of each node', () => {
    const branch = { id: 'b', type: 'branch', args: { cases: [{ port: 'big', when: { $cel: 'input.x > 5' } }] } }
    const nodes = [
      branch,
      set('a'),
      { id: 'g', type: 'approval' },
      { id: 'f', type: 'fail' },
      { ...set('r'), on_error: 'route' },
    ]
    const ported = (from: string, port?: string) =>
      pathsOf({ nodes, edges: [edge(from, from === 'a' ? 'f' : 'a', port)] })
    for (const [from, port] of [
      ['b', 'big'],
      ['b', 'default'],
      ['g', 'approved'],
      ['a', 'out'],
      ['r', 'error'],
    ] as const) {
      expect(ported(from, port)).toEqual([])
    }
    for (const [from, port] of [
      ['b', 'small'],
      ['b', 'out'],
      ['g', 'out'],
      ['a', 'error'],
      ['f', 'out'],
    ] as const) {
      expect(ported(from, port)).toEqual(['/edges/0/from/port'])
    }
    expect(ported('b')).toEqual(['/edges/0/from/port'])
    expect(ported('a')).toEqual([])
  })

  it('checks the cases of a branch', () => {
    const branch = (cases: Json) => pathsOf({ nodes: [{ id: 'b', type: 'branch', args: { cases } }] })
    expect(branch([{ port: 'a', when: { $cel: 'input.x >' } }])).toEqual(['/nodes/0/args/cases/0/when'])
    expect(branch([{ port: 'a', when: { $ref: 'input.x' } }])).toContain('/nodes/0/args/cases/0/when/$cel')
    expect(
      branch([
        { port: 'a', when: { $cel: 'true' } },
        { port: 'a', when: { $cel: 'true' } },
      ]),
    ).toEqual(['/nodes/0/args/cases/1/port'])
    expect(branch([{ port: 'default', when: { $cel: 'true' } }])).toEqual(['/nodes/0/args/cases/0/port'])
  })

  it('checks conditions on edges and the output', () => {
    const nodes = [set('a'), set('b'), set('c')]
    const when = (text: string) => pathsOf({ nodes, edges: [{ ...edge('a', 'b'), when: { $cel: text } }] })
    expect(when('nodes.a.output.v == 1')).toEqual([])
    expect(when('nodes.b.output.v == 1')).toEqual(['/edges/0/when'])
    expect(when('nodes.c.output.v == 1')).toEqual(['/edges/0/when'])
    expect(pathsOf({ nodes, output: { all: [{ $ref: 'nodes.a.output' }, { $ref: 'nodes.z.output' }] } })).toEqual([
      '/output/all/1',
    ])
  })

  it('checks the body of a map, which can read nodes before the map, item and index', () => {
    const map = (body: Json) => ({
      nodes: [set('a'), { id: 'm', type: 'map', args: { items: [1], body } }, set('z')],
      edges: [edge('a', 'm')],
    })
    const inside = (value: Json) => ({
      nodes: [set('x'), set('y', value)],
      edges: [edge('x', 'y')],
      output: { $ref: 'nodes.y.output' },
    })
    expect(pathsOf(map(inside({ $cel: 'item.price * index + nodes.a.output.v + nodes.x.output.v' })))).toEqual([])
    const at = '/nodes/1/args/body'
    expect(pathsOf(map(inside({ $ref: 'nodes.z.output' })))).toEqual([`${at}/nodes/1/args/values/v`])
    expect(pathsOf(map({ nodes: [set('a')] }))).toEqual([`${at}/nodes/0/id`])
    expect(pathsOf(map({ nodes: [{ id: 'q', type: 'no' }] }))).toEqual([`${at}/nodes/0/type`])
    expect(pathsOf(map({ nodes: [set('q')], inputs: {} }))).toEqual([`${at}/inputs`])
    expect(pathsOf(map(3))).toEqual([at])
    const valid = validateDefinition(map({ nodes: [set('q')] }), kinds)
    expect(valid.ok && valid.definition.nodes[1]?.args?.body).toEqual({ nodes: [set('q')], edges: [] })
  })

  it('allows only votes in a quorum', () => {
    const gate = (quorum: Json) => pathsOf({ nodes: [{ id: 'g', type: 'approval', args: { policy: { quorum } } }] })
    expect(gate({ $cel: 'approvals.human >= 2 && rejections.total == 0' })).toEqual([])
    expect(gate({ $cel: 'input.x > 1' })).toEqual(['/nodes/0/args/policy/quorum'])
  })

  it('checks the schema of a question', () => {
    const ask = (schema: Json) =>
      pathsOf({ nodes: [{ id: 'q', type: 'clarification', args: { question: 'How many?', schema } }] })
    expect(
      ask({ type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'integer' } } }),
    ).toEqual([])
    expect(ask({ type: 'integer', pattern: '(' })).toEqual(['/nodes/0/args/schema/pattern'])
  })

  it('has a limited number of conditions after one node', () => {
    const edges = Array.from({ length: 51 }, () => ({ ...edge('a', 'b'), when: { $cel: 'true' } }))
    expect(pathsOf({ nodes: [set('a'), set('b')], edges })).toEqual(['/edges/50/when'])
  })

  it('contains a limited number of expressions', () => {
    const refs = (count: number) => ({
      nodes: [
        set(
          'a',
          Array.from({ length: count }, (_, i) => ({ $ref: `input.f${i}` })),
        ),
      ],
    })
    expect(pathsOf(refs(5_000))).toEqual([])
    expect(pathsOf(refs(5_001))).toEqual(['/nodes/0/args/values/v/5000'])
    const text = `"${'x'.repeat(4_000)}"`
    expect(pathsOf({ nodes: [set('a', Array(30).fill({ $cel: text }))] })).toEqual(['/nodes/0/args/values/v/24'])
  })

  it('has a limited size', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => set(`n${i}`))
    expect(pathsOf({ nodes: many(501) })).toEqual(['/nodes'])
    const chain = Array.from({ length: 499 }, (_, i) => edge(`n${i}`, `n${i + 1}`))
    expect(pathsOf({ nodes: many(500), edges: chain })).toEqual([])
    let deep: Json = 1
    for (let i = 0; i < 80; i += 1) deep = [deep]
    expect(errorsOf({ nodes: [set('a', deep)] })).toEqual([{ path: '', message: 'is nested too deeply' }])
    const nest = (depth: number): JsonObject => ({
      nodes: [{ id: `m${depth}`, type: 'map', args: { items: [], body: depth > 0 ? nest(depth - 1) : { nodes: [] } } }],
    })
    expect(pathsOf(nest(3))).toEqual([])
    expect(pathsOf(nest(4))).toHaveLength(1)
  })
})

describe('versions', () => {
  const before: Definition = { nodes: [set('a'), set('b')], edges: [edge('a', 'b')], layout: { a: 1 } }

  it('have the same text with any layout and order of keys', () => {
    const same = {
      edges: before.edges,
      nodes: [{ args: { values: { v: 1 } }, type: 'set', id: 'a' }, set('b')],
      layout: {},
    }
    expect(definitionText(same)).toBe(definitionText(before))
    expect(definitionText({ ...before, output: 1 })).not.toBe(definitionText(before))
  })

  it('are compared by node and path', () => {
    const after: Definition = { nodes: [set('a', 2), set('c')], edges: [edge('a', 'c')], output: 1 }
    expect(diffDefinitions(before, after)).toMatchObject({
      identical: false,
      nodes: {
        added: [{ id: 'c' }],
        removed: [{ id: 'b' }],
        changed: [{ node_id: 'a', changes: [{ path: '/args/values/v', before: 1, after: 2 }] }],
      },
      edges: { added: [edge('a', 'c')], removed: [edge('a', 'b')] },
      output: [{ path: '', after: 1 }],
      layout_changed: true,
    })
    expect(diffDefinitions(before, structuredClone(before)).identical).toBe(true)
  })

  it('return the ids that they name', () => {
    const http = { id: 'h', type: 'http', args: { url: 'x', workflow_id: 'wf_1' } }
    const map = { id: 'm', type: 'map', args: { items: [], body: { nodes: [http], edges: [] } } }
    expect(literalIds({ nodes: [http, map], edges: [] }, kinds)).toEqual([
      { path: '/nodes/0/args/workflow_id', prefix: 'wf', id: 'wf_1' },
      { path: '/nodes/1/args/body/nodes/0/args/workflow_id', prefix: 'wf', id: 'wf_1' },
    ])
  })
})
