import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Definition } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { until } from '#test/harness/until'
import { type Bench, chain, echo, kind, startTestEngine } from './testing.ts'

// An old release, and a new release with a node type that the old one does not know, on one database.

const definitions = new Map<string, Definition>([
  ['adhoc:old', chain(3)],
  ['adhoc:new', chain(3, 'later')],
  [
    'adhoc:nested',
    {
      nodes: [{ id: 'each', type: 'map', args: { items: [1, 2], body: { ...chain(1, 'later') } as never } }],
      edges: [],
    },
  ],
])
const later = kind('later', 'pure', (call) => echo.run(call))
const workspaceId = '01980000-0000-7000-8000-000000000001'

let database: TestDatabase
const started: Bench[] = []
const start = async (release: number, knows: boolean): Promise<Bench> => {
  const bench = await startTestEngine(database.urls, {
    definitions,
    workspaceId,
    nodes: knows ? [later] : [],
    engine: { release },
  })
  started.push(bench)
  return bench
}
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(async () => {
  for (const bench of started) await bench.stop()
  await database?.drop()
})

const end = async (bench: Bench, id: string) => (await bench.engine.waitFor(workspaceId, id, 60 * SECOND))!
/** Returns the events of the nodes. Each node must start and end once, on any worker. */
const steps = async (bench: Bench, id: string): Promise<string[]> =>
  (await bench.engine.readEvents(workspaceId, id, 0, 100)).map(({ type, data }) => `${type} ${data.node_id ?? ''}`)

test('an unknown node type fails without a newer release, and is left to the newer release if there is one', async () => {
  const old = await start(1, false)
  expect(await end(old, await old.run('adhoc:new'))).toMatchObject({
    status: 'failed',
    error: { code: 'unknown_node_type' },
  })

  // First, the new release only serves requests. Its workers start later.
  const api = await startTestEngine(database.urls, { definitions, workspaceId, engine: { release: 2, role: 'api' } })
  started.push(api)
  const waiting = [await api.run('adhoc:new'), await old.run('adhoc:nested')]
  await until(async () => {
    const views = await Promise.all(waiting.map((id) => api.engine.readExecution(workspaceId, id)))
    return views.every((view) => view?.waiting_for.some((one) => 'reason' in one && one.reason === 'newer_release'))
  }, 'the old worker to release the executions')

  const fresh = await start(2, true)
  const both = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      [old, fresh, api][n % 3]!.run(n % 2 ? 'adhoc:new' : 'adhoc:old', { value: n }),
    ),
  )
  for (const id of [...waiting, ...both]) {
    expect(await end(fresh, id)).toMatchObject({ status: 'succeeded' })
    const seen = (await steps(fresh, id)).filter((step) => step.startsWith('node.'))
    expect(new Set(seen).size).toBe(seen.length)
  }

  // Executions whose journal contains event types of the newer release are left to it, too.
  const id = await old.run({ nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] })
  await until(
    async () => (await old.engine.readExecution(workspaceId, id))?.status === 'waiting',
    'the execution to wait',
  )
  await fresh.stop()
  started.splice(started.indexOf(fresh), 1)
  await old.db.enginePool.query(
    `with moved as (update executions set snapshot = null, snapshot_seq = 0, due_at = now() where execution_id = $1 returning workspace_id)
     insert into events (workspace_id, execution_id, seq, type, at, data)
     select workspace_id, $1, 100, 'node.dreamt', now(), '{}' from moved`,
    [id],
  )
  await until(async () => {
    const view = await old.engine.readExecution(workspaceId, id)
    return view?.waiting_for.some((one) => 'reason' in one && one.reason === 'newer_release')
  }, 'the old worker to release the execution')
})
