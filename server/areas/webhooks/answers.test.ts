import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { CallOptions } from '#test/harness/call'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// The input of a workflow from a request, and the response to the caller.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const echo = {
  nodes: [{ id: 'a', type: 'set', args: { values: { got: { $ref: 'input' } } } }],
  edges: [],
  output: { $ref: 'nodes.a.output.got' },
}

async function makeHook(options: object, definition: object = echo) {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Hook', definition } })
  expect(made.status, made.text).toBe(201)
  const workflow = made.body.workflow_id as string
  const token = await world.owner.call('POST', `/api/workflows/${workflow}/tokens`, { body: options })
  expect(token.status, token.text).toBe(201)
  const path = new URL(token.body.url).pathname
  const address = `/api/workflows/${workflow}/tokens/${token.body.token_id}`
  const call = (method: string, call: CallOptions = {}, query = '') => service().call(method, path + query, call)
  const executions = async () => (await world.owner.call('GET', `/api/workflows/${workflow}/executions`)).body.items
  return { workflow, address, call, executions, token: token.body }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

describe('an input with the whole request', () => {
  const asked = async (method: string, options: CallOptions, query = '') => {
    const hook = await makeHook({ auth: 'url', input: 'request', respond: 'result', methods: METHODS })
    const answer = await hook.call(method, options, query)
    expect(answer.status, answer.text).toBe(200)
    return { ...answer.body, token: hook.token }
  }
  const typed = (type: string, raw: string | Buffer): CallOptions => ({ raw, headers: { 'content-type': type } })

  test('contains method, query, headers and body, without credentials', async () => {
    const { token, ...got } = await asked(
      'POST',
      {
        body: { order: 7 },
        headers: {
          'x-event': 'paid',
          'x-gitlab-token': 'hush-1',
          cookie: 'a=hush-2',
          authorization: 'Basic hush-3',
          'x-api-key': 'hush-4',
        },
      },
      '?a=1&a=2&b=',
    )
    expect(got).toMatchObject({
      method: 'POST',
      path: `/api/webhooks/in/${token.token_id}`,
      query: { a: ['1', '2'], b: '' },
      headers: { 'x-event': 'paid', 'content-type': 'application/json' },
      body: { order: 7 },
      raw_body: '{"order":7}',
      files: [],
    })
    expect(Math.abs(Date.parse(got.received_at) - Date.now())).toBeLessThan(60_000)
    expect(JSON.stringify(got)).not.toContain('hush')
    expect(JSON.stringify(got)).not.toContain(token.token)
  })

  test.each([
    ['application/x-www-form-urlencoded', 'a=1&b=x+y&b=%26', { a: '1', b: ['x y', '&'] }],
    ['application/xml', '<a>1</a>', '<a>1</a>'],
    ['text/plain; charset=utf-8', 'hello', 'hello'],
    ['application/cloudevents+json', '[1,2]', [1, 2]],
  ])('has a parsed body for %s', async (type, raw, body) => {
    expect(await asked('POST', typed(type, raw))).toMatchObject({ body, raw_body: raw, files: [] })
  })

  test('has a null body if there is none, with any method', async () => {
    for (const method of METHODS)
      expect(await asked(method, {})).toMatchObject({ method, body: null, raw_body: '', files: [] })
  })

  test('contains the files of a form, and bytes that are not text', async () => {
    const form = new FormData()
    form.set('title', 'Invoice')
    form.set('scan', new File([Buffer.from([1, 2, 255])], 'scan.bin', { type: 'image/png' }))
    const parts = await asked('POST', { raw: form })
    expect(parts.body).toEqual({ title: 'Invoice' })
    const scan = { field: 'scan', name: 'scan.bin', media_type: 'image/png', bytes: 3, content_base64: 'AQL/' }
    expect(parts.files).toMatchObject([scan])
    const bytes = await asked('PUT', typed('application/octet-stream', Buffer.from([0, 1, 255])))
    expect(bytes).toMatchObject({ body: null, raw_body: null, files: [{ bytes: 3, content_base64: 'AAH/' }] })
  })

  test('is refused if the content cannot be read or stored', async () => {
    const hook = await makeHook({ auth: 'url', input: 'request' })
    const status = async (options: CallOptions) => (await hook.call('POST', options)).status
    expect(await status(typed('application/json', '{'))).toBe(400)
    expect(await status(typed('multipart/form-data; boundary=x', 'no parts'))).toBe(400)
    expect(await status(typed('application/x-www-form-urlencoded', 'a=%00'))).toBe(422)
    expect(await status(typed('text/plain', 'x'.repeat(2 << 20)))).toBe(413)
    expect(await hook.executions()).toEqual([])
  })
})

describe('the response to a call', () => {
  test('is the result if the token requests it, 502 if the execution fails, and 504 on a timeout', async () => {
    const result = await makeHook({ auth: 'url', respond: 'result' })
    expect((await result.call('POST', { body: { a: 1 } })).body).toEqual({ a: 1 })
    const failing = { nodes: [{ id: 'a', type: 'fail', args: { code: 'x', message: 'hush' } }], edges: [] }
    const failed = await (await makeHook({ auth: 'url', respond: 'result' }, failing)).call('POST')
    expect([failed.status, failed.body.code]).toEqual([502, 'run_failed'])
    expect(failed.text).not.toContain('hush')
    const waiting = { nodes: [{ id: 'a', type: 'wait', args: { for_s: 3600 } }], edges: [] }
    const late = await makeHook({ auth: 'url', respond: 'result', respond_timeout_s: 1 }, waiting)
    const answer = await late.call('POST')
    expect([answer.status, answer.body.code]).toEqual([504, 'respond_timeout'])
  })

  const responding = (args: object, more: object[] = []) => ({
    nodes: [{ id: 'r', type: 'http.respond', args }, ...more],
    edges: more.length > 0 ? [{ from: { node: 'r' }, to: 'later' }] : [],
  })

  test('comes from http.respond, before the execution has ended', async () => {
    const later = { id: 'later', type: 'wait', args: { for_s: 3600 } }
    const args = {
      status: 201,
      headers: { 'X-Order': { $ref: 'input.order' }, Location: 'https://shop.example/7' },
      body: { seen: { $ref: 'input.order' } },
    }
    const hook = await makeHook({ auth: 'url', respond: 'node' }, responding(args, [later]))
    const answer = await hook.call('POST', { body: { order: '7' } })
    expect([answer.status, answer.body]).toEqual([201, { seen: '7' }])
    expect(answer.headers.get('x-order')).toBe('7')
    expect(answer.headers.get('location')).toBe('https://shop.example/7')
    expect((await hook.executions())[0].status).not.toBe('succeeded')
  })

  test('may be a page, which cannot run scripts in the origin of the service', async () => {
    const args = { headers: { 'content-type': 'text/html' }, body: '<script>alert(1)</script>' }
    const hook = await makeHook({ auth: 'url', respond: 'node', methods: ['GET'] }, responding(args))
    const answer = await hook.call('GET')
    expect([answer.status, answer.text]).toEqual([200, '<script>alert(1)</script>'])
    expect(answer.headers.get('content-type')).toBe('text/html')
    expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
  })

  test.each([
    'Set-Cookie',
    'Content-Security-Policy',
    'Access-Control-Allow-Origin',
    'Transfer-Encoding',
    'NEL',
    'Report-To',
    'X-Accel-Redirect',
    'X-Sendfile',
  ])('cannot set %s', async (name) => {
    const hook = await makeHook({ auth: 'url', respond: 'node' }, responding({ headers: { [name]: 'x' } }))
    const answer = await hook.call('POST')
    expect([answer.status, answer.text.includes('run_failed')]).toEqual([502, true])
    if (!/^(content|transfer)-/i.test(name)) expect(answer.headers.get(name)).toBeNull()
  })

  test('does not come from a disabled http.respond, which passes on what the caller sent', async () => {
    const disabled = { nodes: [{ id: 'r', type: 'http.respond', args: {}, disabled: true }], edges: [] }
    const hook = await makeHook({ auth: 'url', respond: 'node' }, disabled)
    const body = { status: 200, headers: { 'set-cookie': 'heddle_session=x' }, body: 'x' }
    const answer = await hook.call('POST', { body })
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null])
    expect(answer.body).toMatchObject({ status: 'succeeded' })
    expect((await hook.call('POST', { body: {} })).status).toBe(200)
  })

  test('cannot contain a second header in the value of a header', async () => {
    const args = { headers: { 'x-a': { $ref: 'input.text' } } }
    const hook = await makeHook({ auth: 'url', respond: 'node' }, responding(args))
    const answer = await hook.call('POST', { body: { text: 'a\r\nset-cookie: b=c' } })
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([502, null])
  })

  test('contains only the status if the execution ends without http.respond', async () => {
    const hook = await makeHook({ auth: 'url', respond: 'node' })
    expect((await hook.call('POST')).body).toMatchObject({ status: 'succeeded' })
  })
})

