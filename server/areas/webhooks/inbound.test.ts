import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import type { CallOptions } from '#test/harness/call'
import { startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let workflow: string
beforeAll(async () => {
  world = await makeWorld(service())
  workflow = await makeWorkflow()
})

const echo = {
  nodes: [{ id: 'a', type: 'set', args: { values: { got: { $ref: 'input' } } } }],
  edges: [],
  output: { $ref: 'nodes.a.output.got' },
}
const makeWorkflow = async (definition: unknown = echo): Promise<string> =>
  (await world.owner.call('POST', '/api/workflows', { body: { name: 'Hook', definition } })).body.workflow_id

async function makeToken(body: object, of = workflow) {
  const made = await world.owner.call('POST', `/api/workflows/${of}/tokens`, { body })
  expect(made.status, made.text).toBe(201)
  const { token_id, token, secret, url } = made.body
  const path = new URL(url).pathname
  const address = `/api/workflows/${of}/tokens/${token_id}`
  const post = (options: CallOptions = {}) => service().call('POST', path, options)
  return { made: made.body, token_id, token, secret, path, address, post }
}

const resultOf = (execution: string) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return body.status === 'succeeded' ? body.results : undefined
  }, 'the end')

const github = (secret: string, raw: string) => ({
  raw,
  headers: {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`,
  },
})

describe('a webhook token', () => {
  test('is a bearer token by default, with its address', async () => {
    const { made, address } = await makeToken({ name: 'Plain' })
    expect(made).toMatchObject({ auth: { kind: 'bearer' }, secret_set: false, methods: ['POST'] })
    expect(made.url).toMatch(new RegExp(`/api/webhooks/workflow/${workflow}/trigger$`))
    expect((await world.owner.call('GET', address)).body.url).toBe(made.url)
    expect((await service().call('POST', `/api/webhooks/in/${made.token}`, { body: {} })).status).toBe(401)
  })

  test('of kind url has its secret only in the address', async () => {
    const { post, token, path, address } = await makeToken({ auth: 'url' })
    expect(path).toBe(`/api/webhooks/in/${token}`)
    const called = await post({ body: { order: 7 } })
    expect(called.status, called.text).toBe(202)
    expect(await resultOf(called.body.execution_id)).toEqual({ order: 7 })
    expect((await world.owner.call('GET', address)).body).toMatchObject({ auth: { kind: 'url' }, url: null })
    const asBearer = `/api/webhooks/workflow/${workflow}/trigger`
    expect((await service().call('POST', asBearer, { token, body: {} })).status).toBe(401)
    expect((await service().call('POST', `${path}x`, { body: {} })).status).toBe(401)
  })

  test('of kind url accepts parameters that a sender adds', async () => {
    const { path } = await makeToken({ auth: { kind: 'url' } })
    expect((await service().call('POST', `${path}?utm=1&utm=2&wait_s=no&cursor=no`, { body: {} })).status).toBe(202)
  })

  test('of kind basic has a name and a password, which is shown once', async () => {
    const { post, secret, address, made } = await makeToken({ auth: { kind: 'basic', username: 'shop' } })
    const as = (text: string) => ({
      body: {},
      headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
    })
    expect(made.secret_set).toBe(true)
    expect((await post(as(`shop:${secret}`))).status).toBe(202)
    for (const options of [as('shop:wrong'), as(`other:${secret}`), {}]) {
      const refused = await post(options)
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="webhook", charset="UTF-8"',
      ])
    }
    const read = await world.owner.call('GET', address)
    expect(read.body).toMatchObject({ auth: { kind: 'basic', username: 'shop' }, secret_set: true })
    expect(read.text).not.toContain(secret)
    await world.owner.call('PATCH', address, { body: { secret: 'another password' } })
    expect((await post(as(`shop:${secret}`))).status).toBe(401)
    expect((await post(as('shop:another password'))).status).toBe(202)
  })

  test('of kind hmac verifies the raw body, and starts nothing if the signature is wrong', async () => {
    const of = await makeWorkflow()
    const { post, secret, path } = await makeToken({ auth: { kind: 'hmac', preset: 'github' } }, of)
    expect(path).toMatch(/\/whk_[0-9a-z]{26}$/)
    const right = await post(github(secret, '{ "a":  1 }'))
    expect(right.status, right.text).toBe(202)
    expect(await resultOf(right.body.execution_id)).toEqual({ a: 1 })
    const refused = [
      await post({ body: { a: 1 } }),
      await post(github('other secret', '{}')),
      await post({ ...github(secret, '{"a":1}'), raw: '{"a":2}' }),
      await post({ ...github(secret, '{"a":1}'), raw: '{"a": 1}' }),
    ]
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 4 }, () => [401, 'bad_signature']),
    )
    const { items } = (await world.owner.call('GET', `/api/workflows/${of}/executions`)).body
    expect(items).toHaveLength(1)
  })

  test('of kind hmac can be created without a secret, for senders that create the secret themselves', async () => {
    const { post, made, address } = await makeToken({ auth: { kind: 'hmac', preset: 'stripe' } })
    expect(made).not.toHaveProperty('secret')
    expect(made.secret_set).toBe(false)
    const signed = (secret: string) => {
      const t = Math.floor(Date.now() / 1000)
      const v1 = createHmac('sha256', secret).update(`${t}.{}`).digest('hex')
      return { raw: '{}', headers: { 'content-type': 'application/json', 'stripe-signature': `t=${t},v1=${v1}` } }
    }
    const early = await post(signed('whsec_fromstripe'))
    expect([early.status, early.body.detail]).toEqual([401, expect.stringContaining('store the secret')])
    const stored = await world.owner.call('PATCH', address, { body: { secret: 'whsec_fromstripe' } })
    expect(stored.body.secret_set).toBe(true)
    expect((await post(signed('whsec_fromstripe'))).status).toBe(202)
  })

  test('stores its secret encrypted', async () => {
    const secret = 'a very secret key 123'
    const { token_id } = await makeToken({ auth: { kind: 'hmac', preset: 'github' }, secret })
    const rows = await service().sql<{ text: string; secret: Buffer }>(
      `select t::text as text, secret from webhook_tokens t where secret is not null order by created_at desc`,
    )
    expect(rows[0]!.secret.includes(Buffer.from(secret))).toBe(false)
    expect(rows[0]!.text).not.toContain(secret)
    const log = await service().sql<{ text: string }>('select a::text as text from audit_log a')
    expect(log.filter(({ text }) => text.includes(token_id)).length).toBeGreaterThan(0)
    expect(log.filter(({ text }) => text.includes(secret))).toEqual([])
  })

  test('accepts only its configured methods', async () => {
    const { path, address } = await makeToken({ auth: 'url', methods: ['PUT', 'GET'] })
    const by = async (method: string) => (await service().call(method, path)).status
    expect([await by('GET'), await by('PUT'), await by('POST'), await by('DELETE')]).toEqual([202, 202, 405, 405])
    expect((await world.owner.call('PATCH', address, { body: { methods: ['PATCH', 'DELETE'] } })).body.methods).toEqual(
      ['PATCH', 'DELETE'],
    )
    expect([await by('GET'), await by('PATCH'), await by('DELETE')]).toEqual([405, 202, 202])
    expect((await service().call('GET', path)).headers.get('allow')).toBe('PATCH, DELETE')
  })

  test('refuses HEAD, and does not list it', async () => {
    const { path } = await makeToken({ auth: 'url', methods: ['GET'] })
    const { status, headers } = await fetch(`${service().base}${path}`, { method: 'HEAD' })
    expect([status, headers.get('allow')]).toEqual([405, 'DELETE, GET, PATCH, POST, PUT'])
  })

  test.each([
    [{ auth: 'token' }, '/auth/kind'],
    [{ auth: { kind: 'hmac' } }, '/auth/preset'],
    [{ auth: { kind: 'hmac', preset: 'custom' } }, '/auth/header'],
    [{ auth: { kind: 'hmac', preset: 'github', header: 'X-Other' } }, '/auth/header'],
    [{ auth: { kind: 'hmac', preset: 'github', tolerance_s: 10 } }, '/auth/tolerance_s'],
    [{ auth: { kind: 'hmac', preset: 'standard' }, secret: 'no base64' }, '/secret'],
    [{ auth: { kind: 'basic', username: 'a:b' } }, '/auth/username'],
    [{ auth: 'url', secret: 'my own secret' }, '/secret'],
    [{ auth: 'url', methods: [] }, '/methods'],
    [{ auth: 'url', methods: ['TRACE'] }, '/methods/0'],
    [{ methods: ['GET'] }, '/methods'],
  ])('with %j is refused', async (body, path) => {
    const refused = await world.owner.call('POST', `/api/workflows/${workflow}/tokens`, { body })
    expect(refused.status, refused.text).toBe(422)
    expect(refused.body.errors.map((error: { path: string }) => error.path)).toContain(path)
  })

  test.each(['bearer', 'url', 'basic'])('of kind %s can be sent back as it was read', async (auth) => {
    const { address } = await makeToken({ auth })
    const { body } = await world.owner.call('GET', address)
    const [listed] = (await world.owner.call('GET', `/api/workflows/${workflow}/tokens?limit=1`)).body.items
    for (const read of [body, listed]) {
      const changed = await world.owner.call('PATCH', address, { body: { ...read, name: 'Sent back' } })
      expect([changed.status, changed.body.name], changed.text).toEqual([200, 'Sent back'])
      await world.owner.call('PATCH', address, { body: { name: null } })
    }
  })

  test('of kind bearer refuses the settings of other kinds', async () => {
    const { address } = await makeToken({})
    const refused = await world.owner.call('PATCH', address, { body: { methods: ['GET'], respond: 'accepted' } })
    expect(refused.body.errors).toEqual([{ path: '/methods', message: 'applies to url, basic and hmac tokens only' }])
  })

  test('is refused after it has expired, and cannot be created expired', async () => {
    const past = await world.owner.call('POST', `/api/workflows/${workflow}/tokens`, {
      body: { expires_at: new Date().toISOString() },
    })
    expect([past.status, past.body.errors?.[0].path]).toEqual([422, '/expires_at'])
    const { token, token_id, path, address, made } = await makeToken({ expires_at: '2090-01-01T00:00:00Z' })
    expect(made.expires_at).toBe('2090-01-01T00:00:00.000Z')
    const started = await service().call('POST', path, { token, body: {} })
    expect(started.status).toBe(202)
    await service().sql(`update webhook_tokens set expires_at = now() where token_id = $1`, [fromWire('whk', token_id)])
    await world.owner.call('PATCH', address, { body: { name: 'Expired' } })
    expect((await service().call('POST', path, { token, body: {} })).status).toBe(401)
    const status = new URL(started.body.status_url).pathname
    expect((await service().call('GET', status, { token })).status).toBe(401)
  })

  test('cannot change its kind', async () => {
    const { address } = await makeToken({ auth: 'url' })
    const changed = await world.owner.call('PATCH', address, { body: { auth: { kind: 'bearer' } } })
    expect([changed.status, changed.body.code]).toEqual([422, 'read_only'])
    expect((await world.owner.call('PATCH', address, { body: { auth: { kind: 'url' }, name: 'New' } })).status).toBe(
      200,
    )
  })
})

describe('a sender that is still sending', () => {
  const auth = { kind: 'basic', username: 'shop' }

  /** Sends the headers and half of the body. */
  function begin(path: string, password: string, type: string) {
    const call = request(`${service().base}${path}`, {
      method: 'POST',
      auth: `shop:${password}`,
      headers: { 'content-type': type, 'content-length': '2' },
    })
    const status = new Promise<number>((resolve, reject) => {
      call.once('response', (answer) => resolve(answer.resume().statusCode!)).once('error', reject)
    })
    call.write('{')
    return { call, status }
  }

  test.each([
    ['body', 'application/json'],
    ['request', 'application/json'],
    ['request', 'application/octet-stream'],
  ])('of a call with input %s and type %s is refused if the password is changed', async (input, type) => {
    const of = await makeWorkflow()
    const { path, secret, address, post } = await makeToken({ auth, input }, of)
    const { call, status } = begin(path, secret, type)
    expect((await world.owner.call('PATCH', address, { body: { secret: 'another password' } })).status).toBe(200)
    const authorization = `Basic ${Buffer.from(`shop:${secret}`).toString('base64')}`
    await until(async () => (await post({ body: {}, headers: { authorization } })).status === 401, 'the change')
    call.end('}')
    expect(await status).toBe(401)
    expect((await world.owner.call('GET', `/api/workflows/${of}/executions`)).body.items).toEqual([])
  })

  test('of a file is refused if the token is disabled', async () => {
    const of = await makeWorkflow()
    const { path, secret, address } = await makeToken({ auth, input: 'request' }, of)
    const { call, status } = begin(path, secret, 'application/octet-stream')
    expect((await world.owner.call('PATCH', address, { body: { enabled: false } })).status).toBe(200)
    call.end('}')
    expect(await status).toBe(403)
    expect((await world.owner.call('GET', `/api/workflows/${of}/executions`)).body.items).toEqual([])
  })
})

describe('a token that is disabled or deleted', () => {
  test('is refused immediately by the same process', async () => {
    const bearer = await makeToken({})
    const url = await makeToken({ auth: 'url' })
    const signed = await makeToken({ auth: { kind: 'hmac', preset: 'github' } })
    const calls = [
      () => service().call('POST', bearer.path, { token: bearer.token, body: {} }),
      () => url.post({ body: {} }),
      () => signed.post(github(signed.secret, '{}')),
    ]
    const statuses = () => Promise.all(calls.map(async (call) => (await call()).status))
    expect(await statuses()).toEqual([202, 202, 202])
    for (const { address } of [bearer, url, signed])
      await world.owner.call('PATCH', address, { body: { enabled: false } })
    expect(await statuses()).toEqual([403, 403, 403])
    for (const { address } of [bearer, url, signed])
      await world.owner.call('PATCH', address, { body: { enabled: true } })
    expect(await statuses()).toEqual([202, 202, 202])
    for (const { address } of [bearer, url, signed]) await world.owner.call('DELETE', address)
    expect(await statuses()).toEqual([401, 401, 401])
  })

  test('is refused after its workflow is deleted', async () => {
    const of = await makeWorkflow()
    const { post } = await makeToken({ auth: 'url' }, of)
    const { body } = await post({ body: {} })
    await resultOf(body.execution_id)
    await world.owner.call('DELETE', `/api/workflows/${of}`)
    expect((await post({ body: {} })).status).toBe(401)
  })

  test('is refused by other processes within a second', async () => {
    const { path, address } = await makeToken({ auth: 'url' })
    const second = await startService({ database: service().database })
    try {
      expect((await second.call('POST', path, { body: {} })).status).toBe(202)
      await world.owner.call('PATCH', address, { body: { enabled: false } })
      await until(
        async () => (await second.call('POST', path, { body: {} })).status === 403,
        'the other process to notice the change',
      )
    } finally {
      await second.stop()
    }
  })

  test('is refused immediately if it is an embed token', async () => {
    const tokens = `/api/workflows/${workflow}/embed-tokens`
    const { token, token_id } = (await world.owner.call('POST', tokens, { body: {} })).body
    const call = async () => (await service().call('GET', `/api/embed/workflow/${workflow}/config`, { token })).status
    expect(await call()).toBe(200)
    await world.owner.call('PATCH', `${tokens}/${token_id}`, { body: { enabled: false } })
    expect(await call()).toBe(401)
    await world.owner.call('PATCH', `${tokens}/${token_id}`, { body: { enabled: true } })
    expect(await call()).toBe(200)
    await world.owner.call('DELETE', `${tokens}/${token_id}`)
    expect(await call()).toBe(401)
  })
})

describe('a long text of a sender', () => {
  test('is listed with its delivery if the cut is in the middle of a character', async () => {
    const { post, address } = await makeToken({ auth: { kind: 'url' } })
    const before = 'Correct the fields named in errors and send it again. (/'
    const key = `${'a'.repeat(499 - before.length)}😀`
    const refused = await post({ raw: `{"${key}":"\\u0000"}`, headers: { 'content-type': 'application/json' } })
    expect(refused.status, refused.text).toBe(422)
    const [item] = await until(async () => {
      const { body } = await world.owner.call('GET', `${address}/deliveries`)
      return body.items.length > 0 ? body.items : undefined
    }, 'the delivery')
    expect(item).toMatchObject({ status: 422, reason: `${before}${'a'.repeat(499 - before.length)}` })
  })

  test('is accepted as the name of a file if the cut is in the middle of a character', async () => {
    const { post } = await makeToken({ auth: { kind: 'url' }, input: 'request' })
    const form = new FormData()
    form.set('scan', new File(['x'], `${'a'.repeat(199)}😀.png`))
    const called = await post({ raw: form })
    expect(called.status, called.text).toBe(202)
    const { files } = await resultOf(called.body.execution_id)
    expect(files[0].file.$file.name).toBe('a'.repeat(199))
  })
})
