import { describe, expect, test } from 'vitest'
import { canonicalText, definitionText } from './canonical.ts'
import { credentialIdsIn, isCredentialId } from './credential-ids.ts'
import type { Definition, Edge, Json, JsonObject, Node } from './definition.ts'
import { validateDefinition } from './graph.ts'
import { changesBetween, diffDefinitions } from './graph-diff.ts'
import { portsOf } from './graph-edges.ts'
import { allNodes, isMetered, literalIds } from './graph-ids.ts'
import { makeOrder } from './graph-order.ts'
import type { NodeDescriptor } from './node.ts'

// The rules of docs/workflows.md for a definition, one table for each rule.

const kind = (type: string, more: Partial<NodeDescriptor> = {}): [string, NodeDescriptor] => [
  type,
  { type, kind: 'tool', args_schema: { type: 'object' }, ports: ['out'], ...more } as NodeDescriptor,
]
const KINDS = new Map([
  kind('set', { kind: 'capability' }),
  kind('echo'),
  kind('branch', { kind: 'capability', ports: ['default'] }),
  kind('map', { kind: 'capability', args_schema: { type: 'object', properties: { body: { 'x-value': 'graph' } } } }),
  kind('approval', { ports: ['approved', 'rejected'] }),
  kind('clarification'),
  kind('llm.extract', { metered: true }),
  kind('agent.run'),
  kind('fail', { kind: 'capability', ports: [] }),
  kind('code', {
    args_schema: {
      type: 'object',
      properties: { source: { type: 'string', 'x-value': 'literal' }, n: { type: 'integer' } },
    },
  }),
  kind('call', {
    args_schema: {
      type: 'object',
      properties: { target: { type: 'string', 'x-one-of': 'targets' }, other: { type: 'string' }, flag: true },
    },
  }),
])
const node = (id: string, more: Partial<Node> = {}): Node => ({ id, type: 'echo', ...more })
const edge = (from: string, to: string, more: { port?: string; when?: string; id?: string } = {}): Edge => ({
  ...(more.id && { id: more.id }),
  from: { node: from, ...(more.port && { port: more.port }) },
  to,
  ...(more.when && { when: { $cel: more.when } }),
})
const issuesOf = (definition: unknown): string[] => {
  const result = validateDefinition(definition, KINDS)
  return result.ok ? [] : result.errors.map(({ path, message }) => `${path}: ${message}`)
}
const one = (more: Partial<Node>): string[] => issuesOf({ nodes: [node('a', more)] })

describe('a definition is refused', () => {
  test.each<[string, unknown, string[]]>([
    ['if it is a list', [], [': must be an object']],
    ['with nodes that are not a list', { nodes: {} }, ['/nodes: must be a list']],
    ['without nodes', {}, ['/nodes: is required']],
    ['with edges that are not a list', { nodes: [], edges: 1 }, ['/edges: must be a list']],
    ['with inputs that are not a schema', { nodes: [], inputs: [] }, ['/inputs: must be a JSON Schema object']],
    [
      'with invalid nodes and an invalid layout, and both errors are reported',
      { nodes: {}, layout: [] },
      ['/layout: must be an object', '/nodes: must be a list'],
    ],
    [
      'with a node of an unknown kind',
      { nodes: [node('a', { type: 'teleport' })] },
      ['/nodes/0/type: there is no node type "teleport"'],
    ],
    [
      'with a mistyped kind, and the kind that was probably meant is named',
      { nodes: [node('a', { type: 'sett' })] },
      ['/nodes/0/type: there is no node type "sett"; did you mean "set"?'],
    ],
    ['but not if all its parts are empty', { nodes: [], edges: [], layout: {}, inputs: {} }, []],
    [
      'with an edge id used twice',
      { nodes: [node('a'), node('b')], edges: [edge('a', 'b', { id: 'e' }), edge('a', 'b', { id: 'e' })] },
      ['/edges/1/id: "e" is used twice'],
    ],
    [
      'but not with two edges without ids, or with different ids',
      {
        nodes: [node('a'), node('b')],
        edges: [edge('a', 'b'), edge('a', 'b'), edge('a', 'b', { id: 'e' }), edge('a', 'b', { id: 'f' })],
      },
      [],
    ],
    [
      'with an edge to or from a node that does not exist',
      { nodes: [node('a')], edges: [edge('a', 'toNowhere'), edge('fromNowhere', 'a')] },
      ['/edges/0/to: there is no node "toNowhere"', '/edges/1/from/node: there is no node "fromNowhere"'],
    ],
  ])('%s', (_what, definition, expected) => {
    expect(issuesOf(definition)).toEqual(expected)
  })

  test('with at most its first hundred errors', () => {
    expect(issuesOf({ nodes: Array.from({ length: 120 }, (_, n) => node(`n${n}`, { type: 'nope' })) })).toHaveLength(
      100,
    )
  })

  test.each<[string, Json, string[]]>([
    ['60 levels are accepted', 60, []],
    ['70 levels are refused', 70, [': is nested too deeply']],
  ])('when its JSON is nested too deeply: %s', (_what, depth, expected) => {
    let value: Json = 1
    for (let n = 0; n < Number(depth); n += 1) value = [value]
    expect(issuesOf({ nodes: [], layout: { value } })).toEqual(expected)
  })

  test('when it contains more than 100,000 values', () => {
    const layout = (count: number) => ({ nodes: [], layout: { values: Array(count).fill(1) } })
    expect(issuesOf(layout(99_000))).toEqual([])
    expect(issuesOf(layout(100_001))).toEqual([': is too large'])
  })
})

