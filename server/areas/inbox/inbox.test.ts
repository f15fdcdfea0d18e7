import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import { openSocket } from '#test/harness/socket'
import { makeTemplate, makeToken, makeWorkflow, refund, type Visitor, visit } from '#test/harness/widget'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Conversations with visitors, from the point of view of the team that answers them.

const service = useSharedService()
let world: World
let maker: TestPerson
let template: string
let token: string
beforeAll(async () => {
  world = await makeWorld(service())
  maker = await makePerson(service(), { name: 'Mia Maker' })
  await addMember(service(), world.workspace, maker, 'member')
  const workflow = await makeWorkflow(maker, 'Request a refund', refund)
  template = await makeTemplate(maker, [workflow], { name: 'Shop' })
  ;({ token } = await makeToken(maker, `/api/templates/${template}`))
})

type Talk = { visitor: Visitor; thread: string }
async function begin(text = 'Hello'): Promise<Talk> {
  const visitor = await visit(service(), template, token)
  return { visitor, thread: (await visitor.chat(text)).body.thread_id }
}
const one = async (person: TestPerson, thread: string) =>
  (await person.call('GET', `/api/conversations/${thread}`)).body
const patch = (person: TestPerson, thread: string, body: unknown) =>
  person.call('PATCH', `/api/conversations/${thread}`, { body })
const say = (person: TestPerson, thread: string, text: string) =>
  person.call('POST', `/api/chat-thread/${thread}/messages`, { body: { text } })
const list = async (person: TestPerson, query: string): Promise<string[]> =>
  (await person.call('GET', `/api/conversations?limit=200&${query}`)).body.items.map(
    ({ thread_id }: { thread_id: string }) => thread_id,
  )
const HUMAN = 'I want to talk to a human'

describe('a conversation of the inbox', () => {
  test('shows the last message, the page and the language of the visitor', async () => {
    const visitor = await visit(service(), template, token)
    const page = { url: 'https://shop.example/bikes', title: 'Bikes' }
    const { body } = await visitor.call('POST', '/chat', {
      body: { message: 'Hello', page, locale: 'de-CH', time_zone: 'Europe/Zurich' },
    })
    expect(await one(maker, body.thread_id)).toMatchObject({
      title: 'Visitor of Shop',
      state: 'open',
      assignee: null,
      waiting_since: null,
      unread_count: 1,
      last_message: {
        role: 'assistant',
        text: expect.stringContaining('Dabei kann ich helfen'),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      },
      visit: { page, locale: 'de-CH', time_zone: 'Europe/Zurich' },
    })
  })

  test('is visible only to the people who answer it', async () => {
    const { thread } = await begin()
    for (const person of [maker, world.owner]) expect(await list(person, '')).toContain(thread)
    for (const person of [world.member, world.viewer, world.stranger]) {
      expect(await list(person, '')).not.toContain(thread)
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { state: 'closed' }],
        ['POST', '/read', {}],
        ['GET', '/notes', undefined],
        ['POST', '/notes', { text: 'x' }],
      ] as const)
        expect((await person.call(method, `/api/conversations/${thread}${path}`, body ? { body } : {})).status).toBe(
          404,
        )
    }
    expect((await world.guest.call('GET', '/api/conversations')).status).toBe(403)
  })

  test('is not a thread between colleagues', async () => {
    const { thread_id } = (await maker.call('POST', '/api/chat-thread', { body: { title: 'Ours' } })).body
    expect((await maker.call('GET', `/api/conversations/${thread_id}`)).status).toBe(404)
    expect((await patch(maker, thread_id, { state: 'closed' })).status).toBe(404)
    const body = { text: 'x' }
    expect((await maker.call('POST', `/api/conversations/${thread_id}/notes`, { body })).status).toBe(404)
  })

  test('is found by words of its messages and by its title', async () => {
    const { thread } = await begin('My Zeppelin is broken')
    await begin('Something else')
    expect(await list(maker, 'q=zeppelin')).toEqual([thread])
    expect(await list(maker, 'q=visitor%20of%20nothing')).toEqual([])
    expect(await list(maker, 'q=shop')).toContain(thread)
    expect(await list(world.member, 'q=zeppelin')).toEqual([])
  })

  test('is found by part of a word in any case and language, by two characters, and by no other text', async () => {
    const { thread } = await begin('Wo bleibt die Paketverfolgung für Straße 7? 荷物はどこ')
    for (const q of ['KETVERFOLG', 'für straße', '荷物は', '荷物', '7?', ' bleibt '])
      expect(await list(maker, `q=${encodeURIComponent(q)}`)).toContain(thread)
    for (const q of ['paketverfolgungen', 'bleibt wo die', 'für strasse', '物荷', '%', '_'])
      expect(await list(maker, `q=${encodeURIComponent(q)}`)).not.toContain(thread)
  })

  test('is found by the title that a channel gave it', async () => {
    const { thread } = await begin()
    await service().sql(`update threads set title = 'Änne Müller' where thread_id = $1`, [fromWire('thr', thread)])
    for (const q of ['änne m', 'mü']) expect(await list(maker, `q=${encodeURIComponent(q)}`)).toContain(thread)
    expect(await list(maker, 'q=shop')).not.toContain(thread)
  })

  test('is found only in its own workspace', async () => {
    const stranger = await makeWorld(service())
    await begin('An airship over Lake Constance')
    expect(await list(world.owner, 'q=airship')).toHaveLength(1)
    expect(await list(stranger.owner, 'q=airship')).toEqual([])
  })
})

