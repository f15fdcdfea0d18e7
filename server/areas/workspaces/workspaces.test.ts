import { beforeAll, describe, expect, test } from 'vitest'
import { signUp } from '#test/harness/browser'
import { fiftyTimes } from '#test/harness/fifty-times'
import { echoWorkflow, makeJob, makeWorkflow } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import {
  addMember,
  makeOperator,
  makePerson,
  makeWorkspace,
  makeWorld,
  type TestPerson,
  type World,
} from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const idsOf = (answer: { body: { items: { workspace_id: string }[] } }) =>
  answer.body.items.map((item) => item.workspace_id)

describe('workspaces', () => {
  test('can be created by anyone, in a new company or in one of the caller’s', async () => {
    const person = await makePerson(service())
    const made = await person.call('POST', '/api/workspaces', { body: { name: ' Sales ' } })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'Sales', role: 'owner' })
    expect(made.headers.get('location')).toBe(`/api/workspaces/${made.body.workspace_id}`)
    const second = await person.call('POST', '/api/workspaces', {
      body: { name: 'Support', company_id: made.body.company_id },
    })
    expect(second.body.company_id).toBe(made.body.company_id)
    expect(idsOf(await person.call('GET', '/api/workspaces'))).toEqual([
      second.body.workspace_id,
      made.body.workspace_id,
    ])
    expect((await person.call('GET', `/api/workspaces/${made.body.workspace_id}`)).body).toEqual(made.body)
  })

  test('cannot be created in or moved to a company that the caller does not own', async () => {
    const answers = await Promise.all(
      [world.elsewhere.company.id, 'co_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense'].map((company_id) =>
        world.owner.call('POST', '/api/workspaces', {
          body: { name: 'x', company_id },
          headers: { 'x-request-id': 'same' },
        }),
      ),
    )
    expect(answers[0]!.body.code).toBe('unknown_reference')
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(
      (
        await world.member.call('POST', '/api/workspaces', {
          body: { name: 'x', company_id: world.workspace.company.id },
        })
      ).status,
    ).toBe(403)
    const moved = await world.owner.call('PATCH', `/api/workspaces/${world.workspace.id}`, {
      body: { company_id: world.elsewhere.company.id },
    })
    expect(moved.body.code).toBe('unknown_reference')
  })

  test('can be renamed by their owners', async () => {
    const path = `/api/workspaces/${world.workspace.id}`
    const before = await world.owner.call('GET', path)
    const renamed = await world.owner.call('PATCH', path, { body: { ...before.body, name: 'Home again' } })
    expect(renamed.body).toMatchObject({ name: 'Home again', role: 'owner' })
    expect(
      (
        await world.owner.call('PATCH', path, {
          body: { name: 'y' },
          headers: { 'if-match': before.headers.get('etag')! },
        })
      ).status,
    ).toBe(412)
    expect((await world.owner.call('PATCH', path, { body: { role: 'viewer' } })).body.code).toBe('read_only')
    expect((await world.owner.call('PATCH', path, { body: { name: '' } })).status).toBe(422)
    for (const person of [world.member, world.viewer, world.guest])
      expect((await person.call('PATCH', path, { body: { name: 'x' } })).status).toBe(403)
    expect((await world.stranger.call('PATCH', path, { body: { name: 'x' } })).status).toBe(404)
  })

  test('of others in X-Workspace-Id are not found, like a random id', async () => {
    const answers = await Promise.all(
      [world.elsewhere.id, 'ws_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense'].map((workspace) =>
        service().call('GET', '/api/teams', { token: world.owner.key, workspace, headers: { 'x-request-id': 'same' } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('are selected for a session; a request with a key names its workspace', async () => {
    const { browser, answer } = await signUp(service().base)
    const second = await browser.call('POST', '/api/workspaces', { body: { name: 'Second' } })
    const selected = async () => (await browser.call('GET', '/auth/me')).body.selected_workspace_id
    expect(await selected()).toBe(answer.body.workspace.workspace_id)
    expect((await browser.call('POST', `/api/workspaces/${second.body.workspace_id}/select`)).body.name).toBe('Second')
    expect(await selected()).toBe(second.body.workspace_id)
    expect((await browser.call('POST', `/api/workspaces/${world.workspace.id}/select`)).status).toBe(404)
    expect((await world.owner.call('POST', `/api/workspaces/${world.workspace.id}/select`)).status).toBe(409)
    await browser.call('DELETE', `/api/workspaces/${second.body.workspace_id}`)
    expect(await selected()).toBe(answer.body.workspace.workspace_id)
  })

  test('are deleted with everything in them; the company remains and operators see the deletion', async () => {
    const owner = await makePerson(service())
    const workspace = await makeWorkspace(service(), owner, 'Doomed')
    await addMember(service(), workspace, world.member, 'member')
    await owner.call('POST', '/api/teams', { body: { name: 'T' } })
    const { body: key } = await owner.call('POST', '/auth/api-keys', {
      body: { name: 'k', workspace_id: workspace.id },
    })
    expect((await world.member.call('DELETE', `/api/workspaces/${workspace.id}`)).status).toBe(403)
    expect((await owner.call('DELETE', `/api/workspaces/${workspace.id}`)).status).toBe(204)
    expect((await owner.call('GET', `/api/workspaces/${workspace.id}`)).status).toBe(404)
    expect((await service().call('GET', '/auth/me', { token: key.key })).status).toBe(401)
    expect((await owner.call('GET', `/api/companies/${workspace.company.id}`)).status).toBe(200)
    expect((await owner.call('GET', '/auth/me')).body).toMatchObject({ workspaces: [], selected_workspace_id: null })
    const left = await service().sql<{ n: number }>('select count(*)::int as n from teams where workspace_id = $1', [
      workspace.uuid,
    ])
    expect(left[0]!.n).toBe(0)
    const operator = await makeOperator(service())
    const log = (await operator.call('GET', '/api/audit-log?action=workspace.deleted')).body.items
    expect(log[0]).toMatchObject({ subject: workspace.id, actor_id: owner.id, data: { name: 'Doomed' } })
    expect(log[0]).toMatchObject({ actor_name: owner.name, workspace_name: null })
  })
})

describe('members', () => {
  const path = () => `/api/workspaces/${world.workspace.id}/members`

  test('are listed only to people with a role', async () => {
    const { body } = await world.viewer.call('GET', `${path()}?limit=2`)
    expect(body.items).toHaveLength(2)
    const rest = await world.viewer.call('GET', `${path()}?limit=2&cursor=${body.next_cursor}`)
    const all = [...body.items, ...rest.body.items]
    expect(new Set(all.map(({ email }) => email))).toEqual(
      new Set([world.owner, world.member, world.viewer, world.guest].map(({ email }) => email)),
    )
    expect((await world.guest.call('GET', path())).status).toBe(403)
    expect((await world.stranger.call('GET', path())).status).toBe(404)
  })

  test('of a workspace that is not selected are addressed by its id', async () => {
    const other = await makeWorkspace(service(), world.owner, 'Other')
    await addMember(service(), other, world.viewer, 'viewer')
    const { body } = await world.owner.call('GET', `/api/workspaces/${other.id}/members`)
    expect(body.items).toHaveLength(2)
    expect((await world.owner.call('DELETE', `/api/workspaces/${other.id}/members/${world.viewer.id}`)).status).toBe(
      204,
    )
  })

  test('get their role only from an owner, and cannot change their own', async () => {
    const person = await makePerson(service())
    await addMember(service(), world.workspace, person, 'viewer')
    const one = `${path()}/${person.id}`
    expect((await person.call('PATCH', one, { body: { role: 'owner' } })).status).toBe(403)
    expect((await world.member.call('PATCH', one, { body: { role: 'owner' } })).status).toBe(403)
    expect((await world.stranger.call('PATCH', one, { body: { role: 'owner' } })).status).toBe(404)
    expect((await world.owner.call('PATCH', one, { body: { role: 'member' } })).body).toMatchObject({
      user_id: person.id,
      role: 'member',
    })
    for (const body of [{}, { role: 'admin' }, { role: ['owner'] }, { role: 'member', email: 'x@example.com' }])
      expect((await world.owner.call('PATCH', one, { body })).status).toBe(422)
    const heard = await person.call('GET', '/api/notifications?limit=1')
    expect(heard.body.items[0]).toMatchObject({ kind: 'member.role_changed' })
    const [foreign, random, illFormed] = await Promise.all(
      [world.stranger.id, 'usr_01kf3v6h2he3wtpk1fw5c0wz9d', 'usr_x'].map((id) =>
        world.owner.call('PATCH', `${path()}/${id}`, { body: { role: 'member' }, headers: { 'x-request-id': 'same' } }),
      ),
    )
    expect([foreign!.status, foreign!.text, illFormed!.text]).toEqual([404, random!.text, random!.text])
  })

  test('can leave, and can be removed by owners', async () => {
    for (const role of ['member', 'viewer', 'guest'] as const) {
      const person = await makePerson(service())
      await addMember(service(), world.workspace, person, role)
      expect((await person.call('DELETE', `${path()}/${world.owner.id}`)).status).toBe(403)
      expect((await person.call('DELETE', `${path()}/${person.id}`)).status).toBe(204)
      expect((await person.call('GET', `/api/workspaces/${world.workspace.id}`)).status).toBe(404)
    }
    const person = await makePerson(service())
    await addMember(service(), world.workspace, person, 'member')
    expect((await world.owner.call('DELETE', `${path()}/${person.id}`)).status).toBe(204)
    expect((await world.owner.call('DELETE', `${path()}/${person.id}`)).status).toBe(404)
  })

  test('who become guests transfer what they owned, leave their teams, and keep only what others shared with them', async () => {
    const person = await makePerson(service())
    await addMember(service(), world.workspace, person, 'member')
    const { body: team } = await world.owner.call('POST', '/api/teams', { body: { name: `Team ${person.id}` } })
    await world.owner.call('POST', `/api/teams/${team.team_id}/add_users`, { body: { user_ids: [person.id] } })
    const workflow = `/api/workflows/${await makeWorkflow(person)}`
    const job = `/api/enrichment-jobs/${await makeJob(person, { definition: echoWorkflow })}`
    const own = (await person.call('POST', '/api/chat-thread', { body: { title: 'Own' } })).body.thread_id
    const shared = (await world.owner.call('POST', '/api/chat-thread', { body: { title: 'Shared' } })).body.thread_id
    const invited = { email: person.email, role: 'member' }
    await world.owner.call('POST', `/api/chat-thread/${shared}/invite`, { body: invited })
    const sent = { email: `${person.id}@example.com`, role: 'viewer' }
    const { body } = await person.call('POST', `/api/chat-thread/${own}/invite`, { body: sent })

    const guest = await world.owner.call('PATCH', `${path()}/${person.id}`, { body: { role: 'guest' } })
    expect([guest.status, guest.body.role]).toEqual([200, 'guest'])
    expect((await world.owner.call('GET', `/api/teams/${team.team_id}`)).body.members).toEqual([])
    expect((await person.call('PATCH', workflow, { body: { name: 'Mine' } })).status).toBe(404)
    expect((await person.call('POST', `${workflow}/run`, { body: {} })).status).toBe(404)
    expect((await world.owner.call('GET', workflow)).body.owner_id).toBe(world.owner.id)
    expect((await person.call('GET', job)).status).toBe(404)
    expect((await world.owner.call('GET', job)).body.owner_id).toBe(world.owner.id)
    expect((await person.call('GET', `/api/chat-thread/${own}`)).status).toBe(404)
    expect((await world.owner.call('GET', `/api/chat-thread/${own}`)).body.role).toBe('owner')
    expect((await person.call('GET', `/api/chat-thread/${shared}`)).status).toBe(200)
    const token = body.link.split('/').at(-1)
    expect((await service().call('GET', `/auth/invitations/${token}`)).status).toBe(404)
  })

  test('who are the last owner cannot leave or give up the role', async () => {
    expect((await world.owner.call('DELETE', `${path()}/${world.owner.id}`)).body.code).toBe('last_owner')
    expect(
      (await world.owner.call('PATCH', `${path()}/${world.owner.id}`, { body: { role: 'member' } })).body.code,
    ).toBe('last_owner')
  })
})

describe('fifty owners at once', () => {
  const crowd = async (): Promise<{ owners: TestPerson[]; path: string; left: () => Promise<number> }> => {
    const owners: TestPerson[] = []
    for (let at = 0; at < 50; at++) owners.push(await makePerson(service()))
    const workspace = await makeWorkspace(service(), owners[0]!, 'Crowd')
    for (const person of owners) await addMember(service(), workspace, person, 'owner')
    return {
      owners,
      path: `/api/workspaces/${workspace.id}/members`,
      left: async () => {
        const [row] = await service().sql<{ n: number }>(
          `select count(*)::int as n from memberships where workspace_id = $1 and role = 'owner'`,
          [workspace.uuid],
        )
        return row!.n
      },
    }
  }
  const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status)

  test('who leave: one remains and gets the refusal', async () => {
    const { owners, path, left } = await crowd()
    const answers = await fiftyTimes((n) => owners[n]!.call('DELETE', `${path}/${owners[n]!.id}`))
    expect(statusesOf(answers).filter((status) => status === 204)).toHaveLength(49)
    expect(statusesOf(answers).filter((status) => status === 409)).toHaveLength(1)
    expect(await left()).toBe(1)
  })

  test('who give up the role: one remains', async () => {
    const { owners, path, left } = await crowd()
    const answers = await fiftyTimes((n) =>
      owners[n]!.call('PATCH', `${path}/${owners[n]!.id}`, { body: { role: 'viewer' } }),
    )
    expect(statusesOf(answers).filter((status) => status === 200)).toHaveLength(49)
    expect(await left()).toBe(1)
  })

  test('who remove each other: one remains', async () => {
    const { owners, path, left } = await crowd()
    const answers = await fiftyTimes((n) => owners[n]!.call('DELETE', `${path}/${owners[(n + 1) % 50]!.id}`))
    expect(statusesOf(answers).every((status) => [204, 403, 404, 409].includes(status))).toBe(true)
    expect(await left()).toBeGreaterThanOrEqual(1)
  })
})

describe('the audit log', () => {
  test('is readable by owners for their workspace and by operators for all, and by no other user', async () => {
    const mine = await world.owner.call('GET', '/api/audit-log')
    expect(mine.body.items.length).toBeGreaterThan(0)
    for (const entry of mine.body.items) expect(entry.workspace_id).toBe(world.workspace.id)
    expect(mine.body.items[0]).not.toHaveProperty('actor_name')
    for (const person of [world.member, world.viewer, world.guest])
      expect((await person.call('GET', '/api/audit-log')).status).toBe(403)
    const operator = await makeOperator(service())
    const { body: team } = await world.owner.call('POST', '/api/teams', { body: { name: 'Traced' } })
    const seen = await operator.call('GET', `/api/audit-log?subject=${team.team_id}`)
    expect(seen.body.items).toMatchObject([{ action: 'team.created', workspace_id: world.workspace.id }])
    const [look] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where action = 'operator.listed' and subject = 'audit_log' and actor_id = $1`,
      [operator.uuid],
    )
    expect(look!.n).toBe(1)
  })
})