describe('a workflow has at most 500 nodes', () => {
  const nodes = (count: number, prefix: string): Node[] =>
    Array.from({ length: count }, (_, n) => node(`${prefix}${n}`))
  const map = (id: string, body: Node[]): Node =>
    node(id, { type: 'map', args: { items: [], body: { nodes: body, edges: [] } as unknown as Json } })
  test.each<[string, Node[], string[]]>([
    ['500 nodes in one graph', nodes(500, 'n'), []],
    ['501 nodes in one graph', nodes(501, 'n'), ['/nodes: a workflow has at most 500 nodes']],
    ['250 nodes in the graph and 250 in a map', [map('m', nodes(250, 'b')), ...nodes(249, 'n')], []],
    [
      'one node more in the map',
      [map('m', nodes(251, 'b')), ...nodes(249, 'n')],
      ['/nodes/0/args/body/nodes: a workflow has at most 500 nodes'],
    ],
    ['nodes in nested maps', [map('m', [map('k', nodes(300, 'c')), ...nodes(100, 'b')]), ...nodes(98, 'n')], []],
    [
      'one node more in nested maps',
      [map('m', [map('k', nodes(301, 'c')), ...nodes(100, 'b')]), ...nodes(98, 'n')],
      ['/nodes/0/args/body/nodes/0/args/body/nodes: a workflow has at most 500 nodes'],
    ],
    [
      'two maps of 300 nodes',
      [map('m', nodes(300, 'b')), map('k', nodes(300, 'c'))],
      ['/nodes/1/args/body/nodes: a workflow has at most 500 nodes'],
    ],
  ])('%s', (_what, given, expected) => {
    expect(issuesOf({ nodes: given })).toEqual(expected)
  })

  test('and a graph at most 2,000 edges', () => {
    const edges = (count: number) =>
      issuesOf({ nodes: [node('a'), node('b')], edges: Array(count).fill(edge('a', 'b')) })
    expect(edges(2_000)).toEqual([])
    expect(edges(2_001)).toEqual(['/edges: a graph has at most 2000 edges'])
  })

  test('and maps are nested at most four deep', () => {
    const nest = (depth: number): Node => map(`m${depth}`, depth > 1 ? [nest(depth - 1)] : [])
    expect(issuesOf({ nodes: [nest(4)] })).toEqual([])
    expect(issuesOf({ nodes: [nest(5)] })).toEqual([
      expect.stringContaining('maps and loops may be nested at most 4 levels deep'),
    ])
  })
})

describe('the ports of a node', () => {
  const cases = [{ port: 'big' }, { port: 3 }, 'no case', null] as Json
  test.each<[string, Partial<Node>, string[]]>([
    ['are the ports of its type', {}, ['out']],
    ['include error if errors are routed', { on_error: 'route' }, ['out', 'error']],
    ['do not include error if the node continues after an error', { on_error: 'continue' }, ['out']],
    ['of a branch are the ports of its cases', { type: 'branch', args: { cases } }, ['big', 'out']],
    ['of a branch without cases are the ports of its type', { type: 'branch', args: { cases: 'none' } }, ['out']],
    ['of a branch without arguments are the ports of its type', { type: 'branch' }, ['out']],
    ['of another type of node do not depend on its cases', { args: { cases } }, ['out']],
  ])('%s', (_what, more, expected) => {
    expect(portsOf(node('a', more), { ports: ['out'] })).toEqual(expected)
  })

  test.each<[Partial<Node>, string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{}, 'error', '"a" has no port "error"; set its on_error to "route"'],
    [{}, 'left', '"a" has no port "left"; its ports are out'],
    [{ type: 'approval' }, undefined, 'name a port of "a"; its ports are approved, rejected'],
    [{ type: 'fail' }, undefined, 'name a port of "a"; no node can follow it'],
    [{ type: 'fail' }, 'out', '"a" has no port "out"; no node can follow it'],
  ])('of %j: an edge from port %s is refused with %s', (more, port, message) => {
    expect(issuesOf({ nodes: [node('a', more), node('b')], edges: [edge('a', 'b', port ? { port } : {})] })).toEqual(
      message === undefined ? [] : [`/edges/0/from/port: ${message}`],
    )
  })

  test('are not checked if the kind of the node is unknown', () => {
    const nodes = [node('a', { type: 'nope' }), node('b')]
    expect(issuesOf({ nodes, edges: [edge('a', 'b', { port: 'x' })] })).toEqual([
      expect.stringContaining('/nodes/0/type'),
    ])
  })

  test('at most 50 edges of one node have a condition; edges without a condition do not count', () => {
    const edges = (count: number) => [
      ...Array.from({ length: 60 }, () => edge('a', 'b')),
      ...Array.from({ length: 50 }, () => edge('b', 'c', { when: 'true' })),
      ...Array.from({ length: count }, () => edge('a', 'b', { when: 'true' })),
    ]
    const nodes = [node('a'), node('b'), node('c')]
    expect(issuesOf({ nodes, edges: edges(50) })).toEqual([])
    // The error is reported once.
    expect(issuesOf({ nodes, edges: edges(53) })).toEqual([
      '/edges/160/when: "a" has more than 50 edges with a condition',
    ])
  })
})

