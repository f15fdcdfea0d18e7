import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Definition } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NodeFailure } from './node.ts'
import type { ExecutionView } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

// Work that is stopped by a user, by a timeout or by a failure while it runs.

let database: TestDatabase
let bench: Bench
let sent = 0

beforeAll(async () => {
  database = await makeTestDatabase()
  // Like a request that is aborted: it fails with the error that the platform throws.
  const cutOff = kind(
    'cut-off',
    'idempotent',
    ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  )
  const unsent = kind('unsent', 'at_most_once', ({ attempt, args }) => {
    sent += 1
    if (attempt === 1) throw new NodeFailure('away', 'nobody is there', { nothingDone: args.certain === true })
    return { output: attempt }
  })
  bench = await startTestEngine(database.urls, { nodes: [cutOff, unsent] })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const ended = async (executionId: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, executionId, 60 * SECOND)) as ExecutionView

const typesOf = async (executionId: string): Promise<string[]> =>
  (await bench.engine.readEvents(bench.workspaceId, executionId, 0, 100)).map(({ type }) => type)

const cancel = (executionId: string) =>
  bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
    bench.engine.signal(
      tx,
      { workspaceId: bench.workspaceId, executionId, key: 'cancel' },
      { type: 'cancel', by: null },
    ),
  )

const childrenOf = (executionId: string) =>
  bench.db.engine((tx) =>
    tx.rows<{ execution_id: string; status: string }>(
      'select execution_id, status from executions where parent_execution_id = $1 order by created_at',
      [executionId],
    ),
  )

describe('a cancelled execution', () => {
  const body = { nodes: [{ id: 'c', type: 'cut-off' }], edges: [], output: null }
  test.each<[string, Definition]>([
    ['fails when it is stopped', { nodes: [{ id: 'c', type: 'cut-off' }], edges: [] }],
    ['continues after an error', { nodes: [{ id: 'c', type: 'cut-off', on_error: 'continue' }], edges: [], output: 1 }],
    [
      'would be retried',
      { nodes: [{ id: 'c', type: 'cut-off', retry: { max_attempts: 3, backoff_s: 0 } }], edges: [] },
    ],
    ['is in a map', { nodes: [{ id: 'm', type: 'map', args: { items: [1, 2], body } }], edges: [] }],
  ])('is cancelled although its node %s', async (_name, definition) => {
    const id = await bench.run(definition)
    await expect.poll(() => typesOf(id), { interval: 10 }).toContain('node.started')
    expect(await cancel(id)).toBe('accepted')
    expect(await ended(id)).toMatchObject({ status: 'cancelled' })
    expect(await typesOf(id)).toEqual(['execution.started', 'node.started', 'execution.cancelled'])
  })
})

describe('a node that exceeds its timeout', () => {
  test('is a wait: it fails, unless it ended before', async () => {
    const waiting = (for_s: number, timeout_s: number): Definition => ({
      nodes: [{ id: 'w', type: 'wait', args: { for_s }, timeout_s }],
      edges: [],
    })
    const [late, intime] = [await bench.run(waiting(600, 0.1)), await bench.run(waiting(0.1, 0.2))]
    expect(await ended(late)).toMatchObject({ status: 'failed', error: { code: 'timeout', node_id: 'w' } })
    expect(await ended(intime)).toMatchObject({ status: 'succeeded' })
  })

  test('is a sub-workflow: the child is cancelled, and its end does not affect the next attempt', async () => {
    const child = bench.define({ nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] })
    const id = await bench.run({
      nodes: [
        {
          id: 'c',
          type: 'subworkflow',
          args: { workflow_id: child, input: {} },
          timeout_s: 1.5,
          retry: { max_attempts: 2, backoff_s: 0 },
          on_error: 'continue',
        },
        { id: 'w', type: 'wait', args: { for_s: 600 } },
      ],
      edges: [{ from: { node: 'c' }, to: 'w' }],
    })
    await expect
      .poll(async () => (await childrenOf(id)).map(({ status }) => status))
      .toEqual(['cancelled', 'cancelled'])
    const retries = (await bench.engine.readEvents(bench.workspaceId, id, 0, 100)).filter(
      ({ type }) => type === 'node.retrying' || type === 'node.failed',
    )
    expect(retries.map(({ type, data }) => [type, data.attempt, (data.error as { code: string }).code])).toEqual([
      ['node.retrying', 1, 'timeout'],
      ['node.failed', 2, 'timeout'],
    ])
    await cancel(id)
  })
})

test('an at_most_once node is retried only if nothing was done', async () => {
  const of = (certain: boolean): Definition => ({
    nodes: [{ id: 'u', type: 'unsent', args: { certain }, retry: { max_attempts: 3, backoff_s: 0 } }],
    edges: [],
    output: { $ref: 'nodes.u.output' },
  })
  sent = 0
  expect(await ended(await bench.run(of(true)))).toMatchObject({ status: 'succeeded', results: 2 })
  expect(sent).toBe(2)
  expect(await ended(await bench.run(of(false)))).toMatchObject({
    status: 'failed',
    error: { code: 'away', attempt: 1 },
  })
  expect(sent).toBe(3)
})
