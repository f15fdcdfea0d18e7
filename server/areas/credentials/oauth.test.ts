import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type AuthorizationServer,
  oauthClient,
  POST_CLIENT,
  startAuthorizationServer,
} from '#test/fakes/authorization-server'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { type Browser, makeBrowser, signUp } from '#test/harness/browser'
import { getJob } from '#test/harness/jobs'
import { makeTestDatabase } from '#test/harness/postgres'
import { type Answer, type Service, startService } from '#test/harness/service'
import type { TestPerson } from '#test/harness/world'

let server: AuthorizationServer
let vendor: Vendor
let database: Awaited<ReturnType<typeof makeTestDatabase>>
let service: Service
let second: Service
let browser: Browser
let stale = false

async function freePort(): Promise<number> {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  return port
}

beforeAll(async () => {
  const base = `http://127.0.0.1:${await freePort()}`
  server = await startAuthorizationServer(`${base}/oauth/callback`)
  vendor = await startVendor()
  database = await makeTestDatabase()
  const env = { HEDDLE_BASE_URL: base, HEDDLE_ALLOW_TARGETS: `${server.host},${vendor.host}` }
  service = await startService({ env, database })
  // A second process on the same database.
  second = await startService({ env, database, role: 'api' })
  browser = (await signUp(service.base)).browser
})
beforeEach(() => {
  server.grants.length = 0
  server.lifetime = 3_600
  server.beforeToken = async () => true
  vendor.seen.length = 0
  stale = false
  vendor.answer = async ({ headers }, response) => {
    const token = (headers.authorization ?? '').replace('Bearer ', '')
    const good = !stale && (await server.isValid(token))
    response.writeHead(good ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify({ token }))
  }
})
afterAll(async () => {
  await second?.stop()
  await service?.stop()
  await database?.drop()
  await vendor?.stop()
  await server?.stop()
})

const body = (kind: 'oauth2_code' | 'oauth2_client', more: object = {}) => ({
  name: 'Orders',
  kind,
  hosts: [vendor.host],
  config: {
    ...(kind === 'oauth2_code' && {
      authorize_url: `${server.issuer}/auth`,
      scopes: ['openid', 'orders', 'offline_access'],
    }),
    token_url: `${server.issuer}/token`,
    client_id: oauthClient.client_id,
    ...more,
  },
  secrets: { client_secret: oauthClient.client_secret },
})

/** Follows the redirects like a browser, up to the callback. */
async function visit(start: string): Promise<URL> {
  const jar = makeBrowser(server.issuer)
  let url = new URL(start)
  for (let hop = 0; hop < 10; hop++) {
    const answer = await jar.call('GET', url.pathname + url.search)
    const next = new URL(answer.headers.get('location')!, server.issuer)
    if (next.origin !== server.issuer) return next
    url = next
  }
  throw new Error('the server never sent the browser back')
}
async function stored(kind: 'oauth2_code' | 'oauth2_client', more: object = {}): Promise<string> {
  const made = await browser.call('POST', '/api/credentials', { body: body(kind, more) })
  expect(made.status, made.text).toBe(201)
  return made.body.credential_id
}
async function begin(id: string, as = browser): Promise<string> {
  const begun = await as.call('POST', `/api/credentials/${id}/authorize`, { body: {} })
  expect(begun.status, begun.text).toBe(200)
  return begun.body.url
}
const comeBack = (callback: URL, as = browser): Promise<Answer> => as.call('GET', callback.pathname + callback.search)
async function connected(): Promise<string> {
  const id = await stored('oauth2_code')
  const back = await comeBack(await visit(await begin(id)))
  expect([back.status, back.headers.get('location')]).toEqual([302, `/credentials/${id}?connected=1`])
  return id
}
const call = (id: string, of = service): Promise<Answer> =>
  ofService(of).call('POST', `/api/credentials/${id}/test`, { body: { url: `${vendor.url}/orders` } })
const ofService = (of: Service): Browser => {
  const other = makeBrowser(of.base)
  for (const [name, value] of browser.cookies) other.cookies.set(name, value)
  return other
}
const stateOf = async (id: string): Promise<string> => (await browser.call('GET', `/api/credentials/${id}`)).body.state
const expire = (): Promise<unknown> =>
  service.sql(`update credentials set token_expires_at = now() - interval '1 second', renewed_at = null`)

