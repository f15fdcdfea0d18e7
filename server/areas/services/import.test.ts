import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// An OpenAPI document through the HTTP API: imported, found, used in a workflow, and called on a vendor on this
// machine.

let vendor: Server
let site: string
const shared = useSharedService()
let service: SharedService
let world: World
let asked: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
let served: { type: string; body: string } = { type: 'application/json', body: '{}' }
let answers: { status: number; body: unknown }[] = []

beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    if (url === '/openapi') {
      response.writeHead(200, { 'content-type': served.type }).end(served.body)
      return
    }
    const answer = answers.shift() ?? { status: 200, body: {} }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  service = shared()
  service.allow(`127.0.0.1:${port}`)
})
beforeEach(async () => {
  world = await makeWorld(service)
  asked = []
  answers = []
})
afterAll(async () => {
  vendor.close()
})

const order = {
  type: 'object',
  required: ['sku'],
  properties: { sku: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
}
const document = (more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Shop', version: '7', description: 'Orders and stock' },
  servers: [{ url: `${site}/v1` }],
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Shop-Key' } } },
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        summary: 'List orders',
        parameters: [{ name: 'state', in: 'query', schema: { type: 'array', items: { enum: ['open', 'paid'] } } }],
        responses: {},
      },
      post: {
        operationId: 'createOrder',
        summary: 'Create an order',
        requestBody: { required: true, content: { 'application/json': { schema: order } } },
        responses: {},
      },
    },
  },
  ...more,
})
const take = (body: object, who = world.owner): Promise<Answer> => who.call('POST', '/api/services/import', { body })
const preview = (body: object): Promise<Answer> => world.owner.call('POST', '/api/services/import/preview', { body })

const save = (args: object): Promise<Answer> =>
  world.owner.call('POST', '/api/workflows', {
    body: { name: 'W', definition: { nodes: [{ id: 'call', type: 'service.call', args }], edges: [] } },
  })
