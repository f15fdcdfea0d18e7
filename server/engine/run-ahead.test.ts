import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Definition, Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

// Nodes without effects run before the result of the previous node is durable. While the rows of the workers are
// locked, no append is written.

let database: TestDatabase
let superuser: pg.Client
let bench: Bench

/** The nodes that have run, and the ends of `held` nodes, which the test decides. */
let ran: string[] = []
let open: () => void
let opened: Promise<void>

const noted = (type: string, effect: 'pure' | 'idempotent' | 'at_most_once') =>
  kind(type, effect, async ({ nodePath }) => {
    ran.push(nodePath)
    return { output: nodePath }
  })

const held = kind('held', 'idempotent', async ({ nodePath, signal }) => {
  const aborted = new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  await Promise.race([opened, aborted])
  return { output: nodePath }
})

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  bench = await startTestEngine(database.urls, {
    nodes: [held, noted('pure', 'pure'), noted('call', 'idempotent'), noted('once', 'at_most_once')],
  })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})
beforeEach(() => {
  ran = []
  opened = new Promise((resolve) => {
    open = resolve
  })
})

/** A chain of nodes of these types, named by their type and position. */
const chainOf = (...types: string[]): Definition => {
  const nodes: Node[] = types.map((type, n) => ({ id: `${type}${n}`, type, args: {} }))
  const edges = nodes.slice(1).map(({ id }, n) => ({ from: { node: nodes[n]!.id }, to: id }))
  return { nodes, edges, output: { $ref: `nodes.${nodes.at(-1)!.id}.output` } }
}

const lockWorkers = async (): Promise<void> => {
  await superuser.query('begin')
  await superuser.query('select from workers where not dead for update')
}

/** The journal cannot continue until a lock is waited for, so this is a moment after everything that needs no disk. */
const isAppendHeld = async (): Promise<boolean> =>
  (
    await superuser.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'with fence%'`,
    )
  ).rowCount !== 0

const ended = async (id: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, id, 30 * SECOND)) as ExecutionView

const journalOf = async (id: string): Promise<{ seq: number; type: string; node: string | null }[]> =>
  (
    await superuser.query(
      `select seq, type, data ->> 'node_id' as node from journal where execution_id = $1 order by seq`,
      [id],
    )
  ).rows

const startedNodes = async (id: string): Promise<(string | null)[]> =>
  (await journalOf(id)).filter(({ type }) => type === 'node.started').map(({ node }) => node)

test('nodes without effects run while an append is being written, and a node with an effect waits for it', async () => {
  const id = await bench.run(chainOf('held', 'pure', 'pure', 'call', 'pure'))
  await expect.poll(() => startedNodes(id)).toEqual(['held0'])
  await lockWorkers()
  open()
  await expect.poll(() => ran).toEqual(['pure1', 'pure2'])
  await expect.poll(isAppendHeld).toBe(true)
  expect(await startedNodes(id)).toEqual(['held0'])
  expect(ran).toEqual(['pure1', 'pure2'])
  await superuser.query('rollback')
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'pure4' })
  expect(ran).toEqual(['pure1', 'pure2', 'call3', 'pure4'])
  const journal = await journalOf(id)
  expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_event, n) => n + 1))
  expect(await startedNodes(id)).toEqual(['held0', 'pure1', 'pure2', 'call3', 'pure4'])
})

test('a node that may run only once waits until its start is durable', async () => {
  const id = await bench.run(chainOf('held', 'pure', 'once'))
  await expect.poll(() => startedNodes(id)).toEqual(['held0'])
  await lockWorkers()
  open()
  await expect.poll(() => ran).toEqual(['pure1'])
  await expect.poll(isAppendHeld).toBe(true)
  expect(ran).toEqual(['pure1'])
  await superuser.query('rollback')
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'once2' })
  expect(ran).toEqual(['pure1', 'once2'])
})

test('no node runs before its execution is durable', async () => {
  await lockWorkers()
  const starting = bench.run(chainOf('pure'))
  await expect.poll(isAppendHeld).toBe(true)
  expect(ran).toEqual([])
  await superuser.query('rollback')
  expect(await ended(await starting)).toMatchObject({ status: 'succeeded' })
  expect(ran).toEqual(['pure0'])
})

test('if the append is never written, the nodes run again and everything is recorded once', async () => {
  const id = await bench.run(chainOf('held', 'pure', 'call'))
  await expect.poll(() => startedNodes(id)).toEqual(['held0'])
  await lockWorkers()
  open()
  await expect.poll(() => ran).toEqual(['pure1'])
  await expect.poll(isAppendHeld).toBe(true)
  await superuser.query(`update executions set status = 'queued', worker_id = null, epoch = epoch + 1, due_at = now()
    where execution_id = '${id}'`)
  await superuser.query('update workers set dead = true where not dead')
  await superuser.query('commit')
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'call2' })
  expect(ran).toEqual(['pure1', 'pure1', 'call2'])
  const succeeded = (await journalOf(id)).filter(({ type }) => type === 'node.succeeded').map(({ node }) => node)
  expect(succeeded).toEqual(['held0', 'pure1', 'call2'])
})

test('a cancellation during an append ends the execution after what had run', async () => {
  const id = await bench.run(chainOf('held', 'pure', 'held'))
  await expect.poll(() => startedNodes(id)).toEqual(['held0'])
  await lockWorkers()
  open()
  await expect.poll(() => ran).toEqual(['pure1'])
  opened = new Promise(() => {})
  await bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
    bench.engine.signal(
      tx,
      { workspaceId: bench.workspaceId, executionId: id, key: 'cancel' },
      { type: 'cancel', by: null },
    ),
  )
  await superuser.query('rollback')
  expect((await ended(id)).status).toBe('cancelled')
  const journal = await journalOf(id)
  expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_event, n) => n + 1))
  expect(journal.at(-1)?.type).toBe('execution.cancelled')
})

test('a long chain of nodes without effects ends, however few appends are written', async () => {
  const types = Array.from({ length: 100 }, () => 'pure')
  const id = await bench.run(chainOf('held', ...types))
  await expect.poll(() => startedNodes(id)).toEqual(['held0'])
  await lockWorkers()
  onTestFinished(async () => {
    await superuser.query('rollback')
  })
  open()
  // An append is limited to 32 events in addition to its first, of which each node has two.
  await expect.poll(() => ran.length).toBe(17)
  await expect.poll(isAppendHeld).toBe(true)
  expect(ran.length).toBe(17)
  await superuser.query('rollback')
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'pure100' })
  expect(ran).toEqual(types.map((type, n) => `${type}${n + 1}`))
})