describe('the consent of a person', () => {
  test('starts with PKCE and a state, and ends with a credential that works', async () => {
    const id = await stored('oauth2_code')
    expect(await stateOf(id)).toBe('needs_authorization')
    expect((await call(id)).body).toMatchObject({ ok: false, message: expect.stringContaining('not connected yet') })
    const url = new URL(await begin(id))
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'heddle',
      scope: 'openid orders offline_access',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
    })
    await comeBack(await visit(url.href))
    expect(await stateOf(id)).toBe('ready')
    expect((await call(id)).body.ok).toBe(true)
  })

  test('is accepted once, and only for the session that started it', async () => {
    const id = await stored('oauth2_code')
    const callback = await visit(await begin(id))
    const stranger = (await signUp(service.base)).browser
    expect((await comeBack(callback, stranger)).status).toBe(409)
    expect((await comeBack(callback, makeBrowser(service.base))).status).toBe(401)
    expect((await comeBack(callback)).status).toBe(302)
    expect((await comeBack(callback)).status).toBe(409)
    const forged = new URL(callback)
    forged.searchParams.set('state', 'x'.repeat(43))
    expect((await comeBack(forged)).status).toBe(409)
  })

  test('starts in a browser, only for this kind, and may be refused', async () => {
    const key = await browser.call('POST', '/auth/api-keys', { body: { name: 'K' } })
    const id = await stored('oauth2_code')
    const byKey = await service.call('POST', `/api/credentials/${id}/authorize`, { token: key.body.key, body: {} })
    expect(byKey.status).toBe(409)
    const other = await stored('oauth2_client')
    expect((await browser.call('POST', `/api/credentials/${other}/authorize`, { body: {} })).status).toBe(409)
    const state = new URL(await begin(id)).searchParams.get('state')
    const denied = await browser.call('GET', `/oauth/callback?state=${state}&error=access_denied`, {
      headers: { accept: 'text/html' },
    })
    expect(decodeURIComponent(denied.headers.get('location')!)).toContain('access_denied')
    expect(await stateOf(id)).toBe('needs_authorization')
  })
})

