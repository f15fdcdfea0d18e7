import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { until } from '#test/harness/until'
import { type Bench, kind, startTestEngine } from './testing.ts'

// A worker sends heartbeats during all other work, because other workers take its executions if heartbeats are
// missing.

let database: TestDatabase
let superuser: pg.Client
beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
})
afterAll(() => database?.drop())

const beats = async (): Promise<number> => {
  const { rows } = await superuser.query<{ beat: number }>(
    'select beat::integer from heartbeats join workers using (worker_id) where not dead',
  )
  expect(rows).toHaveLength(1)
  return rows[0]!.beat
}

const beatsOn = async (): Promise<void> => {
  const before = await beats()
  await until(async () => (await beats()) > before + 1, 'two beats')
}

const holding = () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const node = kind('hold', 'pure', async () => {
    begun.resolve()
    await finish.promise
    return { output: null }
  })
  return { node, begun: begun.promise, finish: finish.resolve }
}

const start = (bench: Bench) => bench.run({ nodes: [{ id: 'h', type: 'hold' }], edges: [] })

test('a worker sends heartbeats while its executions use all connections of the engine', async () => {
  const bench = await startTestEngine(database.urls, { engine: { tickMs: 20 } })
  const { enginePool } = bench.db
  const held = await Promise.all(Array.from({ length: enginePool.options.max }, () => enginePool.connect()))
  await beatsOn()
  for (const client of held) client.release()
  await bench.stop()
})

test('a worker sends heartbeats while it stops and waits for its running executions', async () => {
  const { node, begun, finish } = holding()
  const bench = await startTestEngine(database.urls, { nodes: [node], engine: { tickMs: 20 } })
  const id = await start(bench)
  await begun
  const stopping = bench.stop()
  await beatsOn()
  finish()
  await stopping
  const { rows } = await superuser.query('select crashes from executions where execution_id = $1', [id])
  expect(rows).toEqual([{ crashes: 0 }])
})
