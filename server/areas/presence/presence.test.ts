import { beforeAll, describe, expect, test } from 'vitest'
import { fiftyTimes } from '#test/harness/fifty-times'
import { useSharedService } from '#test/harness/service'
import { addMember, makeOperator, makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const same = { 'x-request-id': 'same' }
const RANDOM = 'prs_01kf3v6h2he3wtpk1fw5c0wz9d'

describe('presence', () => {
  test('the first heartbeat returns 201, later ones return 200 for the same row; each replaces all fields', async () => {
    const first = await world.member.call('POST', '/api/presence', {
      body: { status: 'busy', context: { page: 'inbox' } },
    })
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({ user_id: world.member.id, status: 'busy', context: { page: 'inbox' } })
    expect(first.headers.get('location')).toBe(`/api/presence/${first.body.presence_id}`)
    expect(Date.parse(first.body.expires_at) - Date.parse(first.body.last_seen_at)).toBe(60_000)
    const second = await world.member.call('POST', '/api/presence')
    expect(second.status).toBe(200)
    expect(second.body).toMatchObject({ presence_id: first.body.presence_id, status: 'online', context: null })
    const text = await world.member.call('POST', '/api/presence', { body: { context: 'in a call' } })
    expect(text.body.context).toBe('in a call')
  })

  test('fifty simultaneous heartbeats create one row and return one 201', async () => {
    const person = await makePerson(service())
    await makeWorkspace(service(), person)
    const answers = await fiftyTimes(() => person.call('POST', '/api/presence'))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49)
    expect((await person.call('GET', '/api/presence')).body.items).toHaveLength(1)
  })

  test('after 60 seconds without renewal a person is offline', async () => {
    const { body } = await world.viewer.call('POST', '/api/presence', { body: { status: 'away' } })
    const read = () => world.viewer.call('GET', `/api/presence/${body.presence_id}`)
    expect((await read()).body.status).toBe('away')
    await service().sql(`update presence set expires_at = now() - interval '1 second' where user_id = $1`, [
      world.viewer.uuid,
    ])
    expect((await read()).body.status).toBe('offline')
    expect((await world.viewer.call('GET', '/api/presence')).body.items[0].status).toBe('offline')
    expect((await world.viewer.call('POST', '/api/presence')).body.status).toBe('online')
  })

  test('setting the presence of another user fails with the same response for a colleague, a stranger, a random and a malformed id', async () => {
    const ids = [world.owner.id, world.stranger.id, 'usr_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense']
    const answers = await Promise.all(
      ids.map((user_id) => world.member.call('POST', '/api/presence', { body: { user_id }, headers: same })),
    )
    expect(answers[0]!.status).toBe(422)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await world.member.call('POST', '/api/presence', { body: { user_id: world.member.id } })).status).toBe(200)
  })

  test('invalid input is refused', async () => {
    for (const body of [{ status: 'asleep' }, { context: 5 }, { context: 'x'.repeat(5000) }, { mood: 'fine' }])
      expect((await world.member.call('POST', '/api/presence', { body })).status).toBe(422)
    const nowhere = await makePerson(service())
    expect((await nowhere.call('POST', '/api/presence')).status).toBe(404)
    expect((await service().call('POST', '/api/presence')).status).toBe(401)
  })

  test('a caller lists, reads and deletes their own presence; the presence of others is not found, like a random id', async () => {
    const { body } = await world.guest.call('POST', '/api/presence')
    const path = `/api/presence/${body.presence_id}`
    expect((await world.guest.call('GET', path)).status).toBe(200)
    for (const method of ['GET', 'DELETE']) {
      for (const person of [world.owner, world.stranger]) {
        const refused = await person.call(method, path, { headers: same })
        expect(refused.status).toBe(404)
        expect(refused.text).toBe((await person.call(method, `/api/presence/${RANDOM}`, { headers: same })).text)
      }
      expect((await service().call(method, path)).status).toBe(401)
    }
    expect((await world.guest.call('DELETE', path)).status).toBe(204)
    expect((await world.guest.call('GET', '/api/presence')).body.items).toEqual([])
    expect((await world.guest.call('POST', '/api/presence')).status).toBe(201)
  })

  test('a person has one row per workspace, which is deleted with the membership', async () => {
    const both = await makePerson(service())
    const mine = await makeWorkspace(service(), both)
    await addMember(service(), world.workspace, both, 'member')
    for (const workspace of [mine.id, world.workspace.id])
      expect((await both.call('POST', '/api/presence', { workspace })).status).toBe(201)
    expect((await both.call('GET', '/api/presence')).body.items).toHaveLength(2)
    await service().sql('delete from memberships where user_id = $1 and workspace_id = $2', [
      both.uuid,
      world.workspace.uuid,
    ])
    expect((await both.call('GET', '/api/presence')).body.items).toMatchObject([{ workspace_id: mine.id }])
  })

  test('colleagues see who is online, also from another selected workspace; guests and strangers do not', async () => {
    const both = await makePerson(service())
    const mine = await makeWorkspace(service(), both)
    await addMember(service(), world.workspace, both, 'viewer')
    await world.member.call('POST', '/api/presence', { body: { status: 'busy' } })
    const path = `/api/workspaces/${world.workspace.id}/presence`
    const seen = await both.call('GET', path, { workspace: mine.id })
    expect(seen.status).toBe(200)
    expect(seen.body.items).toContainEqual(
      expect.objectContaining({ user_id: world.member.id, name: 'Max Member', status: 'busy' }),
    )
    expect((await world.guest.call('GET', path)).status).toBe(403)
    const refused = await world.stranger.call('GET', path, { headers: same })
    const random = await world.stranger.call('GET', '/api/workspaces/ws_01kf3v6h2he3wtpk1fw5c0wz9d/presence', {
      headers: same,
    })
    expect(refused.status).toBe(404)
    expect(refused.text).toBe(random.text)
  })

  test('an operator can list all presences, which is audited, but can read none by id', async () => {
    const operator = await makeOperator(service())
    const { body } = await world.member.call('POST', '/api/presence')
    const listed = (await operator.call('GET', '/api/presence?limit=200')).body.items
    expect(listed.find((row: { presence_id: string }) => row.presence_id === body.presence_id)).toMatchObject({
      name: world.member.name,
      workspace_name: expect.any(String),
    })
    expect((await operator.call('GET', `/api/presence/${body.presence_id}`)).status).toBe(404)
    const [entry] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where subject = 'presence' and actor_id = $1`,
      [operator.uuid],
    )
    expect(entry!.n).toBe(1)
  })
})
