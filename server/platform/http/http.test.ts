import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { migrate } from '#platform/db/migrate'
import { bootstrapRoles } from '#platform/db/roles'
import { newSecret } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { startService, useService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { makeRateLimiter } from './limits.ts'
import { callerAddress, countUnidentified } from './throttle.ts'

// Tests the behaviour that the kernel gives every operation, with one operation as the example.

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const post = (raw: string | Buffer, headers: Record<string, string> = {}) =>
  world.owner.call('POST', '/api/companies', { raw, headers: { 'content-type': 'application/json', ...headers } })
const count = async (): Promise<number> =>
  (await service().sql<{ n: number }>('select count(*)::int as n from companies'))[0]!.n

describe('a caller whose identity is in memory', () => {
  const asked = async (person: TestPerson, path = '/api/teams', headers = {}) =>
    (await person.call('GET', path, { headers })).status

  test('is refused at once when the key, the role or the membership is gone', async () => {
    const { sql } = service()
    const person = await makePerson(service())
    const makeTeam = async () => (await person.call('POST', '/api/teams', { body: { name: 'Team' } })).status
    await addMember(service(), world.workspace, person, 'member')
    expect([await asked(person), await makeTeam()]).toEqual([200, 201])
    await sql(`update memberships set role = 'viewer' where user_id = $1`, [person.uuid])
    expect([await asked(person), await makeTeam()]).toEqual([200, 403])
    await sql(`delete from memberships where user_id = $1`, [person.uuid])
    expect(await asked(person, '/api/teams', { 'x-workspace-id': world.workspace.id })).toBe(404)
    await addMember(service(), world.workspace, person, 'member')
    expect(await asked(person, '/api/teams', { 'x-workspace-id': world.workspace.id })).toBe(200)
    await sql('delete from api_keys where user_id = $1', [person.uuid])
    expect(await asked(person)).toBe(401)
    const unreadable = await person.call('POST', '/api/teams', {
      raw: '{"name":',
      headers: { 'content-type': 'application/json' },
    })
    expect(unreadable.status).toBe(401)
  })
})

describe('bodies', () => {
  test('unknown fields are named by JSON Pointers, and long lists are truncated', async () => {
    const one = await post(JSON.stringify({ name: 'x', 'a/b~c': 1 }))
    expect([one.status, one.body.errors]).toEqual([422, [{ path: '/a~1b~0c', message: 'is not a known field' }]])
    const many = await post(
      JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, key) => [`k${key}`, 1]))),
    )
    expect(many.status).toBe(422)
    expect((many.body.errors as unknown[]).length).toBeLessThanOrEqual(50)
  })

  test('an unreadable body is refused with a clear problem, and nothing is stored', async () => {
    const before = await count()
    const nested = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`
    const cases: [string | Buffer, Record<string, string>, number, string][] = [
      ['{"name":', {}, 400, 'malformed'],
      [Buffer.from([0x7b, 0xff, 0x7d]), {}, 400, 'malformed'],
      [`{"name":"x","metadata":${nested}}`, {}, 400, 'too_deep'],
      ['{"name":"x","metadata":{"__proto__":{"operator":true}}}', {}, 400, 'malformed'],
      ['{"name":"x","metadata":{"\\u005f_proto__":1}}', {}, 400, 'malformed'],
      ['[]', {}, 422, 'invalid'],
      ['"text"', {}, 422, 'invalid'],
      ['{"name":"a\\u0000b"}', {}, 422, 'invalid'],
      ['{"name":"\\ud800"}', {}, 422, 'invalid'],
      ['{"name":"x"}', { 'content-type': 'nonsense' }, 415, 'unsupported_media_type'],
      ['name=x', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
      [`{"name":"${'x'.repeat(1 << 20)}"}`, {}, 413, 'too_large'],
    ]
    for (const [raw, headers, status, code] of cases) {
      const answer = await post(raw, headers)
      expect([answer.status, answer.body.code], String(raw).slice(0, 60)).toEqual([status, code])
      expect(answer.headers.get('content-type')).toContain('application/problem+json')
    }
    expect(await count()).toBe(before)
  })

  test('a number beyond the largest double is refused, and not stored as null', async () => {
    const largest = '1.7976931348623157e308'
    for (const number of ['1e400', '-1E+400', `1${'0'.repeat(309)}`, `${'9'.repeat(300)}e9`]) {
      const { status, body } = await post(`{"name":"x","metadata":{"a":[${largest},${number}]}}`)
      expect([status, body.errors]).toEqual([
        422,
        [{ path: '/metadata/a/1', message: 'is a number that is too large' }],
      ])
    }
    const stored = await post(`{"name":"x","metadata":{"a":[${largest},1e-400,12e3],"b":"1e400"}}`)
    expect(stored.body.metadata).toEqual({ a: [Number.MAX_VALUE, 0, 12_000], b: '1e400' })
  })

  test('an absent body is an empty object, regardless of its content type', async () => {
    for (const type of ['text/plain', 'nonsense', 'application/octet-stream', 'multipart/form-data', ''])
      for (const path of ['/api/companies', '/api/datasets']) {
        const answer = await world.owner.call('POST', path, { headers: { 'content-type': type } })
        expect([path, type, answer.status, answer.body.errors?.[0].path]).toEqual([path, type, 422, '/name'])
      }
    const chunked = await new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${world.owner.key}`,
        'content-type': 'nonsense',
        'transfer-encoding': 'chunked',
      }
      const sent = request(`${service().base}/api/companies`, { method: 'POST', headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode!)
      })
      sent.once('error', reject).end()
    })
    expect(chunked).toBe(422)
  })

  test('text that looks like code is stored unchanged', async () => {
    for (const name of [
      '{{1+1}}',
      '#{1+1}',
      "'; drop table users; --",
      '<script>alert(1)</script>',
      '{"$cel":"1+1"}',
    ]) {
      expect((await world.owner.call('POST', '/api/companies', { body: { name } })).body.name).toBe(name)
    }
  })
})

