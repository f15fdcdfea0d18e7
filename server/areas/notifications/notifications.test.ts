import { beforeAll, describe, expect, test } from 'vitest'
import { deliverEvent } from '#platform/events'
import { useSharedService } from '#test/harness/service'
import { addMember, makeOperator, makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const same = { 'x-request-id': 'same' }
const RANDOM = 'ntf_01kf3v6h2he3wtpk1fw5c0wz9d'
const note = async (title: string, by = world.member) =>
  (await by.call('POST', '/api/notifications', { body: { title } })).body as { notification_id: string }

describe('notifications', () => {
  test('a person, including a guest, creates, reads, marks and deletes a notification for themselves', async () => {
    const made = await world.guest.call('POST', '/api/notifications', {
      body: { title: 'Call the bank', data: { n: 1 }, link: '/approvals?x=1' },
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      user_id: world.guest.id,
      workspace_id: world.workspace.id,
      kind: 'note',
      title: 'Call the bank',
      body: null,
      data: { n: 1 },
      link: '/approvals?x=1',
      read: false,
      read_at: null,
    })
    const path = `/api/notifications/${made.body.notification_id}`
    expect(made.headers.get('location')).toBe(path)
    expect((await world.guest.call('GET', path)).text).toBe(made.text)
    const read = await world.guest.call('PATCH', path, { body: { read: true } })
    expect(read.body.read).toBe(true)
    expect(Date.parse(read.body.read_at)).toBeGreaterThan(0)
    const again = await world.guest.call('PATCH', path, { body: { read: true } })
    expect(again.body.read_at).toBe(read.body.read_at)
    expect((await world.guest.call('PATCH', path, { body: { read: false } })).body).toMatchObject({
      read: false,
      read_at: null,
    })
    expect((await world.guest.call('DELETE', path)).status).toBe(204)
    expect((await world.guest.call('GET', path)).status).toBe(404)
  })

  test('a body without a title gets its first line as the title', async () => {
    const body = 'First line\nand the rest'
    const made = await world.member.call('POST', '/api/notifications', { body: { body } })
    expect(made.body).toMatchObject({ title: 'First line', body })
  })

  test('creating one for another user fails with the same response for a colleague, a stranger, a random and a malformed id', async () => {
    const ids = [world.owner.id, world.stranger.id, 'usr_01kf3v6h2he3wtpk1fw5c0wz9d', 'nonsense']
    const answers = await Promise.all(
      ids.map((user_id) =>
        world.member.call('POST', '/api/notifications', { body: { title: 'x', user_id }, headers: same }),
      ),
    )
    expect(answers[0]!.status).toBe(422)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const own = { title: 'mine', user_id: world.member.id }
    expect((await world.member.call('POST', '/api/notifications', { body: own })).status).toBe(201)
    expect((await world.owner.call('GET', '/api/notifications')).body.items).toEqual([])
  })

  test('invalid notifications and patches are refused', async () => {
    const refused: [unknown, string][] = [
      [{}, '/title'],
      [{ body: ' ' }, '/title'],
      [{ title: 5 }, '/title'],
      [{ title: 'x', kind: 'Not A Kind' }, '/kind'],
      [{ title: 'x', link: 'javascript:alert(1)' }, '/link'],
      [{ title: 'x', link: '//evil.example' }, '/link'],
      [{ title: 'x', link: '/\\evil.example' }, '/link'],
      [{ title: 'x', data: [] }, '/data'],
      [{ title: 'x', colour: 'red' }, '/colour'],
    ]
    for (const [body, path] of refused) {
      const answer = await world.member.call('POST', '/api/notifications', { body })
      expect([answer.status, answer.body.errors[0].path]).toEqual([422, path])
    }
    const { notification_id } = await note('Fixed')
    const path = `/api/notifications/${notification_id}`
    const patch = (body: unknown) => world.member.call('PATCH', path, { body })
    expect((await patch({ read: 'yes' })).status).toBe(422)
    expect((await patch({ title: 'Changed' })).body.code).toBe('read_only')
    expect((await patch((await world.member.call('GET', path)).body)).status).toBe(200)
    const data = { a: 2, b: { c: [1], d: null } }
    const { body: made } = await world.member.call('POST', '/api/notifications', { body: { title: 'Fixed', data } })
    const send = (value: unknown) =>
      world.member.call('PATCH', `/api/notifications/${made.notification_id}`, { body: { read: true, data: value } })
    expect((await send({ b: { d: null, c: [1] }, a: 2 })).status).toBe(200)
    expect((await send({ ...data, a: 3 })).body.code).toBe('read_only')
    expect((await world.member.call('GET', '/api/notifications?unread=maybe')).status).toBe(422)
  })

  test('other users, including colleagues and operators, get the same 404 as for a random id', async () => {
    const { notification_id } = await note('Private')
    const operator = await makeOperator(service())
    for (const [method, body] of [['GET'], ['PATCH', { read: true }], ['DELETE']] as const) {
      for (const person of [world.owner, world.stranger, operator]) {
        const refused = await person.call(method, `/api/notifications/${notification_id}`, { body, headers: same })
        const random = await person.call(method, `/api/notifications/${RANDOM}`, { body, headers: same })
        expect(refused.status).toBe(404)
        expect(refused.text).toBe(random.text)
      }
      expect((await service().call(method, `/api/notifications/${notification_id}`, { body })).status).toBe(401)
    }
    expect((await operator.call('GET', '/api/notifications')).text).toContain(notification_id)
    const [entry] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where subject = 'notifications' and actor_id = $1`,
      [operator.uuid],
    )
    expect(entry!.n).toBe(1)
  })

  test('the list contains only the caller’s own, newest first, and can be limited to the unread', async () => {
    const person = await makePerson(service())
    await makeWorkspace(service(), person)
    const ids = []
    for (const title of ['one', 'two', 'three']) ids.unshift((await note(title, person)).notification_id)
    const list = async (query: string): Promise<string[]> =>
      (await person.call('GET', `/api/notifications${query}`)).body.items.map(
        (item: { notification_id: string }) => item.notification_id,
      )
    expect(await list('')).toEqual(ids)
    await person.call('PATCH', `/api/notifications/${ids[1]}`, { body: { read: true } })
    expect(await list('?unread=true')).toEqual([ids[0], ids[2]])
    expect(await list('?unread=false')).toEqual(ids)
    const first = await person.call('GET', '/api/notifications?limit=2')
    expect(await list(`?limit=2&cursor=${first.body.next_cursor}`)).toEqual([ids[2]])
  })

  test('platform events reach the members of the workspace only if the transaction commits', async () => {
    const scope = { workspaceId: world.workspace.uuid, userId: world.owner.uuid }
    const event = {
      workspaceId: world.workspace.uuid,
      kind: 'thing.happened',
      title: 'It happened',
      to: [world.viewer.uuid, world.stranger.uuid, world.viewer.uuid],
    }
    await service().db.tenant(scope, (tx) => deliverEvent(tx, event))
    const undone = service().db.tenant(scope, async (tx) => {
      await deliverEvent(tx, { ...event, title: 'It did not' })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const { body } = await world.viewer.call('GET', '/api/notifications')
    expect(body.items).toMatchObject([{ kind: 'thing.happened', title: 'It happened' }])
    expect((await world.stranger.call('GET', '/api/notifications')).body.items).toEqual([])
  })

  test('notifications of a workspace are not shown to a person who has left the workspace', async () => {
    const person = await makePerson(service())
    await makeWorkspace(service(), person)
    await addMember(service(), world.workspace, person, 'member')
    const said = await person.call('POST', '/api/notifications', {
      body: { title: 'Secret of the house' },
      workspace: world.workspace.id,
    })
    const path = `/api/notifications/${said.body.notification_id}`
    expect((await person.call('GET', path)).status).toBe(200)
    await service().sql('delete from memberships where user_id = $1 and workspace_id = $2', [
      person.uuid,
      world.workspace.uuid,
    ])
    expect((await person.call('GET', path)).status).toBe(404)
    expect((await person.call('GET', '/api/notifications')).body.items).toEqual([])
  })
})
