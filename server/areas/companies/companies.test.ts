import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { fiftyTimes } from '#test/harness/fifty-times'
import { useSharedService } from '#test/harness/service'
import { addMember, makeOperator, makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

describe('companies', () => {
  test('a created company belongs to its creator, who can list and read it', async () => {
    const made = await world.member.call('POST', '/api/companies', {
      body: { name: ' Acme ', metadata: { vat: 'NL1' } },
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'Acme', owner_id: world.member.id, metadata: { vat: 'NL1' } })
    expect(made.headers.get('location')).toBe(`/api/companies/${made.body.company_id}`)
    const list = await world.member.call('GET', '/api/companies')
    expect(list.body.items.map((company: { company_id: string }) => company.company_id)).toEqual([
      made.body.company_id,
      world.workspace.company.id,
    ])
  })

  test('the company of another user and a random id get the same 404', async () => {
    const foreign = await world.stranger.call('GET', `/api/companies/${world.workspace.company.id}`, {
      headers: { 'x-request-id': 'same' },
    })
    const random = await world.stranger.call('GET', '/api/companies/co_01kf3v6h2he3wtpk1fw5c0wz9d', {
      headers: { 'x-request-id': 'same' },
    })
    expect(foreign.status).toBe(404)
    expect(foreign.text).toBe(random.text)
  })

  test('a member of one of its workspaces can read but not change it; an owner of a workspace can change it', async () => {
    const path = `/api/companies/${world.workspace.company.id}`
    expect((await world.viewer.call('GET', path)).status).toBe(200)
    expect((await world.member.call('PATCH', path, { body: { name: 'x' } })).status).toBe(403)
    expect((await world.owner.call('PATCH', path, { body: { name: 'Renamed', metadata: null } })).body).toMatchObject({
      name: 'Renamed',
      metadata: {},
    })
  })

  test('a company with workspaces cannot be deleted; an empty company can', async () => {
    expect((await world.owner.call('DELETE', `/api/companies/${world.workspace.company.id}`)).body.code).toBe(
      'not_empty',
    )
    const { body } = await world.owner.call('POST', '/api/companies', { body: { name: 'Empty' } })
    expect((await world.owner.call('DELETE', `/api/companies/${body.company_id}`)).status).toBe(204)
    expect((await world.owner.call('GET', `/api/companies/${body.company_id}`)).status).toBe(404)
  })

  test('an owner who leaves the last of its workspaces passes the company on to an owner of that workspace', async () => {
    const [founder, successor] = [await makePerson(service()), await makePerson(service())]
    const first = await makeWorkspace(service(), founder)
    const path = `/api/companies/${first.company.id}`
    const body = { name: 'Second', company_id: first.company.id }
    const { body: second } = await founder.call('POST', '/api/workspaces', { body })
    for (const uuid of [first.uuid, fromWire('ws', second.workspace_id)!])
      await addMember(service(), { uuid }, successor, 'owner')
    const remove = (workspace: string) => successor.call('DELETE', `/api/workspaces/${workspace}/members/${founder.id}`)

    expect((await remove(first.id)).status).toBe(204)
    expect((await successor.call('GET', path)).body.owner_id).toBe(founder.id)
    expect((await remove(second.workspace_id)).status).toBe(204)
    expect((await successor.call('GET', path)).body.owner_id).toBe(successor.id)
    expect((await founder.call('GET', path)).status).toBe(404)
    expect((await founder.call('POST', '/api/workspaces', { body })).body.errors[0].path).toBe('/company_id')
    const heard = await successor.call('GET', '/api/notifications?limit=1')
    expect(heard.body.items[0]).toMatchObject({ kind: 'company.passed_on' })
  })

  test('the audit log records who created, changed and deleted a company', async () => {
    const operator = await makeOperator(service())
    const { body } = await world.owner.call('POST', '/api/companies', { body: { name: 'Traced' } })
    await world.owner.call('PATCH', `/api/companies/${body.company_id}`, { body: { name: 'Traced on' } })
    await world.owner.call('DELETE', `/api/companies/${body.company_id}`)
    for (const [action, name] of [
      ['company.created', 'Traced'],
      ['company.updated', 'Traced on'],
      ['company.deleted', 'Traced on'],
    ]) {
      const log = (await operator.call('GET', `/api/audit-log?action=${action}`)).body.items
      expect(log[0]).toMatchObject({ subject: body.company_id, actor_id: world.owner.id, data: { name } })
    }
  })

  test('an operator lists all companies, and the listing is audited', async () => {
    const operator = await makeOperator(service())
    const { body } = await operator.call('GET', '/api/companies')
    const named = (id: string) => (company: { company_id: string }) => company.company_id === id
    const { company } = world.elsewhere
    expect(body.items.find(named(company.id))).toMatchObject({ owner_name: expect.any(String) })
    const own = (await world.owner.call('GET', '/api/companies')).body.items
    expect(own.find(named(world.workspace.company.id))).not.toHaveProperty('owner_name')
    const [entry] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where action = 'operator.listed' and actor_id = $1`,
      [operator.uuid],
    )
    expect(entry!.n).toBe(1)
    expect((await operator.call('GET', `/api/companies/${world.elsewhere.company.id}`)).status).toBe(404)
  })

  test('unknown fields, wrong types and server-owned fields are refused and change nothing', async () => {
    const bad = await world.owner.call('POST', '/api/companies', { body: { name: 5, colour: 'red' } })
    expect(bad.status).toBe(422)
    expect(bad.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual(['/colour', '/name'])
    expect(
      (await world.owner.call('POST', '/api/companies', { body: { name: 'x', owner_id: world.member.id } })).body.code,
    ).toBe('read_only')
    const path = `/api/companies/${world.workspace.company.id}`
    const present = (await world.owner.call('GET', path)).body
    expect((await world.owner.call('PATCH', path, { body: present })).status).toBe(200)
    expect((await world.owner.call('PATCH', path, { body: { ...present, owner_id: world.member.id } })).body.code).toBe(
      'read_only',
    )
  })

  test('If-Match rejects an update after a concurrent change', async () => {
    const path = `/api/companies/${world.workspace.company.id}`
    const etag = (await world.owner.call('GET', path)).headers.get('etag')!
    expect(
      (await world.owner.call('PATCH', path, { body: { name: 'One' }, headers: { 'if-match': etag } })).status,
    ).toBe(200)
    expect(
      (await world.owner.call('PATCH', path, { body: { name: 'Two' }, headers: { 'if-match': etag } })).status,
    ).toBe(412)
    expect((await world.owner.call('GET', path)).body.name).toBe('One')
  })

  test('fifty parallel creates with one idempotency key create one company and return fifty equal responses', async () => {
    const answers = await fiftyTimes(() =>
      world.owner.call('POST', '/api/companies', {
        body: { name: 'Once' },
        headers: { 'idempotency-key': 'k1', 'x-request-id': 'r' },
      }),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]!.status).toBe(201)
    const [row] = await service().sql<{ n: number }>(
      `select count(*)::int as n from companies where name = 'Once' and owner_id = $1`,
      [world.owner.uuid],
    )
    expect(row!.n).toBe(1)
    const other = await world.owner.call('POST', '/api/companies', {
      body: { name: 'Twice' },
      headers: { 'idempotency-key': 'k1' },
    })
    expect(other.body.code).toBe('idempotency_key_reused')
  })

  test('paging returns the whole list once', async () => {
    const names: string[] = []
    let cursor = ''
    do {
      const { body } = await world.owner.call('GET', `/api/companies?limit=2${cursor}`)
      names.push(...body.items.map((company: { name: string }) => company.name))
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('Once')
    expect((await world.owner.call('GET', '/api/companies?cursor=nonsense')).status).toBe(422)
    expect((await world.owner.call('GET', '/api/companies?limit=201')).status).toBe(422)
  })
})