describe('a challenge of the address', () => {
  test('from slack is answered if its signature is valid', async () => {
    const hook = await makeHook({ auth: { kind: 'hmac', preset: 'slack' }, secret: 'slack secret', challenge: 'slack' })
    const raw = JSON.stringify({ type: 'url_verification', challenge: 'abc', token: 'x' })
    const signed = (secret: string) => {
      const t = String(Math.floor(Date.now() / 1000))
      const v0 = createHmac('sha256', secret).update(`v0:${t}:${raw}`).digest('hex')
      return {
        raw,
        headers: {
          'content-type': 'application/json',
          'x-slack-request-timestamp': t,
          'x-slack-signature': `v0=${v0}`,
        },
      }
    }
    expect((await hook.call('POST', signed('slack secret'))).body).toEqual({ challenge: 'abc' })
    expect((await hook.call('POST', signed('other'))).status).toBe(401)
    expect(await hook.executions()).toEqual([])
  })

  test('from meta is answered if the verify token is the last part of the address', async () => {
    const hook = await makeHook({ auth: { kind: 'hmac', preset: 'github' }, challenge: 'meta' })
    const ask = (token: string) =>
      hook.call('GET', {}, `?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=%3Cb%3E1`)
    const answer = await ask(hook.token.token)
    expect([answer.status, answer.text]).toEqual([200, '<b>1'])
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect((await ask('other')).status).toBe(401)
  })

  test.each([
    ['microsoft', 'POST', '?validationToken=opaque', 'opaque'],
    ['dropbox', 'GET', '?challenge=opaque', 'opaque'],
  ])('from %s is echoed', async (challenge, method, query, text) => {
    const hook = await makeHook({ auth: 'url', challenge })
    expect((await hook.call(method, {}, query)).text).toBe(text)
    expect(await hook.executions()).toEqual([])
  })

  test('is an ordinary call if the token does not expect one', async () => {
    const hook = await makeHook({ auth: 'url', methods: ['GET'] })
    expect((await hook.call('GET', {}, '?challenge=opaque')).status).toBe(202)
  })
})

