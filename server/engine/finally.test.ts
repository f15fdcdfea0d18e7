import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Definition, Json, Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NodeFailure } from './node.ts'
import type { ExecutionView } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let bench: Bench
let superuser: pg.Client
/** The values that `note` nodes received, in order. */
let noted: Json[] = []
let graceS = 60
let dies = false

const never = (): Promise<never> => new Promise(() => {})

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  const note = kind('note', 'idempotent', async ({ args }) => {
    if (dies) {
      dies = false
      await superuser.query('select engine.bury(worker_id) from workers where not dead')
    }
    noted.push(args.value ?? null)
    return { output: args.value ?? null }
  })
  const failing = kind('failing', 'idempotent', () => {
    throw new NodeFailure('broken', 'it is broken', { retryable: false })
  })
  // Ends only when its signal is aborted.
  const hanging = kind('hanging', 'idempotent', ({ signal }) =>
    Promise.race([
      never(),
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    ]),
  )
  bench = await startTestEngine(database.urls, {
    nodes: [note, failing, hanging],
    ports: { finallyGrace: async () => graceS },
  })
})
beforeEach(() => {
  noted = []
  graceS = 60
  dies = false
})
afterAll(async () => {
  await bench?.stop()
  await superuser?.end()
  await database?.drop()
})

const ended = async (executionId: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, executionId, 60 * SECOND)) as ExecutionView

const read = async (executionId: string): Promise<ExecutionView> =>
  (await bench.engine.readExecution(bench.workspaceId, executionId)) as ExecutionView

const cancel = (executionId: string) =>
  bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
    bench.engine.cancel(tx, { workspaceId: bench.workspaceId, executionId }, null),
  )

const main: Record<string, Node> = {
  succeeds: { id: 'main', type: 'echo', args: { value: 'done' } },
  fails: { id: 'main', type: 'failing' },
  hangs: { id: 'main', type: 'hanging' },
  waits: { id: 'main', type: 'wait', args: { for_s: 600 } },
}
const told = { $cel: '[execution.status, execution.error == null ? "" : execution.error.code]' }
const last: Record<string, Node[]> = {
  succeeds: [{ id: 'last', type: 'note', finally: true, args: { value: told } }],
  fails: [
    { id: 'last', type: 'failing', finally: true },
    { id: 'other', type: 'note', finally: true, args: { value: told } },
  ],
  hangs: [
    { id: 'last', type: 'hanging', finally: true },
    { id: 'other', type: 'note', finally: true, args: { value: told } },
  ],
}

const definitionOf = (first: Node, after: Node[]): Definition => ({
  nodes: [first, ...after],
  edges: [],
  output: { $ref: 'nodes.main.output' },
})

type Row = [how: string, main: string, last: string, ends: object, noted: Json[]]

