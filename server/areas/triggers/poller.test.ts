import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { makeTestDatabase } from '#test/harness/postgres'
import { type Service, startService } from '#test/harness/service'
import { inputsOf, makeTriggered, readTrigger } from '#test/harness/triggers'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Triggers at a vendor that does not answer `/slow` while it is blocked.

let vendor: Server
let site: string
let env: Record<string, string>
let database: Awaited<ReturnType<typeof makeTestDatabase>>
let service: Service
let items: string[] = []
let isShut = false
let held: ServerResponse[] = []
let mostHeld = 0

function answer(response: ServerResponse): void {
  const list = items.map((guid) => `<item><guid>${guid}</guid><title>About ${guid}</title></item>`).join('')
  response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(`<rss><channel>${list}</channel></rss>`)
}

function open(): void {
  isShut = false
  for (const response of held.splice(0)) answer(response)
}

beforeAll(async () => {
  vendor = createServer((request, response) => {
    if (request.url === '/feed' || (request.url === '/slow' && !isShut)) return answer(response)
    if (request.url === '/slow') {
      held.push(response)
      mostHeld = Math.max(mostHeld, held.length)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  env = { HEDDLE_ALLOW_TARGETS: `127.0.0.1:${port}` }
  database = await makeTestDatabase()
  service = await startService({ env, database })
})
beforeEach(() => {
  items = []
  held = []
  mostHeld = 0
  isShut = true
})
afterAll(async () => {
  open()
  await service?.stop()
  await database?.drop()
  vendor?.close()
})

async function add({ owner }: World, workflowId: string, body: object): Promise<string> {
  const made = await owner.call('POST', `/api/workflows/${workflowId}/triggers`, { body })
  expect(made.status, made.text).toBe(201)
  return made.body.trigger_id
}
const rss = (path: string) => ({ service: 'rss', trigger: 'new_item', args: { url: `${site}${path}` } })

const makeDue = (...triggerIds: string[]): Promise<unknown> =>
  service.sql(`update service_triggers set next_poll_at = '2000-01-01' where trigger_id = any($1)`, [
    triggerIds.map((id) => fromWire('trg', id)),
  ])
const wasLookedAt = ({ owner }: World, workflowId: string, triggerId: string): Promise<unknown> =>
  until(async () => (await readTrigger(owner, workflowId, triggerId)).last_polled_at !== null, 'the first poll')
const guidsOf = async ({ owner }: World, workflowId: string): Promise<string[]> =>
  (await inputsOf(owner, workflowId)).map(({ item }) => item.guid).sort()

test('items whose long keys start with the same text each start the workflow once', async () => {
  const world = await makeWorld(service)
  const workflow = await makeTriggered(world.owner)
  const trigger = await add(world, workflow, rss('/feed'))
  await makeDue(trigger)
  await wasLookedAt(world, workflow, trigger)
  // Older releases stored the first 200 characters of a key. That is half an emoji here, which cannot be stored.
  const same = `${'x'.repeat(198)}😀`
  items = [`${same}one`]
  await makeDue(trigger)
  await until(async () => (await guidsOf(world, workflow)).length === 1, 'the first run')
  items = [`${same}two`, ...items]
  await makeDue(trigger)
  await until(async () => (await guidsOf(world, workflow)).length > 1, 'the second run')
  items = [...items, 'short']
  await makeDue(trigger)
  await until(async () => (await guidsOf(world, workflow)).length > 2, 'the third run')
  expect(await guidsOf(world, workflow)).toEqual(['short', `${same}one`, `${same}two`])
  expect(await readTrigger(world.owner, workflow, trigger)).toMatchObject({ last_error: null })
})

test('an item whose long key an older release stored starts nothing again', async () => {
  const world = await makeWorld(service)
  const workflow = await makeTriggered(world.owner)
  const trigger = await add(world, workflow, rss('/feed'))
  await makeDue(trigger)
  await wasLookedAt(world, workflow, trigger)
  items = ['y'.repeat(300)]
  await service.sql('update service_triggers set seen = $2 where trigger_id = $1', [
    fromWire('trg', trigger),
    JSON.stringify([`"${'y'.repeat(199)}`]),
  ])
  items = ['new', ...items]
  await makeDue(trigger)
  await until(async () => (await guidsOf(world, workflow)).length > 0, 'the run of the new item')
  expect(await guidsOf(world, workflow)).toEqual(['new'])
})

describe('a service that does not answer', () => {
  test('does not delay the triggers of others, and its own trigger loses and repeats nothing', async () => {
    const slow = await makeWorld(service)
    const slowWorkflow = await makeTriggered(slow.owner)
    const slowTrigger = await add(slow, slowWorkflow, rss('/slow'))
    await makeDue(slowTrigger)
    await until(async () => held.length === 1, 'the request that is not answered')

    const other = await makeWorld(service)
    const workflow = await makeTriggered(other.owner)
    const trigger = await add(other, workflow, rss('/feed'))
    await makeDue(trigger)
    await wasLookedAt(other, workflow, trigger)
    items = ['one']
    await makeDue(trigger)
    await until(async () => (await guidsOf(other, workflow)).length === 1, 'the run of the other workspace')
    expect(await guidsOf(other, workflow)).toEqual(['one'])
    expect(held).toHaveLength(1)

    open()
    await wasLookedAt(slow, slowWorkflow, slowTrigger)
    items = ['two', 'one']
    await makeDue(slowTrigger, trigger)
    await until(async () => (await guidsOf(slow, slowWorkflow)).length > 0, 'the run of the slow trigger')
    await until(async () => (await guidsOf(other, workflow)).length > 1, 'the second run of the other workspace')
    expect(await guidsOf(slow, slowWorkflow)).toEqual(['two'])
    expect(await guidsOf(other, workflow)).toEqual(['one', 'two'])
  })

  test('leaves capacity for the other services of its own workspace', async () => {
    const world = await makeWorld(service)
    const workflow = await makeTriggered(world.owner)
    const triggers: string[] = []
    for (let n = 0; n < 6; n += 1) triggers.push(await add(world, workflow, rss('/slow')))
    const credential = await world.owner.call('POST', '/api/credentials', {
      body: { name: 'G', service: 'gitlab', hosts: [new URL(site).host], secrets: { value: 'glpat-a-secret' } },
    })
    const gitlab = await add(world, workflow, {
      service: 'gitlab',
      trigger: 'new_issue',
      args: { site, project: '1' },
      credential_id: credential.body.credential_id,
    })
    await makeDue(...triggers)
    await until(async () => held.length === 4, 'the maximum number of requests to one service')
    await makeDue(gitlab)
    await wasLookedAt(world, workflow, gitlab)
    expect(mostHeld).toBe(4)
    open()
    for (const trigger of triggers) await wasLookedAt(world, workflow, trigger)
  })

  test('does not prevent a process from stopping, and another process polls it again', async () => {
    const world = await makeWorld(service)
    const workflow = await makeTriggered(world.owner)
    const trigger = await add(world, workflow, rss('/slow'))
    await makeDue(trigger)
    await until(async () => held.length === 1, 'the request that is not answered')
    await service.stop()
    isShut = false
    service = await startService({ env, database })
    const [row] = await until(async () => {
      const found = await service.sql<{ last_error: string | null }>(
        'select last_error from service_triggers where trigger_id = $1 and last_polled_at is not null',
        [fromWire('trg', trigger)],
      )
      return found.length > 0 && found
    }, 'the poll of the second process')
    expect(row?.last_error).toBeNull()
  })
})