describe('requests', () => {
  test('a request id is echoed, or generated if it is absent or unfit for a log', async () => {
    expect(
      (await world.owner.call('GET', '/api/companies', { headers: { 'x-request-id': 'abc-1' } })).headers.get(
        'x-request-id',
      ),
    ).toBe('abc-1')
    const minted = (
      await world.owner.call('GET', '/api/companies', { headers: { 'x-request-id': 'a b {}' } })
    ).headers.get('x-request-id')
    expect(minted).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('a person without a workspace is told to create one', async () => {
    const person = await makePerson(service())
    for (const [method, path] of [
      ['POST', '/api/teams'],
      ['GET', '/api/workflows'],
      ['POST', '/api/presence'],
    ] as const) {
      const { status, body } = await person.call(method, path, { body: method === 'POST' ? { name: 'x' } : undefined })
      expect([path, status, body.code]).toEqual([path, 404, 'not_found'])
      expect(body.detail, path).toContain('POST /api/workspaces')
    }
  })

  test('unknown addresses and parameters are refused', async () => {
    expect((await world.owner.call('GET', '/api/nothing')).body.code).toBe('route_not_found')
    expect((await world.owner.call('GET', '/api/companies?colour=red')).body.errors[0].path).toBe('/colour')
    expect((await world.owner.call('GET', '/api/companies?limit=5&limit=6')).status).toBe(422)
    expect((await world.owner.call('GET', '/api/companies/co_%2e%2e%2f')).status).toBe(404)
  })

  test('a NUL in a parameter is named; a path with a NUL is not found', async () => {
    const { status, body } = await world.owner.call('GET', '/api/companies?limit=5&q=a%00b')
    expect([status, body.errors]).toEqual([
      422,
      [{ path: '/q', message: 'contains a character that cannot be stored' }],
    ])
    for (const slug of ['%00', 'a%00b'])
      expect((await world.owner.call('GET', `/api/teams/slug/${slug}`)).status).toBe(404)
  })

  test('a 422 has errors, also if no field is at fault', async () => {
    const { body: thread } = await world.owner.call('POST', '/api/chat-thread', { body: { title: 'Silent' } })
    const path = `/api/chat-thread/${thread.thread_id}/transcribe`
    const { status, body } = await world.owner.call('POST', path, { headers: { 'content-type': 'audio/wav' } })
    expect([status, body.code, body.errors]).toEqual([422, 'audio_unreadable', [{ path: '', message: body.detail }]])
  })

  test('every response has the headers that keep a browser from guessing content types', async () => {
    const { headers } = await world.owner.call('GET', '/api/companies')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('an unchanged resource is not sent again', async () => {
    const path = `/api/companies/${world.workspace.company.id}`
    const etag = (await world.owner.call('GET', path)).headers.get('etag')!
    expect((await world.owner.call('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })

  test('a created workflow and a created version have their ETag, also if they have warnings', async () => {
    const definition = { nodes: [{ id: 'a', type: 'set', args: { values: { v: { $ref: 'vars.MISSING' } } } }] }
    const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Tagged', definition } })
    const versions = `/api/workflows/${made.body.workflow_id}/versions`
    const answers = [made, await world.owner.call('POST', versions, { body: { definition } })]
    for (const { body, headers } of answers) {
      expect(body.warnings).toHaveLength(1)
      const unchanged = { headers: { 'if-none-match': headers.get('etag')! } }
      expect((await world.owner.call('GET', headers.get('location')!, unchanged)).status).toBe(304)
    }
  })

  test('If-Match of a DELETE is compared with the ETag of GET', async () => {
    const { body } = await world.owner.call('POST', '/api/companies', { body: { name: 'Short-lived' } })
    const path = `/api/companies/${body.company_id}`
    const etag = (await world.owner.call('GET', path)).headers.get('etag')!
    await world.owner.call('PATCH', path, { body: { name: 'Changed' } })
    expect((await world.owner.call('DELETE', path, { headers: { 'if-match': etag } })).status).toBe(412)
    const now = (await world.owner.call('GET', path)).headers.get('etag')!
    expect((await world.owner.call('DELETE', path, { headers: { 'if-match': now } })).status).toBe(204)
  })
})

describe('limits', () => {
  test('a bucket allows a burst, refills steadily and returns the time to wait; each key has its own bucket', () => {
    let now = 0
    const limiter = makeRateLimiter(() => now)
    const limit = { name: 'few', burst: 3, perSecond: 1 }
    const take = (key = 'a') => limiter.take(limit, key)
    expect([take(), take(), take()].every(({ allowed }) => allowed)).toBe(true)
    expect(take()).toMatchObject({ allowed: false, retryAfterS: 1 })
    expect(take('b').allowed).toBe(true)
    now = 1000
    expect(take().allowed).toBe(true)
    expect(take().allowed).toBe(false)
  })

  test.each([
    [0, 0],
    [1, 0],
    [2, 1_000],
    [3, 2_000],
  ])('after %i requests of a burst of four, of which two start at once, the next one waits %i ms', (taken, waitMs) => {
    let now = 0
    const limiter = makeRateLimiter(() => now)
    const limit = { name: 'few', burst: 4, perSecond: 1, atOnce: 2 }
    for (let n = 0; n < taken; n++) limiter.take(limit, 'a')
    expect(limiter.take(limit, 'a')).toMatchObject({ allowed: true, waitMs })
    expect(limiter.peek(limit, 'a')).toMatchObject({ waitMs: Math.max(0, (taken - 1) * 1_000) })
    now = 10_000
    expect(limiter.peek(limit, 'a').waitMs).toBe(0)
  })

  test('a held token counts until it is settled; a caller who finds no token left waits for that', async () => {
    const limiter = makeRateLimiter(() => 0)
    const limit = { name: 'few', burst: 2, perSecond: 1 }
    const hold = (key = 'a') => limiter.hold(limit, key)
    const [first, second] = [await hold(), await hold()]
    expect([first.verdict.allowed, second.verdict.allowed]).toEqual([true, true])
    const [third, fourth] = [hold(), hold()]
    expect((await hold('b')).verdict.allowed).toBe(true)
    first.settle(false)
    second.settle(true)
    expect((await third).verdict.allowed).toBe(true)
    ;(await third).settle(true)
    expect((await fourth).verdict).toMatchObject({ allowed: false, retryAfterS: 1 })
    expect((await hold()).verdict.allowed).toBe(false)
  })

  test('an address that sends many bad credentials has to wait', async () => {
    const limiter = makeRateLimiter(() => 0)
    const headers: Record<string, string> = {}
    const refuse = () =>
      countUnidentified(limiter, { ip: '203.0.113.9' }, { headers: (told) => Object.assign(headers, told) as never })
    for (let tries = 0; tries < 200; tries++) refuse()
    expect(refuse).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfterS: 1 }))
    expect(headers.ratelimit).toBe('"address";r=0;t=1')
    const limited = await startService({ database: service().database, env: { HEDDLE_RATE_LIMITS: 'on' } })
    try {
      const { status, headers } = await limited.call('GET', '/api/companies', { token: newSecret('hk') })
      expect([status, headers.get('ratelimit')]).toEqual([401, '"address";r=199;t=0'])
    } finally {
      await limited.stop()
    }
  })

  test('all addresses of one IPv6 network are one caller', () => {
    expect(callerAddress('203.0.113.9')).toBe('203.0.113.9')
    expect(callerAddress('::ffff:203.0.113.9')).toBe('::ffff:203.0.113.9')
    for (const ip of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::', '2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::1%eth0'])
      expect(callerAddress(ip)).toBe('2001:db8:1:2::/64')
    expect(callerAddress('2001:db8:1:3::1')).not.toBe(callerAddress('2001:db8:1:2::1'))
    expect(callerAddress('::1')).toBe('0:0:0:0::/64')
  })

  test('responses contain the remaining number of requests', async () => {
    const limited = await startService({ database: service().database, env: { HEDDLE_RATE_LIMITS: 'on' } })
    try {
      const { headers } = await limited.call('GET', '/api/companies', { token: world.owner.key })
      expect(headers.get('ratelimit-policy')).toBe('"general";q=200;w=2')
      expect(headers.get('ratelimit')).toMatch(/^"general";r=1\d\d;t=0$/)
    } finally {
      await limited.stop()
    }
  })
})

test('callers get 503 with Retry-After while the database is down, and requests succeed when it is back', async () => {
  const directory = await makeTemporaryDirectory()
  const log = makeLogger('silent')
  const postgres = await startEmbeddedPostgres({ dataDir: directory.path, log, durable: false })
  const urls = await bootstrapRoles({
    ownerUrl: postgres.ownerUrl,
    passwordFor: (role) => role,
    createDatabase: 'away',
  })
  await migrate({ ownerUrl: urls.owner, directory: 'migrations', log })
  const superuserUrl = Object.assign(new URL(postgres.ownerUrl), { pathname: '/away' }).href
  const alone = await startService({ database: { name: 'away', urls, superuserUrl } })
  try {
    const person = await makePerson(alone)
    await makeWorkspace(alone, person)
    expect((await person.call('GET', '/api/companies')).status).toBe(200)
    // This cluster does not wait for the disk, so recent data would be lost with the server.
    await alone.sql('checkpoint')
    process.kill(postgres.postmasterPid, 'SIGSTOP')
    process.kill(postgres.postmasterPid, 'SIGKILL')
    const refused = await until(async () => {
      const answer = await person.call('GET', '/api/companies')
      return answer.status === 503 ? answer : undefined
    }, 'a refusal')
    expect(refused.body.code).toBe('unavailable')
    expect(refused.headers.get('retry-after')).toBe('1')
    await until(async () => (await person.call('GET', '/api/companies')).status === 200, 'the database to be back')
  } finally {
    await alone.stop()
    await postgres.stop()
    await directory.remove()
  }
})