describe('an argument', () => {
  test.each<[string, Partial<Node>, string[]]>([
    ['may be an expression', { type: 'code', args: { n: { $ref: 'input.n' } } }, []],
    [
      'that is not an expression must fit its schema',
      { type: 'code', args: { n: 'x' } },
      ['/nodes/0/args/n: must be integer'],
    ],
    [
      'that must be a literal cannot be an expression',
      { type: 'code', args: { source: { $ref: 'input.s' } } },
      [expect.stringContaining('/nodes/0/args/source: ')],
    ],
    [
      'has no other field next to $ref',
      { args: { v: { $ref: 'input', x: 1 } } },
      ['/nodes/0/args/v: an object with $ref has no other field'],
    ],
    [
      'has no other field next to $cel',
      { args: { v: { $cel: '1', x: 1 } } },
      ['/nodes/0/args/v: an object with $cel has no other field'],
    ],
    [
      'with a $cel that is not a text is refused',
      { args: { v: { $cel: 1 } } },
      ['/nodes/0/args/v: $cel must be a text'],
    ],
    [
      'is checked inside lists and objects',
      { args: { v: [null, 1, { w: [{ $ref: 'x' }] }] } },
      ['/nodes/0/args/v/2/w/0: unknown name "x"; known are input, nodes, execution, vars, callbacks'],
    ],
    [
      'can use item only in a map',
      { args: { v: { $ref: 'item' } } },
      ['/nodes/0/args/v: "item" exists only inside the body of a map'],
    ],
    [
      'can use index only in a map',
      { args: { v: { $ref: 'index' } } },
      ['/nodes/0/args/v: "index" exists only inside the body of a map'],
    ],
    [
      'must name the node that it reads',
      { args: { v: { $ref: 'nodes' } } },
      ['/nodes/0/args/v: name a node: nodes.<id>.output'],
    ],
    [
      'cannot read the output of its own node',
      { args: { v: { $ref: 'nodes.a.output' } } },
      ['/nodes/0/args/v: node "a" cannot have run before; it is not on a path that leads here'],
    ],
    [
      'with an expression that does not compile is refused',
      { args: { v: { $cel: 'unknown > 1' } } },
      [expect.stringContaining('/nodes/0/args/v: ')],
    ],
    [
      'must name the node that it reads in CEL',
      { args: { v: { $cel: 'nodes' } } },
      ['/nodes/0/args/v: name a node: nodes.<id>.output'],
    ],
    [
      'cannot compute the name of a node in CEL',
      { args: { v: { $cel: 'nodes[input.x]' } } },
      ['/nodes/0/args/v: name a node: nodes.<id>.output'],
    ],
    [
      'cannot name a node that does not exist in CEL',
      { args: { v: { $cel: 'size(nodes.b.output) + 1' } } },
      ['/nodes/0/args/v: there is no node "b"'],
    ],
    [
      'may read a field with the name nodes',
      { args: { v: { $cel: 'input.nodes.b == input.x.nodes && input.nodes["c"].d' } } },
      [],
    ],
  ])('%s', (_what, more, expected) => {
    expect(one(more)).toEqual(expected)
  })

  const following = (value: Json) =>
    issuesOf({ nodes: [node('a'), node('b', { args: { value } })], edges: [edge('a', 'b')] }).map((text) =>
      text.split(': ').slice(1).join(': '),
    )
  test.each<[Json, string[]]>([
    [{ $ref: 'nodes.a.output.x' }, []],
    [{ $ref: 'nodes.a' }, ['only nodes.a.output can be read']],
    [{ $ref: 'nodes.a.error' }, ['only nodes.a.output can be read']],
    [{ $cel: 'nodes.a.output.x' }, []],
    [{ $cel: 'nodes["a"]["output"]' }, []],
    [{ $cel: 'nodes.a' }, ['only nodes.a.output can be read']],
    [{ $cel: 'nodes.a.error' }, ['only nodes.a.output can be read']],
    [{ $cel: '[1].map(x, nodes.a.output)' }, []],
    [{ $ref: 'nodes.aa.output' }, ['there is no node "aa"; did you mean "a"?']],
    [{ $cel: 'nodes.other.output' }, ['there is no node "other"']],
    [{ $cel: 'inptu.x' }, ['unknown name "inptu" (at character 1); did you mean "input"?']],
    [{ $ref: 'inptu.x' }, ['unknown name "inptu"; did you mean "input"?']],
    [{ $cel: 'uuidd()' }, ['unknown function uuidd() (at character 1); did you mean "uuid"?']],
    [{ $cel: '[1].map(x, nodes.b.output)' }, ['node "b" cannot have run before; it is not on a path that leads here']],
  ])('after a node with an output: %j is refused with %j', (value, expected) => {
    expect(following(value)).toEqual(expected)
  })

  test('a workflow contains at most 100,000 characters of expressions, and the excess is reported once', () => {
    const cel = { $cel: `"${'x'.repeat(3_998)}"` }
    const values = (count: number, more: Json[] = []) => one({ args: { v: [...Array(count).fill(cel), ...more] } })
    expect(values(25)).toEqual([])
    expect(values(25, [{ $ref: 'input' }, { $ref: 'nope' }])).toEqual([
      expect.stringContaining('/nodes/0/args/v/25: a workflow may contain at most'),
    ])
  })

  test.each<[string, JsonObject, string[]]>([
    ['a literal', { target: 'x' }, []],
    ['an expression with its list', { target: { $ref: 'input.t' }, targets: ['x'] }, []],
    [
      'an expression without its list',
      { target: { $ref: 'input.t' } },
      ['/nodes/0/args/target: must be a fixed value; to compute it, list the allowed values in "targets"'],
    ],
    [
      'an expression with a list of the wrong type',
      { target: { $ref: 'input.t' }, targets: 'x' },
      [expect.stringContaining('/nodes/0/args/target')],
    ],
    ['another field', { other: { $ref: 'input.t' }, flag: { $ref: 'input.t' } }, []],
    ['nothing', {}, []],
  ])('that is limited by a list: %s', (_what, args, expected) => {
    expect(one({ type: 'call', args })).toEqual(expected)
  })
})