describe('the socket of conversations', () => {
  const connect = async (person: TestPerson, query = '') => {
    const { body, status } = await person.call('POST', '/auth/conversation-ticket')
    expect(status).toBe(201)
    return openSocket(body.url + query, body.ticket)
  }

  test('reports that a message, an assignment and a note happened, but not their content', async () => {
    const { visitor, thread } = await begin()
    const live = await connect(maker)
    let { seq } = await live.frame(({ type }) => type === 'snapshot')
    const changes = [
      () => visitor.chat('Hello again'),
      () => patch(maker, thread, { assignee_id: maker.id }),
      () => maker.call('POST', `/api/conversations/${thread}/notes`, { body: { text: 'Secret' } }),
      () => say(maker, thread, 'Here I am'),
      () => begin('Somebody else'),
    ]
    for (const change of changes) {
      await change()
      const told = await live.frame((frame) => frame.seq > seq)
      expect(told).toMatchObject({ type: 'conversations.changed', data: {} })
      seq = Math.max(...live.frames.map((frame) => frame.seq))
    }
    const again = await connect(maker, `?after=${seq - 1}`)
    expect((await again.frame(() => true)).type).toBe('conversations.changed')
    const future = await connect(maker, '?after=2000000000')
    expect((await future.frame(() => true)).type).toBe('gap')
    for (const { socket } of [live, again, future]) socket.terminate()
  })

  test('reports nothing to another workspace, and closes for a person who has left', async () => {
    const stranger = await makeWorld(service())
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const near = await connect(leaver)
    await near.frame(({ type }) => type === 'snapshot')
    await begin()
    const { seq } = await near.frame(({ type }) => type === 'conversations.changed')
    const far = await connect(stranger.owner)
    await far.frame(({ type }) => type === 'snapshot')
    await begin()
    await near.frame((frame) => frame.seq > seq)
    expect(far.frames).toHaveLength(1)
    await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    expect(await near.closed).toBe(4403)
    far.socket.terminate()
  })
})

