import { get, request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId, newSecret, toWire } from '#platform/ids'
import { makeVault } from '#platform/secrets'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeTemplate, makeToken, makeWorkflow, refund, SITE, visit } from '#test/harness/widget'
import { makeWorld, type World } from '#test/harness/world'
import { makeVisitors } from './visitors.ts'

// Who may use a widget: the combinations of visitor, token and origin. The id of a thread, conversation or execution
// alone grants no access.

const service = useService()
let world: World
let workflow: string
let template: string
let token: string
let tokenId: string

beforeAll(async () => {
  world = await makeWorld(service())
  workflow = await makeWorkflow(world.owner, 'Request a refund', refund)
  template = await makeTemplate(world.owner, [workflow])
  ;({ token, tokenId } = await makeToken(world.owner, `/api/templates/${template}`))
})

const config = (headers: Record<string, string> = {}, given: string = token, of = template) =>
  service().call('GET', `/api/embed/template/${of}/config`, { token: given, headers })

describe('an embed token', () => {
  test('works only for its own template or workflow', async () => {
    const other = await makeTemplate(world.owner, [workflow])
    const otherToken = (await makeToken(world.owner, `/api/templates/${other}`)).token
    const ofWorkflow = (await makeToken(world.owner, `/api/workflows/${workflow}`)).token
    const cases: [string, string | undefined, string, number][] = [
      ['its own', token, `/api/embed/template/${template}/config`, 200],
      ['another template’s', otherToken, `/api/embed/template/${template}/config`, 401],
      ['a workflow’s for a template', ofWorkflow, `/api/embed/template/${template}/config`, 401],
      ['a template’s for a workflow', token, `/api/embed/workflow/${workflow}/config`, 401],
      ['a workflow’s', ofWorkflow, `/api/embed/workflow/${workflow}/config`, 200],
      ['one that looks right', newSecret('ems'), `/api/embed/template/${template}/config`, 401],
      ['an API key', world.owner.key, `/api/embed/template/${template}/config`, 401],
      ['none', undefined, `/api/embed/template/${template}/config`, 401],
      ['a random template', token, `/api/embed/template/${toWire('tmpl', newId())}/config`, 401],
    ]
    for (const [what, given, path, expected] of cases) {
      const { status } = await service().call('GET', path, given === undefined ? {} : { token: given })
      expect([what, status]).toEqual([what, expected])
    }
    const inAddress = await service().call('GET', `/api/embed/template/${template}/config?token=${token}`)
    expect(inAddress.status).toBe(401)
  })

  test('is refused within a second after it is disabled or deleted, even during a chat', async () => {
    const made = await makeToken(world.owner, `/api/templates/${template}`)
    const visitor = await visit(service(), template, made.token)
    const { body } = await visitor.chat('refund')
    await world.owner.call('PATCH', `/api/templates/${template}/embed-tokens/${made.tokenId}`, {
      body: { enabled: false },
    })
    await until(async () => (await visitor.chat('order 1', body.thread_id)).status === 401, 'the refusal')
    await world.owner.call('PATCH', `/api/templates/${template}/embed-tokens/${made.tokenId}`, {
      body: { enabled: true },
    })
    await until(async () => (await visitor.chat('late', body.thread_id)).status === 200, 'the token')
    await world.owner.call('DELETE', `/api/templates/${template}/embed-tokens/${made.tokenId}`)
    await until(async () => (await visitor.chat('hello', body.thread_id)).status === 401, 'the refusal')
  })

  test('appears in the list with the time of its last use and without the secret', async () => {
    await config({ origin: SITE })
    const { body, text } = await world.member.call('GET', `/api/templates/${template}/embed-tokens`)
    expect(body.items.at(-1)).toMatchObject({ token_id: tokenId, allowed_origins: [SITE], template_id: template })
    expect(text).not.toContain(token)
  })

  test('is shown with its secret to people who may see its template', async () => {
    const one = `/api/templates/${template}/embed-tokens/${tokenId}`
    expect((await world.member.call('GET', one)).body).toMatchObject({ token_id: tokenId, token })
    expect((await world.stranger.call('GET', one)).status).toBe(404)
  })
})

