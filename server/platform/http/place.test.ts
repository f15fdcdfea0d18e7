import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// A request keeps its place at work while it uses the database, and gives the place up while it waits for something
// outside.

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const atWork = async (): Promise<number> =>
  Number(/^heddle_http_requests\{state="at_work"\} (\d+)$/m.exec((await service().call('GET', '/metrics')).text)?.[1])

test('a request that waits for an execution gives up its place', async () => {
  const { owner } = world
  const definition = { nodes: [{ id: 'w', type: 'wait.event', args: { key: 'go' } }], edges: [] }
  const { body } = await owner.call('POST', '/api/workflows', { body: { name: 'Waits', definition } })
  const asked = owner.call('POST', `/api/workflows/${body.workflow_id}/run?wait_s=60`, { body: {} })
  await until(async () => {
    const { body: list } = await owner.call('GET', `/api/workflows/${body.workflow_id}/executions`)
    return list.items[0]?.status === 'waiting'
  }, 'the execution to wait')
  expect(await atWork()).toBe(0)
  await owner.call('POST', '/api/events', { body: { key: 'go', data: {} } })
  expect((await asked).body.status).toBe('succeeded')
})

test('a request that uses the database keeps its place, even if it watches for its caller to disconnect', async () => {
  const { owner } = world
  const { body } = await owner.call('POST', '/api/knowledge', { body: { name: 'Base' } })
  const lock = new pg.Client({ connectionString: service().database.superuserUrl })
  await lock.connect()
  await lock.query('begin')
  await lock.query('lock table knowledge_documents in access exclusive mode')
  const asked = owner.call('POST', `/api/knowledge/${body.knowledge_id}/search`, { body: { q: 'words' } })
  await until(async () => {
    const rows = await service().sql(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%from search_knowledge%'`,
    )
    return rows.length > 0
  }, 'the search to wait in the database')
  expect(await atWork()).toBe(1)
  await lock.query('rollback')
  await lock.end()
  expect((await asked).status).toBe(200)
})

test.each(['webhook', 'run'])(
  '%s: many requests of one tenant wait together for the commit of their starts',
  async (by) => {
    const { owner } = world
    const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
    const { body } = await owner.call('POST', '/api/workflows', { body: { name: 'Starts', definition } })
    const { body: made } = await owner.call('POST', `/api/workflows/${body.workflow_id}/tokens`, { body: {} })
    const start = () =>
      by === 'run'
        ? owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: {} })
        : service().call('POST', `/api/webhooks/workflow/${body.workflow_id}/trigger`, { token: made.token, body: {} })
    // The definition is loaded, and the callers are known.
    expect((await start()).status).toBe(202)
    await world.stranger.call('GET', '/auth/me')
    const lock = new pg.Client({ connectionString: service().database.superuserUrl })
    await lock.connect()
    await lock.query('begin')
    await lock.query('lock table events in access exclusive mode')
    const started = Array.from({ length: 20 }, start)
    // With requests of another tenant, only two that use the CPU are at work at a time.
    await until(async () => {
      await world.stranger.call('GET', '/auth/me')
      return (await atWork()) > 4
    }, 'more than four requests to start')
    await lock.query('rollback')
    await lock.end()
    for (const { status } of await Promise.all(started)) expect(status).toBe(202)
  },
)
