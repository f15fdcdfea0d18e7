import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NotStarted } from './node.ts'
import type { ExecutionView } from './ports.ts'
import { type Bench, chain, kind, startTestEngine } from './testing.ts'

// Faults of the platform: the affected work is retried until the fault is over, and no tenant is charged for it.

let database: TestDatabase
let bench: Bench
/** How often each place fails before it works again. */
let failures: Record<string, number> = {}
let calls: string[] = []

const full = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
const away = () => problem('unavailable', 'The database does not answer. Try again in a moment.')
const meet = (place: string, trouble: () => Error): void => {
  calls.push(place)
  const left = failures[place] ?? 0
  if (left === 0) return
  failures[place] = left - 1
  throw trouble()
}

const start = (more: { workspaceId?: string } = {}): Promise<Bench> => {
  const files = new Map<string, Buffer>()
  return startTestEngine(database.urls, {
    ...more,
    engine: { pauses: { first: 1, longest: 5 } },
    nodes: [
      kind('reads', 'idempotent', () => {
        meet('node', away)
        return { output: 'read' }
      }),
      kind('sends', 'at_most_once', () => {
        meet('sends', away)
        return { output: 'x'.repeat(50_000) }
      }),
      kind('prepares', 'at_most_once', () => {
        try {
          meet('prepares', away)
        } catch (error) {
          throw new NotStarted(error)
        }
        return { output: 'sent' }
      }),
      kind('mistaken', 'pure', () => {
        calls.push('mistaken')
        throw new TypeError('x is not a function')
      }),
      kind('large', 'pure', () => {
        calls.push('large')
        return { output: 'x'.repeat(50_000) }
      }),
      kind('length', 'pure', (call) => ({ output: String(call.args.value).length })),
    ],
    ports: {
      blobs: {
        putStream: async () => {},
        put: async (key, bytes) => {
          meet('put', full)
          files.set(key, Buffer.from(bytes))
        },
        get: async (key) => files.get(key),
        stream: async () => undefined,
        remove: async () => {},
        removeUnder: async () => {},
      },
      resolveWorkflow: async (_workspaceId, { workflow_id }) => {
        meet('resolve', away)
        return { definitionRef: workflow_id, workflowId: null, versionId: null }
      },
      askQuestion: async () => {
        meet('ask', away)
        return { data: {}, dueAt: new Date(Date.now() + 50) }
      },
      due: async ({ executionId, nodePath, workspaceId }) => {
        meet('due', away)
        await bench.db.tenant({ workspaceId, userId: null }, (tx) =>
          bench.engine.signal(
            tx,
            { workspaceId, executionId, key: 'due' },
            { type: 'clarification.answered', nodePath, answer: 'late', data: {} },
          ),
        )
        return { dueAt: null }
      },
    },
  })
}

beforeAll(async () => {
  database = await makeTestDatabase()
  bench = await start()
})
beforeEach(() => {
  failures = {}
  calls = []
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const ended = async (id: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, id, 60 * SECOND)) as ExecutionView
const times = (place: string): number => calls.filter((call) => call === place).length
const shown = async (id: string) => (await bench.engine.readExecution(bench.workspaceId, id))?.waiting_for

test('a node that meets a platform fault is retried and uses up no attempt', async () => {
  failures = { node: 12 }
  const view = await ended(
    await bench.run({ nodes: [{ id: 'r', type: 'reads' }], edges: [], output: { $ref: 'nodes.r.output' } }),
  )
  expect(view).toMatchObject({ status: 'succeeded', results: 'read', nodes: [{ attempt: 1 }] })
  expect(times('node')).toBe(13)
})

test('a mistake in our code fails the node after the attempts of its policy', async () => {
  const node = { id: 'm', type: 'mistaken', retry: { max_attempts: 2, backoff_s: 0.01 } }
  const view = await ended(await bench.run({ nodes: [node], edges: [] }))
  expect(view).toMatchObject({ status: 'failed', error: { code: 'internal', node_id: 'm', attempt: 2 } })
  expect(times('mistaken')).toBe(2)
})

test('an at_most_once node is not repeated after a platform fault, and reports outcome_unknown', async () => {
  failures = { sends: 1 }
  const view = await ended(await bench.run({ nodes: [{ id: 's', type: 'sends' }], edges: [] }))
  expect(view).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown', node_id: 's' } })
  expect(times('sends')).toBe(1)
})

test('an at_most_once node that meets a platform fault before its effect is retried', async () => {
  failures = { prepares: 3 }
  const view = await ended(await bench.run({ nodes: [{ id: 'p', type: 'prepares' }], edges: [] }))
  expect(view).toMatchObject({ status: 'succeeded', nodes: [{ attempt: 1 }] })
  expect(times('prepares')).toBe(4)
})

test('while the storage is full, the output of a successful call is kept, the wait is shown, and the call is not repeated', async () => {
  const before = bench.engine.counts().platform_errors.storage
  failures = { put: Number.POSITIVE_INFINITY }
  const id = await bench.run({
    nodes: [
      { id: 'a', type: 'large' },
      { id: 'l', type: 'length', args: { value: { $ref: 'nodes.a.output' } } },
    ],
    edges: [{ from: { node: 'a' }, to: 'l' }],
    output: { $ref: 'nodes.l.output' },
  })
  const since = expect.stringMatching(/^\d{4}-.*Z$/)
  const wait = { kind: 'platform', node_id: 'a', since, until: since, error: 'The storage of the service is full.' }
  await expect.poll(() => shown(id)).toEqual([wait])
  failures = {}
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 50_000, waiting_for: [] })
  expect(times('large')).toBe(1)
  expect(bench.engine.counts().platform_errors.storage).toBeGreaterThan(before + 1)
})

