import { describe, expect, test } from 'vitest'
import { copyText, pasteClip, readClip } from './clipboard.ts'
import {
  addNode,
  changeNode,
  connect,
  insertIntoEdge,
  reconnect,
  refuseConnection,
  refuseId,
  removeItems,
  renameCase,
  renameNode,
  setCondition,
} from './commands.ts'
import { compare } from './compare.ts'
import { type Doc, emptyDoc, findNode, graphAt, readDoc, sameDoc, TOP } from './document.ts'
import { record, redo, startHistory, undo } from './history.ts'
import { locate, marksIn, toProblem, unavailable } from './problems.ts'
import { fromFields, toFields } from './schema-fields.ts'
import { kinds } from './testing.ts'
import { branchesOf, sourcesFor, visibleNodes } from './upstream.ts'
import { asCel, further } from './value.ts'

const at = { x: 0, y: 0 }
const kind = (type: string) => kinds.get(type)!

/** set → branch → (yes) http.request */
function drawn(): Doc {
  let { doc, id } = addNode(emptyDoc(), TOP, kind('set'), at)
  ;({ doc, id } = addNode(doc, TOP, kind('branch'), at, { node: id, port: 'out' }))
  ;({ doc, id } = addNode(doc, TOP, kind('http.request'), at, { node: id, port: 'yes' }))
  return doc
}

const withMap = (): Doc =>
  readDoc({
    nodes: [
      { id: 'fetch', type: 'http.request', args: {} },
      {
        id: 'each',
        type: 'map',
        name: 'Every order',
        args: {
          items: { $ref: 'nodes.fetch.output.items' },
          body: {
            nodes: [
              { id: 'line', type: 'set', args: { values: { text: { $cel: 'item.name + nodes.fetch.output.unit' } } } },
              { id: 'mail', type: 'mail.send', args: {} },
            ],
            edges: [{ from: { node: 'line' }, to: 'mail' }],
          },
        },
      },
    ],
    edges: [{ from: { node: 'fetch' }, to: 'each' }],
    output: { $ref: 'nodes.each.output' },
    layout: { positions: { fetch: at, each: { x: 300, y: 0 }, 'each/line': at }, notes: ['kept'] },
  })

describe('a document', () => {
  test('is the same after it is written and read again, with ids for edges that had none', () => {
    const doc = withMap()
    expect(readDoc(JSON.parse(JSON.stringify(doc)))).toEqual(doc)
    expect(doc.edges[0]?.id).toBe('fetch.out-each')
    expect(doc.layout.notes).toEqual(['kept'])
    expect(sameDoc(doc, readDoc({ ...doc, output: doc.output }))).toBe(true)
  })

  test('is read from a draft with any content', () => {
    expect(readDoc('nonsense').nodes).toEqual([])
    expect(
      readDoc({ nodes: [1, { id: 'a', type: 'set' }], edges: [{}], layout: { positions: { a: 'x' } } }),
    ).toMatchObject({
      nodes: [{ id: 'a' }],
      edges: [],
      layout: { positions: {} },
    })
  })
})

describe('drawing', () => {
  test('a new node follows the previous node, with a readable id', () => {
    const doc = drawn()
    expect(doc.nodes.map(({ id }) => id)).toEqual(['set', 'branch', 'http_request'])
    expect(doc.edges.map(({ from, to }) => [from, to])).toEqual([
      [{ node: 'set' }, 'branch'],
      [{ node: 'branch', port: 'yes' }, 'http_request'],
    ])
    expect(addNode(doc, TOP, kind('set'), at).id).toBe('set_2')
  })

  test('cycles, duplicate edges and an edge from a node to itself are refused with a reason', () => {
    const doc = drawn()
    expect(refuseConnection(doc, { node: 'http_request', port: 'out' }, 'set')).toContain('cycle')
    expect(refuseConnection(doc, { node: 'set', port: 'out' }, 'set')).toContain('itself')
    expect(refuseConnection(doc, { node: 'set', port: 'out' }, 'branch')).toContain('already')
    expect(connect(doc, TOP, { node: 'http_request', port: 'out' }, 'set')).toEqual(doc)
  })

  test('a node can be inserted into an edge, and an edge moved to another node', () => {
    const { doc, id } = addNode(drawn(), TOP, kind('approval'), at)
    const between = insertIntoEdge(doc, TOP, 'set.out-branch', id, 'approved')
    expect(between.edges.map(({ from, to }) => `${from.node}.${from.port ?? 'out'} ${to}`)).toEqual([
      'set.out approval',
      'branch.yes http_request',
      'approval.approved branch',
    ])
    const moved = reconnect(doc, TOP, 'set.out-branch', { node: 'set', port: 'out' }, id)
    expect(moved.edges.some(({ to }) => to === id)).toBe(true)
  })

  test('removing a node removes its edges, its body and their positions', () => {
    const doc = removeItems(withMap(), TOP, new Set(['each']), new Set())
    expect(doc.nodes.map(({ id }) => id)).toEqual(['fetch'])
    expect(doc.edges).toEqual([])
    expect(Object.keys(doc.layout.positions)).toEqual(['fetch'])
  })

  test('edges follow a renamed case and are removed with a removed case', () => {
    const renamed = renameCase(drawn(), TOP, 'branch', 0, 'large')
    expect(renamed.edges[1]?.from).toEqual({ node: 'branch', port: 'large' })
    const without = changeNode(renamed, TOP, 'branch', kinds, (node) => ({ ...node, args: { cases: [] } }))
    expect(without.edges).toHaveLength(1)
  })

  test('the error port and its edges exist while errors are routed', () => {
    let doc = changeNode(drawn(), TOP, 'http_request', kinds, (node) => ({ ...node, on_error: 'route' }))
    doc = addNode(doc, TOP, kind('set'), at, { node: 'http_request', port: 'error' }).doc
    expect(doc.edges).toHaveLength(3)
    doc = changeNode(doc, TOP, 'http_request', kinds, ({ on_error: _, ...node }) => node)
    expect(doc.edges).toHaveLength(2)
  })

  test('a condition is set and removed', () => {
    const doc = setCondition(drawn(), TOP, 'set.out-branch', 'input.x > 1')
    expect(doc.edges[0]?.when).toEqual({ $cel: 'input.x > 1' })
    expect(setCondition(doc, TOP, 'set.out-branch', null).edges[0]).not.toHaveProperty('when')
  })
})

