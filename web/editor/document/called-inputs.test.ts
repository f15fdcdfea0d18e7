import { expect, test } from 'vitest'
import { missingFields, withInputs } from './called-inputs.ts'

const args = { type: 'object', properties: { workflow_id: { type: 'string' }, input: { title: 'Input' } } }
const inputs = {
  type: 'object',
  properties: { name: { type: 'string' }, note: { type: 'string' } },
  required: ['name'],
}

test('the input of a node that runs a workflow has the fields of that workflow, and keeps others that are filled in', () => {
  const { input } = withInputs(args, inputs, { old: 1 }).properties as Record<string, unknown>
  expect(input).toMatchObject({
    title: 'Input',
    properties: { name: { type: 'string' }, note: { type: 'string' }, old: {} },
    required: ['name'],
  })
  expect(withInputs(args, undefined, {})).toBe(args)
  expect(withInputs(args, { type: 'object' }, {})).toBe(args)
  expect(withInputs(args, inputs, { $ref: 'input' }).properties).toMatchObject({
    input: { properties: inputs.properties },
  })
})

test('required fields that the input does not have are named', () => {
  expect(missingFields(inputs, {})).toEqual(['name'])
  expect(missingFields(inputs, undefined)).toEqual(['name'])
  expect(missingFields(inputs, { name: { $ref: 'input.name' } })).toEqual([])
  expect(missingFields(inputs, { $ref: 'input' })).toEqual([])
  expect(missingFields(undefined, {})).toEqual([])
})
