import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Definition } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Bench, chain, startTestEngine } from './testing.ts'

// The worker takes a new identity while an execution is being started under its old one.

let database: TestDatabase
let superuser: pg.Client
let bench: Bench
let read: (() => void) | undefined

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  bench = await startTestEngine(database.urls, {
    // With a single place, a place that is never free again is noticed at once.
    engine: { limits: { perWorkspace: 1 } },
    ports: {
      readVariables: () =>
        new Promise((resolve) => {
          read = () => resolve({ x: 1 })
        }),
    },
  })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const reading: Definition = {
  nodes: [{ id: 'x', type: 'set', args: { values: { x: { $ref: 'vars.x' } } } }],
  edges: [],
}

test('an execution that could not be started under the old identity keeps no place', async () => {
  await bench.engine.waitFor(bench.workspaceId, await bench.run(chain(1)), 20 * SECOND)
  const late = bench.run(reading)
  await expect.poll(() => read).toBeDefined()
  // No new identity can be registered, and the connections of the journal break.
  await superuser.query('begin')
  await superuser.query('lock table workers in share mode')
  await superuser.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'with fence%'`)
  await bench.run(chain(1))
  read!()
  const id = await late
  await superuser.query('commit')
  await expect
    .poll(async () => {
      read!()
      return (await bench.engine.readExecution(bench.workspaceId, id))?.status
    })
    .toBe('succeeded')

  const start = () =>
    bench.engine.start({
      definitionRef: bench.define(chain(1)),
      workflowId: null,
      versionId: null,
      workspaceId: bench.workspaceId,
      input: {},
      trigger: { kind: 'user', id: null },
      startedBy: null,
    })
  // Each start is awaited: an execution that is started while another one is queued is queued behind it.
  await expect
    .poll(async () => {
      const { executionId, status } = await start()
      await bench.engine.waitFor(bench.workspaceId, executionId, 20 * SECOND)
      return status
    })
    .toBe('running')
})
