import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificate, trust } from '#providers/warehouse/testing/certificate'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

// Credentials that are not a header: a client certificate, and the fields of a known service.

const ours = makeCertificate(['client.example'])
const strange = makeCertificate(['client.example'])
let forget: () => void
let server: Server
let host: string
let vendor: Vendor
let service: Service
let world: World
const seen: boolean[] = []

beforeAll(async () => {
  const own = makeCertificate()
  forget = trust(own.cert)
  server = createServer(
    { ...own, ca: [ours.cert], requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      seen.push((request.socket as TLSSocket).authorized)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ echo: ours.key }))
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `localhost:${(server.address() as AddressInfo).port}`
  vendor = await startVendor()
  service = await startService({ env: { HEDDLE_ALLOW_TARGETS: `${host},${vendor.host}` } })
  world = await makeWorld(service)
})
afterAll(async () => {
  forget()
  await service?.stop()
  await vendor?.stop()
  server?.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const store = (body: object): Promise<Answer> => world.owner.call('POST', '/api/credentials', { body })
async function request(args: object): Promise<Answer['body']> {
  const made = await world.owner.call('POST', '/api/workflows', {
    body: {
      name: 'Calls',
      definition: { nodes: [{ id: 'n', type: 'http.request', args }], edges: [], output: { $ref: 'nodes.n.output' } },
    },
  })
  expect(made.status, made.text).toBe(201)
  const ran = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, {
    body: { input: {} },
  })
  return (await world.owner.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)).body
}

describe('a client certificate', () => {
  const body = (pair: { cert: string; key: string }) => ({
    name: 'Bank',
    kind: 'tls_client',
    hosts: [host],
    secrets: { certificate: pair.cert, private_key: pair.key },
  })

  test('is presented to a server that requires it, and its key is not returned', async () => {
    const { body: made } = await store(body(ours))
    const ended = await request({ url: `https://${host}/`, credential_id: made.credential_id })
    expect(ended.error).toBeNull()
    expect(seen).toEqual([true])
    const line = ours.key.split('\n').find((one) => one.length > 40)!
    expect(JSON.stringify(ended)).not.toContain(line)
  })

  test('that the server does not know, or a missing certificate, is refused by the server', async () => {
    const { body: made } = await store(body(strange))
    for (const args of [{ credential_id: made.credential_id }, {}]) {
      const ended = await request({ url: `https://${host}/`, ...args })
      expect(ended.status).toBe('failed')
    }
    expect(seen).toHaveLength(1)
  })
})

describe('a known service', () => {
  test('requires its fields, and sends them where the service expects them', async () => {
    const lacking = await store({ name: 'Board', service: 'supabase', hosts: [vendor.host], secrets: {} })
    expect(lacking.status).toBe(422)
    const made = await store({
      name: 'Board',
      service: 'supabase',
      hosts: [vendor.host],
      secrets: { api_key: 'sb-key-1234567890' },
    })
    expect(made.status, made.text).toBe(201)
    expect(made.body).toMatchObject({ kind: 'service', service: 'supabase' })
    vendor.answer = (asked, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(asked.headers))
    const ended = await request({ url: `${vendor.url}/rest`, credential_id: made.body.credential_id })
    expect(vendor.seen.at(-1)?.headers).toMatchObject({
      apikey: 'sb-key-1234567890',
      authorization: 'Bearer sb-key-1234567890',
    })
    expect(JSON.stringify(ended)).not.toContain('sb-key-1234567890')
  })

  test('that expects the fields in the address gets them there', async () => {
    const made = await store({
      name: 'Trello',
      service: 'trello',
      hosts: [vendor.host],
      secrets: { key: 'trello-key-123456', token: 'trello-token-123456' },
    })
    expect(made.status, made.text).toBe(201)
    await request({ url: `${vendor.url}/1/boards?fields=name`, credential_id: made.body.credential_id })
    expect(vendor.seen.at(-1)?.path).toBe('/1/boards?fields=name&key=trello-key-123456&token=trello-token-123456')
  })
})