describe('the origin of a page', () => {
  const refused = [
    'https://evil.example',
    'null',
    'http://shop.example',
    'https://shop.example:8443',
    'https://shop.example.evil.example',
    'https://evilshop.example',
    'https://www.shop.example',
    'https://shop.example/',
    'https://SHOP.example.',
    'https://xn--shp-fna.example',
    'file://',
    '*',
  ]

  test('must match an entry of the token’s list exactly', async () => {
    expect((await config({ origin: SITE })).status).toBe(200)
    for (const origin of refused) {
      const answer = await config({ origin })
      expect([origin, answer.status, answer.body.code]).toEqual([origin, 403, 'origin_refused'])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test('may be absent, unless the token requires an origin', async () => {
    expect((await config()).status).toBe(200)
    const strict = await makeToken(world.owner, `/api/templates/${template}`, { require_origin: true })
    expect((await config({}, strict.token)).body.code).toBe('origin_refused')
    expect((await config({ origin: SITE }, strict.token)).status).toBe(200)
  })

  test('is accepted only for the service’s own pages if the list is empty', async () => {
    const bare = await makeToken(world.owner, `/api/templates/${template}`, { allowed_origins: [] })
    expect((await config({ origin: service().base }, bare.token)).status).toBe(200)
    expect((await config({ origin: SITE }, bare.token)).status).toBe(403)
    const spoofed = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { host: 'evil.example', origin: 'http://evil.example', authorization: `Bearer ${bare.token}` }
      get(`${service().base}/api/embed/template/${template}/config`, { headers }, ({ statusCode }) =>
        resolve(statusCode),
      ).once('error', reject)
    })
    expect(spoofed).toBe(403)
  })

  test('lets browsers of listed pages read every response, including refusals, without cookies or wildcards', async () => {
    const path = `/api/embed/template/${template}/chat`
    const preflight = await service().call('OPTIONS', path, {
      headers: {
        origin: SITE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(SITE)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
    expect(preflight.headers.get('access-control-allow-headers')!.toLowerCase()).toContain('x-visitor-token')
    const answers = [
      preflight,
      await service().call('POST', path, { token, headers: { origin: SITE }, body: { message: 'hi' } }),
      await service().call('POST', path, { token, headers: { origin: SITE }, body: { message: '' } }),
      await service().call('POST', path, { token: newSecret('ems'), headers: { origin: SITE }, body: {} }),
      await service().call('GET', `/api/embed/template/${template}/nothing`, { token, headers: { origin: SITE } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([204, 200, 422, 401, 404])
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe(SITE)
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
      expect(headers.get('vary')).toContain('Origin')
      expect(headers.get('set-cookie')).toBeNull()
    }
  })

  test('lets a page read the refusal after its only token was deleted', async () => {
    const lone = await makeTemplate(world.owner, [workflow])
    const made = await makeToken(world.owner, `/api/templates/${lone}`)
    await world.owner.call('DELETE', `/api/templates/${lone}/embed-tokens/${made.tokenId}`)
    const refused = await config({ origin: SITE }, made.token, lone)
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, SITE])
  })

  test('causes a refused preflight if it is not listed, for every path', async () => {
    for (const id of [template, toWire('tmpl', newId()), 'nonsense']) {
      const answer = await service().call('OPTIONS', `/api/embed/template/${id}/chat`, {
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      })
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null])
    }
    const elsewhere = await service().call('GET', '/api/templates', { headers: { origin: SITE } })
    expect(elsewhere.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('a visitor', () => {
  test('receives a token from the config or with the response to the first message', async () => {
    const first = await service().call('POST', `/api/embed/template/${template}/chat`, {
      token,
      body: { message: 'hello' },
    })
    expect(first.body.visitor_token).toMatch(/^vst_/)
    const again = await service().call('POST', `/api/embed/template/${template}/chat`, {
      token,
      headers: { 'x-visitor-token': first.body.visitor_token },
      body: { message: 'refund', thread_id: first.body.thread_id },
    })
    expect(again.status).toBe(200)
    expect(again.body.visitor_token).toBeUndefined()
    const renewed = await config({ 'x-visitor-token': first.body.visitor_token })
    const seen = await service().call('GET', `/api/embed/template/${template}/thread/${first.body.thread_id}/history`, {
      token,
      headers: { 'x-visitor-token': renewed.body.visitor_token },
    })
    expect(seen.status).toBe(200)
  })

  test('cannot access a thread, form, execution or question of another visitor', async () => {
    const ada = await visit(service(), template, token)
    const { body } = await ada.chat('refund')
    const thread = body.thread_id
    const { body: started } = await ada.call('POST', `/thread/${thread}/action`, {
      body: { action: 'submit', form_id: body.form.form_id, values: { order: 1, reason: 'late' } },
    })
    await ada.ended(started.execution_id)
    const bob = await visit(service(), template, token)
    const sibling = await makeToken(world.owner, `/api/templates/${template}`)
    const otherTemplate = await makeTemplate(world.owner, [workflow])
    const other = await makeToken(world.owner, `/api/templates/${otherTemplate}`)
    const calls = (call: typeof ada.call, id = thread, execution = started.execution_id) => [
      call('GET', `/thread/${id}/history`),
      call('POST', '/chat', { body: { thread_id: id, message: 'hello' } }),
      call('POST', `/thread/${id}/action`, { body: { action: 'cancel', form_id: body.form.form_id } }),
      call('GET', `/execution/${execution}/status`),
      call('POST', `/executions/${execution}/respond`, { body: { response: 1 } }),
      // An unauthorized caller is refused before the body is validated.
      call('POST', `/thread/${id}/action`, { body: { nonsense: 1 } }),
      call('POST', `/executions/${execution}/respond`, { body: {} }),
    ]
    const randomly = await Promise.all(
      calls(bob.call, toWire('thr', newId()), toWire('exe', newId())).map(async (call) => (await call).status),
    )
    expect(randomly).toEqual(Array(7).fill(404))
    for (const answer of await Promise.all(calls(bob.call)))
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    // Ada's visitor token also works with another token of the same template. With a token of another template it is
    // invalid.
    const elsewhere =
      (given: string, of: string): typeof ada.call =>
      (method, path, options = {}) =>
        service().call(method, `/api/embed/template/${of}${path}`, {
          ...options,
          token: given,
          headers: { 'x-visitor-token': ada.visitorToken },
        })
    expect((await elsewhere(sibling.token, template)('GET', `/thread/${thread}/history`)).status).toBe(200)
    for (const answer of await Promise.all(calls(elsewhere(other.token, otherTemplate))))
      expect([answer.status, answer.body.code]).toEqual([401, 'visitor_token_required'])
    for (const answer of await Promise.all(
      calls((method, path, options = {}) =>
        service().call(method, `/api/embed/template/${template}${path}`, { ...options, token }),
      ),
    ))
      expect([answer.status, answer.body.code]).toEqual([401, 'visitor_token_required'])
    // The visitor cannot see an execution that a person started, although it is an execution of the same workflow.
    const run = await world.owner.call('POST', `/api/workflows/${workflow}/run`, {
      body: { input: { order: 1, reason: 'late' } },
    })
    expect((await ada.call('GET', `/execution/${run.body.execution_id}/status`)).status).toBe(404)
    const colleague = await world.member.call('GET', `/api/workflows/executions/${started.execution_id}`)
    expect(colleague.status).toBe(404)
  })

  test('is not recognised by a token that was altered, signed with another key, or has expired', async () => {
    const visitor = await visit(service(), template, token)
    const { body } = await visitor.chat('hello')
    const read = (visitorToken: string) =>
      visitor.call('GET', `/thread/${body.thread_id}/history`, { headers: { 'x-visitor-token': visitorToken } })
    expect((await read(visitor.visitorToken)).status).toBe(200)
    const good = visitor.visitorToken
    for (let at = 0; at < good.length; at += 3) {
      const changed = good.slice(0, at) + (good[at] === 'A' ? 'B' : 'A') + good.slice(at + 1)
      expect([at, (await read(changed)).status]).toEqual([at, 401])
    }
    const [row] = await service().sql<{ visitor_id: string; template_id: string }>(
      'select visitor_id, template_id from threads where visitor_id is not null order by created_at desc limit 1',
    )
    const { visitor_id, template_id } = row!
    const elsewhere = makeVisitors({ vault: makeVault(Buffer.alloc(32, 9)) }).mint(template_id, visitor_id)
    const old = makeVisitors({ vault: service().vault, now: () => Date.now() - 25 * 3_600_000 })
    const right = makeVisitors({ vault: service().vault }).mint(template_id, visitor_id)
    expect((await read(right)).status).toBe(200)
    for (const bad of [elsewhere, old.mint(template_id, visitor_id), `${good}=`, `${good}A`, '', 'vst_'])
      expect((await read(bad)).body.code).toBe('visitor_token_required')
  })

  test('has a rate limit that does not depend on other visitors with the same token', async () => {
    const { startService } = await import('#test/harness/service')
    const limited = await startService({ database: service().database, env: { HEDDLE_RATE_LIMITS: 'on' } })
    try {
      const first = await visit(limited, template, token)
      // The test repeats the flood until a request is refused, so that it also passes on a slow machine.
      const refused = await until(async () => {
        const flood = await Promise.all(Array.from({ length: 40 }, () => first.call('GET', '/config')))
        return flood.find(({ status }) => status === 429)
      }, 'a refusal')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.headers.get('access-control-allow-origin')).toBe(SITE)
      const second = makeVisitors({ vault: limited.vault })
      const [row] = await limited.sql<{ template_id: string }>(
        'select template_id from templates order by created_at limit 1',
      )
      const other = await limited.call('GET', `/api/embed/template/${template}/config`, {
        token,
        headers: { 'x-visitor-token': second.mint(row!.template_id, newId()) },
      })
      expect(other.status).toBe(200)
    } finally {
      await limited.stop()
    }
  })
})

describe('the config of a widget', () => {
  test('contains the settings of the template as plain text', async () => {
    const name = '<script>alert(1)</script>'
    const own = await makeTemplate(world.owner, [workflow], {
      name,
      greeting: '"><img src=x onerror=alert(1)>',
      theme: { accent: '#0a7', position: 'left' },
      features: { speech: false },
    })
    const made = await makeToken(world.owner, `/api/templates/${own}`)
    const { body, headers } = await config({ origin: SITE }, made.token, own)
    expect(body).toMatchObject({
      template_id: own,
      name,
      greeting: '"><img src=x onerror=alert(1)>',
      theme: { accent: '#0a7', position: 'left' },
      features: { speech: false },
      voice: null,
      suggestions: ['Request a refund'],
    })
    expect(headers.get('content-type')).toContain('application/json')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const spoken = await service().call('POST', `/api/embed/template/${own}/speech`, {
      token: made.token,
      body: { text: 'Hello' },
    })
    expect(spoken.status).toBe(403)
  })
})

test('a token of one organisation is refused on the host of another organisation', async () => {
  const other = newId()
  await service().sql(`insert into org_hosts (host, org_id) select '127.0.0.1', org_id from orgs`)
  await service().sql(`insert into orgs (org_id, name) values ($1, 'Other')`, [other])
  await service().sql(`insert into org_hosts (host, org_id) values ('other.example', $1)`, [other])
  const { port } = new URL(service().base)
  const from = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      request({
        port,
        host: '127.0.0.1',
        path: `/api/embed/template/${template}/config`,
        headers: { host: `${host}:${port}`, authorization: `Bearer ${token}` },
      })
        .once('response', (answer) => resolve(answer.resume().statusCode!))
        .once('error', reject)
        .end()
    })
  // The server caches for two seconds that only one organisation exists.
  await until(async () => (await from('unknown.example')) === 404, 'the server to notice the second organisation')
  expect(await from('127.0.0.1')).toBe(200)
  expect(await from('other.example')).toBe(401)
})
