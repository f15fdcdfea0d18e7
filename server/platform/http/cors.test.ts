import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signUp } from '#test/harness/browser'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const APP = 'https://app.example'
const EVIL = 'https://evil.example'

let services: Record<'listed' | 'any' | 'none', Service>
let worlds: Record<keyof typeof services, World>
beforeAll(async () => {
  services = {
    listed: await startService({ env: { HEDDLE_CORS_ORIGINS: `${APP},https://other.example` } }),
    any: await startService({ env: { HEDDLE_CORS_ORIGINS: '*' } }),
    none: await startService(),
  }
  worlds = {
    listed: await makeWorld(services.listed),
    any: await makeWorld(services.any),
    none: await makeWorld(services.none),
  }
})
afterAll(async () => {
  for (const service of Object.values(services)) await service.stop()
})

const shown = ({ status, headers }: Answer) => [status, headers.get('access-control-allow-origin')]

describe('a page with an API key', () => {
  const get = (kind: keyof typeof services, origin: string, path = '/api/teams') =>
    worlds[kind].owner.call('GET', path, { headers: { origin } })

  test('can read responses and refusals if its origin is listed, and nothing otherwise', async () => {
    const answer = await get('listed', APP)
    expect(shown(answer)).toEqual([200, APP])
    expect(answer.headers.get('vary')).toBe('Origin')
    for (const name of ['ETag', 'Location', 'Retry-After', 'RateLimit', 'X-Request-Id', 'Idempotent-Replayed'])
      expect(answer.headers.get('access-control-expose-headers')).toContain(name)
    expect(shown(await get('listed', APP, '/api/nothing'))).toEqual([404, APP])
    expect(shown(await get('listed', 'https://other.example'))).toEqual([200, 'https://other.example'])
    for (const origin of [EVIL, 'null', `${APP}.evil.example`, 'http://app.example', `${APP}:8443`])
      expect(shown(await get('listed', origin))).toEqual([200, null])
    expect(shown(await get('any', EVIL))).toEqual([200, '*'])
    expect(shown(await get('none', APP))).toEqual([200, null])
  })

  test('can read that its key is wrong', async () => {
    const wrong = { token: 'hk_wrong', headers: { origin: APP } }
    expect(shown(await services.listed.call('GET', '/api/teams', wrong))).toEqual([401, APP])
  })
})

describe('a preflight', () => {
  const ask = (kind: keyof typeof services, origin: string, headers = 'authorization,content-type') =>
    services[kind].call('OPTIONS', '/api/teams', {
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
    })

  test('is allowed for a listed origin that will send a key, and never allows cookies', async () => {
    const answer = await ask('listed', APP)
    expect(shown(answer)).toEqual([204, APP])
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, PATCH, DELETE')
    for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'X-Workspace-Id'])
      expect(answer.headers.get('access-control-allow-headers')).toContain(name)
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(shown(await ask('any', EVIL))).toEqual([204, '*'])
  })

  test('is refused for other origins, if no key is announced, and if nothing is configured', async () => {
    const answers = [await ask('listed', EVIL), await ask('listed', APP, 'content-type'), await ask('none', APP)]
    expect(answers.map(shown)).toEqual(answers.map(() => [405, null]))
  })
})

describe('a session cookie', () => {
  test.each(['listed', 'any'] as const)('gives no access to a page of another origin (%s)', async (kind) => {
    const { browser } = await signUp(services[kind].base)
    for (const origin of [APP, EVIL]) {
      const read = await browser.call('GET', '/auth/me', { headers: { origin } })
      expect(shown(read)).toEqual([401, null])
      const change = await browser.call('POST', '/api/teams', { body: { name: 'x' }, headers: { origin } })
      expect([...shown(change), change.body.code]).toEqual([403, null, 'foreign_origin'])
      expect(change.headers.get('access-control-allow-credentials')).toBeNull()
    }
    const own = await browser.call('GET', '/auth/me', { headers: { origin: services[kind].base } })
    expect(own.status).toBe(200)
  })
})

test('the allowed origins of a widget come from its token, regardless of the configuration', async () => {
  const { owner } = worlds.any
  const template = (await owner.call('POST', '/api/templates', { body: { name: 'Shop', allowed_origins: [APP] } })).body
  const { token } = (await owner.call('POST', `/api/templates/${template.template_id}/embed-tokens`, { body: {} })).body
  const config = (origin: string) =>
    services.any.call('GET', `/api/embed/template/${template.template_id}/config`, { token, headers: { origin } })
  expect(shown(await config(APP))).toEqual([200, APP])
  expect(shown(await config(EVIL))).toEqual([403, null])
})
