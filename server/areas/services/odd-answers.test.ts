import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Responses of servers that are valid HTTP but unusual: other charsets, a byte order mark, a missing content type, a
// page in place of data.

let server: Server
let site: string
const shared = useSharedService()
let service: SharedService
let world: World
let reply: { headers?: Record<string, string>; body?: string | Buffer } = {}

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(200, reply.headers ?? {}).end(reply.body ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  service = shared()
  service.allow(`127.0.0.1:${port}`)
})
beforeEach(async () => {
  world = await makeWorld(service)
})
afterAll(() => {
  server.close()
})

async function run(type: string, args: object): Promise<Answer['body']> {
  const definition = { nodes: [{ id: 'n', type, args }], edges: [], output: { $ref: 'nodes.n.output' } }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  expect(made.status, made.text).toBe(201)
  const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input: {} } })
  return until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${started.body.execution_id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')
}
const request = async (args: object = {}) => (await run('http.request', { url: `${site}/x`, ...args })).results.body
const latin = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('http.request', () => {
  test.each([
    ['text/plain; charset=ISO-8859-1', latin('Grüße'), 'Grüße'],
    ['application/json; charset="windows-1252"', Buffer.from([0x5b, 0x22, 0x80, 0x22, 0x5d]), ['€']],
    ['text/plain; charset=unknown-8bit', Buffer.from('Grüße'), 'Grüße'],
    ['text/html', Buffer.from('\ufeffGrüße'), 'Grüße'],
    ['application/json', Buffer.from('\ufeff{"a":1}'), { a: 1 }],
    ['text/json', Buffer.from('{"a":1}'), { a: 1 }],
  ])('reads a body of type %s', async (type, body, value) => {
    reply = { headers: { 'content-type': type }, body }
    expect(await request()).toEqual(value)
  })

  test('masks a secret in another charset', async () => {
    const made = await world.owner.call('POST', '/api/credentials', {
      body: {
        name: 'Old',
        kind: 'basic',
        hosts: [new URL(site).host],
        config: { username: 'ann' },
        secrets: { password: 'schlüsselwort' },
      },
    })
    expect(made.status, made.text).toBe(201)
    reply = { headers: { 'content-type': 'text/plain; charset=latin1' }, body: latin('it is schlüsselwort') }
    expect(await request({ credential_id: made.body.credential_id })).toBe('it is •••')
  })

  test('names a file as the server does', async () => {
    const disposition = 'attachment; filename="resume.pdf"; filename*=UTF-8\'\'r%C3%A9sum%C3%A9.pdf'
    reply = { headers: { 'content-type': 'application/pdf', 'content-disposition': disposition }, body: '%PDF' }
    expect((await request({ response: 'file' })).$file.name).toBe('résumé.pdf')
  })

  test('reads an empty body that is said to be compressed', async () => {
    reply = { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': '0' } }
    expect(await request()).toBeNull()
  })
})

describe('an action of a service', () => {
  async function issues(): Promise<Answer['body']> {
    const made = await world.owner.call('POST', '/api/credentials', {
      body: { name: 'GitLab', service: 'gitlab', hosts: [new URL(site).host], secrets: { value: 'a-secret-token' } },
    })
    const { credential_id } = made.body
    return run('service.call', {
      service: 'gitlab',
      action: 'list_issues',
      credential_id,
      args: { site, project: '1' },
    })
  }
  const feed = () => run('service.call', { service: 'rss', action: 'list_items', args: { url: `${site}/feed` } })
  const unreadable = { status: 'failed', error: { code: 'response_unreadable' } }

  test('reads JSON without a content type, and refuses a page in place of a list', async () => {
    reply = { body: '[{"id": 1}]' }
    expect(await issues()).toMatchObject({ status: 'succeeded', results: { items: [{ id: 1 }] } })
    for (const [type, body] of [
      ['text/html', '<html>Please sign in</html>'],
      ['application/pdf', '%PDF'],
    ]) {
      reply = { headers: { 'content-type': type! }, body: body! }
      expect(await issues()).toMatchObject(unreadable)
    }
  })

  test.each([
    ['declares its encoding', 'application/rss+xml', '<?xml version="1.0" encoding="ISO-8859-1"?>'],
    ['has a charset', 'text/xml; charset=iso-8859-1', '<?xml version="1.0" encoding="utf-8"?>'],
  ])('reads a feed that %s', async (_how, type, head) => {
    const body = latin(`${head}<rss><channel><item><title>Grüße</title></item></channel></rss>`)
    reply = { headers: { 'content-type': type }, body }
    expect(await feed()).toMatchObject({ status: 'succeeded', results: [{ title: 'Grüße' }] })
  })

  test('accepts an empty feed, and refuses a page in place of a feed', async () => {
    reply = { headers: { 'content-type': 'text/xml' }, body: '<rss><channel><title>News</title></channel></rss>' }
    expect(await feed()).toMatchObject({ status: 'succeeded', results: [] })
    reply = { headers: { 'content-type': 'text/html' }, body: '<html><body>Back soon</body></html>' }
    expect(await feed()).toMatchObject(unreadable)
  })
})