async function run(args: object): Promise<Answer['body']> {
  const made = await save(args)
  expect(made.status, made.text).toBe(201)
  const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input: {} } })
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')
}
async function credential(): Promise<string> {
  const made = await world.owner.call('POST', '/api/credentials', {
    body: {
      name: 'Shop',
      kind: 'header',
      hosts: [new URL(site).host],
      config: { name: 'X-Shop-Key' },
      secrets: { value: 'a-key-of-the-shop' },
    },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}

describe('an imported document', () => {
  test('can be previewed before it is stored', async () => {
    const shown = await preview({ name: 'shop', document: document() })
    expect(shown.status, shown.text).toBe(200)
    expect(shown.body).toMatchObject({
      service: 'custom.shop',
      title: 'Shop',
      version: '7 (OpenAPI 3.0.3)',
      base_url: `${site}/v1`,
      auth: [{ kind: 'header', config: { name: 'X-Shop-Key' } }],
      credential_required: true,
      skipped: 0,
      changes: null,
    })
    expect(shown.body.actions).toMatchObject([
      { name: 'get_list_orders', title: 'List orders', effect: 'read', method: 'GET', path: '/orders' },
      { name: 'post_create_order', effect: 'write' },
    ])
    expect((await world.owner.call('GET', '/api/services/custom.shop')).status).toBe(404)
  })

  test('is found like any other service, but only in its own workspace', async () => {
    const made = await take({ name: 'shop', title: 'Our shop', document: JSON.stringify(document()) })
    expect(made.status, made.text).toBe(201)
    expect(made.headers.get('location')).toBe('/api/services/custom.shop')
    const found = await world.member.call('GET', '/api/services?q=our%20shop%20create')
    expect(found.body.items).toMatchObject([
      { service: 'custom.shop', title: 'Our shop', source: 'openapi', actions: [{ name: 'post_create_order' }] },
    ])
    const one = await world.member.call('GET', '/api/services/custom.shop?action=post_create_order')
    expect(one.body).toMatchObject({ base_url: `${site}/v1`, version: '7 (OpenAPI 3.0.3)', credential_required: true })
    expect(one.body.actions).toHaveLength(1)
    expect(one.body.actions[0].args_schema.properties.body.required).toEqual(['sku'])
    const all = await world.member.call('GET', '/api/services/custom.shop')
    expect(all.body.actions).toHaveLength(2)
    const listed = await world.member.call('GET', '/api/services?limit=200')
    const names = listed.body.items.map((item: { service: string }) => item.service)
    expect(names).toContain('custom.shop')
    expect(names).toEqual([...names].sort())
    const elsewhere = await makeWorld(service)
    expect((await elsewhere.owner.call('GET', '/api/services/custom.shop')).status).toBe(404)
    expect((await elsewhere.owner.call('GET', '/api/services?q=our%20shop')).body.items).toEqual([])
  })

  test('is called with the credential, through the same executor as built-in services', async () => {
    await take({ name: 'shop', document: document() })
    const credential_id = await credential()
    answers = [{ status: 201, body: { id: 7, echo: 'a-key-of-the-shop' } }]
    const ended = await run({
      service: 'custom.shop',
      action: 'post_create_order',
      credential_id,
      args: { body: { sku: 'A1', count: 2 } },
    })
    expect(ended.status, JSON.stringify(ended.error)).toBe('succeeded')
    expect(asked).toMatchObject([
      {
        method: 'POST',
        url: '/v1/orders',
        body: '{"sku":"A1","count":2}',
        headers: { 'x-shop-key': 'a-key-of-the-shop' },
      },
    ])
    const shown = await world.owner.call('GET', `/api/workflows/executions/${ended.execution_id}/events`)
    expect(shown.text).not.toContain('a-key-of-the-shop')
    answers = [{ status: 422, body: { message: 'no such sku', code: 'sku' } }]
    const refused = await run({
      service: 'custom.shop',
      action: 'get_list_orders',
      credential_id,
      args: { state: ['open', 'paid'] },
    })
    expect(asked[1]!.url).toBe('/v1/orders?state=open&state=paid')
    expect(refused.error).toMatchObject({ code: 'service_refused', message: 'Shop answered 422: no such sku' })
  })

  test('has writes that are not retried and reads that are, determined only by the name of the action', async () => {
    await take({ name: 'shop', document: document() })
    const credential_id = await credential()
    const node = (action: string, args: object) => ({ service: 'custom.shop', action, credential_id, args })
    const retry = { retry: { max_attempts: 2, backoff_s: 0 } }
    const runWith = async (args: object): Promise<Answer['body']> => {
      const made = await world.owner.call('POST', '/api/workflows', {
        body: { name: 'W', definition: { nodes: [{ id: 'call', type: 'service.call', args, ...retry }], edges: [] } },
      })
      const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
      return until(async () => {
        const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
        return body.finished_at !== null && body
      }, 'the end of the run')
    }
    answers = [{ status: 502, body: {} }]
    expect((await runWith(node('post_create_order', { body: { sku: 'A' } }))).status).toBe('failed')
    expect(asked).toHaveLength(1)
    answers = [{ status: 502, body: {} }]
    expect((await runWith(node('get_list_orders', {}))).status).toBe('succeeded')
    expect(asked).toHaveLength(3)
  })

  test('is used to report errors in a call when a workflow is saved', async () => {
    await take({ name: 'shop', document: document() })
    const credential_id = await credential()
    const errorsOf = async (args: object) => {
      const refused = await save(args)
      expect(refused.status, refused.text).toBe(422)
      return refused.body.errors
    }
    const call = { service: 'custom.shop', action: 'post_create_order', credential_id }
    expect(await errorsOf({ ...call, args: { body: { count: 0 } } })).toEqual([
      { path: '/definition/nodes/0/args/args/body/sku', message: 'is required' },
      { path: '/definition/nodes/0/args/args/body/count', message: 'must be at least 1' },
    ])
    expect(await errorsOf({ ...call, action: 'get_fly' })).toEqual([
      { path: '/definition/nodes/0/args/action', message: 'Shop has no action "get_fly"' },
    ])
    expect(await errorsOf({ ...call, service: 'custom.none' })).toEqual([
      { path: '/definition/nodes/0/args/service', message: 'there is no service "custom.none"' },
    ])
    const { credential_id: _none, ...without } = call
    expect(await errorsOf({ ...without, args: { body: { sku: 'A' } } })).toMatchObject([
      { path: '/definition/nodes/0/args/credential_id' },
    ])
    expect((await save({ ...call, args: { body: { $ref: 'input.order' } } })).status).toBe(201)
  })

  test('is imported once by requests with the same key, which get the same response', async () => {
    const once = (body: object): Promise<Answer> =>
      world.owner.call('POST', '/api/services/import', { body, headers: { 'idempotency-key': 'shop-once' } })
    const [first, second] = await Promise.all([1, 2].map(() => once({ name: 'shop', document: document() })))
    const third = await once({ name: 'shop', document: document() })
    expect([first!.status, second!.text, third.text]).toEqual([201, first!.text, first!.text])
    expect(third.headers.get('idempotent-replayed')).toBe('true')
    expect((await once({ name: 'another', document: document() })).body.code).toBe('idempotency_key_reused')
  })

  test('is replaced only on request, and the response lists the changes', async () => {
    await take({ name: 'shop', document: document() })
    expect((await take({ name: 'shop', document: document() })).status).toBe(409)
    const next = document({
      paths: {
        '/orders': { get: { operationId: 'listOrders', summary: 'All orders', responses: {} } },
        '/stock': { get: { operationId: 'readStock', responses: {} } },
      },
    })
    const changes = { added: ['get_read_stock'], removed: ['post_create_order'], changed: ['get_list_orders'] }
    expect((await preview({ name: 'shop', document: next })).body.changes).toEqual(changes)
    expect((await take({ name: 'shop', document: next, replace: true }, world.member)).status).toBe(403)
    const replaced = await take({ name: 'shop', document: next, replace: true })
    expect([replaced.status, replaced.body.changes]).toEqual([201, changes])
    const read = await world.owner.call('GET', '/api/services/custom.shop')
    expect(read.body.actions.map(({ name }: { name: string }) => name)).toEqual(['get_list_orders', 'get_read_stock'])
  })

  test('can be deleted by its creator or an owner, and calls to it then fail', async () => {
    await take({ name: 'shop', document: document({ security: [] }) })
    const made = await save({ service: 'custom.shop', action: 'get_list_orders' })
    const remove = (who: World['owner']) => who.call('DELETE', '/api/services/custom.shop')
    expect((await remove(world.member)).status).toBe(403)
    expect((await remove(world.owner)).status).toBe(204)
    expect((await remove(world.owner)).status).toBe(404)
    expect((await world.owner.call('DELETE', '/api/services/slack')).status).toBe(404)
    const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
    const ended = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
      return body.finished_at !== null && body
    }, 'the end of the run')
    expect(ended.error.code).toBe('unknown_action')
    expect(asked).toEqual([])
  })

  test('can also come from a URL, and its server can be set in the request', async () => {
    const everything = readFileSync(join(import.meta.dirname, '../../../test/services/openapi/everything.yaml'), 'utf8')
    served = { type: 'application/yaml', body: everything }
    const made = await take({ name: 'everything', url: `${site}/openapi`, base_url: `${site}/here/` })
    expect(made.status, made.text).toBe(201)
    expect([made.body.base_url, made.body.actions.length]).toEqual([`${site}/here`, 7])
    const ended = await run({
      service: 'custom.everything',
      action: 'get_thing',
      args: { thing_id: 'x/y', page: 1, deep: { a: { b: 1 } }, session: 'c' },
    })
    expect(ended.status, JSON.stringify(ended.error)).toBe('succeeded')
    expect(asked[1]).toMatchObject({
      url: '/here/things/x%2Fy?deep%5Ba%5D%5Bb%5D=1&page=1',
      headers: { cookie: 'session=c' },
    })
  })
})