describe('a renamed node', () => {
  test('is updated in edges, references, expressions, bodies and positions', () => {
    const doc = renameNode(withMap(), TOP, 'fetch', 'orders')
    expect(doc.edges[0]?.from.node).toBe('orders')
    expect(findNode(doc, TOP, 'each')?.args?.items).toEqual({ $ref: 'nodes.orders.output.items' })
    expect(findNode(doc, ['each'], 'line')?.args).toEqual({
      values: { text: { $cel: 'item.name + nodes.orders.output.unit' } },
    })
    expect(doc.layout.positions).toHaveProperty('orders')
    const nested = renameNode(doc, TOP, 'each', 'every')
    expect(nested.output).toEqual({ $ref: 'nodes.every.output' })
    expect(nested.layout.positions).toHaveProperty('every/line')
  })

  test('keeps names that only start with its id, and quotes ids that CEL would read as a subtraction', () => {
    const doc = readDoc({
      nodes: [
        { id: 'a', type: 'set' },
        {
          id: 'a2',
          type: 'set',
          args: { values: { x: { $cel: "nodes.a.output + nodes.a2.output + nodes['a'].output" } } },
        },
      ],
    })
    expect(findNode(renameNode(doc, TOP, 'a', 'b-c'), TOP, 'a2')?.args).toEqual({
      values: { x: { $cel: `nodes["b-c"].output + nodes.a2.output + nodes['b-c'].output` } },
    })
    expect(refuseId(doc, 'a', 'a2')).toContain('Another')
    expect(refuseId(doc, 'a', 'a b')).toContain('letters')
    expect(renameNode(doc, TOP, 'a', 'a2')).toBe(doc)
  })
})

describe('copy and paste', () => {
  test('gives new ids where needed, and keeps bodies and references', () => {
    const doc = withMap()
    const { doc: pasted, ids } = pasteClip(doc, TOP, readClip(copyText(doc, TOP, new Set(['fetch', 'each']))!)!, at)
    expect(ids).toEqual(['fetch_2', 'each_2'])
    expect(findNode(pasted, TOP, 'each_2')?.args?.items).toEqual({ $ref: 'nodes.fetch_2.output.items' })
    expect(findNode(pasted, ['each_2'], 'line_2')?.args).toEqual({
      values: { text: { $cel: 'item.name + nodes.fetch_2.output.unit' } },
    })
    expect(pasted.edges.at(-1)).toMatchObject({ from: { node: 'fetch_2' }, to: 'each_2' })
    expect(pasted.layout.positions).toHaveProperty('each_2/line_2')
  })

  test('accepts a whole definition, and refuses text that is not a graph', () => {
    expect(readClip(JSON.stringify({ nodes: [{ id: 'a', type: 'set' }] }))?.nodes).toHaveLength(1)
    for (const text of ['hello', '[]', '{"nodes":[]}', '{"nodes":"x"}']) expect(readClip(text)).toBeNull()
  })
})

describe('undo and redo', () => {
  test('move back and forth; letters typed into one field are one step', () => {
    let history = startHistory('')
    for (const [index, text] of ['h', 'he', 'hey'].entries()) history = record(history, text, index * 100, 'name')
    history = record(history, 'hey!', 5_000, 'name')
    expect(undo(history).present).toBe('hey')
    expect(undo(undo(history)).present).toBe('')
    expect(undo(undo(undo(history))).present).toBe('')
    expect(redo(undo(history)).present).toBe('hey!')
    expect(redo(record(undo(history), 'other', 9_000)).present).toBe('other')
  })
})