describe('unread messages', () => {
  test('are counted for each person', async () => {
    const { visitor, thread } = await begin()
    await visitor.chat('Are you there?', thread)
    expect([(await one(maker, thread)).unread_count, (await one(world.owner, thread)).unread_count]).toEqual([2, 2])
    expect((await maker.call('POST', `/api/conversations/${thread}/read`, { body: {} })).body.unread_count).toBe(0)
    expect((await one(world.owner, thread)).unread_count).toBe(2)
    expect(await list(maker, 'unread=true')).not.toContain(thread)
    expect(await list(maker, 'unread=false')).toContain(thread)
    expect(await list(world.owner, 'unread=true')).toContain(thread)
    await visitor.chat('Hello?', thread)
    expect((await one(maker, thread)).unread_count).toBe(1)
  })

  test('are marked as read up to a message, never back, and by writing', async () => {
    const { visitor, thread } = await begin()
    const { items } = (await maker.call('GET', `/api/chat-thread/${thread}/messages?role=visitor`)).body
    await visitor.chat('More', thread)
    const read = (body: unknown) => maker.call('POST', `/api/conversations/${thread}/read`, { body })
    expect((await read({ message_id: items[0].message_id })).body.unread_count).toBe(1)
    await read({})
    expect((await read({ message_id: items[0].message_id })).body.unread_count).toBe(0)
    const other = await begin()
    const foreign = await maker.call('GET', `/api/chat-thread/${other.thread}/messages`)
    const refused = await read({ message_id: foreign.body.items[0].message_id })
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/message_id'])
    await say(world.owner, thread, 'I am here')
    expect((await one(world.owner, thread)).unread_count).toBe(0)
  })
})

describe('waiting', () => {
  test('starts when a visitor asks for a person, even in the first message, and ends with a colleague’s reply', async () => {
    const { visitor, thread } = await begin(HUMAN)
    const asked = await one(maker, thread)
    expect(asked).toMatchObject({ waiting_since: expect.any(String), handover_at: expect.any(String) })
    await visitor.chat('Please', thread)
    expect((await one(maker, thread)).waiting_since).toBe(asked.waiting_since)
    expect(await list(maker, 'waiting=true')).toContain(thread)
    await maker.call('POST', `/api/chat-thread/${thread}/take-over`, { body: {} })
    expect((await one(maker, thread)).waiting_since).toBe(asked.waiting_since)
    await say(maker, thread, 'How can I help?')
    expect((await one(maker, thread)).waiting_since).toBeNull()
    expect(await list(maker, 'waiting=true')).not.toContain(thread)
    await visitor.chat('My parcel', thread)
    const again = (await one(maker, thread)).waiting_since
    expect(Date.parse(again)).toBeGreaterThan(Date.parse(asked.waiting_since))
    await maker.call('POST', `/api/chat-thread/${thread}/hand-back`, { body: {} })
    expect((await one(maker, thread)).waiting_since).toBeNull()
    await visitor.chat('Hello', thread)
    expect((await one(maker, thread)).waiting_since).toBeNull()
  })

  test('starts with a notification to the people who answer if the first message asks for a person', async () => {
    const { thread } = await begin(HUMAN)
    const { items } = (await maker.call('GET', '/api/notifications?limit=200')).body
    expect(items.some((item: { link: string }) => item.link === `/conversations/${thread}`)).toBe(true)
  })

  test('sorts the inbox: the longest wait first, conversations without a wait last', async () => {
    const early = await begin(HUMAN)
    const late = await begin(HUMAN)
    const idle = await begin()
    const order = await list(maker, 'sort=waiting_since')
    const places = [early, late, idle].map(({ thread }) => order.indexOf(thread))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })
})

describe('the assignee', () => {
  test('is chosen, notified and usable as a filter, or is the person who takes over an unassigned conversation', async () => {
    const { thread } = await begin('Assign me')
    const assigned = await patch(world.owner, thread, { assignee_id: maker.id })
    expect(assigned.body.assignee).toEqual({ user_id: maker.id, name: 'Mia Maker' })
    expect(await list(maker, `assignee_id=${maker.id}`)).toContain(thread)
    expect(await list(maker, 'assigned=false')).not.toContain(thread)
    const { items } = (await maker.call('GET', '/api/notifications?limit=200')).body
    const told = items.filter((item: { link: string }) => item.link === `/conversations/${thread}`)
    expect(told).toMatchObject([{ kind: 'thread.assigned', body: expect.stringContaining('I can help with') }])
    await patch(world.owner, thread, { assignee_id: maker.id })
    await maker.call('POST', `/api/chat-thread/${thread}/take-over`, { body: {} })
    expect((await patch(maker, thread, { assignee_id: null })).body.assignee).toBeNull()
    const other = await begin()
    await say(world.owner, other.thread, 'Good morning')
    expect((await one(maker, other.thread)).assignee.user_id).toBe(world.owner.id)
    const again = (await maker.call('GET', '/api/notifications?limit=200')).body.items
    expect(again.filter((item: { kind: string }) => item.kind === 'thread.assigned')).toHaveLength(1)
  })

  test('must be a person who may read the conversation', async () => {
    const { thread } = await begin()
    for (const person of [world.member, world.guest, world.stranger]) {
      const refused = await patch(maker, thread, { assignee_id: person.id })
      expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/assignee_id'])
    }
    expect((await one(maker, thread)).assignee).toBeNull()
  })

  test('is removed when the person leaves the workspace', async () => {
    const { thread } = await begin()
    const leaver = await makePerson(service(), { name: 'Leo Leaver' })
    await addMember(service(), world.workspace, leaver, 'owner')
    expect((await patch(maker, thread, { assignee_id: leaver.id })).body.assignee.name).toBe('Leo Leaver')
    await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    expect((await one(maker, thread)).assignee).toBeNull()
  })
})

