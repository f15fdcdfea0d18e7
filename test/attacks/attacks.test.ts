import { beforeAll, describe, expect, test } from 'vitest'
import { newId, newSecret, toWire } from '#platform/ids'
import { type Cast, makeCast } from '../access/matrix.ts'
import { signUp } from '../harness/browser.ts'
import { useSharedService } from '../harness/service.ts'
import { furnish } from './furnish.ts'

// Attacks from outside. The matrix in access/ covers ids in paths, kinds of callers, fields that the server sets, and
// cursors; bodies.test.ts covers ids in bodies. This file covers invalid credentials and other spellings of addresses.

const service = useSharedService()
let cast: Cast
/** Ids in our workspace, by name. */
let ours: Record<string, string>

beforeAll(async () => {
  cast = await makeCast(service())
  ours = await furnish(cast.author)
})

describe('an invalid credential', () => {
  test('gives no access: empty, null, of another kind, twice, or in the address', async () => {
    const { body } = await cast.author.call('POST', `/api/workflows/${ours.wf}/tokens`, { body: {} })
    const trigger = `/api/webhooks/workflow/${ours.wf}/trigger`
    expect((await service().call('POST', trigger, { token: body.token })).status).toBe(202)
    const lies = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer null',
      'Bearer undefined',
      'Bearer []',
      `Bearer ${newSecret('hk')}`,
      `Bearer ${newSecret('whs')}`,
      `Bearer ${'x'.repeat(7000)}`,
      `Basic ${Buffer.from(`${cast.author.key}:`).toString('base64')}`,
      `Bearer ${cast.author.key}x`,
      `Bearer ${cast.author.key} ${cast.author.key}`,
      `Bearer ${cast.author.key.toUpperCase()}`,
    ]
    for (const authorization of lies) {
      for (const [method, path] of [
        ['GET', '/api/workflows'],
        ['POST', trigger],
      ] as const) {
        const { status } = await service().call(method, path, { headers: { authorization } })
        expect([authorization.slice(0, 30), path, status]).toEqual([authorization.slice(0, 30), path, 401])
      }
    }
    // Each kind of token is sent where the other kind belongs.
    expect((await service().call('POST', trigger, { token: cast.author.key })).status).toBe(401)
    expect((await service().call('GET', '/api/workflows', { token: body.token })).status).toBe(401)
    for (const query of [
      `?token=${body.token}`,
      `?access_token=${body.token}`,
      `?authorization=Bearer%20${body.token}`,
    ])
      expect([query.slice(0, 9), (await service().call('POST', trigger + query)).status]).toEqual([
        query.slice(0, 9),
        401,
      ])
    for (const query of [`?api_key=${cast.author.key}`, `?token=${cast.author.key}`])
      expect((await service().call('GET', `/api/workflows${query}`)).status).toBe(401)
  })

  test('is refused before the id is checked; with a valid token an invalid id is still refused', async () => {
    const { body } = await cast.author.call('POST', `/api/workflows/${ours.wf}/tokens`, { body: {} })
    const at = (workflow: string, execution: string) => `/api/webhooks/workflow/${workflow}/executions/${execution}`
    const status = async (path: string, token?: string) =>
      (await service().call('GET', path, token === undefined ? {} : { token })).status
    expect(await status(at('wf_nonsense', 'exe_nonsense'))).toBe(401)
    expect(await status(at('wf_nonsense', 'exe_nonsense'), body.token)).toBe(401)
    expect(await status(at(toWire('wf', newId()), 'exe_nonsense'), body.token)).toBe(401)
    expect(await status(at(ours.wf!, 'exe_nonsense'), body.token)).toBe(404)
    expect(await status(at(ours.wf!, toWire('exe', newId())), body.token)).toBe(404)
  })

  test('is refused even if a valid session is sent with it', async () => {
    const { browser } = await signUp(service().base)
    expect((await browser.call('GET', '/auth/me')).status).toBe(200)
    expect((await browser.call('GET', '/auth/me', { token: newSecret('hk') })).status).toBe(401)
  })

  test('a session cookie sent from another site cannot change anything', async () => {
    const { browser } = await signUp(service().base)
    const attempts: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${service().base}.evil.example` },
      { 'sec-fetch-site': 'cross-site' },
      { origin: service().base.replace(/:\d+$/, ':1') },
    ]
    for (const headers of attempts) {
      const answer = await browser.call('POST', '/api/companies', { body: { name: 'Forged' }, headers })
      expect([headers, answer.body.code]).toEqual([headers, 'foreign_origin'])
    }
    expect(await service().sql(`select from companies where name = 'Forged'`)).toEqual([])
  })
})

test('a notification can link only to the console or a web page, not to a disguised host', async () => {
  const linking = (link: string) =>
    cast.author.call('POST', '/api/workflows', {
      body: {
        name: 'W',
        definition: { nodes: [{ id: 'n', type: 'notify', args: { title: 'T', body: 'B', link } }], edges: [] },
      },
    })
  for (const link of ['//evil.example', '/\\evil.example', 'javascript:alert(1)', 'data:text/html,x', 'evil'])
    expect([link, (await linking(link)).status]).toEqual([link, 422])
  for (const link of ['/', '/runs/1', 'https://example.com/'])
    expect([link, (await linking(link)).status]).toEqual([link, 201])
})

describe('other spellings of an address', () => {
  test('are refused', async () => {
    for (const path of [
      '/api/workflows/',
      '/API/workflows',
      '/api//workflows',
      '/api/workflows%2f',
      `/api/workflows/${ours.wf}%00`,
      `/api/workflows/${ours.wf!.toUpperCase()}`,
      `/api/workflows/..%2fworkflows%2f${ours.wf}`,
      `/api/workflows/%2e%2e%2f%2e%2e%2fetc%2fpasswd`,
    ]) {
      const { status } = await cast.author.call('GET', path)
      expect([path, status]).toEqual([path, 404])
    }
    for (const query of [
      '?limit=1&limit=2',
      '?limit[]=1',
      '?limit=1e9',
      '?limit=-1',
      '?cursor=x&cursor=y',
      '?__proto__=1',
    ]) {
      const { status } = await cast.author.call('GET', `/api/workflows${query}`)
      expect([query, status]).toEqual([query, 422])
    }
  })

  test('a read-only address changes nothing with any other method', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      expect([method, (await cast.author.call(method, '/api/workflows')).status]).toEqual([method, 405])
    const forged = await cast.author.call('GET', `/api/workflows/${ours.wf}`, {
      headers: { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' },
    })
    expect(forged.status).toBe(200)
    expect((await cast.author.call('GET', `/api/workflows/${ours.wf}?_method=DELETE`)).status).toBe(422)
    expect((await cast.author.call('GET', `/api/workflows/${ours.wf}`)).status).toBe(200)
  })
})