describe('a repeated delivery', () => {
  test('by header gives one execution and one response, with any body and even at the same time', async () => {
    const hook = await makeHook({ auth: 'url', dedupe: { from: 'X-Delivery' } })
    const deliver = (n: string, body: object = {}) => hook.call('POST', { body, headers: { 'x-delivery': n } })
    const same = await Promise.all(Array.from({ length: 20 }, (_, n) => deliver('one', { n })))
    expect(new Set(same.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(same.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(19)
    const other = await deliver('two')
    expect(other.body.execution_id).not.toBe(same[0]!.body.execution_id)
    const without = [await hook.call('POST', { body: {} }), await hook.call('POST', { body: {} })]
    expect(without[0]!.body.execution_id).not.toBe(without[1]!.body.execution_id)
    expect(await hook.executions()).toHaveLength(4)
  })

  test('is found by an expression over the input; without a result, every call counts', async () => {
    const hook = await makeHook({ auth: 'url', dedupe: { from: { $cel: 'input.event.id' }, window_s: 60 } })
    const deliver = async (body: object) => (await hook.call('POST', { body })).body.execution_id
    expect(await deliver({ event: { id: 5 } })).toBe(await deliver({ event: { id: 5 }, again: true }))
    expect(await deliver({ no: 1 })).not.toBe(await deliver({ no: 1 }))
  })

  test('counts again after the window has ended', async () => {
    const hook = await makeHook({ auth: 'url', dedupe: { from: 'X-Delivery', window_s: 60 } })
    const deliver = async () =>
      (await hook.call('POST', { body: {}, headers: { 'x-delivery': 'one' } })).body.execution_id
    const first = await deliver()
    expect(await deliver()).toBe(first)
    await service().sql(`update webhook_seen set seen_at = now() - interval '61 seconds' where workspace_id = $1`, [
      world.workspace.uuid,
    ])
    const second = await deliver()
    expect(second).not.toBe(first)
    expect(await deliver()).toBe(second)
  })

  test('of another token is a separate delivery', async () => {
    const headers = { 'x-delivery': 'one' }
    const [a, b] = [
      await makeHook({ auth: 'url', dedupe: { from: 'X-Delivery' } }),
      await makeHook({ auth: 'url', dedupe: { from: 'X-Delivery' } }),
    ]
    expect([(await a.call('POST', { headers })).status, (await b.call('POST', { headers })).status]).toEqual([202, 202])
    expect([(await a.executions()).length, (await b.executions()).length]).toEqual([1, 1])
  })

  test.each([
    [{ from: { $cel: 'nodes.a' } }, '/dedupe/from/$cel'],
    [{ from: { $cel: '1 +' } }, '/dedupe/from/$cel'],
    [{ from: 'X-Delivery', window_s: 86_401 }, '/dedupe/window_s'],
  ])('with the settings %j is refused', async (dedupe, path) => {
    const { workflow } = await makeHook({})
    const refused = await world.owner.call('POST', `/api/workflows/${workflow}/tokens`, {
      body: { auth: 'url', dedupe },
    })
    expect(refused.body.errors?.map((error: { path: string }) => error.path)).toContain(path)
  })
})

describe('the list of deliveries', () => {
  test('shows refusals with their reasons, without credentials, and is deleted with the token', async () => {
    const hook = await makeHook({ auth: { kind: 'hmac', preset: 'github' } })
    const raw = '{"secret-body":1}'
    const signature = createHmac('sha256', hook.token.secret).update(raw).digest('hex')
    const good = await hook.call('POST', {
      raw,
      headers: { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push' },
    })
    await hook.call('POST', { raw, headers: { 'x-hub-signature-256': 'sha256=00', 'x-github-event': 'ping' } })
    const items = await until(async () => {
      const { body } = await world.owner.call('GET', `${hook.address}/deliveries`)
      return body.items.length === 2 ? body.items : undefined
    }, 'both deliveries')
    expect(items).toMatchObject([
      {
        status: 401,
        code: 'bad_signature',
        reason: expect.stringContaining('does not match'),
        execution_id: null,
        headers: { 'x-github-event': 'ping' },
      },
      {
        status: 202,
        code: null,
        reason: null,
        execution_id: good.body.execution_id,
        bytes: raw.length,
        method: 'POST',
      },
    ])
    const text = JSON.stringify(items)
    for (const secret of [signature, hook.token.secret, 'secret-body', 'sha256=00']) expect(text).not.toContain(secret)
    await world.owner.call('DELETE', hook.address)
    expect((await world.owner.call('GET', `${hook.address}/deliveries`)).status).toBe(404)
    const left = await service().sql(
      `select from webhook_deliveries where workspace_id = $1 and headers ->> 'x-github-event' = 'ping'`,
      [world.workspace.uuid],
    )
    expect(left).toEqual([])
  })

  test('of a bearer token contains only refused deliveries', async () => {
    const definition = { ...echo, inputs: { type: 'object', required: ['order'] } }
    const hook = await makeHook({}, definition)
    const trigger = (body: object) => hook.call('POST', { token: hook.token.token, body })
    expect([(await trigger({ order: 1 })).status, (await trigger({})).status]).toEqual([202, 422])
    const [item, ...others] = await until(async () => {
      const { body } = await world.owner.call('GET', `${hook.address}/deliveries`)
      return body.items.length > 0 ? body.items : undefined
    }, 'the delivery')
    expect(item).toMatchObject({ status: 422, code: 'invalid', reason: expect.stringContaining('order') })
    expect(others).toEqual([])
  })
})

describe('a request that would keep the service busy', () => {
  const FORM = 'application/x-www-form-urlencoded'
  const post = async (type: string, raw: string) => {
    const hook = await makeHook({ auth: 'url', input: 'request', respond: 'result' })
    return hook.call('POST', { raw, headers: { 'content-type': type } })
  }
  const parts = (count: number): string =>
    `${Array.from({ length: count }, (_, n) => `--b\r\ncontent-disposition: form-data; name="a${n}"\r\n\r\n1\r\n`).join('')}--b--`

  // Collecting the values took time quadratic in their number: minutes for this request.
  test('with a field repeated 300,000 times is refused', async () => {
    expect((await post(FORM, 'a=&'.repeat(300_000))).body).toMatchObject({ code: 'too_large' })
  })

  test('with a field repeated 9,000 times gives a list of 9,000 values', async () => {
    const { status, body } = await post(FORM, 'a=1&'.repeat(9_000))
    expect([status, body.body.a]).toEqual([200, Array.from({ length: 9_000 }, () => '1')])
  })

  test.each([
    [1_000, 200],
    [1_001, 413],
  ])('with %i parts of a form gets %i', async (count, expected) => {
    expect((await post('multipart/form-data; boundary=b', parts(count))).status).toBe(expected)
  })

  test('with a delivery id whose expression takes too long has no id, so every call counts', async () => {
    const list = '[0,1,2,3,4,5,6,7,8,9]'
    const heavy = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0)))) ? 'a' : 'b'`
    for (const [from, runs] of [
      [{ $cel: heavy }, 2],
      [{ $cel: `${list}.all(a, a >= 0) ? 'a' : 'b'` }, 1],
    ] as const) {
      const hook = await makeHook({ auth: 'url', dedupe: { from, window_s: 60 } })
      for (let call = 0; call < 2; call += 1) expect((await hook.call('POST', { body: {} })).status).toBe(202)
      expect(await hook.executions()).toHaveLength(runs)
    }
  })
})
