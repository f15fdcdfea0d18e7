import type pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { HOUR, SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { slow } from '#test/harness/slow'
import type { NodeKind } from './node.ts'
import type { EnginePorts, ExecutionView } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

// A stopping worker hands its executions over as soon as nothing runs. It abandons those that it cannot hand over in
// time, and their epoch grows when it signs off.

let database: TestDatabase
let superuser: pg.Client
let api: Bench

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  api = await startTestEngine(database.urls, { engine: { role: 'api' } })
})
afterAll(async () => {
  await api?.stop()
  await database?.drop()
})

const startWorker = async (ports: Partial<EnginePorts>, nodes: NodeKind[] = []): Promise<Bench> => {
  const bench = await startTestEngine(database.urls, {
    workspaceId: api.workspaceId,
    definitions: api.definitions,
    ports,
    nodes,
    engine: { pauses: { first: HOUR, longest: HOUR } },
  })
  onTestFinished(() => bench.stop())
  return bench
}

/** Resolves when this worker has read a message. */
const hasReadMessage = ({ db: { enginePool } }: Bench): Promise<void> => {
  const query = enginePool.query.bind(enginePool) as (...args: unknown[]) => Promise<{ rows: unknown[] }>
  return new Promise((resolve) => {
    const pool = vi.spyOn(enginePool, 'query').mockImplementation((async (
      statement: { name?: string },
      ...more: []
    ) => {
      const answer = await query(statement, ...more)
      if (statement.name === 'engine-inbox' && answer.rows.length > 0) {
        pool.mockRestore()
        setImmediate(resolve)
      }
      return answer
    }) as never)
  })
}

const rowOf = async (executionId: string) =>
  (await superuser.query('select status, epoch, crashes, seen from executions where execution_id = $1', [executionId]))
    .rows[0]

const question = { nodes: [{ id: 'q', type: 'clarification', args: { question: 'Which?' } }], edges: [] }

test('a question that was answered before it was known to be open is handed over at once, with its answer', async () => {
  const { workspaceId } = api
  const first = await startWorker({
    // The question was stored, but the connection broke before the confirmation.
    askQuestion: async ({ executionId }) => {
      await api.db.tenant({ workspaceId, userId: null }, (tx) =>
        api.engine.signal(
          tx,
          { workspaceId, executionId, key: 'answer' },
          { type: 'clarification.answered', nodePath: 'q', answer: 'this', data: {} },
        ),
      )
      throw problem('unavailable', 'The database does not answer. Try again in a moment.')
    },
  })
  const isRead = hasReadMessage(first)
  const id = await first.run({ ...question, output: { $ref: 'nodes.q.output' } })
  await isRead
  await first.engine.retire()
  expect(await rowOf(id)).toEqual({ status: 'queued', epoch: 0, crashes: 0, seen: 0 })
  await startWorker({})
  const view = (await api.engine.waitFor(workspaceId, id, 60 * SECOND)) as ExecutionView
  expect(view).toMatchObject({ status: 'succeeded', results: 'this' })
  const answers = (await api.engine.readEvents(workspaceId, id, 0, 100)).filter(({ type }) => type.endsWith('answered'))
  expect(answers).toHaveLength(1)
})

/** The tables to which a worker adds rows. */
const FILLED = ['events', 'inbox']

slow(
  'a worker that is stopped while the disk is full signs off, and the next worker continues from what was written',
  async () => {
    const { workspaceId } = api
    const { promise: room, resolve: finish } = Promise.withResolvers<void>()
    const ran: string[] = []
    const effect = kind('effect', 'idempotent', async ({ effectKey }) => {
      ran.push(effectKey)
      await room
      return { output: 'done' }
    })
    const once = kind('once', 'at_most_once', async () => {
      ran.push('once')
      return { output: 'sent' }
    })
    const first = await startWorker({}, [effect, once])
    const nodes = [
      { id: 'e', type: 'effect' },
      { id: 'o', type: 'once' },
    ]
    const id = await first.run({ nodes, edges: [{ from: { node: 'e' }, to: 'o' }], output: { $ref: 'nodes.o.output' } })
    await expect.poll(() => ran.length).toBe(1)
    await superuser.query(`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
    for (const table of FILLED)
      await superuser.query(
        `create trigger full_disk before insert on ${table} for each statement execute function no_room()`,
      )
    const makeRoom = async (): Promise<void> => {
      for (const table of FILLED) await superuser.query(`drop trigger if exists full_disk on ${table}`)
    }
    onTestFinished(makeRoom)
    finish()
    await first.engine.retire()
    expect(await rowOf(id)).toEqual({ status: 'queued', epoch: 1, crashes: 0, seen: 0 })
    await makeRoom()
    await startWorker({}, [effect, once])
    const view = (await api.engine.waitFor(workspaceId, id, 60 * SECOND)) as ExecutionView
    expect(view).toMatchObject({ status: 'succeeded', results: 'sent' })
    expect(ran).toEqual([ran[0], ran[0], 'once'])
  },
)