describe('nodes of special kinds', () => {
  test.each<[string, Partial<Node>, string[]]>([
    [
      'a branch reserves default',
      { type: 'branch', args: { cases: [{ port: 'default' }] } },
      ['/nodes/0/args/cases/0/port: "default" is reserved'],
    ],
    [
      'a branch reserves error',
      { type: 'branch', args: { cases: [{ port: 'error' }] } },
      ['/nodes/0/args/cases/0/port: "error" is reserved'],
    ],
    [
      'a branch uses each port once',
      { type: 'branch', args: { cases: [{ port: 'x' }, { port: 'y' }, { port: 'x' }] } },
      ['/nodes/0/args/cases/2/port: port "x" is used twice'],
    ],
    ['the cases of a branch are checked only if they are a list', { type: 'branch', args: { cases: 'x' } }, []],
    [
      'invalid cases of a branch are left to the schema',
      { type: 'branch', args: { cases: [1, { port: 2 }, { port: 2 }] } },
      [],
    ],
    ['the cases of other nodes are not checked', { args: { cases: [{ port: 'default' }] } }, []],
    [
      'a question with an invalid schema is refused',
      { type: 'clarification', args: { schema: { type: 'nope' } } },
      [expect.stringContaining('/nodes/0/args/schema/type')],
    ],
    ['a question may have a schema of any type', { type: 'clarification', args: { schema: { type: 'string' } } }, []],
    ['a question may have no schema', { type: 'clarification' }, []],
    [
      'the schema of a question may be an expression',
      { type: 'clarification', args: { schema: { $ref: 'input.schema' } } },
      [],
    ],
    ['other nodes may have any schema', { args: { schema: { type: 'nope' } } }, []],
    [
      'an extraction needs the schema of an object',
      { type: 'llm.extract', args: { schema: { type: 'string' } } },
      ['/nodes/0/args/schema/type: must be object'],
    ],
    [
      'an extraction may have the schema of an object',
      { type: 'llm.extract', args: { schema: { type: 'object' } } },
      [],
    ],
    ['an extraction may have a schema without a type', { type: 'llm.extract', args: { schema: {} } }, []],
    [
      'an invalid schema of an extraction is reported once',
      { type: 'llm.extract', args: { schema: { type: 'nope' } } },
      [expect.not.stringContaining('must be object')],
    ],
    ['an agent can be granted tools', { type: 'agent.run', args: { tools: ['echo', 'code'] } }, []],
    [
      'an agent cannot be granted a control node',
      { type: 'agent.run', args: { tools: ['echo', 'set'] } },
      ['/nodes/0/args/tools/1: "set" is not a tool; an agent can be granted tools only'],
    ],
    [
      'an agent cannot be granted a tool that does not exist',
      { type: 'agent.run', args: { tools: ['nope', 3] } },
      ['/nodes/0/args/tools/0: there is no tool "nope"'],
    ],
    ['the tools of an agent may be an expression', { type: 'agent.run', args: { tools: { $ref: 'input.tools' } } }, []],
    ['the tools of other nodes are not checked', { args: { tools: ['nope'] } }, []],
    [
      'a node without the port out cannot continue after an error',
      { type: 'approval', on_error: 'continue' },
      [expect.stringContaining('/nodes/0/on_error: "a" has no port "out"')],
    ],
    ['a node with one port can be disabled', { disabled: true }, []],
    ['a node with one port and the port error can be disabled', { disabled: true, on_error: 'route' }, []],
    [
      'a node that decides cannot be disabled',
      { type: 'approval', disabled: true },
      [
        '/nodes/0/disabled: is allowed only for nodes with one output port; connect the nodes before and after this one directly',
      ],
    ],
    ['a node without ports can continue after an error', { type: 'fail', on_error: 'continue' }, []],
    ['a node with the port out can continue after an error', { on_error: 'continue' }, []],
    ['a node without the port out can route its errors', { type: 'approval', on_error: 'route' }, []],
    ['a policy may be an expression', { type: 'approval', args: { policy: { $ref: 'input.policy' } } }, []],
    [
      'expressions in a policy are checked',
      { type: 'approval', args: { policy: { approvers: [{ id: { $ref: 'nope' } }] } } },
      [expect.stringContaining('/nodes/0/args/policy/approvers/0/id')],
    ],
    [
      'a quorum that reads unknown counts is refused',
      { type: 'approval', args: { policy: { quorum: { $cel: 'approvals.nope > 1' } } } },
      [expect.stringContaining('/nodes/0/args/policy/quorum')],
    ],
    [
      'an error in a quorum is reported once',
      { type: 'approval', args: { policy: { quorum: { $cel: 'nope > 1' } } } },
      [expect.stringContaining('/nodes/0/args/policy/quorum')],
    ],
    [
      'a quorum may count votes',
      {
        type: 'approval',
        args: { policy: { quorum: { $cel: 'votes.size() > outstanding.total + abstentions.human' } } },
      },
      [],
    ],
    [
      'other fields of a policy can read the execution',
      { type: 'approval', args: { policy: { due_in_s: { $cel: 'input.x' } } } },
      [],
    ],
    [
      'a field with the name policy in another type of node is a plain argument',
      { args: { policy: { quorum: { $cel: 'approvals.human > 1' } } } },
      [expect.stringContaining('/nodes/0/args/policy/quorum')],
    ],
    [
      'the body of a map must be an object',
      { type: 'map', args: { items: [], body: [] } },
      ['/nodes/0/args/body: must be an object with nodes and edges'],
    ],
    ['the body of another type of node is a plain argument', { args: { body: { nodes: 1 } } }, []],
  ])('%s', (_what, more, expected) => {
    expect(one(more)).toEqual(expected)
  })

  test('an id cannot be the name of an inherited property', () => {
    for (const id of ['__proto__', 'constructor', 'toString']) {
      expect(issuesOf({ nodes: [node(id)] })).toContain(`/nodes/0/id: "${id}" is not allowed as an id`)
    }
  })

  test('the output of a body can read nodes inside the body and nodes before the map', () => {
    const map = (output: Json) => ({
      nodes: [
        node('a'),
        node('m', {
          type: 'map',
          args: { items: [], body: { nodes: [node('x')], edges: [], output } as unknown as Json },
        }),
        node('z'),
      ],
      edges: [edge('a', 'm')],
    })
    expect(
      issuesOf(map([{ $ref: 'nodes.x.output' }, { $ref: 'nodes.a.output' }, { $ref: 'item' }, { $ref: 'index' }])),
    ).toEqual([])
    expect(issuesOf(map({ $ref: 'nodes.z.output' }))).toHaveLength(1)
    expect(issuesOf({ nodes: [], output: { $ref: 'item' } })).toHaveLength(1)
  })

  test('the condition of an edge can read its source and the nodes before the source', () => {
    const nodes = [node('a'), node('b'), node('c'), node('z')]
    const by = (when: string) => issuesOf({ nodes, edges: [edge('a', 'b'), edge('b', 'c', { when })] })
    expect([by('nodes.a.output == 1'), by('nodes.b.output == 1')]).toEqual([[], []])
    expect([by('nodes.c.output == 1').length, by('nodes.z.output == 1').length]).toEqual([1, 1])
  })
})