describe('a token', () => {
  test.each([
    ['basic', oauthClient.client_id],
    ['body', POST_CLIENT],
  ])('for programs is requested when it is first needed (%s)', async (client_auth, client_id) => {
    const id = await stored('oauth2_client', { client_auth, client_id })
    expect((await call(id)).body.ok).toBe(true)
    expect((await call(id)).body.ok).toBe(true)
    expect(server.grants).toEqual(['client_credentials'])
  })

  test('is renewed before it expires', async () => {
    const id = await connected()
    await service.sql(`update credentials set token_expires_at = now() + interval '30 seconds'`)
    expect((await call(id)).body.ok).toBe(true)
    expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
  })

  test('is assumed to be valid for an hour if the service does not say', async () => {
    const id = await connected()
    const [row] = await service.sql<{ s: number }>(
      `select extract(epoch from token_expires_at - now())::int as s from credentials order by credential_id desc limit 1`,
    )
    expect(row!.s).toBeGreaterThan(3_500)
    expect((await call(id)).body.ok).toBe(true)
    expect(server.grants).toEqual(['authorization_code'])
  })

  test('that has expired is renewed once for fifty calls of two processes', async () => {
    const id = await connected()
    await expire()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => call(id, n % 2 === 0 ? service : second)))
    expect(answers.map(({ body: { ok } }) => ok)).toEqual(Array(50).fill(true))
    expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
    expect(vendor.seen).toHaveLength(50)
  })

  test('that is refused before it expires is renewed, and the call is repeated once', async () => {
    const id = await connected()
    const answers: number[] = []
    const usual = vendor.answer
    vendor.answer = (request, response) => {
      answers.push(answers.length)
      if (answers.length === 1) response.writeHead(401).end()
      else usual(request, response)
    }
    expect((await call(id)).body.ok).toBe(true)
    expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
    expect(vendor.seen).toHaveLength(2)
    expect(vendor.seen[0]!.headers.authorization).not.toBe(vendor.seen[1]!.headers.authorization)
  })

  test('that is refused every time is not renewed with every call', async () => {
    const id = await connected()
    stale = true
    for (let n = 0; n < 5; n += 1) expect((await call(id)).body.ok).toBe(false)
    expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
  })

  test('is kept when its endpoint is unavailable: a token that has not expired is still used', async () => {
    const id = await connected()
    await service.sql(`update credentials set token_expires_at = now() + interval '30 seconds'`)
    server.beforeToken = async (_request, response) => {
      response.writeHead(503).end()
      return false
    }
    expect((await call(id)).body.ok).toBe(true)
    await expire()
    expect((await call(id)).body).toMatchObject({ ok: false, message: expect.stringContaining('503') })
    expect(await stateOf(id)).toBe('ready')
    server.beforeToken = async () => true
    expect((await call(id)).body.ok).toBe(true)
  })

  test('with a short lifetime is renewed after half of it, not with every call', async () => {
    server.lifetime = 50
    const id = await connected()
    for (let n = 0; n < 3; n += 1) expect((await call(id)).body.ok).toBe(true)
    expect(server.grants).toEqual(['authorization_code'])
    await service.sql(`update credentials set token_expires_at = now() + interval '24 seconds'`)
    for (let n = 0; n < 3; n += 1) expect((await call(id)).body.ok).toBe(true)
    expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
  })

  test.each([
    [200, { error: 'bad_refresh_token', error_description: 'The refresh token is incorrect or expired.' }],
    [200, { ok: false, error: 'invalid_refresh_token' }],
    [400, { status: 'BAD_REFRESH_TOKEN', message: 'missing or unknown refresh token' }],
  ])('whose renewal is refused with %s %j needs a person', async (status, answer) => {
    const id = await connected()
    await expire()
    server.beforeToken = async (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      return false
    }
    expect((await call(id)).body.ok).toBe(false)
    expect(await stateOf(id)).toBe('needs_reconnect')
  })

  test('is requested without sending a secret to another host after a redirect', async () => {
    const id = await stored('oauth2_client')
    server.beforeToken = async (_request, response) => {
      response.writeHead(307, { location: `${vendor.url}/steal` }).end()
      return false
    }
    expect((await call(id)).body.ok).toBe(false)
    const stolen = vendor.seen.find(({ path }) => path === '/steal')!
    expect([stolen.body, stolen.headers.authorization]).toEqual(['', undefined])
  })

  test('that can no longer be renewed needs a person: the owner is notified once, jobs pause, and no call retries', async () => {
    const id = await connected()
    const definition = {
      nodes: [{ id: 'n', type: 'http.request', args: { url: `${vendor.url}/`, credential_id: id } }],
      edges: [],
    }
    const { body: workflow } = await browser.call('POST', '/api/workflows', { body: { name: 'W', definition } })
    const dataset = await browser.call('POST', '/api/datasets', { body: { name: 'D', records: [{ n: 1 }] } })
    const job = await browser.call('POST', '/api/enrichment-jobs', {
      body: { name: 'J', workflow_id: workflow.workflow_id, dataset_id: dataset.body.dataset_id },
    })
    server.forgetEverything()
    await expire()
    let asked = 0
    server.beforeToken = async (_request, response) => {
      asked += 1
      const refusal = { error: 'invalid_grant', error_description: 'gone\0' }
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal))
      return false
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => call(id)))
    for (const { body: outcome } of answers)
      expect(outcome).toMatchObject({ ok: false, message: expect.stringContaining('invalid_grant') })
    await call(id)
    expect(asked).toBe(1)
    expect(await stateOf(id)).toBe('needs_reconnect')
    const told = await browser.call('GET', '/api/notifications')
    const isAboutIt = (one: Answer['body']): boolean =>
      one.kind === 'credential.needs_reconnect' && one.data.credential_id === id
    expect(told.body.items.filter(isAboutIt)).toHaveLength(1)
    const asPerson = browser as unknown as TestPerson
    expect(await getJob(asPerson, job.body.job_id)).toMatchObject({ paused_reason: 'credential_unusable' })
    const run = await browser.call('POST', `/api/workflows/${workflow.workflow_id}/run?wait_s=60`, {
      body: { input: {} },
    })
    const ended = await browser.call('GET', `/api/workflows/executions/${run.body.execution_id}`)
    expect(ended.body.nodes[0].error.code).toBe('credential_needs_reconnect')
    server.beforeToken = async () => true
    await comeBack(await visit(await begin(id)))
    expect([await stateOf(id), (await getJob(asPerson, job.body.job_id)).status]).toEqual(['ready', 'idle'])
  })

  test('is deleted when the client secret or an address changes, and appears nowhere in plain text', async () => {
    const id = await connected()
    await call(id)
    const token = vendor.seen[0]!.headers.authorization!.replace('Bearer ', '')
    const moved = await browser.call('PATCH', `/api/credentials/${id}`, {
      body: { config: { ...body('oauth2_code').config, token_url: `${vendor.url}/token` } },
    })
    expect([moved.status, moved.body.errors[0].path]).toEqual([422, '/secrets'])
    await browser.call('PUT', `/api/credentials/${id}/secret`, {
      body: { secrets: { client_secret: oauthClient.client_secret } },
    })
    expect(await stateOf(id)).toBe('needs_authorization')
    const rows = await service.sql<{ t: string }>('select c::text as t from credentials c')
    expect(rows.some(({ t }) => t.includes(token))).toBe(false)
  })
})
