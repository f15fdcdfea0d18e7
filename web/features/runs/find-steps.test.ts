import { expect, test } from 'vitest'
import type { Definition } from '#model/definition'
import type { Execution } from '#sdk/types.generated'
import * as check from '#web/editor/check/check.ts'
import { findSteps, stepsIn } from './find-steps.ts'

const begun = { attempt: 1, started_at: '2026-01-01T10:00:01.000Z', finished_at: '2026-01-01T10:00:02.000Z' }
const execution = {
  input: { customer: 'Ada' },
  nodes: [
    { ...begun, node_id: 'fetch', status: 'succeeded', output: { city: 'Bern' }, error: null },
    {
      ...begun,
      started_at: '2026-01-01T10:00:03.000Z',
      finished_at: null,
      node_id: 'send',
      status: 'failed',
      error: { code: 'http_status', message: 'The service answered 503' },
    },
    { ...begun, node_id: 'each', status: 'succeeded', output: [] },
    { node_id: 'late', attempt: 0, status: 'skipped', started_at: null, finished_at: null },
  ],
} as unknown as Execution
const definition: Pick<Definition, 'nodes'> = {
  nodes: [
    { id: 'fetch', type: 'set', name: 'Fetch', args: { values: { city: 'Bern' } } },
    {
      id: 'send',
      type: 'mail.send',
      name: 'Send the mail',
      args: { to: { $cel: 'input.customer + "@" + nodes.fetch.output.city' }, wrong: { $cel: 'nodes.none.output' } },
    },
    {
      id: 'each',
      type: 'map',
      name: 'Each',
      args: { items: [1], body: { nodes: [{ id: 'line', type: 'set', args: { values: {} } }], edges: [] } },
    },
    { id: 'late', type: 'set', name: 'Too late', args: {} },
  ],
}
const titles: Record<string, string> = { 'mail.send': 'Post a letter' }
const steps = stepsIn({ execution, definition, titleOf: (type) => titles[type] ?? type, check })
const found = (text: string) => findSteps(steps, text).map(({ address }) => address)

test.each([
  ['', ['fetch', 'send', 'each', 'each[0].line', 'late']],
  ['the mail', ['send']],
  ['post LETTER', ['send']],
  ['mail.send', ['send']],
  ['failed 503', ['send']],
  ['http_status mail', ['send']],
  ['mail 404', []],
  ['ada@bern', ['send']],
  ['nodes.none', ['send']],
  ['"city":"bern"', ['fetch']],
  ['line', ['each', 'each[0].line']],
  ['skipped', ['late']],
])('“%s” finds %j', (text, addresses) => {
  expect(found(text)).toEqual(addresses)
})

test('a step inside a map is named with the map, and steps of a map that has not run are not found', () => {
  expect(findSteps(steps, 'line').at(-1)?.names).toEqual(['Each', 'line'])
  const before = { ...execution, nodes: [] } as unknown as Execution
  expect(stepsIn({ execution: before, definition, titleOf: String, check: undefined })).toHaveLength(4)
})
