import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { startService } from '#test/harness/service'
import { mayReadMetrics } from './metrics-access.ts'
import { transportHeaders } from './security.ts'

const TOKEN = 'a-token-of-the-operator'
const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}) =>
  ({ raw: { socket: { remoteAddress } }, headers }) as unknown as FastifyRequest

test.each([
  ['127.0.0.1', {}, true],
  ['127.8.0.3', {}, true],
  ['::1', {}, true],
  ['::ffff:127.0.0.1', {}, true],
  ['10.0.0.1', {}, false],
  ['203.0.113.7', {}, false],
  ['::ffff:10.0.0.1', {}, false],
  [undefined, {}, false],
  ['203.0.113.7', { 'x-forwarded-for': '127.0.0.1' }, false],
  ['127.0.0.1', { 'x-forwarded-for': '203.0.113.7' }, false],
  ['127.0.0.1', { forwarded: 'for=203.0.113.7' }, false],
  ['203.0.113.7', { authorization: `Bearer ${TOKEN}` }, true],
  ['203.0.113.7', { authorization: 'Bearer another' }, false],
  ['203.0.113.7', { authorization: 'Bearer ' }, false],
])('a request from %s with %j may read the metrics: %s', (address, headers, allowed) => {
  expect(mayReadMetrics(TOKEN, from(address, headers as Record<string, string>))).toBe(allowed)
})

test('no token gives access if none is configured', () => {
  for (const authorization of ['Bearer ', 'Bearer null', 'Bearer undefined'])
    expect(mayReadMetrics(null, from('203.0.113.7', { authorization }))).toBe(false)
})

test('through a proxy /metrics requires the token, and every response tells browsers to use TLS', async () => {
  const service = await startService({
    env: {
      HEDDLE_METRICS_TOKEN: TOKEN,
      HEDDLE_BASE_URL: 'https://heddle.example',
      HEDDLE_TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  try {
    const through = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' }
    const refused = await service.call('GET', '/metrics', { headers: through })
    expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated'])
    expect((await service.call('GET', '/metrics', { headers: through, token: TOKEN })).status).toBe(200)
    expect((await service.call('GET', '/metrics')).status).toBe(200)
    for (const path of ['/healthz', '/auth/me', '/nowhere'])
      expect((await service.call('GET', path)).headers.get('strict-transport-security')).toBe('max-age=31536000')
  } finally {
    await service.stop()
  }
})

test.each([
  [null, 'http', false],
  [null, 'https', true],
  ['https://heddle.example', 'http', true],
  ['http://heddle.example', 'http', false],
  ['http://heddle.example', 'https', true],
] as const)('with the address %s, a request over %s gets HSTS: %s', (HEDDLE_BASE_URL, protocol, sent) => {
  expect('strict-transport-security' in transportHeaders({ HEDDLE_BASE_URL }, { protocol })).toBe(sent)
})