describe('the order of a graph', () => {
  const ordered = (ids: string, ...edges: string[]) =>
    makeOrder({ nodes: [...ids].map((id) => node(id)), edges: edges.map((text) => edge(text[0]!, text[1]!)) })
  test.each<[string, string[], string, string]>([
    ['abcd', ['ab', 'bc', 'ac', 'cd'], 'd', 'abc'],
    ['abcd', ['ab', 'bc'], 'b', 'a'],
    ['abcd', ['ab', 'bc'], 'd', ''],
    ['ab', ['ab', 'xb'], 'b', 'a'],
    ['ab', ['ab'], 'nobody', ''],
  ])('in %s with %j, before %s come %s', (ids, edges, id, expected) => {
    const order = ordered(ids, ...edges)
    expect([...order.before(id)].sort().join('')).toBe(expected)
    expect(order.before(id)).toBe(order.before(id))
  })

  test.each<[string, string[], number | undefined, string]>([
    ['abc', ['ab', 'bc', 'ca'], 2, 'abca'],
    ['abc', ['ab', 'bc', 'cb'], 2, 'bcb'],
    ['abc', ['ab', 'ac', 'bc'], undefined, ''],
    ['abcd', ['ab', 'cd', 'dc'], 2, 'cdc'],
    ['abc', ['ab', 'ac', 'cc'], 2, 'cc'],
    ['ab', ['ax', 'xa', 'ab'], undefined, ''],
    ['cba', ['ab', 'bc'], undefined, ''],
  ])('in %s with %j the edge %s closes the cycle %s', (ids, edges, index, cycle) => {
    const found = ordered(ids, ...edges).cycle
    expect([found?.edge, found?.nodes.join('') ?? '']).toEqual([index, cycle])
  })

  test('a cycle is reported with ten of its nodes', () => {
    const ring = (count: number) => {
      const nodes = Array.from({ length: count }, (_, n) => node(`n${n}`))
      return issuesOf({ nodes, edges: nodes.map((_, n) => edge(`n${n}`, `n${(n + 1) % count}`)) })[0]
    }
    expect(ring(9)).toBe(
      `/edges/8: this edge closes a cycle: ${[0, 1, 2, 3, 4, 5, 6, 7, 8, 0].map((n) => `n${n}`).join(' → ')}`,
    )
    expect(ring(10)).toMatch(/n9 …$/)
  })
})