describe('refused imports', () => {
  test('include an invalid document, with the reason and without storing anything', async () => {
    const errorsOf = async (body: object) => {
      const refused = await take(body)
      expect([400, 413, 422], refused.text).toContain(refused.status)
      return refused.body.errors ?? refused.body.detail
    }
    const bomb = ['openapi: 3.0.0', 'a0: &a0 [x,x,x,x,x,x,x,x,x]']
    for (let n = 1; n < 12; n += 1)
      bomb.push(`a${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(',')}]`)
    expect(await errorsOf({ name: 'a', document: bomb.join('\n') })).toMatchObject([{ path: '/document' }])
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`/a${n}`, { get: { responses: {} } }]))
    expect(await errorsOf({ name: 'a', document: JSON.stringify(document({ paths: many })) })).toMatchObject([
      { path: '/document', message: expect.stringContaining('at most 3000 operations') },
    ])
    expect(await errorsOf({ name: 'a', document: document({ servers: [{ url: '/v1' }] }) })).toMatchObject([
      { path: '/base_url' },
    ])
    expect(await errorsOf({ name: 'A b', document: document() })).toMatchObject([{ path: '/name' }])
    expect(await errorsOf({ name: 'a', document: document(), url: site })).toMatchObject([{ path: '/document' }])
    expect(await errorsOf({ name: 'a' })).toMatchObject([{ path: '/document' }])
    expect((await world.owner.call('GET', '/api/services?q=custom.')).body.items).toEqual([])
  })

  test('include a private address, and an address inside a document is never requested', async () => {
    for (const url of ['http://127.0.0.1:1/openapi.json', 'http://169.254.169.254/', 'http://[::1]/'])
      expect((await take({ name: 'a', url })).body.code).toBe('probe_failed')
    served = { type: 'application/json', body: 'no' }
    expect((await take({ name: 'a', url: `${site}/elsewhere` })).status).toBe(422)
    asked = []
    const remote = { $ref: `${site}/openapi` }
    const made = await take({
      name: 'remote',
      document: document({
        paths: {
          '/a': remote,
          '/b': { post: { requestBody: { content: { 'application/json': { schema: remote } } } } },
        },
      }),
    })
    expect([made.status, made.body.skipped]).toEqual([201, 1])
    expect(asked).toEqual([])
  })

  test('include imports by a viewer and imports beyond the limits', async () => {
    expect((await take({ name: 'a', document: document() }, world.viewer)).status).toBe(403)
    await service.sql(
      `insert into imported_services (workspace_id, service_id, service, kind, title, description, version, base_url, sha256,
         credential_required, action_count)
       select $1, gen_random_uuid(), 'custom.s' || n, 'openapi', 't', '', '', 'https://x.example', '', false, 0 from generate_series(1, 50) n`,
      [world.workspace.uuid],
    )
    expect((await take({ name: 'a', document: document() })).status).toBe(409)
    const { uuid } = world.workspace
    await service.sql(`delete from imported_services where workspace_id = $1 and service <> 'custom.s1'`, [uuid])
    await service.sql('update imported_services set action_count = 9999 where workspace_id = $1', [uuid])
    expect((await take({ name: 'a', document: document() })).body.detail).toContain('at most 10000 actions')
  })
})
