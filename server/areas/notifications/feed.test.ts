import { beforeAll, describe, expect, test } from 'vitest'
import { deliverEvent } from '#platform/events'
import { pruneRealtime } from '#platform/realtime/prune'
import { type Service, type SharedService, startService, useSharedService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { openSocket, type TestSocket } from '#test/harness/socket'
import { addMember, makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Ticket = { ticket: string; url: string; expires_at: string }
const ticketFor = async (person: TestPerson, workspace?: string): Promise<Ticket> =>
  (await person.call('POST', '/auth/notification-ticket', { ...(workspace && { workspace }) })).body
const connect = async (person: TestPerson, query = ''): Promise<TestSocket> => {
  const { ticket, url } = await ticketFor(person)
  return openSocket(url + query, ticket)
}
const note = (person: TestPerson, title: string) => person.call('POST', '/api/notifications', { body: { title } })
const somebody = async (): Promise<TestPerson> => {
  const person = await makePerson(service())
  await makeWorkspace(service(), person)
  return person
}
const journalOf = async (person: TestPerson): Promise<number[]> =>
  (
    await service().sql<{ seq: string }>('select seq from feed_entries where user_id = $1 order by seq', [person.uuid])
  ).map(({ seq }) => Number(seq))

describe('the live feed of notifications', () => {
  test('starts with a snapshot and then sends every change when it happens', async () => {
    const person = await somebody()
    const old = (await note(person, 'Before')).body
    const issued = await person.call('POST', '/auth/notification-ticket')
    expect(issued.status).toBe(201)
    expect(issued.body.url).toBe(`${service().base.replace('http', 'ws')}/ws/notifications`)
    const live = openSocket(issued.body.url, issued.body.ticket)
    const snapshot = await live.frame(({ type }) => type === 'snapshot')
    expect(live.socket.protocol).toBe('heddle.v1')
    expect(snapshot).toEqual({
      seq: 1,
      type: 'snapshot',
      at: expect.stringMatching(/Z$/),
      data: { unread: 1, items: [old] },
    })
    const made = (await note(person, 'After')).body
    expect(await live.frame(({ seq }) => seq === 2)).toMatchObject({ type: 'notification.created', data: made })
    const path = `/api/notifications/${made.notification_id}`
    const read = (await person.call('PATCH', path, { body: { read: true } })).body
    expect(await live.frame(({ seq }) => seq === 3)).toMatchObject({ type: 'notification.updated', data: read })
    await person.call('PATCH', path, { body: { read: true } })
    await person.call('DELETE', path)
    expect(await live.frame(({ seq }) => seq === 4)).toMatchObject({
      type: 'notification.deleted',
      data: { notification_id: made.notification_id },
    })
    live.socket.terminate()
  })

  test('sends platform events, but never the events of a transaction that was rolled back', async () => {
    const live = await connect(world.viewer)
    await live.frame(({ type }) => type === 'snapshot')
    const scope = { workspaceId: world.workspace.uuid, userId: world.owner.uuid }
    const event = { workspaceId: world.workspace.uuid, kind: 'a.b', title: 'Undone', to: [world.viewer.uuid] }
    const undone = service().db.tenant(scope, async (tx) => {
      await deliverEvent(tx, event)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await service().db.tenant(scope, (tx) => deliverEvent(tx, { ...event, title: 'Done' }))
    const { seq } = live.frames[0]!
    expect(await live.frame((frame) => frame.seq === seq + 1)).toMatchObject({ data: { title: 'Done' } })
    live.socket.terminate()
  })

  test('leaves out a workspace that requires a second factor which the person does not have', async () => {
    const { owner, member, workspace } = await makeWorld(service())
    const own = await makeWorkspace(service(), member)
    const scope = { workspaceId: workspace.uuid, userId: owner.uuid }
    const notice = { workspaceId: workspace.uuid, kind: 'a.b', body: 'Confidential', to: [member.uuid] }
    const deliver = (title: string) => service().db.tenant(scope, (tx) => deliverEvent(tx, { ...notice, title }))
    await deliver('Before')
    const { items } = (await member.call('GET', '/api/notifications', { workspace: own.id })).body
    expect(items).toMatchObject([{ title: 'Before' }])
    await service().sql('update workspaces set require_second_factor = true where workspace_id = $1', [workspace.uuid])
    expect((await member.call('GET', '/api/notifications', { workspace: own.id })).body.items).toEqual([])
    const path = `/api/notifications/${items[0].notification_id}`
    expect((await member.call('GET', path, { workspace: own.id })).status).toBe(404)
    const { ticket, url } = await ticketFor(member, own.id)
    const live = openSocket(url, ticket)
    expect(await live.frame(({ type }) => type === 'snapshot')).toMatchObject({ data: { unread: 0, items: [] } })
    await deliver('After')
    const { data } = await live.frame(({ type }) => type === 'notification.created')
    expect(data).toEqual({ notification_id: expect.stringMatching(/^ntf_/) })
    live.socket.terminate()
  })

  test('resumes after a sequence number without a snapshot, and reports pruned entries as a gap', async () => {
    const person = await somebody()
    for (const title of ['one', 'two', 'three']) await note(person, title)
    const resumed = await connect(person, '?after=1')
    await resumed.frame(({ seq }) => seq === 3)
    expect(resumed.frames.map(({ seq, type }) => [seq, type])).toEqual([
      [2, 'notification.created'],
      [3, 'notification.created'],
    ])
    await service().sql(`update feed_entries set at = now() - interval '8 days' where user_id = $1`, [person.uuid])
    expect(await pruneRealtime(service().db)).toBe(3)
    const late = await connect(person, '?after=1')
    expect(await late.frame(() => true)).toMatchObject({ seq: 3, type: 'gap', data: { from: 2, to: 3 } })
    await note(person, 'four')
    expect(await late.frame(({ seq }) => seq === 4)).toMatchObject({ data: { title: 'four' } })
    const other = await connect(person, '?after=2')
    await other.frame(({ seq }) => seq === 4)
    expect(other.frames.map(({ seq, type, data }) => [seq, type, data.from])).toEqual([
      [3, 'gap', 3],
      [4, 'notification.created', undefined],
    ])
    const future = await connect(person, '?after=99')
    expect(await future.frame(() => true)).toMatchObject({ seq: 4, type: 'gap', data: { from: 1, to: 4 } })
    await note(person, 'five')
    expect(await future.frame(({ seq }) => seq === 5)).toMatchObject({ data: { title: 'five' } })
    expect(await (await connect(person, '?after=-1')).closed).toBe(1008)
    for (const { socket } of [resumed, late, other, future]) socket.terminate()
  })

  test('sends only the id of a notification from a workspace that the person has left', async () => {
    const person = await somebody()
    await addMember(service(), world.workspace, person, 'member')
    await person.call('POST', '/api/notifications', { body: { title: 'Secret' }, workspace: world.workspace.id })
    await service().sql('delete from memberships where user_id = $1 and workspace_id = $2', [
      person.uuid,
      world.workspace.uuid,
    ])
    const resumed = await connect(person, '?after=0')
    expect(Object.keys((await resumed.frame(({ seq }) => seq === 1)).data)).toEqual(['notification_id'])
    resumed.socket.terminate()
  })
})

describe('tickets', () => {
  test('open one socket each: of fifty simultaneous attempts with one ticket, one succeeds', async () => {
    const person = await somebody()
    const { ticket, url } = await ticketFor(person)
    const sockets = Array.from({ length: 50 }, () => openSocket(url, ticket))
    const outcomes = await Promise.all(
      sockets.map((live) =>
        Promise.race([live.closed, live.frame(({ type }) => type === 'snapshot').then(() => 'in')]).catch(
          () => live.closed,
        ),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'in')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 4401)).toHaveLength(49)
    for (const { socket } of sockets) socket.terminate()
    const stored = await service().sql<{ all: string }>('select string_agg(t::text, $1) as all from tickets t', [''])
    expect(stored[0]!.all ?? '').not.toContain(ticket)
  })

  test('may be in the query for clients that cannot set subprotocols', async () => {
    const { ticket, url } = await ticketFor(world.member)
    const live = openSocket(`${url}?ticket=${ticket}`)
    await live.frame(({ type }) => type === 'snapshot')
    live.socket.terminate()
    expect(await openSocket(`${url}?ticket=${ticket}`).closed).toBe(4401)
  })

  test('that are missing, invented, expired, of another kind, or sent from another origin are refused with 4401', async () => {
    const { url } = await ticketFor(world.member)
    expect(await openSocket(url).closed).toBe(4401)
    expect(await openSocket(url, 'tkt_nonsense').closed).toBe(4401)
    expect(await openSocket(url, 'x'.repeat(4000)).closed).toBe(4401)
    const expired = await ticketFor(world.member)
    await service().sql(`update tickets set expires_at = now() where user_id = $1`, [world.member.uuid])
    expect(await openSocket(url, expired.ticket).closed).toBe(4401)
    const other = await ticketFor(world.member)
    await service().sql(`update tickets set kind = 'job' where user_id = $1`, [world.member.uuid])
    expect(await openSocket(url, other.ticket).closed).toBe(4401)
    for (const origin of ['https://evil.example', 'null', `${service().base}.evil.example`]) {
      const stolen = await ticketFor(world.member)
      expect(await openSocket(url, stolen.ticket, { origin }).closed).toBe(4401)
    }
    const own = await ticketFor(world.member)
    const live = openSocket(url, own.ticket, { origin: service().base })
    await live.frame(({ type }) => type === 'snapshot')
    live.socket.terminate()
  })

  test('require a credential, expire after 30 seconds, and are refused to keys bound to one workspace', async () => {
    expect((await service().call('POST', '/auth/notification-ticket')).status).toBe(401)
    const asked = Date.now()
    const expires = Date.parse((await ticketFor(world.member)).expires_at) - 30_000
    expect(expires).toBeGreaterThan(asked - 1000)
    expect(expires).toBeLessThan(Date.now() + 1000)
    const bound = await somebody()
    await service().sql(
      'update api_keys set workspace_id = (select workspace_id from memberships m where m.user_id = $1) where user_id = $1',
      [bound.uuid],
    )
    expect((await bound.call('POST', '/auth/notification-ticket')).status).toBe(403)
  })

  test('do not help at wrong addresses: a socket without a feed closes with 4404, another path opens no socket', async () => {
    const { ticket, url } = await ticketFor(world.member)
    expect(await openSocket(url.replace('notifications', 'nothing'), ticket).closed).toBe(4404)
    expect(await openSocket(url.replace('/ws/notifications', '/api/teams'), ticket).closed).toBe(1006)
  })
})

describe('withdrawn access', () => {
  /** Runs a statement that removes the person’s access, and returns the code with which the socket is closed. */
  const codeAfter = async (person: TestPerson, statement: string, values: unknown[]): Promise<number> => {
    const live = await connect(person)
    await live.frame(({ type }) => type === 'snapshot')
    await service().sql(statement, values)
    return live.closed
  }
  const withoutHints = async (work: () => Promise<void>): Promise<void> => {
    await service().sql('alter table memberships disable trigger access_hint')
    await work()
    await service().sql('alter table memberships enable trigger access_hint')
  }
  const newMember = async (): Promise<TestPerson> => {
    const person = await makePerson(service())
    await addMember(service(), world.workspace, person, 'member')
    return person
  }
  const removal = 'delete from memberships where user_id = $1'

  test('closes the socket of a member who is removed', async () => {
    const person = await newMember()
    expect(await codeAfter(person, removal, [person.uuid])).toBe(4403)
  })

  test('closes the socket of a removed member even if the notification about the removal is lost', () =>
    withoutHints(async () => {
      const person = await newMember()
      expect(await codeAfter(person, removal, [person.uuid])).toBe(4403)
    }))

  test('closes the sockets of a revoked key', async () => {
    const person = await newMember()
    expect(await codeAfter(person, 'delete from api_keys where user_id = $1', [person.uuid])).toBe(4403)
  })

  test('refuses the ticket of a member who was removed before using the ticket', async () => {
    const person = await newMember()
    const { ticket, url } = await ticketFor(person)
    await service().sql(removal, [person.uuid])
    expect(await openSocket(url, ticket).closed).toBe(4403)
  })
})

describe('cut connections', () => {
  /** A small, fast random generator with a seed, so that a failing test can be repeated. */
  const makeRandom = (seed: number) => (below: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }

  test('after random cuts on two servers, one of which restarts, the client has the whole journal once and in order', async () => {
    const cuts = isSlowRun ? 80 : 20
    const person = await somebody()
    const random = makeRandom(20_260_101)
    const seen: number[] = []
    let second: Service = await startService({ database: service().database })
    let writing = true
    // Several writers at once, so that transactions overlap and commit in another order than they started.
    const writers = Array.from({ length: 4 }, async () => {
      for (let n = 0; writing; n++) {
        const via = n % 2 === 0 ? service() : second
        await via
          .call('POST', '/api/notifications', { token: person.key, body: { title: `note ${n}` } })
          .catch(() => {})
      }
    })
    const cutAfter = async (frames: number, at: SharedService): Promise<void> => {
      const { body } = await person.call('POST', '/auth/notification-ticket')
      const live = openSocket(
        `${at.base.replace('http', 'ws')}/ws/notifications?after=${seen.at(-1) ?? 0}`,
        body.ticket,
      )
      await new Promise<void>((resolve) => {
        const cut = (): void => {
          live.socket.terminate()
          resolve()
        }
        live.socket.on('message', () => {
          if (live.frames.length >= frames) cut()
        })
        live.closed.then(() => resolve())
        if (frames === 0) live.socket.on('open', cut)
      })
      seen.push(...live.frames.map(({ seq }) => seq))
    }
    for (let cut = 0; cut < cuts; cut++) {
      if (cut === Math.ceil(cuts / 2)) {
        await second.stop()
        second = await startService({ database: service().database })
      }
      await cutAfter(random(5), random(2) === 0 ? service() : second)
    }
    writing = false
    await Promise.all(writers)
    const journal = await journalOf(person)
    const last = await connect(person, `?after=${seen.at(-1) ?? 0}`)
    if (seen.at(-1) !== journal.at(-1)) await last.frame(({ seq }) => seq === journal.at(-1))
    last.socket.terminate()
    seen.push(...last.frames.map(({ seq }) => seq))
    expect(seen).toEqual(journal)
    expect(journal.length).toBeGreaterThan(cuts / 2)
    await second.stop()
  })
})
