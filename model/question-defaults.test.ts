import { expect, test } from 'vitest'
import type { Definition, JsonObject } from './definition.ts'
import { unusableDefaults } from './question-defaults.ts'

const schema = { type: 'object', properties: { colour: { enum: ['red', 'green'] } }, required: ['colour'] }
const question = (args: JsonObject): Definition => ({
  nodes: [
    { id: 'set', type: 'set' },
    { id: 'ask', type: 'clarification', args: { question: 'Which?', on_due: 'default', schema, ...args } },
  ],
  edges: [],
})

test.each<[string, JsonObject, string | null]>([
  ['matches the schema', { default: { colour: 'red' } }, null],
  ['has a value that the schema does not allow', { default: { colour: 'blue' } }, '/default/colour'],
  ['has another type', { default: 'red' }, '/default'],
  ['is null, which the schema does not allow', { default: null }, '/default'],
  ['is missing', {}, '/on_due'],
  ['is missing, and the schema allows null', { schema: {} }, null],
  ['does not match, but is not used', { default: 'red', on_due: 'fail' }, null],
  ['is an expression', { default: { $ref: 'input.colour' } }, null],
  ['contains an expression', { default: { colour: { $cel: 'input.colour' } } }, null],
  ['has a schema that is an expression', { schema: { $ref: 'input.schema' }, default: 'red' }, null],
  ['has a schema with an expression', { schema: { const: { $ref: 'input.colour' } }, default: 'red' }, null],
  ['has a schema that is not valid', { schema: { type: 'colour' }, default: 'red' }, null],
])('a default answer that %s is reported correctly', (_what, args, path) => {
  const paths = unusableDefaults(question(args)).map((issue) => issue.path)
  expect(paths).toEqual(path === null ? [] : [`/nodes/1/args${path}`])
})

test('the message says why the default answer is not used, also in the body of a map', () => {
  const body = question({ schema: { type: 'string' }, default: 7 })
  const each: Definition = { nodes: [{ id: 'm', type: 'map', args: { items: [], body: body as never } }], edges: [] }
  expect(unusableDefaults(each)).toEqual([
    {
      path: '/nodes/0/args/body/nodes/1/args/default',
      message: 'does not match the schema, so it is not used when the question is due: must be string',
    },
  ])
})
