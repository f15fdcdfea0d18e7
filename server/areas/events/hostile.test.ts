import { beforeAll, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { slow } from '#test/harness/slow'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// One event for many executions: the bytes written and the work are limited. An event over a limit has no effect.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const send = (body: object) => world.owner.call('POST', '/api/events', { body })

async function startWaiting(key: string, schemas: object[]): Promise<void> {
  const args = { key, schema: { $ref: 'input.schema' } }
  const definition = { nodes: [{ id: 'w', type: 'wait.event', args }], edges: [] }
  const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Wait', definition } })
  for (const schema of schemas)
    await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: { input: { schema } } })
  await until(async () => {
    const path = `/api/workflows/${body.workflow_id}/executions?limit=200`
    const { items } = (await world.owner.call('GET', path)).body
    return items.every((one: { status: string }) => one.status === 'waiting') ? true : undefined
  }, 'all executions to wait')
}

test('data that is too large for all waiting executions wakes none of them; smaller data wakes all', async () => {
  await startWaiting(
    'large',
    times(40, () => ({})),
  )
  const refused = await send({ key: 'large', data: 'x'.repeat(900_000) })
  expect([refused.status, refused.body.code]).toEqual([413, 'too_large'])
  expect((await send({ key: 'large', data: 'x'.repeat(10_000) })).body).toMatchObject({ woken: 40, unfit: 0 })
})

const forms = times(200, (n) => ({ type: 'object', properties: { x: { const: n } }, required: ['x'] }))
const heavy = (title: string) => ({ title, type: 'array', items: { anyOf: forms } })

test('a schema that several waits share is checked once; too many expensive schemas are refused', async () => {
  const data = times(70, () => ({ x: 199 }))
  await startWaiting(
    'same',
    times(5, () => heavy('same')),
  )
  expect((await send({ key: 'same', data })).body).toMatchObject({ woken: 5, unfit: 0 })
  await startWaiting(
    'other',
    times(5, (n) => heavy(`other ${n}`)),
  )
  const refused = await send({ key: 'other', data })
  expect([refused.status, refused.body.code]).toEqual([413, 'too_large'])
  expect((await send({ key: 'other', data: [{ x: 1 }] })).body).toMatchObject({ woken: 5, unfit: 0 })
})

test('an event that is too large for all its subscribers starts none of them', async () => {
  const definition = { nodes: [{ id: 'n', type: 'set', args: { values: {} } }], edges: [] }
  for (let n = 0; n < 40; n += 1)
    await world.owner.call('POST', '/api/workflows', {
      body: { name: `Subscriber ${n}`, definition, settings: { on_event: ['large'] } },
    })
  const before = (await world.owner.call('GET', '/api/executions?trigger=event')).body.items.length
  const refused = await send({ name: 'large', data: 'x'.repeat(900_000) })
  expect([refused.status, refused.body.code]).toEqual([413, 'too_large'])
  expect((await world.owner.call('GET', '/api/executions?trigger=event')).body.items).toHaveLength(before)
  expect((await send({ name: 'large', data: 'small' })).body.started).toHaveLength(40)
})

slow('a workspace stores at most 64 MiB of events, including calls of callback addresses', async () => {
  const kept = () => send({ key: 'kept', data: {}, keep_s: 60 })
  expect((await kept()).status).toBe(202)
  await service().sql(
    `insert into incoming_events (workspace_id, event_id, key, data, keep_until)
     select $1, gen_random_uuid(), 'filler', to_json(string_agg(md5(random()::text || i), '')), now() + interval '1 hour'
     from generate_series(1, 2048 * 1024) i group by i % 64`,
    [world.workspace.uuid],
  )
  expect((await kept()).body).toMatchObject({ code: 'quota_exceeded', detail: expect.stringContaining('64 MiB') })
  await service().sql(`delete from incoming_events where key = 'filler'`)
  expect((await kept()).status).toBe(202)
})
