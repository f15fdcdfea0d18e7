import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Definition } from './build.ts'
import * as builder from './build.ts'
import { body, index, item, ref, variable, workflow } from './build.ts'
import * as nodes from './nodes.generated.ts'
import { approval, branch, http, map, set } from './nodes.generated.ts'
import { printWorkflow } from './print.ts'
import * as values from './values.ts'
import { cel, type Ref } from './values.ts'

/** Runs printed code without its import, with the builder of this checkout. */
function build(code: string): { name: string; definition(): Definition } {
  const known = { ...builder, ...nodes, ...values }
  const source = code.replace(/^import .*\n/, '').replace('export default wf', 'return wf')
  return new Function(...Object.keys(known), source)(...Object.values(known))
}

/** All workflows in the documentation. */
const documented = ['workflows.md', 'approvals.md'].flatMap((file) => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', file), 'utf8')
  return [...text.matchAll(/^```json workflow\n([\s\S]*?)^```/gm)].map(([, json]) => JSON.parse(json!) as Definition)
})

describe('the builder', () => {
  test('creates the definition that the service stores', () => {
    const wf = workflow<{ url: string }>('Names', { inputs: { type: 'object', required: ['url'] } })
    const fetch = wf.node('fetch', http.request({ url: wf.input.url }), { on_error: 'route', timeout_s: 20 })
    const name = wf.node('name', set({ values: { text: ref(fetch).body.items[0]['first name'] } }), { after: fetch })
    const apology = wf.node('apology', set({ values: { text: cel`'no: ' + ${ref(fetch).status}` } }))
    wf.edge(fetch, apology, { port: 'error', when: cel`${ref(fetch).status} == ${404}` })
    wf.output(ref(name).text)
    expect(wf.definition()).toEqual({
      inputs: { type: 'object', required: ['url'] },
      nodes: [
        { id: 'fetch', type: 'http.request', args: { url: { $ref: 'input.url' } }, on_error: 'route', timeout_s: 20 },
        {
          id: 'name',
          type: 'set',
          args: { values: { text: { $ref: 'nodes.fetch.output.body.items[0]["first name"]' } } },
        },
        { id: 'apology', type: 'set', args: { values: { text: { $cel: "'no: ' + nodes.fetch.output.status" } } } },
      ],
      edges: [
        { from: { node: 'fetch' }, to: 'name' },
        { from: { node: 'fetch', port: 'error' }, to: 'apology', when: { $cel: 'nodes.fetch.output.status == 404' } },
      ],
      output: { $ref: 'nodes.name.output.text' },
    })
  })

  test('gives a map its own graph, with the item and its index', () => {
    const wf = workflow('Each')
    const each = wf.node(
      'each',
      map({
        items: wf.input.orders,
        body: body((graph) => {
          const line = graph.node('line', set({ values: { text: item().name, at: index, rate: variable('RATE') } }))
          return ref(line).text
        }),
      }),
    )
    wf.output(ref(each))
    expect(wf.definition().nodes[0]!.args).toEqual({
      items: { $ref: 'input.orders' },
      body: {
        nodes: [
          {
            id: 'line',
            type: 'set',
            args: { values: { text: { $ref: 'item.name' }, at: { $ref: 'index' }, rate: { $ref: 'vars.RATE' } } },
          },
        ],
        edges: [],
        output: { $ref: 'nodes.line.output.text' },
      },
    })
  })

  test('accepts several preceding nodes and ports', () => {
    const wf = workflow('Joined')
    const a = wf.node('a', branch({ cases: [{ port: 'yes', when: cel`true` }] }))
    const b = wf.node('b', set({ values: {} }))
    wf.node('c', set({ values: {} }), { after: [[a, 'yes'], b], join: 'any' })
    wf.node('d', set({ values: {} }), { after: [a, 'default'] })
    expect(wf.definition().edges).toEqual([
      { from: { node: 'a', port: 'yes' }, to: 'c' },
      { from: { node: 'b' }, to: 'c' },
      { from: { node: 'a', port: 'default' }, to: 'd' },
    ])
  })

  test('refuses a second node with the same id', () => {
    const wf = workflow('Twice')
    wf.node('a', set({ values: {} }))
    expect(() => wf.node('a', set({ values: {} }))).toThrow('Two nodes have the id "a"')
  })

  test('gives later nodes the output type of earlier nodes', () => {
    const wf = workflow('Typed')
    const made = wf.node('made', set({ values: { count: 3, names: ['a'] } }))
    expectTypeOf(ref(made).count).toExtend<Ref<number>>()
    const gate = wf.node('gate', approval({ title: 'Pay?', policy: { approvers: [], quorum: 'any' } }))
    wf.edge(gate, made, { port: 'approved' })
    // @ts-expect-error the output has no such field
    void ref(made).cuont
    // @ts-expect-error a gate has no such port
    wf.edge(gate, made, { port: 'aproved' })
    // @ts-expect-error an address is required
    http.request({})
  })
})

describe('printed code', () => {
  test.each(documented.map((definition, at) => [at, definition] as const))(
    'builds example %i again',
    (_, definition) => {
      const code = printWorkflow('Example', definition)
      const built = build(code)
      expect(built.definition()).toEqual(definition)
      expect(printWorkflow(built.name, built.definition())).toBe(code)
    },
  )

  test.each([
    [
      'an id that is not a valid identifier',
      { nodes: [{ id: 'my-step 1', type: 'set', args: { values: {} } }], edges: [] },
    ],
    ['an id that is a reserved word', { nodes: [{ id: 'return', type: 'set', args: { values: {} } }], edges: [] }],
    ['an id that equals its type', { nodes: [{ id: 'set', type: 'set', args: { values: {} } }], edges: [] }],
    [
      'ids that become the same identifier',
      { nodes: ['a b', 'aB', 'a-b'].map((id) => ({ id, type: 'set', args: { values: { v: id } } })), edges: [] },
    ],
    [
      'texts with quotes, line breaks and templates',
      {
        nodes: [
          { id: 'a', type: 'set', args: { values: { t: 'it\'s "so"\n`$' + '{x}`\\', e: { $cel: '"a\\n" + `b`' } } } },
        ],
        edges: [],
      },
    ],
    [
      'references that code cannot express',
      {
        nodes: [
          { id: 'a', type: 'set', args: { values: { p: { $ref: 'nodes.a.output.then' }, q: { $ref: '#/x' } } } },
          { id: 'b', type: 'set', args: { values: { p: { $ref: 'nodes.gone.output' }, q: { $ref: 'execution.id' } } } },
        ],
        edges: [],
      },
    ],
    ['no arguments and a layout', { nodes: [{ id: 'a', type: 'fail' }], edges: [], layout: { a: { x: 1, y: -2.5 } } }],
  ] as [string, Definition][])('keeps %s', (_, definition) => {
    const code = printWorkflow("It's", definition)
    const built = build(code)
    expect(built.definition()).toEqual(definition)
    expect(printWorkflow(built.name, built.definition())).toBe(code)
  })

  test('is refused for a field that code cannot express', () => {
    const definition = { nodes: [], edges: [], secret: 1 } as unknown as Definition
    expect(() => printWorkflow('A', definition)).toThrow('has no field secret')
  })
})