test.each([
  [
    'the results of an execution',
    { nodes: [{ id: 'a', type: 'large' }], output: { again: { $ref: 'nodes.a.output' } } },
  ],
  [
    'the outputs of the items of a map',
    {
      nodes: [
        {
          id: 'm',
          type: 'map',
          args: {
            items: [1, 2],
            body: { nodes: [{ id: 'a', type: 'large' }], edges: [], output: { $ref: 'nodes.a.output' } },
          },
        },
      ],
    },
  ],
])('while the storage is full, %s are kept until there is room', async (_what, definition) => {
  failures = { put: 8 }
  expect(await ended(await bench.run({ edges: [], ...definition }))).toMatchObject({ status: 'succeeded' })
  expect(failures.put).toBe(0)
})

test('a question is asked and settled when due, however often the calls fail', async () => {
  failures = { ask: 12, due: 12 }
  const view = await ended(
    await bench.run({ nodes: [{ id: 'q', type: 'clarification' }], edges: [], output: { $ref: 'nodes.q.output' } }),
  )
  expect(view).toMatchObject({ status: 'succeeded', results: 'late' })
  expect([times('ask'), times('due')]).toEqual([13, 13])
})

test('a sub-workflow is started, however often the calls fail', async () => {
  failures = { resolve: 12 }
  const args = { workflow_id: bench.define(chain(1)), input: { value: 7 } }
  const view = await ended(
    await bench.run({ nodes: [{ id: 'c', type: 'subworkflow', args }], edges: [], output: { $ref: 'nodes.c.output' } }),
  )
  expect(view).toMatchObject({ status: 'succeeded', results: 7 })
})

test('an execution that waits because of a platform fault can be cancelled', async () => {
  failures = { ask: Number.POSITIVE_INFINITY }
  const id = await bench.run({ nodes: [{ id: 'q', type: 'clarification' }], edges: [] })
  await expect.poll(() => shown(id)).toMatchObject([{ kind: 'platform', error: 'The database does not answer.' }])
  const { workspaceId } = bench
  await bench.db.tenant({ workspaceId, userId: null }, (tx) =>
    bench.engine.cancel(tx, { workspaceId, executionId: id }, null),
  )
  expect(await ended(id)).toMatchObject({ status: 'cancelled', waiting_for: [] })
})

test('a worker that stops during a platform fault hands its result over, and the call is not repeated', async () => {
  const { workspaceId, definitions } = bench
  failures = { put: Number.POSITIVE_INFINITY }
  const id = await bench.run({ nodes: [{ id: 's', type: 'sends' }], edges: [] })
  await expect.poll(() => shown(id)).toHaveLength(1)
  await bench.stop()
  failures = {}
  bench = await start({ workspaceId })
  for (const [ref, definition] of definitions) bench.definitions.set(ref, definition)
  expect(await ended(id)).toMatchObject({ status: 'succeeded' })
  expect(times('sends')).toBe(1)
})
