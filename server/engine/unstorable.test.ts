import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Definition, JsonObject, Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { enqueue } from './enqueue.ts'
import type { ExecutionView } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

// Text that the database cannot store or refuses. It fails its own node or execution, and nothing else.

let database: TestDatabase
let superuser: pg.Client
let bench: Bench
const steps: string[] = []

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  await superuser.query(`alter table events add constraint refused check (data::text not like '%refuse me%')`)
  bench = await startTestEngine(database.urls, {
    nodes: [
      kind('step', 'pure', async ({ step, args }) => {
        await step('one', async () => String(args.value)).catch((error: Error) => {
          steps.push(error.message)
          throw error
        })
        return { output: null }
      }),
    ],
  })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const ended = async (id: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, id, 30 * SECOND)) as ExecutionView

const NUL = { $cel: '"a\\u0000"' }
const echo = { nodes: [{ id: 'x', type: 'echo' }], edges: [] }
const failing: Definition = { nodes: [{ id: 'f', type: 'fail', args: { message: 'no' } }], edges: [] }

const alone = (type: string, args: unknown): Definition => ({
  nodes: [{ id: 'n', type, args: args as JsonObject }],
  edges: [],
})

test.each<[string, string, () => JsonObject]>([
  ['loop', 'its state, without turns', () => ({ state: NUL, while: { $cel: 'false' }, max_iterations: 1, body: echo })],
  [
    'loop',
    'its state, with one turn',
    () => ({ state: [NUL], until: { $cel: 'true' }, max_iterations: 1, body: echo }),
  ],
  ['approval', 'its title', () => ({ title: NUL })],
  ['clarification', 'a choice', () => ({ question: 'Which?', choices: [NUL] })],
  ['wait.event', 'its key', () => ({ key: NUL })],
  ['subworkflow', 'its input', () => ({ workflow_id: bench.define(echo), input: { text: NUL } })],
])('the node %s fails with invalid_text if an argument contains NUL: %s', async (type, _what, args) => {
  const [node] = alone(type, args()).nodes as [Node]
  const id = await bench.run({
    nodes: [
      { ...node, on_error: 'route' },
      { id: 'code', type: 'echo', args: { value: { $ref: 'nodes.n.output.code' } } },
    ],
    edges: [{ from: { node: 'n', port: 'error' }, to: 'code' }],
    output: { $ref: 'nodes.code.output' },
  })
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'invalid_text' })
})

test('an execution whose first steps the database refuses is started and fails', async () => {
  const definition = alone('set', { values: { text: 'refuse me' } })
  const id = await bench.run(definition)
  const error = { code: 'not_storable', message: 'the journal of the execution could not be stored' }
  expect(await ended(id)).toMatchObject({ status: 'failed', error })
  const events = await bench.engine.readEvents(bench.workspaceId, id, 0, 10)
  expect(events.map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'execution.started'],
    [2, 'execution.failed'],
  ])
  await expect.poll(() => bench.ended.map(({ executionId }) => executionId)).toContain(id)
})

test('a parent learns that the first steps of its child were refused', async () => {
  const child = bench.define(alone('set', { values: { text: 'refuse me' } }))
  const id = await bench.run(alone('subworkflow', { workflow_id: child }))
  expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'not_storable', node_id: 'n' } })
})

test('an input that the database refuses starts nothing', async () => {
  await superuser.query(
    `alter table executions add constraint refused check (input::text not like '%no input%') not valid`,
  )
  const executionId = newId()
  await expect(bench.run(echo, 'no input', { executionId })).rejects.toMatchObject({ code: 'malformed' })
  expect(await bench.engine.readExecution(bench.workspaceId, executionId)).toBeUndefined()
})

test('a node that waits for a step learns that the step was refused', async () => {
  const id = await bench.run(alone('step', { value: 'refuse me' }))
  expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'not_storable' } })
  await expect.poll(() => steps).toEqual(['this attempt has ended'])
})

test('the ends of other executions are reported although an older release stored NUL in the journal of one', async () => {
  const parent = (): Promise<string> => bench.run(alone('subworkflow', { workflow_id: bench.define(failing) }))
  const first = await ended(await parent())
  // The parent learns of the end of its child before the areas do.
  const childOf = (): string | undefined => bench.ended.find(({ error }) => error?.code === 'failed')?.executionId
  await expect.poll(childOf).toBeDefined()
  const [childId, oldId] = [childOf(), newId()]
  await superuser.query(
    `insert into executions select (jsonb_populate_record(e, jsonb_build_object('execution_id', $2::uuid, 'tell_end', true))).*
     from executions e where execution_id = $1`,
    [childId, oldId],
  )
  const journal = [
    ['s', 0, 'l', { state: 'a\u0000' }],
    ['execution.failed', 0, { error: first.error, permanent: true }],
  ]
  await superuser.query(
    `insert into events (execution_id, seq, workspace_id, at, type, data) values ($1, 1, $2, now(), 'p', $3)`,
    [oldId, bench.workspaceId, JSON.stringify(journal)],
  )
  expect(await ended(await parent())).toMatchObject({ status: 'failed', error: { code: 'failed' } })
  await expect.poll(() => bench.ended.map(({ executionId }) => executionId)).toContain(oldId)
})

test('an input that a service sends with NUL is stored without it', async () => {
  const { workspaceId } = bench
  const definition: Definition = {
    nodes: [{ id: 'b', type: 'branch', args: { cases: [{ port: 'a', when: { $cel: 'true' } }] } }],
    edges: [],
    output: { $ref: 'nodes.b.output' },
  }
  const executionId = newId()
  const outcome = await bench.db.tenant({ workspaceId, userId: null }, (tx) =>
    enqueue(tx, {
      ...{ workspaceId, executionId, definitionRef: bench.define(definition), workflowId: null, versionId: null },
      input: { item: ['a\u0000b', { 'c\ud800': 1 }] },
      trigger: { kind: 'event', id: null },
      startedBy: null,
    }),
  )
  expect(outcome).toBe('accepted')
  expect(await ended(executionId)).toMatchObject({ status: 'succeeded', results: { item: ['ab', { 'c\ufffd': 1 }] } })
})
