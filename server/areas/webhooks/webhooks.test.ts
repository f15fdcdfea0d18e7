import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

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

async function makeHook(definition: unknown = echo) {
  const workflow = (await world.owner.call('POST', '/api/workflows', { body: { name: 'Hook', definition } })).body
    .workflow_id as string
  const { body } = await world.owner.call('POST', `/api/workflows/${workflow}/tokens`, { body: { name: 'Shop' } })
  return { workflow, token: body.token as string, tokenId: body.token_id as string }
}
type Hook = Awaited<ReturnType<typeof makeHook>>
const trigger = (hook: Hook, options: Parameters<ReturnType<typeof service>['call']>[2] = {}, query = '') =>
  service().call('POST', `/api/webhooks/workflow/${hook.workflow}/trigger${query}`, { token: hook.token, ...options })

describe('webhooks', () => {
  test('use the body as the input, and return 202 with an address for the status', async () => {
    const hook = await makeHook()
    const accepted = await trigger(hook, { body: { order: 7, workspace_id: 'x', workflow_id: 'y' } })
    expect(accepted.status, accepted.text).toBe(202)
    expect(accepted.body).toMatchObject({ execution_id: expect.stringMatching(/^exe_/), status: 'queued' })
    const path = new URL(accepted.body.status_url).pathname
    const done = await until(async () => {
      const { body } = await service().call('GET', path, { token: hook.token })
      return body.status === 'succeeded' ? body : undefined
    }, 'the end')
    expect(Object.keys(done).sort()).toEqual([
      'error',
      'execution_id',
      'finished_at',
      'question',
      'results',
      'started_at',
      'status',
    ])
    expect(done.results).toEqual({ order: 7, workspace_id: 'x', workflow_id: 'y' })
  })

  test('name the content type if JSON was sent without it and the input is refused', async () => {
    const inputs = { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] }
    const hook = await makeHook({ ...echo, inputs })
    const send = (type: string, text = '{"order": 7}') =>
      trigger(hook, { raw: text, headers: { 'content-type': type } })
    expect((await send('application/json')).status).toBe(202)
    const refused = await send('application/x-www-form-urlencoded')
    expect(refused.body).toMatchObject({
      status: 422,
      detail:
        'The input does not match the inputs of the workflow. The body was read as application/x-www-form-urlencoded, so it is the field "body" of the input. Send JSON with Content-Type: application/json.',
      errors: [{ path: '/order', message: 'is required' }],
    })
    const wrong = await send('application/json', '{"order": "x"}')
    expect(wrong.body.detail).toBe('The input does not match the inputs of the workflow.')
  })

  test('with wait_s return the result; other content arrives as body and content_type', async () => {
    const hook = await makeHook()
    expect((await trigger(hook, { body: { a: 1 } }, '?wait_s=60')).body.results).toEqual({ a: 1 })
    const text = await trigger(
      hook,
      { raw: 'a=1&b=2', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      '?wait_s=60',
    )
    expect(text.body.results).toEqual({ body: 'a=1&b=2', content_type: 'application/x-www-form-urlencoded' })
    const parts = '--Limit\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--Limit--\r\n'
    const form = { 'content-type': 'multipart/form-data; boundary=Limit' }
    expect((await trigger(hook, { raw: parts, headers: form }, '?wait_s=60')).body.results).toEqual({
      body: parts,
      content_type: 'multipart/form-data; boundary=Limit',
    })
    expect((await trigger(hook, {}, '?wait_s=60')).body.results).toEqual({})
    expect((await trigger(hook, { body: [1, 2] }, '?wait_s=60')).body.results).toEqual({
      body: [1, 2],
      content_type: 'application/json',
    })
  })

  test('refuse unknown, deleted and other workflows’ tokens with 401, and disabled ones with 403 on every server within a second', async () => {
    const hook = await makeHook()
    const other = await makeHook()
    expect((await trigger({ ...hook, token: other.token })).status).toBe(401)
    expect((await trigger({ ...hook, token: `whs_${'x'.repeat(38)}` })).status).toBe(401)
    expect(
      (await service().call('POST', `/api/webhooks/workflow/${hook.workflow}/trigger?token=${hook.token}`)).status,
    ).toBe(401)
    const second = await startService({ database: service().database })
    try {
      const there = () =>
        second.call('POST', `/api/webhooks/workflow/${hook.workflow}/trigger`, { token: hook.token, body: {} })
      expect((await there()).status).toBe(202)
      await world.owner.call('PATCH', `/api/workflows/${hook.workflow}/tokens/${hook.tokenId}`, {
        body: { enabled: false },
      })
      await until(async () => (await there()).status === 403, 'the other server to notice')
      await until(async () => (await trigger(hook)).body.code === 'token_disabled', 'this server to notice')
    } finally {
      await second.stop()
    }
    await world.owner.call('DELETE', `/api/workflows/${hook.workflow}/tokens/${hook.tokenId}`)
    await until(async () => (await trigger(hook)).status === 401, 'the deletion to be noticed')
  })

  test('accept parameters that a sender adds, which change nothing', async () => {
    const { workflow } = await makeHook()
    const added = `utm=1&utm=2&cursor=no&workflow_id=${workflow}&body=no`
    expect((await trigger(await makeHook(), { body: { a: 1 } }, `?wait_s=60&${added}`)).body.results).toEqual({ a: 1 })
    const wrong = await trigger(await makeHook(), { body: {} }, `?wait_s=no&${added}`)
    expect(wrong.body).toMatchObject({ status: 422, errors: [{ path: '/wait_s' }] })
  })

  test('use the version that was just activated, and start nothing right after a pause', async () => {
    const hook = await makeHook()
    const at = `/api/workflows/${hook.workflow}`
    const call = async (method: string, path: string, body: unknown = {}) => {
      const answer = await world.owner.call(method, path, { body })
      expect(answer.status, answer.text).toBeLessThan(300)
      return answer.body
    }
    const run = async () => (await trigger(hook, { body: {} }, '?wait_s=60')).body
    expect((await run()).results).toEqual({})
    const [first] = (await world.owner.call('GET', `${at}/versions`)).body.items
    await call('POST', `${at}/versions`, { definition: { nodes: [], edges: [], output: 'new' }, activate: true })
    expect((await run()).results).toBe('new')
    await call('POST', `${at}/versions/${first.version_id}/activate`)
    expect((await run()).results).toEqual({})
    await call('POST', `${at}/pause`)
    const { execution_id } = (await trigger(hook, { body: {} })).body
    const path = `${at}/executions?limit=1`
    expect((await world.owner.call('GET', path)).body.items).toMatchObject([{ execution_id, status: 'waiting' }])
    await call('POST', `${at}/resume`)
    expect((await run()).results).toEqual({})
  })

  test('start nothing if the token is disabled or deleted while a slow caller is still sending', async () => {
    const begin = (hook: Hook) => {
      const call = request(`${service().base}/api/webhooks/workflow/${hook.workflow}/trigger`, {
        method: 'POST',
        headers: { authorization: `Bearer ${hook.token}`, 'content-type': 'application/json', 'content-length': '2' },
      })
      call.flushHeaders()
      const status = new Promise<number>((resolve, reject) => {
        call.once('response', (answer) => resolve(answer.resume().statusCode!)).once('error', reject)
      })
      return { call, status }
    }
    const disabled = await makeHook()
    const deleted = await makeHook()
    const slow = [begin(disabled), begin(deleted)]
    await world.owner.call('PATCH', `/api/workflows/${disabled.workflow}/tokens/${disabled.tokenId}`, {
      body: { enabled: false },
    })
    await world.owner.call('DELETE', `/api/workflows/${deleted.workflow}/tokens/${deleted.tokenId}`)
    await until(async () => (await trigger(disabled)).status === 403, 'the change to be noticed')
    await until(async () => (await trigger(deleted)).status === 401, 'the deletion to be noticed')
    const started = () =>
      service().sql('select from executions where workflow_id = any ($1)', [
        [fromWire('wf', disabled.workflow), fromWire('wf', deleted.workflow)],
      ])
    const before = (await started()).length
    for (const { call } of slow) call.end('{}')
    expect(await Promise.all(slow.map(({ status }) => status))).toEqual([403, 401])
    expect(await started()).toHaveLength(before)
  })

  test('show to a token only the executions that it started', async () => {
    const hook = await makeHook()
    const sibling = (await world.owner.call('POST', `/api/workflows/${hook.workflow}/tokens`, { body: {} })).body
      .token as string
    const { body } = await trigger(hook, { body: {} })
    const byUser = (await world.owner.call('POST', `/api/workflows/${hook.workflow}/run`, { body: {} })).body
      .execution_id
    const status = (execution: string, token: string) =>
      service().call('GET', `/api/webhooks/workflow/${hook.workflow}/executions/${execution}`, { token })
    expect((await status(body.execution_id, hook.token)).status).toBe(200)
    expect((await status(body.execution_id, sibling)).status).toBe(404)
    expect((await status(byUser, hook.token)).status).toBe(404)
  })

  test('start one execution for a hundred parallel deliveries with one key, even after a restart', async () => {
    const hook = await makeHook()
    const call = () => trigger(hook, { body: { n: 1 }, headers: { 'idempotency-key': 'delivery-1' } })
    const answers = await Promise.all(Array.from({ length: 100 }, call))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')
    expect(replayed).toHaveLength(99)
    const again = await startService({ database: service().database })
    try {
      const repeated = await again.call('POST', `/api/webhooks/workflow/${hook.workflow}/trigger`, {
        token: hook.token,
        body: { n: 1 },
        headers: { 'idempotency-key': 'delivery-1' },
      })
      expect(repeated.body.execution_id).toBe(answers[0]!.body.execution_id)
    } finally {
      await again.stop()
    }
    expect((await world.owner.call('GET', `/api/workflows/${hook.workflow}/executions`)).body.items).toHaveLength(1)
  })

  test('refuse text that cannot be stored, without affecting other calls', async () => {
    const hook = await makeHook()
    const bad = trigger(hook, { raw: '{"a":"\\u0000"}', headers: { 'content-type': 'application/json' } })
    const half = trigger(hook, { raw: '{"a":"\\ud800"}', headers: { 'content-type': 'application/json' } })
    const good = trigger(hook, { body: { a: 'fine' } }, '?wait_s=60')
    expect((await bad).status).toBe(422)
    expect((await half).status).toBe(422)
    expect((await good).body.results).toEqual({ a: 'fine' })
    const text = (raw: string | Buffer) =>
      trigger(hook, { raw, headers: { 'content-type': 'text/plain; charset=utf-8' } }, '?wait_s=60')
    expect((await text(Buffer.from([0x61, 0xff]))).status).toBe(422)
    expect((await text('a\u0000')).status).toBe(422)
    expect((await text('a\ufffd')).body.results).toEqual({ body: 'a\ufffd', content_type: 'text/plain' })
  })

  test('list tokens with their last use and without the secret, of which only the hash is stored', async () => {
    const hook = await makeHook()
    await trigger(hook, { body: {} })
    const item = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/${hook.workflow}/tokens`)
      return body.items[0].last_used_at ? body.items[0] : undefined
    }, 'last_used_at')
    expect(item).toMatchObject({ name: 'Shop', prefix: hook.token.slice(0, 10), enabled: true })
    expect(JSON.stringify(item)).not.toContain(hook.token)
    const [row] = await service().sql<{ text: string }>(
      'select t::text as text from webhook_tokens t where token_hash = sha256($1)',
      [Buffer.from(hook.token)],
    )
    expect(row!.text).not.toContain(hook.token)
  })
})
