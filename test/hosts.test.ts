import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { seed } from '#server/seed'
import { useService } from '#test/harness/service'
import { makePerson, makeWorkspace, type TestPerson } from '#test/harness/world'

const service = useService({ env: { HEDDLE_OPERATORS: 'Op@Example.com, second@example.com' } })

/** Sends a request with a given Host header, which `fetch` does not allow. */
function callHost(
  host: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      service().base + path,
      {
        method: body ? 'POST' : 'GET',
        headers: { host, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      },
      (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += chunk))
        answer.on('end', () => resolve({ status: answer.statusCode!, body: text === '' ? {} : JSON.parse(text) }))
      },
    )
    sent.on('error', reject)
    sent.end(body ? JSON.stringify(body) : undefined)
  })
}

describe('operators', () => {
  const claimsOf = (lines: string[]) =>
    new Map(
      lines
        .flatMap((line) => (/^heddle operator claim for (\S+): (\S+)$/.exec(line) ?? []).slice(1, 3).join(' ') || [])
        .map((pair) => pair.split(' ') as [string, string]),
    )
  const start = async () =>
    claimsOf(
      await seed({
        config: service().config,
        ownerUrl: service().database.urls.owner,
        http: service().app.http,
        log: service().app.http.log as never,
      }),
    )
  const signUp = (body: Record<string, unknown>) =>
    service().call('POST', '/auth/sign-up', { body: { password: 'correct horse', name: 'Op', ...body } })

  test('claim their reserved address with the token printed at start, once', async () => {
    const first = await start()
    expect([...first.keys()]).toEqual(['op@example.com', 'second@example.com'])
    const claims = await start()
    const wrong = [undefined, 'claim_x', first.get('op@example.com'), claims.get('second@example.com')]
    for (const claim_token of wrong)
      expect((await signUp({ email: 'OP@example.com', ...(claim_token && { claim_token }) })).body.code).toBe(
        'address_reserved',
      )
    const both = await Promise.all(
      [1, 2].map(() => signUp({ email: 'op@example.com', claim_token: claims.get('op@example.com') })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([201, 403])
    const cookie = both
      .find(({ status }) => status === 201)!
      .headers.getSetCookie()[0]!
      .split(';')[0]!
    expect((await service().call('GET', '/auth/me', { headers: { cookie } })).body.operator).toBe(true)
    expect([...(await start()).keys()]).toEqual(['second@example.com'])
    const stored = await service().sql('select operator_claims::text as row from operator_claims')
    expect(JSON.stringify(stored)).not.toContain('claim_')
  })
})

describe('orgs by host', () => {
  let here: TestPerson
  let there: TestPerson

  test('a single org answers under every host', async () => {
    expect((await callHost('whatever.example', '/auth/oidc')).status).toBe(200)
  })

  describe('with two orgs', () => {
    beforeAll(async () => {
      const second = newId()
      const [first] = await service().sql<{ org_id: string }>('select org_id from orgs')
      await service().sql(`insert into orgs (org_id, name) values ($1, 'Second')`, [second])
      await service().sql(`insert into org_hosts (host, org_id) values ('one.example', $1), ('two.example', $2)`, [
        first!.org_id,
        second,
      ])
      here = await makePerson(service(), { email: 'same@example.com' })
      there = await makePerson(service(), { email: 'same@example.com', orgId: second })
      await makeWorkspace(service(), there)
    })

    test('an unknown host gets 404, and a forwarded host is ignored', async () => {
      // The service reads the hosts again after two seconds.
      await expect.poll(async () => (await callHost('unknown.example', '/auth/oidc')).status).toBe(404)
      expect((await callHost('unknown.example', '/auth/me')).body.code).toBe('unknown_host')
      expect((await callHost('unknown.example', '/auth/me', { 'x-forwarded-host': 'one.example' })).body.code).toBe(
        'unknown_host',
      )
    })

    test('a credential of one org is refused under the host of another org', async () => {
      const me = (host: string, person: TestPerson) =>
        callHost(host, '/auth/me', { authorization: `Bearer ${person.key}` })
      expect((await me('one.example', here)).status).toBe(200)
      expect((await me('TWO.example:8080', there)).status).toBe(200)
      expect((await me('one.example', there)).status).toBe(401)
      expect((await me('two.example', here)).status).toBe(401)
    })

    test('links contain the host of the org', async () => {
      const workspaces = await callHost('two.example', '/api/workspaces', { authorization: `Bearer ${there.key}` })
      const [workspace] = workspaces.body.items as { workspace_id: string }[]
      const invited = await callHost(
        'two.example',
        `/api/workspaces/${workspace!.workspace_id}/members/invite`,
        { authorization: `Bearer ${there.key}` },
        { email: 'new@example.com' },
      )
      const link = new URL(invited.body.link as string)
      expect(link.host).toBe('two.example')
      const accept = (host: string) =>
        callHost(host, `/auth${link.pathname}/accept`, {}, { name: 'New', password: 'correct horse' })
      expect((await accept('one.example')).status).toBe(404)
      expect((await accept('two.example')).status).toBe(201)
    })
  })
})
