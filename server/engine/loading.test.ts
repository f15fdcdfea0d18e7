import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { makeDiskBlobs } from '#providers/blobs/disk'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Bench, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let superuser: pg.Client
let bench: Bench
let folder: string
let failures = 0
/** The execution whose blobs cannot be read. */
let broken: string | undefined
/** The execution whose blobs are not returned until a promise resolves. */
let hanging: { of: string; until: Promise<void> } | undefined

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  folder = await mkdtemp(join(tmpdir(), 'heddle-blobs-'))
  const disk = makeDiskBlobs(folder)
  bench = await startTestEngine(database.urls, {
    nodes: [
      kind('large', 'pure', () => ({ output: 'x'.repeat(100_000) })),
      kind('length', 'pure', (call) => ({ output: String(call.args.value).length })),
    ],
    ports: {
      blobs: {
        ...disk,
        get: async (key) => {
          if (hanging !== undefined && key.includes(hanging.of)) await hanging.until
          if (broken === undefined || !key.includes(broken)) return disk.get(key)
          failures += 1
          throw new Error('the disk says EIO')
        },
      },
    },
  })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

type Row = { waiting_for: { reason?: string }[]; crashes: number; pause: number | null }

test('an answered execution whose blob temporarily cannot be read continues by itself when the blob can be read', async () => {
  const { workspaceId, engine } = bench
  const ref = bench.define({
    nodes: [
      { id: 'a', type: 'large' },
      { id: 'q', type: 'clarification', args: { question: '?' } },
      { id: 'l', type: 'length', args: { value: { $ref: 'nodes.a.output' } } },
    ],
    edges: [
      { from: { node: 'a' }, to: 'q' },
      { from: { node: 'q' }, to: 'l' },
    ],
    output: { $ref: 'nodes.l.output' },
  })
  const executionId = await bench.run(ref)
  const look = async (): Promise<Row> => {
    const { rows } = await superuser.query<Row>(
      `select waiting_for, crashes, extract(epoch from due_at - now())::double precision as pause
       from executions where execution_id = $1 and status = 'waiting'`,
      [executionId],
    )
    return rows[0] ?? { waiting_for: [], crashes: 0, pause: null }
  }
  await expect.poll(async () => (await look()).waiting_for.length).toBe(1)

  broken = executionId
  failures = 0
  await bench.db.tenant({ workspaceId, userId: null }, (tx) =>
    engine.signal(
      tx,
      { workspaceId, executionId, key: 'a' },
      { type: 'clarification.answered', nodePath: 'q', answer: 'yes', data: {} },
    ),
  )
  const pauses: number[] = []
  for (let failure = 1; failure <= 7; failure += 1) {
    await expect.poll(() => failures).toBe(failure)
    await expect.poll(async () => (await look()).waiting_for).toHaveLength(1)
    const { waiting_for, crashes, pause } = await look()
    expect({ reason: waiting_for[0]?.reason, crashes }).toEqual({ reason: 'not_loaded', crashes: 0 })
    pauses.push(Number(pause))
    expect(await engine.health()).toMatchObject({ poison: 0, unaccounted: [] })
    if (failure === 7) broken = undefined
    // The pause is over.
    await superuser.query(`update executions set due_at = now() where execution_id = $1 and status = 'waiting'`, [
      executionId,
    ])
  }
  expect(pauses[6]).toBeGreaterThan(pauses[0] as number)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(60)
  expect(await engine.waitFor(workspaceId, executionId, 60 * SECOND)).toMatchObject({
    status: 'succeeded',
    results: 100_000,
  })
  expect(await engine.health()).toMatchObject({ poison: 0, unaccounted: [] })
})

test('a blob store that does not answer delays only the execution whose blobs it stores', async () => {
  const { workspaceId, engine } = bench
  const ref = bench.define({
    nodes: [
      { id: 'a', type: 'large' },
      { id: 'q', type: 'clarification', args: { question: '?' } },
      { id: 'l', type: 'length', args: { value: { $ref: 'nodes.a.output' } } },
    ],
    edges: [
      { from: { node: 'a' }, to: 'q' },
      { from: { node: 'q' }, to: 'l' },
    ],
    output: { $ref: 'nodes.l.output' },
  })
  const asking = bench.define({ nodes: [{ id: 'q', type: 'clarification', args: { question: '?' } }], edges: [] })
  const ids = [await bench.run(ref), await bench.run(asking)] as const
  const waiting = async (id: string) => (await engine.readExecution(workspaceId, id))?.status === 'waiting'
  for (const id of ids) await expect.poll(() => waiting(id)).toBe(true)
  const answer = (executionId: string) =>
    bench.db.tenant({ workspaceId, userId: null }, (tx) =>
      engine.signal(
        { ...tx, hint: () => {} },
        { workspaceId, executionId, key: 'a' },
        { type: 'clarification.answered', nodePath: 'q', answer: 'yes', data: {} },
      ),
    )
  const { promise, resolve } = Promise.withResolvers<void>()
  hanging = { of: ids[0], until: promise }
  await answer(ids[0])
  await expect.poll(async () => (await engine.readExecution(workspaceId, ids[0]))?.status).toBe('running')
  await answer(ids[1])
  expect(await engine.waitFor(workspaceId, ids[1], 60 * SECOND)).toMatchObject({ status: 'succeeded' })
  resolve()
  hanging = undefined
  expect(await engine.waitFor(workspaceId, ids[0], 60 * SECOND)).toMatchObject({
    status: 'succeeded',
    results: 100_000,
  })
})

test('an execution that cannot be taken up keeps no place in the worker', async () => {
  let isFaulty = false
  const { promise: end, resolve } = Promise.withResolvers<void>()
  const slow = kind('slow', 'pure', async () => {
    await end
    return { output: 'done' }
  })
  const effectOf = () => {
    if (isFaulty) throw new Error('the kind of node has a fault')
    return 'pure' as const
  }
  // Other workers could take it up.
  const own = await makeTestDatabase()
  const narrow = await startTestEngine(own.urls, {
    nodes: [{ ...slow, effectOf }],
    engine: { limits: { capacity: 1 } },
  })
  try {
    const { workspaceId, engine } = narrow
    const admin = await own.superuser()
    const executionId = await narrow.run({ nodes: [{ id: 's', type: 'slow' }], edges: [] })
    await expect.poll(async () => (await engine.readExecution(workspaceId, executionId))?.status).toBe('running')
    isFaulty = true
    await admin.query('select engine.bury(worker_id) from workers where not dead')
    const notLoaded = `select waiting_for -> 0 ->> 'reason' as reason from executions where execution_id = $1`
    await expect.poll(async () => (await admin.query(notLoaded, [executionId])).rows[0].reason).toBe('not_loaded')
    isFaulty = false
    resolve()
    await admin.query('update executions set due_at = now() where execution_id = $1', [executionId])
    expect(await engine.waitFor(workspaceId, executionId, 60 * SECOND)).toMatchObject({ status: 'succeeded' })
  } finally {
    resolve()
    await narrow.stop()
    await own.drop()
  }
})