describe('two versions', () => {
  const base: Definition = { nodes: [node('a'), node('b')], edges: [edge('a', 'b')] }
  const edges = (before: Edge[] | undefined, after: Edge[] | undefined) => {
    const of = (list: Edge[] | undefined): Definition =>
      ({ nodes: base.nodes, ...(list && { edges: list }) }) as Definition
    const { identical, edges } = diffDefinitions(of(before), of(after))
    return [identical, edges.removed.length, edges.added.length]
  }
  test.each<[string, Edge[] | undefined, Edge[] | undefined, unknown[]]>([
    ['the same edge', [edge('a', 'b')], [edge('a', 'b')], [true, 0, 0]],
    ['no edges, with and without the field', undefined, [], [true, 0, 0]],
    ['a new edge', undefined, [edge('a', 'b')], [false, 0, 1]],
    ['a removed edge', [edge('a', 'b')], undefined, [false, 1, 0]],
    ['the port out, explicit or implied', [edge('a', 'b')], [edge('a', 'b', { port: 'out' })], [true, 0, 0]],
    ['another port', [edge('a', 'b')], [edge('a', 'b', { port: 'error' })], [false, 1, 1]],
    ['a condition', [edge('a', 'b')], [edge('a', 'b', { when: 'true' })], [false, 1, 1]],
    ['another condition', [edge('a', 'b', { when: 'false' })], [edge('a', 'b', { when: 'true' })], [false, 1, 1]],
    ['the same condition', [edge('a', 'b', { when: 'true' })], [edge('a', 'b', { when: 'true' })], [true, 0, 0]],
    ['the opposite direction', [edge('a', 'b')], [edge('b', 'a')], [false, 1, 1]],
  ])('with %s: identical, edges removed, added', (_what, before, after, expected) => {
    expect(edges(before, after)).toEqual(expected)
  })

  test.each<[Json | undefined, Json | undefined, object[]]>([
    [undefined, undefined, []],
    [1, 1, []],
    [undefined, 1, [{ path: '', after: 1 }]],
    [1, undefined, [{ path: '', before: 1 }]],
    [1, 2, [{ path: '', before: 1, after: 2 }]],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, []],
    [{ a: 1 }, { a: 1, b: 2 }, [{ path: '/b', after: 2 }]],
    [{ a: 1, b: 2 }, { a: 1 }, [{ path: '/b', before: 2 }]],
    [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, [{ path: '/a/b/1', before: 2, after: 3 }]],
    [[1, 2], [1, 2, 3], [{ path: '', before: [1, 2], after: [1, 2, 3] }]],
    [[1, 2], [1, 2], []],
    [[1], { 0: 1 }, [{ path: '', before: [1], after: { 0: 1 } }]],
    [{ 0: 1 }, [1], [{ path: '', before: { 0: 1 }, after: [1] }]],
    ['ab', ['a', 'b'], [{ path: '', before: 'ab', after: ['a', 'b'] }]],
    [['a', 'b'], 'ab', [{ path: '', before: ['a', 'b'], after: 'ab' }]],
    [{}, null, [{ path: '', before: {}, after: null }]],
    [{ a: 1 }, { toString: 1, a: 1 }, [{ path: '/toString', after: 1 }]],
  ])('%j and %j differ in %j', (before, after, expected) => {
    expect(changesBetween(before, after)).toStrictEqual(expected)
  })

  test('differ in at most 200 reported places', () => {
    const list = (offset: number): Json => Array.from({ length: 300 }, (_, n) => n + offset)
    expect(changesBetween(list(0), list(1))).toHaveLength(200)
  })

  test.each<[Json | undefined, Json | undefined, boolean]>([
    [undefined, {}, false],
    [{}, undefined, false],
    [{ a: 1 }, { a: 1 }, false],
    [{ a: 1 }, { a: 2 }, true],
    [undefined, { a: 1 }, true],
    [{ a: 1 }, undefined, true],
  ])('with the layouts %j and %j: changed is %s', (before, after, expected) => {
    const of = (layout: Json | undefined): Definition =>
      ({ ...base, ...(layout !== undefined && { layout }) }) as Definition
    expect(diffDefinitions(of(before), of(after)).layout_changed).toBe(expected)
  })

  test('are matched node by node', () => {
    const after: Definition = {
      nodes: [node('b', { name: 'B' }), node('c')],
      edges: [],
      inputs: { type: 'object' },
    } as Definition
    expect(diffDefinitions(base, after)).toMatchObject({
      identical: false,
      nodes: {
        added: [{ id: 'c' }],
        removed: [{ id: 'a' }],
        changed: [{ node_id: 'b', changes: [{ path: '/name', after: 'B' }] }],
      },
      inputs: [{ path: '', after: { type: 'object' } }],
      output: [],
    })
  })

  test('have the same text regardless of layout, key order and undefined fields', () => {
    expect(canonicalText({ b: 1, a: [2, { d: 1, c: 2 }] })).toBe('{"a":[2,{"c":2,"d":1}],"b":1}')
    expect(definitionText({ ...base, layout: { a: 1 } } as Definition)).toBe(definitionText(base))
    expect(definitionText({ ...base, output: 1 } as Definition)).not.toBe(definitionText(base))
  })
})

