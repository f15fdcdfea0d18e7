import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { addMember, makeOperator, makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const same = { 'x-request-id': 'same' }
const RANDOM = 'sub_01kf3v6h2he3wtpk1fw5c0wz9d'
const make = async (name: string, by = world.owner) =>
  (await by.call('POST', '/api/subscriptions', { body: { name } })).body as { subscription_id: string }

describe('generic subscriptions', () => {
  test('a workspace owner creates one in the selected workspace; its members and viewers can read it', async () => {
    const made = await world.owner.call('POST', '/api/subscriptions', {
      body: { name: 'Market data', quantity: 5, ends_at: '2090-01-01T00:00:00+01:00', metadata: { seat: 'a' } },
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      workspace_id: world.workspace.id,
      name: 'Market data',
      status: 'active',
      quantity: 5,
      ends_at: '2089-12-31T23:00:00.000Z',
      metadata: { seat: 'a' },
    })
    const path = `/api/subscriptions/${made.body.subscription_id}`
    expect(made.headers.get('location')).toBe(path)
    for (const person of [world.member, world.viewer]) expect((await person.call('GET', path)).text).toBe(made.text)
  })

  test('a time outside the years 1 to 9999, in UTC, is refused', async () => {
    for (const starts_at of ['9999-12-31T23:59:59-23:59', '0001-01-01T00:00:00+01:00', '0000-06-01T00:00:00Z']) {
      const refused = await world.owner.call('POST', '/api/subscriptions', { body: { name: 'Far away', starts_at } })
      expect([refused.status, refused.body.errors?.[0].path]).toEqual([422, '/starts_at'])
    }
    for (const starts_at of ['9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00.000Z']) {
      const made = await world.owner.call('POST', '/api/subscriptions', { body: { name: 'Far away', starts_at } })
      expect([made.status, made.body.starts_at]).toEqual([201, starts_at])
    }
  })

  test('members, viewers and guests cannot change anything; outsiders get the same 404 as for a random id', async () => {
    const { subscription_id } = await make('Guarded')
    const path = `/api/subscriptions/${subscription_id}`
    for (const person of [world.member, world.viewer, world.guest])
      expect((await person.call('POST', '/api/subscriptions', { body: { name: 'x' } })).status).toBe(403)
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      if (method !== 'GET')
        for (const person of [world.member, world.viewer])
          expect((await person.call(method, path, { body })).status).toBe(403)
      for (const person of [world.guest, world.stranger]) {
        const refused = await person.call(method, path, { body, headers: same })
        const random = await person.call(method, `/api/subscriptions/${RANDOM}`, { body, headers: same })
        expect(refused.status).toBe(404)
        expect(refused.text).toBe(random.text)
      }
      expect((await service().call(method, path, { body })).status).toBe(401)
    }
    expect((await world.owner.call('GET', path)).body.name).toBe('Guarded')
  })

  test('a patch changes the given fields and clears fields set to null', async () => {
    const { subscription_id } = await make('Patched')
    const path = `/api/subscriptions/${subscription_id}`
    const patch = (body: unknown) => world.owner.call('PATCH', path, { body })
    expect((await patch({ status: 'paused', ends_at: '2090-01-01T00:00:00Z', metadata: { a: 1 } })).body).toMatchObject(
      {
        name: 'Patched',
        status: 'paused',
        ends_at: '2090-01-01T00:00:00.000Z',
        metadata: { a: 1 },
      },
    )
    expect((await patch({ ends_at: null, metadata: null })).body).toMatchObject({ ends_at: null, metadata: {} })
    const { body: present } = await world.owner.call('GET', path)
    expect((await patch(present)).status).toBe(200)
    expect((await patch({ workspace_id: world.elsewhere.id })).body.code).toBe('read_only')
    expect((await world.owner.call('DELETE', path)).status).toBe(204)
    expect((await world.owner.call('GET', path)).status).toBe(404)
  })

  test('invalid input is refused and changes nothing', async () => {
    const refused: [unknown, string][] = [
      [{}, '/name'],
      [{ name: 'x', status: 'gone' }, '/status'],
      [{ name: 'x', quantity: -1 }, '/quantity'],
      [{ name: 'x', quantity: 1.5 }, '/quantity'],
      [{ name: 'x', quantity: 3e9 }, '/quantity'],
      [{ name: 'x', starts_at: 'tomorrow' }, '/starts_at'],
      [{ name: 'x', starts_at: '2030-01-02T00:00:00Z', ends_at: '2030-01-01T00:00:00Z' }, '/ends_at'],
      [{ name: 'x', ends_at: '2000-01-01T00:00:00Z' }, '/ends_at'],
      [{ name: 'x', price: 5 }, '/price'],
    ]
    for (const [body, path] of refused) {
      const answer = await world.owner.call('POST', '/api/subscriptions', { body })
      expect([answer.status, answer.body.errors[0].path]).toEqual([422, path])
    }
    const [row] = await service().sql<{ n: number }>(
      `select count(*)::int as n from subscriptions where name = 'x' and workspace_id = $1`,
      [world.workspace.uuid],
    )
    expect(row!.n).toBe(0)
  })

  test('lists and ids cover all workspaces of the caller, with the role in the workspace of each record', async () => {
    const both = await makePerson(service())
    const mine = await makeWorkspace(service(), both)
    await addMember(service(), world.workspace, both, 'member')
    const shared = await make('Shared')
    const own = await make('Own', both)
    const { body } = await both.call('GET', '/api/subscriptions?limit=200', { workspace: world.workspace.id })
    const ids = body.items.map(({ subscription_id }: { subscription_id: string }) => subscription_id)
    expect(ids.slice(0, 2)).toEqual([own.subscription_id, shared.subscription_id])
    const patch = (id: string) =>
      both.call('PATCH', `/api/subscriptions/${id}`, { body: { quantity: 2 }, workspace: world.workspace.id })
    expect((await patch(own.subscription_id)).status).toBe(200)
    expect((await patch(shared.subscription_id)).status).toBe(403)
    expect((await world.owner.call('GET', '/api/subscriptions?limit=200')).text).not.toContain(own.subscription_id)
    expect((await world.guest.call('GET', '/api/subscriptions')).body.items).toEqual([])
    expect(mine.id).toBe((await both.call('GET', `/api/subscriptions/${own.subscription_id}`)).body.workspace_id)
  })

  test('an operator can list all, which is audited, but cannot read one of another workspace by id', async () => {
    const operator = await makeOperator(service())
    const { subscription_id } = await make('Seen by operators')
    const listed = (await operator.call('GET', '/api/subscriptions')).body.items
    expect(listed.find((row: { subscription_id: string }) => row.subscription_id === subscription_id)).toMatchObject({
      workspace_name: expect.any(String),
    })
    expect((await operator.call('GET', `/api/subscriptions/${subscription_id}`)).status).toBe(404)
    const [entry] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where subject = 'subscriptions' and actor_id = $1`,
      [operator.uuid],
    )
    expect(entry!.n).toBe(1)
  })
})
