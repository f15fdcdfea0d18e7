import { expect, test } from 'vitest'
import { NodeFailure } from '#engine/node'
import type { Json } from '#model/definition'
import type { Effect } from '#model/node'
import { problem } from '#platform/errors'
import { makeNodeCall, type StepJournal } from '#test/harness/node-call'
import { runTool } from './run-tool.ts'
import type { AgentTool } from './tools.ts'

const toolThat = (effect: Effect, run: () => Promise<Json>): AgentTool => ({
  name: 'look',
  title: 'look',
  description: '',
  schema: { type: 'object' },
  effect,
  check: () => [],
  run,
})
const wanted = { id: 'c1', name: 'look', arguments: {} }
const unavailable = () => problem('unavailable', 'The database does not answer.')

test('a fault of the platform is not recorded as a result: a repeatable tool is called again, and its next result is recorded', async () => {
  const journal: StepJournal = new Map()
  let calls = 0
  const tool = toolThat('idempotent', async () => {
    calls += 1
    if (calls === 1) throw unavailable()
    return { found: 1 }
  })
  const attempt = () => runTool(makeNodeCall({ journal }), 'tool:1.0', wanted, tool)
  await expect(attempt()).rejects.toThrow('The database does not answer.')
  expect(await attempt()).toEqual({ ok: true, text: '{"found":1}' })
  expect(await attempt()).toEqual({ ok: true, text: '{"found":1}' })
  expect(calls).toBe(2)
})

test('a fault of the platform fails a tool that must not be repeated, and a NodeFailure fails any tool', async () => {
  const once = toolThat('at_most_once', () => Promise.reject(unavailable()))
  expect(await runTool(makeNodeCall(), 'tool:1.0', wanted, once)).toMatchObject({ ok: false, code: 'internal' })
  const refused = toolThat('idempotent', () => Promise.reject(new NodeFailure('not_found', 'it is gone')))
  expect(await runTool(makeNodeCall(), 'tool:1.0', wanted, refused)).toMatchObject({ ok: false, code: 'not_found' })
})
