import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { serviceCatalogue } from '#providers/services/catalogue'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { inputsOf, makeTriggered, readTrigger } from '#test/harness/triggers'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { freshOf, seenAfter } from './keys.ts'

let vendor: Server
let site: string
const shared = useSharedService()
let service: SharedService
let world: World
let items: string[] = []
let status = 200
let isPage = false
let tokens: string[] = []

const feed = () => (isPage ? '<html><body>Back soon</body></html>' : itemsAsRss())
const itemsAsRss = () =>
  `<rss><channel>${items.map((guid) => `<item><guid>${guid}</guid><title>About ${guid}</title></item>`).join('')}</channel></rss>`

beforeAll(async () => {
  vendor = createServer((request, response) => {
    if (request.url === '/feed') {
      response.writeHead(status, { 'content-type': 'application/rss+xml' }).end(status === 200 ? feed() : 'down\0')
      return
    }
    tokens.push(String(request.headers['private-token']))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(items.map((id) => ({ id, title: id }))))
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  service = shared()
  service.allow(`127.0.0.1:${port}`)
})
beforeEach(async () => {
  world = await makeWorld(service)
  items = []
  tokens = []
  status = 200
  isPage = false
})
afterAll(async () => {
  vendor.close()
})

const workflow = (): Promise<string> => makeTriggered(world.owner)
const add = (workflowId: string, body: object): Promise<Answer> =>
  world.owner.call('POST', `/api/workflows/${workflowId}/triggers`, { body })
const rss = () => ({ service: 'rss', trigger: 'new_item', args: { url: `${site}/feed` } })

const one = (workflowId: string, triggerId: string) => readTrigger(world.owner, workflowId, triggerId)

/** Makes the trigger due, and waits for the end of the poll. */
async function look(workflowId: string, triggerId: string): Promise<Answer['body']> {
  const before = await one(workflowId, triggerId)
  await service.sql(
    `update service_triggers set next_poll_at = '2000-01-01', last_error = 'waiting' where trigger_id = $1`,
    [fromWire('trg', triggerId)],
  )
  return until(async () => {
    const now = await one(workflowId, triggerId)
    return now.last_error !== 'waiting' && now.next_poll_at !== before.next_poll_at && now
  }, 'a poll of the service')
}
/** Waits for the first poll without the delay of a new trigger. */
async function firstLook(workflowId: string, triggerId: string): Promise<void> {
  await service.sql(`update service_triggers set next_poll_at = '2000-01-01' where trigger_id = $1`, [
    fromWire('trg', triggerId),
  ])
  await until(async () => (await one(workflowId, triggerId)).last_polled_at !== null, 'the first poll')
}
const inputs = async (workflowId: string): Promise<string[]> =>
  (await inputsOf(world.owner, workflowId)).map(({ item }) => item.guid ?? item.id).sort()

describe('a trigger that polls', () => {
  test('starts nothing for existing items, and one execution for each new item', async () => {
    items = ['one']
    const workflowId = await workflow()
    const made = await add(workflowId, rss())
    expect(made.status, made.text).toBe(201)
    const { trigger_id } = made.body
    await firstLook(workflowId, trigger_id)
    expect(await inputs(workflowId)).toEqual([])
    items = ['three', 'two', 'one']
    expect((await look(workflowId, trigger_id)).last_error).toBeNull()
    expect(await inputs(workflowId)).toEqual(['three', 'two'])
    await look(workflowId, trigger_id)
    items = ['four', 'three']
    await look(workflowId, trigger_id)
    items = ['one', 'two']
    await look(workflowId, trigger_id)
    expect(await inputs(workflowId)).toEqual(['four', 'three', 'two'])
  })

  test('loses nothing while the service is unavailable, and shows the reason', async () => {
    const workflowId = await workflow()
    const { trigger_id } = (await add(workflowId, rss())).body
    await firstLook(workflowId, trigger_id)
    items = ['one']
    status = 500
    expect((await look(workflowId, trigger_id)).last_error).toBe('RSS answered 500: down')
    status = 200
    expect((await look(workflowId, trigger_id)).last_error).toBeNull()
    expect(await inputs(workflowId)).toEqual(['one'])
  })

  test('does not take a page in place of the feed for an empty feed', async () => {
    items = ['one', 'two']
    isPage = true
    const workflowId = await workflow()
    const { trigger_id } = (await add(workflowId, rss())).body
    expect((await look(workflowId, trigger_id)).last_error).toMatch(/not data/)
    isPage = false
    expect((await look(workflowId, trigger_id)).last_error).toBeNull()
    expect(await inputs(workflowId)).toEqual([])
    items = ['three', 'one', 'two']
    await look(workflowId, trigger_id)
    expect(await inputs(workflowId)).toEqual(['three'])
  })

  test('starts the other items if one does not fit the workflow, and that one as soon as it fits', async () => {
    const accepting = (guid: object) => ({
      inputs: { properties: { item: { properties: { guid } } } },
      nodes: [{ id: 'a', type: 'set', args: { values: { item: { $ref: 'input.item' } } } }],
      edges: [],
    })
    const workflowId = await workflow()
    const version = async (definition: object): Promise<void> => {
      const saved = await world.owner.call('POST', `/api/workflows/${workflowId}/versions`, {
        body: { definition, activate: true },
      })
      expect(saved.status, saved.text).toBe(201)
    }
    await version(accepting({ type: 'string', maxLength: 4 }))
    const { trigger_id } = (await add(workflowId, rss())).body
    await firstLook(workflowId, trigger_id)
    items = ['two', 'too long', 'one']
    expect((await look(workflowId, trigger_id)).last_error).toMatch(/does not fit the workflow: \/item\/guid/)
    expect(await inputs(workflowId)).toEqual(['one', 'two'])
    await version(accepting({ type: 'string' }))
    expect((await look(workflowId, trigger_id)).last_error).toBeNull()
    expect(await inputs(workflowId)).toEqual(['one', 'too long', 'two'])
  })

  test('starts executions by the rules of the workflow', async () => {
    const workflowId = await workflow()
    const { trigger_id } = (await add(workflowId, rss())).body
    await firstLook(workflowId, trigger_id)
    expect((await world.owner.call('POST', `/api/workflows/${workflowId}/pause`)).status).toBe(200)
    items = ['one']
    await look(workflowId, trigger_id)
    const runs = async () => (await world.owner.call('GET', `/api/workflows/${workflowId}/executions`)).body.items
    expect(await runs()).toMatchObject([{ status: 'waiting', waiting_for: [{ kind: 'slot', reason: 'paused' }] }])
    expect((await world.owner.call('POST', `/api/workflows/${workflowId}/resume`)).status).toBe(200)
    await until(async () => (await runs())[0].status === 'succeeded', 'the execution')
  })

  test('starts nothing if another process has taken over the poll', async () => {
    const workflowId = await workflow()
    const { trigger_id } = (await add(workflowId, rss())).body
    await firstLook(workflowId, trigger_id)
    items = ['one']
    await look(workflowId, trigger_id)
    // Simulates a poll by another process: a higher epoch, with the item stored.
    await service.sql('update service_triggers set epoch = epoch + 5 where trigger_id = $1', [
      fromWire('trg', trigger_id),
    ])
    await look(workflowId, trigger_id)
    expect(await inputs(workflowId)).toEqual(['one'])
  })

  test('is not polled when disabled, and starts again when enabled', async () => {
    const workflowId = await workflow()
    const { trigger_id } = (await add(workflowId, rss())).body
    await firstLook(workflowId, trigger_id)
    const path = `/api/workflows/${workflowId}/triggers/${trigger_id}`
    const off = await world.owner.call('PATCH', path, { body: { enabled: false } })
    expect([off.status, off.body.enabled], off.text).toEqual([200, false])
    items = ['one']
    // Another trigger is polled while this one would be due.
    const other = await workflow()
    await firstLook(other, (await add(other, rss())).body.trigger_id)
    expect(await inputs(workflowId)).toEqual([])
    expect((await world.owner.call('PATCH', path, { body: {} })).status).toBe(422)
    await service.sql('update service_triggers set last_polled_at = null where trigger_id = $1', [
      fromWire('trg', trigger_id),
    ])
    expect((await world.owner.call('PATCH', path, { body: { enabled: true } })).body.enabled).toBe(true)
    await firstLook(workflowId, trigger_id)
    items = ['two', 'one']
    await look(workflowId, trigger_id)
    expect(await inputs(workflowId)).toEqual(['two'])
  })

  test('uses the credential of the person who activated the version', async () => {
    const credential = await world.owner.call('POST', '/api/credentials', {
      body: { name: 'G', service: 'gitlab', hosts: [new URL(site).host], secrets: { value: 'glpat-a-secret' } },
    })
    const { credential_id } = credential.body
    const workflowId = await workflow()
    const args = { site, project: '1' }
    const made = await add(workflowId, { service: 'gitlab', trigger: 'new_issue', args, credential_id })
    expect(made.status, made.text).toBe(201)
    await firstLook(workflowId, made.body.trigger_id)
    items = ['i1']
    await look(workflowId, made.body.trigger_id)
    expect(await inputs(workflowId)).toEqual(['i1'])
    expect(new Set(tokens)).toEqual(new Set(['glpat-a-secret']))
    await world.owner.call('DELETE', `/api/credentials/${credential_id}`)
    expect((await look(workflowId, made.body.trigger_id)).last_error).toContain('was revoked')
  })

  test('is refused if it cannot work, and is removed when it is deleted', async () => {
    const workflowId = await workflow()
    const errorsOf = async (body: object) => (await add(workflowId, body)).body.errors
    expect(await errorsOf({ service: 'rss', trigger: 'fly' })).toEqual([
      { path: '/trigger', message: 'RSS has no such trigger' },
    ])
    expect(await errorsOf({ service: 'rss', trigger: 'new_item', args: {} })).toEqual([
      { path: '/args/url', message: 'is required' },
    ])
    expect(await errorsOf({ service: 'gitlab', trigger: 'new_issue', args: { project: '1' } })).toMatchObject([
      { path: '/credential_id' },
    ])
    const { trigger_id } = (await add(workflowId, rss())).body
    await firstLook(workflowId, trigger_id)
    const path = `/api/workflows/${workflowId}/triggers`
    expect((await world.owner.call('GET', path)).body.items).toHaveLength(1)
    expect((await world.owner.call('DELETE', `${path}/${trigger_id}`)).status).toBe(204)
    expect((await world.owner.call('GET', path)).body.items).toEqual([])
    for (let n = 0; n < 20; n += 1) expect((await add(workflowId, rss())).status).toBe(201)
    expect((await add(workflowId, rss())).status).toBe(409)
  })
})

describe('a new item', () => {
  const trigger = serviceCatalogue().get('github')!.triggers.get('changed_issue')!
  const issue = (id: number, updated_at: string) => ({ id, updated_at })

  test('is identified by all parts of the key, once, oldest first', () => {
    const seen = seenAfter(trigger, [issue(1, 'a')], [], new Set())
    expect(freshOf(trigger, [issue(2, 'a'), issue(1, 'b'), issue(1, 'a'), issue(2, 'a')], seen)).toEqual([
      { key: '1 "b"', item: issue(1, 'b') },
      { key: '2 "a"', item: issue(2, 'a') },
    ])
  })

  test('is not confused with an item whose long key has the same start', () => {
    const [one, two, three] = ['1', '2', '3'].map((end) => issue(1, 'a'.repeat(300) + end))
    const seen = seenAfter(trigger, [one!], [], new Set())
    expect(seen[0]!.length).toBeLessThan(200)
    expect(freshOf(trigger, [two!, one!], seen).map(({ item }) => item)).toEqual([two])
    // A key that an earlier release stored without its end is still known, and is replaced when its item is listed.
    const cut = `1 "${'a'.repeat(300)}`.slice(0, 200)
    expect(freshOf(trigger, [one!], [cut])).toEqual([])
    expect(seenAfter(trigger, [], [cut], new Set())).toEqual([cut])
    expect(freshOf(trigger, [three!, one!], seenAfter(trigger, [one!], [cut], new Set()))).toMatchObject([
      { item: three },
    ])
  })

  test('that was not started is not stored as seen', () => {
    expect(seenAfter(trigger, [issue(2, 'a'), issue(1, 'a')], ['0 "a"'], new Set(['2 "a"']))).toEqual([
      '1 "a"',
      '0 "a"',
    ])
  })

  test('is listed by an action of its service that accepts the trigger’s arguments', () => {
    for (const service of serviceCatalogue().values())
      for (const one of service.triggers.values()) {
        const place = `${service.service}.${one.name}`
        const action = service.actions.get(one.action)
        expect(action, place).toBeDefined()
        const known = Object.keys(action!.args_schema.properties as object)
        for (const name of [...Object.keys(one.fixed ?? {}), ...Object.keys(one.args_schema.properties as object)])
          expect(known, place).toContain(name)
        const given = new Set([...Object.keys(one.fixed ?? {}), ...Object.keys(one.args_schema.properties as object)])
        for (const name of action!.args_schema.required as string[]) expect([...given], place).toContain(name)
      }
  })
})