describe('a closed conversation', () => {
  test('is handed back, no longer waits, and is reopened by a message of the visitor', async () => {
    const { visitor, thread } = await begin(HUMAN)
    await say(maker, thread, 'Done')
    await visitor.chat('Thanks', thread)
    expect((await patch(maker, thread, { state: 'closed' })).body).toMatchObject({
      state: 'closed',
      waiting_since: null,
      taken_over_by: null,
      handover_at: null,
    })
    expect([
      (await list(maker, 'state=closed')).includes(thread),
      (await list(maker, 'state=open')).includes(thread),
    ]).toEqual([true, false])
    await visitor.chat('One more thing', thread)
    expect((await one(maker, thread)).state).toBe('open')
    await patch(maker, thread, { state: 'closed' })
    expect((await patch(maker, thread, { state: 'open' })).body.state).toBe('open')
  })
})

describe('a note', () => {
  test('is visible to colleagues, never to the visitor', async () => {
    const { visitor, thread } = await begin()
    const path = `/api/conversations/${thread}/notes`
    const made = await maker.call('POST', path, { body: { text: ' A remarkable customer ' } })
    expect(made.body).toMatchObject({ thread_id: thread, author_id: maker.id, text: 'A remarkable customer' })
    expect((await world.owner.call('GET', path)).body.items).toEqual([made.body])
    const seen = await visitor.call('GET', `/thread/${thread}/history?limit=200`)
    const said = await maker.call('GET', `/api/chat-thread/${thread}/messages`)
    for (const { text } of [seen, said]) expect(text).not.toContain('remarkable')
  })

  test('can be changed by its author, deleted also by owners of the workspace, and belongs to its conversation', async () => {
    const [{ thread }, other] = [await begin(), await begin()]
    const path = `/api/conversations/${thread}/notes`
    const { note_id } = (await maker.call('POST', path, { body: { text: 'First' } })).body
    expect((await world.owner.call('PATCH', `${path}/${note_id}`, { body: { text: 'Mine' } })).status).toBe(403)
    expect((await maker.call('PATCH', `${path}/${note_id}`, { body: { text: 'Second' } })).body.text).toBe('Second')
    expect((await maker.call('GET', `/api/conversations/${other.thread}/notes/${note_id}`)).status).toBe(404)
    expect((await maker.call('DELETE', `/api/conversations/${other.thread}/notes/${note_id}`)).status).toBe(404)
    expect((await world.owner.call('DELETE', `${path}/${note_id}`)).status).toBe(204)
    expect((await maker.call('GET', path)).body.items).toEqual([])
  })

  test.each([
    ['only spaces', '   '],
    ['a text that is too long', 'x'.repeat(4001)],
  ])('with %s is refused', async (_what, text) => {
    const { thread } = await begin()
    expect((await maker.call('POST', `/api/conversations/${thread}/notes`, { body: { text } })).status).toBe(422)
  })

  test('is refused beyond the limit', async () => {
    const { thread } = await begin()
    await service().sql(
      `insert into conversation_notes (workspace_id, note_id, thread_id, text)
       select workspace_id, uuidv7(), thread_id, 'x' from threads, generate_series(1, 500) where thread_id = $1`,
      [fromWire('thr', thread)],
    )
    const refused = await maker.call('POST', `/api/conversations/${thread}/notes`, { body: { text: 'One more' } })
    expect(refused.status).toBe(409)
  })
})