describe('an execution with finally nodes', () => {
  test.each<Row>([
    ['', 'succeeds', 'succeeds', { status: 'succeeded', results: 'done', error: null }, [['succeeded', '']]],
    ['', 'succeeds', 'fails', { status: 'failed', error: { code: 'broken', node_id: 'last' } }, [['succeeded', '']]],
    ['', 'succeeds', 'hangs', { status: 'failed', error: { code: 'finally_timeout' } }, [['succeeded', '']]],
    ['', 'fails', 'succeeds', { status: 'failed', error: { code: 'broken', node_id: 'main' } }, [['failed', 'broken']]],
    ['', 'fails', 'fails', { status: 'failed', error: { code: 'broken', node_id: 'main' } }, [['failed', 'broken']]],
    ['', 'fails', 'hangs', { status: 'failed', error: { code: 'broken', node_id: 'main' } }, [['failed', 'broken']]],
    ['cancelled', 'hangs', 'succeeds', { status: 'cancelled' }, [['cancelled', '']]],
    ['cancelled', 'waits', 'succeeds', { status: 'cancelled' }, [['cancelled', '']]],
    ['cancelled', 'hangs', 'fails', { status: 'cancelled' }, [['cancelled', '']]],
    ['cancelled', 'hangs', 'hangs', { status: 'cancelled' }, [['cancelled', '']]],
    ['timed out', 'hangs', 'succeeds', { status: 'timed_out', error: { code: 'timeout' } }, [['timed_out', 'timeout']]],
    ['timed out', 'waits', 'fails', { status: 'timed_out', error: { code: 'timeout' } }, [['timed_out', 'timeout']]],
    ['timed out', 'waits', 'hangs', { status: 'timed_out', error: { code: 'timeout' } }, [['timed_out', 'timeout']]],
  ])('(%s, main node %s, finally node %s) ends as expected', async (how, first, after, ends, expected) => {
    if (after === 'hangs') graceS = 0.3
    const definition = definitionOf(main[first] as Node, last[after] as Node[])
    const id = await bench.run(definition, {}, how === 'timed out' ? { timeoutS: 0.3 } : {})
    if (how === 'cancelled') {
      await expect
        .poll(async () => (await read(id)).nodes.find(({ node_id }) => node_id === 'main')?.status, { interval: 10 })
        .toMatch(/running|waiting/)
      await cancel(id)
    }
    const view = await ended(id)
    expect(view).toMatchObject(ends)
    expect(noted).toEqual(expected)
    const types = (await bench.engine.readEvents(bench.workspaceId, id, 0, 100)).map(({ type }) => type)
    expect(types.filter((type) => /^execution\.(succeeded|failed|cancelled|timed_out)$/.test(type))).toHaveLength(1)
    expect(types).toContain('execution.ending')
    const interrupted = view.nodes.find(({ node_id }) => node_id === 'main')
    if (how !== '') expect(interrupted).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
  })

  test.each(['a person', 'a rule of its workflow'])('runs no node if cancelled by %s before its start', async (by) => {
    const definition = definitionOf(main.succeeds as Node, last.succeeds as Node[])
    const rules = await bench.rule(newId(), { debounce: { window_s: 600 } })
    const id = await bench.run(definition, {}, by === 'a person' ? { startInS: 600 } : rules)
    await expect.poll(async () => (await read(id)).waiting_for[0]?.until, { interval: 10 }).toBeDefined()
    if (by === 'a person') await cancel(id)
    else await bench.run(definition, {}, rules)
    const view = await ended(id)
    expect(view).toMatchObject({ status: 'cancelled', nodes: [{ status: 'skipped' }, { status: 'skipped' }] })
    expect(noted).toEqual([])
  })

  test('continues its finally nodes when its worker dies', async () => {
    dies = true
    const id = await bench.run(definitionOf(main.fails as Node, last.succeeds as Node[]))
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'broken', node_id: 'main' } })
    // The first call was not recorded.
    expect(noted).toEqual([
      ['failed', 'broken'],
      ['failed', 'broken'],
    ])
  })

  test('parks while a finally node waits, and is not ended by its own timeout in the meantime', async () => {
    const waiting: Node = { id: 'last', type: 'wait', finally: true, args: { for_s: 1.3 } }
    const id = await bench.run(definitionOf(main.waits as Node, [waiting]), {}, { timeoutS: 0.3 })
    const view = await ended(id)
    expect(view).toMatchObject({ status: 'timed_out' })
    expect(view.nodes.find(({ node_id }) => node_id === 'last')).toMatchObject({ status: 'succeeded' })
  })

  test('ignores a cancellation while its finally nodes run', async () => {
    const waiting: Node = { id: 'last', type: 'wait', finally: true, args: { for_s: 1.2 } }
    const id = await bench.run(definitionOf(main.fails as Node, [waiting]))
    await expect.poll(async () => (await read(id)).status, { interval: 10 }).toBe('waiting')
    await cancel(id)
    const view = await ended(id)
    expect(view).toMatchObject({ status: 'failed', error: { code: 'broken' } })
    expect(view.nodes.find(({ node_id }) => node_id === 'last')).toMatchObject({ status: 'succeeded' })
  })

  test('runs its finally nodes in the order of their edges, and skips those that are not reached', async () => {
    const definition: Definition = {
      nodes: [
        main.succeeds as Node,
        {
          id: 'which',
          type: 'branch',
          finally: true,
          args: { cases: [{ port: 'bad', when: { $cel: 'execution.status != "succeeded"' } }] },
        },
        { id: 'undo', type: 'note', finally: true, args: { value: 'undo' } },
        { id: 'report', type: 'note', finally: true, args: { value: { $ref: 'nodes.main.output' } } },
      ],
      edges: [
        { from: { node: 'which', port: 'bad' }, to: 'undo' },
        { from: { node: 'which', port: 'default' }, to: 'report' },
      ],
    }
    const view = await ended(await bench.run(definition))
    expect(noted).toEqual(['done'])
    expect(view.nodes.find(({ node_id }) => node_id === 'undo')).toMatchObject({ status: 'skipped' })
  })

  test('runs its finally nodes again at the end of a retry', async () => {
    const id = await bench.run(definitionOf(main.fails as Node, last.succeeds as Node[]))
    await ended(id)
    const again = await bench.engine.retry({
      workspaceId: bench.workspaceId,
      executionId: id,
      from: 'failed',
      startedBy: null,
      trigger: { kind: 'user', id: null },
    })
    expect(await ended(again.executionId)).toMatchObject({ status: 'failed' })
    expect(noted).toEqual([
      ['failed', 'broken'],
      ['failed', 'broken'],
    ])
  })
})
