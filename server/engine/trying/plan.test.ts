import { describe, expect, test } from 'vitest'
import type { Definition, Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { planTrial, type TrialRequest } from './plan.ts'
import { sampleOutput, sampleValue } from './sample-output.ts'

const definition: Definition = {
  inputs: { type: 'object' },
  nodes: [
    { id: 'fetch', type: 'http.request', args: { url: 'https://shop.example' } },
    { id: 'pick', type: 'set', args: { values: { sum: { $ref: 'nodes.fetch.output.body.sum' } } } },
    { id: 'gate', type: 'approval', args: { title: 'Pay', payload: {}, policy: { approvers: [], quorum: 'any' } } },
    { id: 'ask', type: 'llm.generate', args: { prompt: 'Hi' } },
    {
      id: 'each',
      type: 'map',
      args: { items: [1], body: { nodes: [{ id: 'send', type: 'mail.send', args: {} }], edges: [] } },
    },
    { id: 'aside', type: 'set', args: { values: {} } },
  ],
  edges: [
    { from: { node: 'fetch' }, to: 'pick' },
    { from: { node: 'pick' }, to: 'gate' },
    { from: { node: 'gate', port: 'approved' }, to: 'ask' },
    { from: { node: 'ask' }, to: 'each' },
  ],
  output: null,
}

const plan = (more: Partial<TrialRequest>) =>
  planTrial({
    definition,
    effects: 'mock',
    pinned: new Map(),
    recorded: new Map(),
    descriptorOf: () => undefined,
    ...more,
  })

const modes = (more: Partial<TrialRequest>): Record<string, string> =>
  Object.fromEntries(
    plan(more).nodes.map(({ node_id, mode, source }) => [node_id, source ? `${mode} ${source}` : mode]),
  )

describe('the plan of a trial', () => {
  test('live: every node acts that is not pinned, also in maps', () => {
    expect(modes({ effects: 'live', pinned: new Map<string, Json>([['fetch', {}]]) })).toEqual({
      fetch: 'pinned given',
      pick: 'live',
      gate: 'live',
      ask: 'live',
      each: 'live',
      'each[].send': 'live',
      aside: 'live',
    })
  })

  test('mock: no node acts; a record is preferred to a made-up value, and a pinned output to a record', () => {
    const recorded = new Map([
      ['fetch', { output: { status: 200 } }],
      ['gate', { output: { status: 'rejected' }, port: 'rejected' }],
    ])
    expect(modes({ recorded, pinned: new Map<string, Json>([['fetch', {}]]) })).toEqual({
      fetch: 'pinned given',
      pick: 'live',
      gate: 'mocked recorded',
      ask: 'mocked schema',
      each: 'live',
      'each[].send': 'mocked schema',
      aside: 'live',
    })
    const gate = plan({ recorded }).definition.nodes.find(({ id }) => id === 'gate')
    expect(gate).toMatchObject({ type: 'trial.answer', args: { port: 'rejected', would: { title: 'Pay' } } })
    expect(gate?.args?.would).not.toHaveProperty('policy')
  })

  test('a suite calls models even if effects are mocked', () => {
    expect(modes({ liveModels: true }).ask).toBe('live')
  })

  test('pinned: lists the nodes that have neither a pinned nor a recorded output', () => {
    expect(plan({ effects: 'pinned', recorded: new Map([['fetch', { output: 1 }]]) }).unanswered).toEqual([
      'gate',
      'ask',
      'each[].send',
    ])
  })

  test('up to a node: only the nodes that lead to it, and the node', () => {
    const { definition: part, nodes } = plan({ until: 'gate' })
    expect(nodes.map(({ node_id }) => node_id)).toEqual(['fetch', 'pick', 'gate'])
    expect(part.edges).toHaveLength(2)
    expect(part.output).toEqual({ $ref: 'nodes.gate.output' })
  })

  test('one node: the node runs as requested, and the nodes before it never act', () => {
    expect(modes({ only: 'ask', effects: 'live' })).toEqual({
      fetch: 'mocked schema',
      pick: 'live',
      gate: 'mocked schema',
      ask: 'live',
    })
    const { definition: part } = plan({ only: 'ask', effects: 'live' })
    expect(part.nodes.find(({ id }) => id === 'gate')?.args).not.toHaveProperty('port')
    expect(
      part.edges
        .filter(({ to }) => to === 'ask')
        .map(({ from }) => from.node)
        .sort(),
    ).toEqual(['fetch', 'gate', 'pick'])
  })

  test('an expression inside a pinned output is not evaluated', () => {
    const [node] = plan({ pinned: new Map<string, Json>([['fetch', { $cel: '1 + 1' }]]) }).definition.nodes
    expect(node?.args?.answer).toBe('{"$cel":"1 + 1"}')
  })
})

describe('a plausible value', () => {
  const schemas: Json[] = [
    { type: 'string', minLength: 10 },
    { type: 'string', maxLength: 2 },
    { type: 'string', format: 'email' },
    { type: 'integer', minimum: 5, maximum: 6 },
    { type: 'number', maximum: 0 },
    { enum: ['a', 'b'] },
    { const: 7 },
    { type: 'array', items: { type: 'boolean' }, minItems: 2 },
    { type: 'object', properties: { a: { type: 'string' }, b: { type: ['integer', 'null'] } }, required: ['a', 'b'] },
    { anyOf: [{ type: 'object', properties: {} }, { type: 'null' }] },
    { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { properties: { b: { const: 1 } } }] },
  ]
  test.each(schemas.map((schema) => [JSON.stringify(schema), schema]))('fits %s', (_text, schema) => {
    expect(validateJson(schema, sampleValue(schema))).toEqual([])
  })

  test('for a node that has its own schema matches that schema', () => {
    const schema = { type: 'object', properties: { city: { enum: ['Bern'] } } }
    expect(sampleOutput({ id: 'e', type: 'llm.extract', args: { schema } }, undefined)).toEqual({
      value: { city: 'Bern' },
      missing: [],
    })
    expect(sampleOutput({ id: 'c', type: 'clarification', args: { schema } }, undefined)).toEqual({ city: 'Bern' })
  })
})