describe('a canned answer', () => {
  test('has a unique name in the workspace', async () => {
    const made = await maker.call('POST', '/api/canned-answers', { body: { name: 'Parcel', text: 'On its way.' } })
    expect([made.status, made.body.created_by]).toEqual([201, maker.id])
    const same = { name: 'PARCEL', text: 'x' }
    expect((await world.member.call('POST', '/api/canned-answers', { body: same })).status).toBe(409)
    expect((await world.stranger.call('POST', '/api/canned-answers', { body: same })).status).toBe(201)
    const path = `/api/canned-answers/${made.body.answer_id}`
    expect((await maker.call('PATCH', path, { body: { name: 'parcel' } })).body).toMatchObject({
      name: 'parcel',
      text: 'On its way.',
    })
    expect((await world.member.call('PATCH', path, { body: { text: 'x' } })).status).toBe(403)
    expect((await world.member.call('GET', '/api/canned-answers?q=way')).body.items).toHaveLength(1)
    expect((await world.stranger.call('GET', path)).status).toBe(404)
    expect((await world.owner.call('DELETE', path)).status).toBe(204)
  })
})

describe('opening hours', () => {
  const never = { time_zone: 'Europe/Berlin', days: {} }
  const always = {
    time_zone: 'UTC',
    days: Object.fromEntries(
      ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [{ from: '00:00', to: '24:00' }]]),
    ),
  }
  const set = (hours: unknown, path = '/api/opening-hours', person = world.owner) =>
    person.call('PUT', path, { body: { hours } })
  const answersTo = async (text: string) => (await (await visit(service(), template, token)).chat(text)).body.messages

  test('determine the reply to a visitor who asks for a person, and the template’s hours have priority', async () => {
    const own = `/api/templates/${template}/opening-hours`
    expect((await set(never)).body.hours).toEqual(never)
    expect((await answersTo(HUMAN))[0].text).toMatch(/told my colleagues.*Nobody is there at the moment\.$/)
    expect((await set(always, own, maker)).status).toBe(200)
    expect((await answersTo(HUMAN))[0].text).toMatch(/They will answer here\.$/)
    await set(null, own, maker)
    expect((await maker.call('GET', own)).body).toEqual({ hours: null, updated_at: null })
    const day = new Date(Date.now() + 2 * 86_400_000)
    const weekday = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][day.getUTCDay()]!
    await set({ time_zone: 'UTC', days: { [weekday]: [{ from: '09:00', to: '10:00' }] } })
    const date = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long' })
    expect((await answersTo(HUMAN))[0].text).toContain(`They answer from ${date.format(day)} at 09:00 (UTC).`)
    await set(null)
  })

  test('are mentioned once to a visitor who writes to a colleague after hours', async () => {
    const { visitor, thread } = await begin()
    await say(maker, thread, 'How can I help?')
    await set(never)
    const texts = async (text: string) =>
      (await visitor.chat(text, thread)).body.messages.map((message: { text: string }) => message.text)
    expect([await texts('My parcel'), await texts('is late')]).toEqual([['Nobody is there at the moment.'], []])
    await set(null)
  })

  test.each([
    ['no time zone', { days: {} }],
    ['an unknown time zone', { time_zone: 'Mars/Base', days: {} }],
    ['an unknown day of the week', { time_zone: 'UTC', days: { monday: [] } }],
    ['an invalid time of day', { time_zone: 'UTC', days: { mon: [{ from: '9', to: '17:00' }] } }],
    ['an end before its start', { time_zone: 'UTC', days: { mon: [{ from: '17:00', to: '09:00' }] } }],
    [
      'times that overlap',
      {
        time_zone: 'UTC',
        days: {
          mon: [
            { from: '09:00', to: '12:00' },
            { from: '11:00', to: '13:00' },
          ],
        },
      },
    ],
    ['an invalid date', { time_zone: 'UTC', days: {}, closed_on: ['2026-13-45'] }],
  ])('with %s are refused', async (_what, hours) => {
    expect((await set(hours)).status).toBe(422)
  })
})
