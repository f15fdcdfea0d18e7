import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Definition, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView, Signal } from './ports.ts'
import { type Bench, startTestEngine } from './testing.ts'

// An answer is accepted while no worker runs, and the next worker comes after the timeout of the node.

const TIMEOUT_S = 1.5

let database: TestDatabase
let api: Bench
beforeAll(async () => {
  database = await makeTestDatabase()
  api = await startTestEngine(database.urls, { engine: { role: 'api' } })
})
afterAll(async () => {
  await api?.stop()
  await database?.drop()
})

const startWorker = (): Promise<Bench> =>
  startTestEngine(database.urls, { workspaceId: api.workspaceId, definitions: api.definitions })

const question = { id: 'q', type: 'clarification', args: { question: 'Which?' }, timeout_s: TIMEOUT_S }
const inBody = (type: string, args: JsonObject): Definition => ({
  nodes: [
    {
      id: 'b',
      type,
      args: { ...args, body: { nodes: [question], edges: [], output: { $ref: 'nodes.q.output' } } },
    },
  ],
  edges: [],
  output: { $ref: 'nodes.b.output' },
})

const answered = (nodePath: string): Signal => ({ type: 'clarification.answered', nodePath, answer: 'this', data: {} })

test.each<[string, Definition, Signal]>([
  ['a question', { nodes: [question], edges: [], output: { $ref: 'nodes.q.output' } }, answered('q')],
  ['a question in a map', inBody('map', { items: [1] }), answered('b[0].q')],
  ['a question in a loop', inBody('loop', { until: { $cel: 'true' }, max_iterations: 2 }), answered('b[0].q')],
  [
    'an awaited event',
    {
      nodes: [{ id: 'e', type: 'wait.event', args: { key: 'k' }, timeout_s: TIMEOUT_S }],
      edges: [],
      output: { $ref: 'nodes.e.output' },
    },
    { type: 'event.received', nodePath: 'e', output: 'this', data: {} },
  ],
])('an accepted answer to %s counts although the worker comes after the timeout', async (_what, definition, signal) => {
  const { workspaceId } = api
  const first = await startWorker()
  const executionId = await api.run(definition)
  await expect.poll(async () => (await api.engine.readExecution(workspaceId, executionId))?.status).toBe('waiting')
  await first.stop()
  const outcome = await api.db.tenant({ workspaceId, userId: null }, (tx) =>
    api.engine.signal(tx, { workspaceId, executionId, key: 'answer' }, signal),
  )
  expect(outcome).toBe('accepted')
  const isLate = async (): Promise<boolean> =>
    (
      await api.db.engine((tx) =>
        tx.row<{ late: boolean }>(
          `select now() > started_at + $2 * interval '1 second' as late from executions where execution_id = $1`,
          [executionId, 2 * TIMEOUT_S],
        ),
      )
    ).late
  await expect.poll(isLate, { timeout: 10 * SECOND }).toBe(true)
  const second = await startWorker()
  onTestFinished(() => second.stop())
  const view = (await api.engine.waitFor(workspaceId, executionId, 30 * SECOND)) as ExecutionView
  expect(view).toMatchObject({ status: 'succeeded', error: null })
  expect(JSON.stringify(view.results)).toContain('this')
})