describe('ids that a definition names', () => {
  const byKind = { 'x-id-by-kind': { user: 'usr', team: 'team' } }
  const schema: JsonObject = {
    properties: {
      one: { 'x-id': 'wf' },
      many: { items: { 'x-id': 'ds' } },
      either: { anyOf: [{ 'x-id': 'wf' }, { 'x-id': 'wf' }, { type: 'object', properties: { id: { 'x-id': 'ds' } } }] },
      who: { items: byKind },
      nested: { allOf: [{ oneOf: [{ properties: { deep: { 'x-id': 'cfg' } } }] }] },
      odd: { 'x-id': 3 },
      tool: { 'x-tool': true },
      noTool: { 'x-tool': 1 },
      plain: {},
      flag: true,
    },
  }
  const kinds = new Map([
    kind('call', { args_schema: schema }),
    kind('map', { args_schema: {} }),
    kind('bare', { args_schema: true as unknown as JsonObject }),
  ])
  const found = (args: JsonObject | undefined, type = 'call') =>
    literalIds({ nodes: [{ id: 'n', type, ...(args && { args }) }], edges: [] }, kinds).map(
      ({ path, prefix, id }) => `${path.slice('/nodes/0/args'.length)} ${prefix} ${id}`,
    )
  test.each<[JsonObject | undefined, string[]]>([
    [undefined, []],
    [{ one: 'wf_1' }, ['/one wf wf_1']],
    [{ one: 1 }, []],
    [{ one: { $ref: 'input.x' } }, []],
    [{ many: ['ds_1', 'ds_2', 3] }, ['/many/0 ds ds_1', '/many/1 ds ds_2']],
    [{ many: 'ds_1' }, []],
    [{ tool: { type: 'call', arguments: { fixed: { one: 'wf_1' } } } }, ['/tool/arguments/fixed/one wf wf_1']],
    [
      { tool: { type: 'call', arguments: { allowed: { one: ['wf_1', 2, 'wf_2'], plain: ['x'], many: 'ds_1' } } } },
      ['/tool/arguments/allowed/one/0 wf wf_1', '/tool/arguments/allowed/one/2 wf wf_2'],
    ],
    [{ tool: { type: 'call', arguments: { fixed: ['wf_1'], allowed: null } } }, []],
    [{ tool: { type: 'none', arguments: { fixed: { one: 'wf_1' } } } }, []],
    [{ tool: { type: 'bare', arguments: { allowed: { one: ['wf_1'] } } } }, []],
    [{ tool: { type: 'call' } }, []],
    [{ tool: 'call' }, []],
    [{ noTool: { type: 'call', arguments: { fixed: { one: 'wf_1' } } } }, []],
    // Two branches of the schema name the same id: it is returned once.
    [{ either: 'wf_1' }, ['/either wf wf_1']],
    [{ either: { id: 'ds_1' } }, ['/either/id ds ds_1']],
    [
      {
        who: [
          { kind: 'user', id: 'usr_1' },
          { kind: 'team', id: 'team_1' },
        ],
      },
      ['/who/0/id usr usr_1', '/who/1/id team team_1'],
    ],
    [
      {
        who: [
          { kind: 'role', id: 'owner' },
          { kind: 'user', id: 1 },
          { kind: 3, id: 'x' },
          'user',
          { id: 'x' },
          { kind: 'toString', id: 'x' },
        ],
      },
      [],
    ],
    [{ nested: { deep: 'cfg_1' } }, ['/nested/deep cfg cfg_1']],
    [{ odd: 'x', plain: 'wf_1', flag: 'x', unknown: 'wf_1' }, []],
    [{ kind: 'user', id: 'usr_1' }, []],
  ])('%j names %j', (args, expected) => {
    expect(found(args)).toEqual(expected)
  })

  test('are not found in nodes whose kind is unknown or has no schema for them', () => {
    expect([found({ one: 'wf_1' }, 'unknown'), found({ one: 'wf_1' }, 'bare')]).toEqual([[], []])
  })

  const inner = node('i', { type: 'call', args: { one: 'wf_9' } })
  const mapOf = (body: Json, type = 'map'): Definition => ({ nodes: [node('m', { type, args: { body } })], edges: [] })
  test.each<[string, Definition, string[], string[]]>([
    [
      'a map',
      mapOf({ nodes: [inner], edges: [] } as unknown as Json),
      ['m', 'i'],
      ['/nodes/0/args/body/nodes/0/args/one'],
    ],
    ['a map without a body', { nodes: [node('m', { type: 'map' })], edges: [] }, ['m'], []],
    ['a map whose body is not a graph', mapOf({ nodes: 1 }), ['m'], []],
    ['a map whose body is a list', mapOf([inner as unknown as Json]), ['m'], []],
    ['another node with a body', mapOf({ nodes: [inner], edges: [] } as unknown as Json, 'echo'), ['m'], []],
  ])('%s: returns its nodes and the paths of their ids', (_what, definition, ids, paths) => {
    expect([...allNodes(definition)].map(({ id }) => id)).toEqual(ids)
    expect(literalIds(definition, kinds).map(({ path }) => path)).toEqual(paths)
  })

  test('a definition is metered if one of its nodes is metered, including nodes inside a map', () => {
    const extract = node('x', { type: 'llm.extract' })
    expect(isMetered({ nodes: [node('a')], edges: [] }, KINDS)).toBe(false)
    expect(isMetered({ nodes: [node('a'), extract], edges: [] }, KINDS)).toBe(true)
    expect(isMetered(mapOf({ nodes: [extract], edges: [] } as unknown as Json), KINDS)).toBe(true)
    expect(isMetered({ nodes: [node('a', { type: 'nope' })], edges: [] }, KINDS)).toBe(false)
  })

  const CREDENTIAL = `cred_${'0'.repeat(26)}`
  test.each<[Json | undefined, string[]]>([
    [undefined, []],
    [CREDENTIAL, ['']],
    [`${CREDENTIAL}0`, []],
    [` ${CREDENTIAL}`, []],
    [
      ['x', CREDENTIAL, { a: CREDENTIAL }],
      ['/1', '/2/a'],
    ],
    [{ a: { b: CREDENTIAL }, c: 1, d: null, e: true }, ['/a/b']],
    [{ $cel: CREDENTIAL }, []],
    [{ a: { $ref: CREDENTIAL } }, []],
  ])('credentials in %j are found at %j', (value, expected) => {
    expect([...credentialIdsIn(value)].map(({ path }) => path)).toEqual(expected)
    expect([...credentialIdsIn(value)].every(({ id }) => isCredentialId(id))).toBe(true)
  })
})