describe('problems', () => {
  test('are found at the node, the edge, the body, the input and the result', () => {
    const doc = withMap()
    expect(locate(doc, '/nodes/0/args/url')).toEqual({ kind: 'node', path: [], id: 'fetch', field: '/args/url' })
    expect(locate(doc, '/nodes/1/args/body/nodes/0/args/values/text')).toEqual({
      kind: 'node',
      path: ['each'],
      id: 'line',
      field: '/args/values/text',
    })
    expect(locate(doc, '/nodes/1/args/body/edges/0/when')).toMatchObject({
      kind: 'edge',
      path: ['each'],
      id: 'line.out-mail',
    })
    expect(locate(doc, '/nodes/1/args/body')).toMatchObject({ kind: 'node', path: [], id: 'each' })
    expect(locate(doc, '/output/a')).toMatchObject({ kind: 'output', field: '/a' })
    expect(locate(doc, '/inputs/properties')).toMatchObject({ kind: 'inputs' })
    expect(locate(doc, '')).toMatchObject({ kind: 'workflow' })
    expect(locate(doc, '/nodes/77/args')).toMatchObject({ kind: 'workflow' })
  })

  test('name their place, and mark the map around them', () => {
    const doc = withMap()
    const problem = toProblem(doc, { path: '/nodes/1/args/body/nodes/0/args/values', message: 'is required' })
    expect(problem).toMatchObject({ where: 'Every order › line', message: 'Values: is required' })
    expect(marksIn([problem], TOP).get('each')).toBe('error')
    expect(marksIn([problem], ['each']).get('line')).toBe('error')
    expect(unavailable(doc, kinds)).toMatchObject([{ level: 'warning', where: 'Every order › mail' }])
  })
})

describe('the data that a value can reference', () => {
  test('is the output of nodes that ran before, also around a body, and the item of the body', () => {
    const doc = withMap()
    expect(visibleNodes(doc, TOP, { kind: 'node', id: 'each' })).toEqual(['fetch'])
    expect(visibleNodes(doc, ['each'], { kind: 'node', id: 'mail' })).toEqual(['line', 'fetch'])
    expect(visibleNodes(doc, ['each'], { kind: 'edge', from: 'line' })).toEqual(['line', 'fetch'])
    expect(
      sourcesFor(doc, ['each'], { kind: 'node', id: 'line' }, kinds, null).map(({ reference }) => reference),
    ).toEqual(['item', 'index', 'nodes.fetch.output', 'input', 'execution'])
    const withVariables = sourcesFor(doc, TOP, { kind: 'node', id: 'each' }, kinds, null, { REGION: 'eu' })
    expect(branchesOf(withVariables.at(-1)!)).toEqual([{ key: 'REGION', schema: undefined, sample: 'eu' }])
  })

  test('includes the data of the last execution', () => {
    const last = { input: { a: 1 }, nodes: [{ node_id: 'fetch', output: { items: [{ name: 'x' }] } }] } as never
    const sources = sourcesFor(withMap(), ['each'], { kind: 'node', id: 'line' }, kinds, last)
    expect(sources.find(({ reference }) => reference === 'item')?.sample).toEqual({ name: 'x' })
    expect(sources.find(({ reference }) => reference === 'input')?.sample).toEqual({ a: 1 })
    expect(branchesOf(sources.find(({ title }) => title === 'fetch')!)).toEqual([
      { key: 'items', schema: undefined, sample: [{ name: 'x' }] },
    ])
  })

  test('has a reference that can be parsed again', () => {
    expect(further(further(further('input', 'a'), 0), 'b c')).toBe('input.a[0]["b c"]')
    expect(asCel('nodes.x.output.content-type')).toBe('nodes.x.output["content-type"]')
  })
})

describe('the input schema', () => {
  test('is a list of fields as long as a list can express it', () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1 }, size: { type: 'string', enum: ['S', 'M'] } },
      required: ['name'],
    }
    expect(fromFields(toFields(schema)!)).toEqual(schema)
    expect(toFields({ oneOf: [] })).toBeNull()
    expect(toFields({ type: 'object', properties: { a: { type: ['string', 'null'] } } })).toBeNull()
    expect(toFields(undefined)).toEqual([])
  })
})

describe('two versions', () => {
  test('are one graph, in which added, removed and changed parts are marked', () => {
    const before = drawn()
    const { doc } = addNode(removeItems(before, TOP, new Set(['http_request']), new Set()), TOP, kind('approval'), at, {
      node: 'branch',
      port: 'default',
    })
    const after = changeNode(doc, TOP, 'set', kinds, (node) => ({ ...node, args: { values: { a: 1 } } }))
    const found = compare(before, after)
    expect(Object.fromEntries(found.nodes)).toEqual({ approval: 'added', http_request: 'removed', set: 'changed' })
    expect([...found.edges.values()].sort()).toEqual(['added', 'removed'])
    expect(found.doc.nodes).toHaveLength(4)
    expect(found.changes.get('set')).toEqual([{ path: '/args/values/a', after: 1 }])
  })
})

test('a path through a removed map leads to no graph', () => {
  expect(graphAt(withMap(), ['nothing'])).toBeUndefined()
})
