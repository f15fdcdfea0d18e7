import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { addMember, makeOperator, makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const same = { 'x-request-id': 'same' }
const RANDOM = 'team_01kf3v6h2he3wtpk1fw5c0wz9d'
const makeTeam = async (name: string, by = world.member) =>
  (await by.call('POST', '/api/teams', { body: { name } })).body as { team_id: string; slug: string }

describe('teams', () => {
  test('a member creates a team in the selected workspace and owns it; its slug comes from the name', async () => {
    const made = await world.member.call('POST', '/api/teams', { body: { name: '  Ünited Finance & Co. ' } })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'Ünited Finance & Co.',
      slug: 'united-finance-co',
      owner_id: world.member.id,
      workspace_id: world.workspace.id,
      description: null,
      members: [],
      member_count: 0,
    })
    expect(made.headers.get('location')).toBe(`/api/teams/${made.body.team_id}`)
    const read = await world.viewer.call('GET', `/api/teams/${made.body.team_id}`)
    expect(read.text).toBe(made.text)
  })

  test('a taken slug gets a number if derived from the name, and 409 if requested', async () => {
    const first = await makeTeam('Night shift')
    const second = await makeTeam('Night Shift!')
    expect([first.slug, second.slug]).toEqual(['night-shift', 'night-shift-2'])
    const asked = await world.member.call('POST', '/api/teams', { body: { name: 'x', slug: 'night-shift' } })
    expect(asked.body.code).toBe('already_exists')
    const path = `/api/teams/${second.team_id}`
    expect((await world.member.call('PATCH', path, { body: { slug: 'night-shift' } })).status).toBe(409)
    expect((await world.member.call('GET', path)).body.slug).toBe('night-shift-2')
    const elsewhere = await world.stranger.call('POST', '/api/teams', { body: { name: 'x', slug: 'night-shift' } })
    expect(elsewhere.status).toBe(201)
  })

  test('twenty teams with the same name created at once get twenty slugs', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => makeTeam('Rush')))
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(20)
    const long = await Promise.all(Array.from({ length: 3 }, () => makeTeam('x'.repeat(200))))
    expect(long.every(({ slug }) => slug.length <= 63)).toBe(true)
    expect((await makeTeam('日本')).slug).toBe('team')
  })

  test('a slug is looked up in the selected workspace first, then in the caller’s others, never in other workspaces', async () => {
    const both = await makePerson(service())
    await addMember(service(), world.workspace, both, 'member')
    await addMember(service(), world.elsewhere, both, 'viewer')
    const here = await world.owner.call('POST', '/api/teams', { body: { name: 'Core', slug: 'core' } })
    const there = await world.stranger.call('POST', '/api/teams', { body: { name: 'Core', slug: 'core' } })
    const lookUp = (workspace: string) => both.call('GET', '/api/teams/slug/core', { workspace })
    expect((await lookUp(world.workspace.id)).body.team_id).toBe(here.body.team_id)
    expect((await lookUp(world.elsewhere.id)).body.team_id).toBe(there.body.team_id)
    const only = await world.stranger.call('POST', '/api/teams', { body: { name: 'Only there' } })
    const found = await both.call('GET', '/api/teams/slug/only-there', { workspace: world.workspace.id })
    expect(found.body.team_id).toBe(only.body.team_id)
    const foreign = await world.member.call('GET', '/api/teams/slug/only-there', { headers: same })
    const unknown = await world.member.call('GET', '/api/teams/slug/no-such-team', { headers: same })
    expect(foreign.status).toBe(404)
    expect(foreign.text).toBe(unknown.text)
    expect((await world.guest.call('GET', '/api/teams/slug/core')).status).toBe(404)
  })

  test('lists and ids cover all workspaces of the caller, with the role in the workspace of each team', async () => {
    const both = await makePerson(service())
    const mine = await makeWorkspace(service(), both)
    await addMember(service(), world.workspace, both, 'viewer')
    const team = await makeTeam('Spanned')
    const own = (await both.call('POST', '/api/teams', { body: { name: 'Mine' }, workspace: mine.id })).body
    const { body } = await both.call('GET', '/api/teams?limit=200', { workspace: mine.id })
    const ids = body.items.map(({ team_id }: { team_id: string }) => team_id)
    expect(ids).toContain(team.team_id)
    expect(ids).toContain(own.team_id)
    expect([...ids].sort().reverse()).toEqual(ids)
    const path = `/api/teams/${team.team_id}`
    expect((await both.call('GET', path, { workspace: mine.id })).status).toBe(200)
    expect((await both.call('PATCH', path, { body: { name: 'x' }, workspace: mine.id })).status).toBe(403)
    const list = await world.member.call('GET', '/api/teams?limit=200')
    expect(list.text).not.toContain(own.team_id)
    const paged: string[] = []
    for (let cursor = ''; ; ) {
      const { body: page } = await both.call('GET', `/api/teams?limit=7${cursor}`)
      paged.push(...page.items.map(({ team_id }: { team_id: string }) => team_id))
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(paged).toEqual(ids)
  })

  test('its creator and workspace owners can change and delete it; other members, viewers and guests cannot', async () => {
    const team = await makeTeam('Guarded')
    const colleague = await makePerson(service())
    await addMember(service(), world.workspace, colleague, 'member')
    const path = `/api/teams/${team.team_id}`
    const attempts = [
      ['PATCH', path, { name: 'x' }],
      ['POST', `${path}/add_users`, { user_ids: [world.member.id] }],
      ['DELETE', path, undefined],
    ] as const
    for (const [method, where, body] of attempts) {
      for (const person of [colleague, world.viewer])
        expect((await person.call(method, where, { body })).status).toBe(403)
      for (const person of [world.guest, world.stranger]) {
        const refused = await person.call(method, where, { body, headers: same })
        const random = await person.call(method, where.replace(team.team_id, RANDOM), { body, headers: same })
        expect(refused.status).toBe(404)
        expect(refused.text).toBe(random.text)
      }
      expect((await service().call(method, where, { body })).status).toBe(401)
    }
    for (const person of [world.viewer, world.guest])
      expect((await person.call('POST', '/api/teams', { body: { name: 'x' } })).status).toBe(403)
    const changed = await world.owner.call('PATCH', path, { body: { name: 'Renamed', description: 'What it does' } })
    expect(changed.body).toMatchObject({ name: 'Renamed', slug: 'guarded', description: 'What it does' })
    expect((await world.member.call('PATCH', path, { body: { description: null } })).body.description).toBeNull()
    expect((await world.member.call('DELETE', path)).status).toBe(204)
    expect((await world.member.call('GET', path)).status).toBe(404)
  })

  test('a person who is removed from a team, or leaves it, stays in the workspace, and the change is audited', async () => {
    const team = await makeTeam('Shrinking')
    const path = `/api/teams/${team.team_id}`
    const user_ids = [world.member.id, world.viewer.id, world.owner.id]
    await world.member.call('POST', `${path}/add_users`, { body: { user_ids } })
    expect((await world.viewer.call('DELETE', `${path}/members/${world.owner.id}`)).status).toBe(403)
    expect((await world.viewer.call('DELETE', `${path}/members/${world.viewer.id}`)).status).toBe(204)
    expect((await world.member.call('DELETE', `${path}/members/${world.owner.id}`)).status).toBe(204)
    expect((await world.member.call('DELETE', `${path}/members/${world.owner.id}`)).status).toBe(404)
    const left = (await world.owner.call('GET', path)).body
    expect(left.members).toMatchObject([{ user_id: world.member.id }])
    expect((await world.viewer.call('GET', path)).status).toBe(200)
    const { body } = await world.owner.call('GET', `/api/audit-log?limit=200`)
    const actions = body.items
      .filter(({ subject }: { subject: string }) => subject === team.team_id)
      .map(({ action }: { action: string }) => action)
    expect(actions).toEqual(['team.user_removed', 'team.left', 'team.users_added', 'team.created'])
    expect((await world.member.call('DELETE', `${path}/members/${world.member.id}`)).status).toBe(204)
    expect((await world.member.call('PATCH', path, { body: { description: 'Empty' } })).status).toBe(200)
  })

  test('a creator who became a viewer, or left, can no longer change the team', async () => {
    const creator = await makePerson(service())
    await addMember(service(), world.workspace, creator, 'member')
    const team = await makeTeam('Left behind', creator)
    await addMember(service(), world.workspace, creator, 'viewer')
    const path = `/api/teams/${team.team_id}`
    expect((await creator.call('PATCH', path, { body: { name: 'x' } })).status).toBe(403)
    await service().sql('delete from memberships where user_id = $1', [creator.uuid])
    expect((await creator.call('GET', path)).status).toBe(404)
  })

  test('members of the workspace are added, all or none, and errors name the refused users by position', async () => {
    const team = await makeTeam('Adders')
    const path = `/api/teams/${team.team_id}/add_users`
    const add = (user_ids: unknown[]) => world.member.call('POST', path, { body: { user_ids }, headers: same })
    const refused = await Promise.all(
      [world.stranger.id, 'usr_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense', world.guest.id].map((id) =>
        add([world.owner.id, id, world.viewer.id]),
      ),
    )
    expect(refused[0]!.status).toBe(422)
    expect(refused[0]!.body).toMatchObject({ code: 'unknown_reference', errors: [{ path: '/user_ids/1' }] })
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1)
    const [none] = await service().sql<{ n: number }>(
      'select count(*)::int as n from team_members where team_id in (select team_id from teams where name = $1 and workspace_id = $2)',
      ['Adders', world.workspace.uuid],
    )
    expect(none!.n).toBe(0)
    expect((await add([])).status).toBe(422)
    expect((await add([5])).status).toBe(422)
    const added = await add([world.owner.id, world.viewer.id, world.owner.id])
    expect(added.status).toBe(200)
    expect(added.body.members.map(({ user_id }: { user_id: string }) => user_id).sort()).toEqual(
      [world.owner.id, world.viewer.id].sort(),
    )
    expect((await add([world.owner.id])).body.member_count).toBe(2)
    const [entry] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where action = 'team.users_added' and subject = $1`,
      [team.team_id],
    )
    expect(entry!.n).toBe(1)
  })

  test('people can be added to a team outside the selected workspace, and leave the team with the workspace', async () => {
    const both = await makePerson(service())
    const mine = await makeWorkspace(service(), both)
    const colleague = await makePerson(service())
    await addMember(service(), mine, colleague, 'viewer')
    await addMember(service(), world.workspace, both, 'member')
    const { body: team } = await both.call('POST', '/api/teams', { body: { name: 'Afar' }, workspace: mine.id })
    const path = `/api/teams/${team.team_id}`
    const added = await both.call('POST', `${path}/add_users`, {
      body: { user_ids: [colleague.id] },
      workspace: world.workspace.id,
    })
    expect(added.body.members).toMatchObject([{ user_id: colleague.id, name: colleague.name }])
    const stranger = await both.call('POST', `${path}/add_users`, {
      body: { user_ids: [world.member.id] },
      workspace: world.workspace.id,
    })
    expect(stranger.body.code).toBe('unknown_reference')
    await service().sql('delete from memberships where user_id = $1', [colleague.uuid])
    expect((await both.call('GET', path)).body.members).toEqual([])
  })

  test('an operator can list all teams, which is audited, but cannot read one of another workspace by id', async () => {
    const operator = await makeOperator(service())
    const team = await makeTeam('Seen by operators')
    const listed = (await operator.call('GET', '/api/teams')).body.items
    expect(listed.find(({ team_id }: { team_id: string }) => team_id === team.team_id)).toMatchObject({
      workspace_name: expect.any(String),
    })
    expect((await operator.call('GET', `/api/teams/${team.team_id}`)).status).toBe(404)
    const [entry] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where action = 'operator.listed' and subject = 'teams' and actor_id = $1`,
      [operator.uuid],
    )
    expect(entry!.n).toBe(1)
  })

  test('invalid input is refused and changes nothing', async () => {
    const refused: [unknown, string][] = [
      [{}, '/name'],
      [{ name: ' ' }, '/name'],
      [{ name: 'x'.repeat(201) }, '/name'],
      [{ name: 'x', slug: 'Not A Slug' }, '/slug'],
      [{ name: 'x', slug: '-x-' }, '/slug'],
      [{ name: 'x', colour: 'red' }, '/colour'],
      [{ name: 'x', description: 5 }, '/description'],
    ]
    for (const [body, path] of refused) {
      const answer = await world.member.call('POST', '/api/teams', { body })
      expect([answer.status, answer.body.errors[0].path]).toEqual([422, path])
    }
    const owned = await world.member.call('POST', '/api/teams', {
      body: { name: 'x', workspace_id: world.elsewhere.id },
    })
    expect(owned.body.code).toBe('read_only')
    const team = await makeTeam('Echoed')
    const path = `/api/teams/${team.team_id}`
    const { body: present, headers } = await world.member.call('GET', path)
    expect((await world.member.call('PATCH', path, { body: present })).status).toBe(200)
    const taken = { ...present, owner_id: world.owner.id }
    expect((await world.member.call('PATCH', path, { body: taken })).body.code).toBe('read_only')
    const stale = { 'if-match': headers.get('etag')! }
    expect((await world.member.call('DELETE', path, { headers: stale })).status).toBe(412)
    const etag = (await world.member.call('GET', path)).headers.get('etag')!
    expect((await world.member.call('DELETE', path, { headers: { 'if-match': etag } })).status).toBe(204)
  })
})
