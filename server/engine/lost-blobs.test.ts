import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Definition, Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView, Signal } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

// Executions that wait while the blob store loses their outputs.

let database: TestDatabase
let bench: Bench
const files = new Map<string, Buffer>()

beforeAll(async () => {
  database = await makeTestDatabase()
  bench = await startTestEngine(database.urls, {
    nodes: [kind('large', 'pure', () => ({ output: 'x'.repeat(50_000) }))],
    ports: {
      blobs: {
        put: async (key, bytes) => void files.set(key, Buffer.from(bytes)),
        get: async (key) => files.get(key),
        putStream: async () => {},
        stream: async () => undefined,
        remove: async () => {},
        removeUnder: async () => {},
      },
    },
  })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const body = {
  nodes: [
    { id: 'a', type: 'large' },
    { id: 'q', type: 'clarification', args: { question: '?' } },
  ],
  edges: [{ from: { node: 'a' }, to: 'q' }],
}
const inBody = (type: string, args: Record<string, Json>): Definition => ({
  nodes: [{ id: 'm', type, args: { ...args, body } as never }],
  edges: [],
})

const ended = async (id: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, id, 20 * SECOND)) as ExecutionView

/** Starts the execution, and loses its blobs when it waits. */
const waiting = async (definition: Definition): Promise<string> => {
  const id = await bench.run(definition)
  await expect
    .poll(async () => (await bench.engine.readExecution(bench.workspaceId, id))?.status, { interval: 10 })
    .toBe('waiting')
  expect(files.size).toBeGreaterThan(0)
  files.clear()
  return id
}
const at = (executionId: string) => ({ workspaceId: bench.workspaceId, executionId })
const tell = (executionId: string, message: Signal) =>
  bench.db.engine((tx) => bench.engine.signal(tx, { ...at(executionId), key: 'a' }, message))
const cancel = (executionId: string) =>
  bench.db.engine((tx) => bench.engine.cancel(tx, at(executionId), 'usr_of_the_test'))

describe('an execution whose blobs are lost', () => {
  test.each([
    ['map', inBody('map', { items: [0, 1] })],
    ['loop', inBody('loop', { max_iterations: 2 })],
  ])('fails if they belong to a %s that continues', async (_type, definition) => {
    const id = await waiting(definition)
    await tell(id, { type: 'clarification.answered', nodePath: 'm[0].q', answer: 1, data: {} })
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'internal', node_id: 'm' } })
  })

  test('can be cancelled', async () => {
    const id = await waiting(body as Definition)
    await cancel(id)
    expect(await ended(id)).toMatchObject({ status: 'cancelled', error: null })
    const events = await bench.engine.readEvents(bench.workspaceId, id, 0, 100)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.at(-1)).toMatchObject({ type: 'execution.cancelled', data: { by: 'usr_of_the_test' } })
    await expect.poll(() => bench.ended.some(({ executionId }) => executionId === id)).toBe(true)
  })
})
