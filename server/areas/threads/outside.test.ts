import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { useService } from '#test/harness/service'
import { makeTemplate, makeToken, makeWorkflow, refund, visit } from '#test/harness/widget'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Conversations with visitors have no members: people who are responsible for the conversations can read them.

const service = useService()
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

const chat = async (): Promise<string> =>
  (await (await visit(service(), template, token)).chat('<b>Hello</b> there')).body.thread_id
const listed = async (person: TestPerson): Promise<string[]> =>
  (await person.call('GET', '/api/chat-thread?with=outside&limit=200')).body.items.map(
    ({ thread_id }: { thread_id: string }) => thread_id,
  )

describe('a conversation with a visitor', () => {
  test('can be read by owners of the workspace and the person who created the template', async () => {
    const thread = await chat()
    for (const person of [world.owner, maker]) {
      expect((await person.call('GET', `/api/chat-thread/${thread}`)).body).toMatchObject({
        kind: 'embed',
        title: 'Visitor of Shop',
        channel: null,
        template_id: template,
        taken_over_by: null,
        role: 'member',
      })
      const { items } = (await person.call('GET', `/api/chat-thread/${thread}/messages`)).body
      expect(items[1]).toMatchObject({ role: 'visitor', text: '<b>Hello</b> there' })
      expect(await listed(person)).toContain(thread)
      const own = (await person.call('GET', '/api/chat-thread')).body.items
      expect(own.map(({ thread_id }: { thread_id: string }) => thread_id)).not.toContain(thread)
    }
  })

  test('cannot be read by another colleague, viewer or guest, or by another workspace', async () => {
    const thread = await chat()
    for (const person of [world.member, world.viewer, world.guest, world.stranger]) {
      for (const path of ['', '/messages', '/members'])
        expect((await person.call('GET', `/api/chat-thread/${thread}${path}`)).status).toBe(404)
      expect(await listed(person)).not.toContain(thread)
    }
  })

  test('has no members, and no person can be invited to it', async () => {
    const thread = await chat()
    const body = { email: world.member.email }
    expect((await maker.call('POST', `/api/chat-thread/${thread}/invite`, { body })).status).toBe(403)
    expect((await maker.call('GET', `/api/chat-thread/${thread}/members`)).body.items).toEqual([])
  })

  test('in the widget of a workflow can be read by the members of the workflow', async () => {
    const workflow = await makeWorkflow(maker, 'Book a table', refund, {
      members: [{ user_id: world.member.id, role: 'viewer' }],
    })
    const embed = await makeToken(maker, `/api/workflows/${workflow}`)
    const gathered = await service().call('POST', `/api/embed/workflow/${workflow}/gather`, {
      token: embed.token,
      headers: { origin: service().base },
      body: { message: 'order 12' },
    })
    expect(gathered.status).toBe(200)
    const thread = `thr_${gathered.body.conversation_id.slice('conv_'.length)}`
    for (const person of [maker, world.member, world.owner])
      expect((await person.call('GET', `/api/chat-thread/${thread}`)).body).toMatchObject({
        kind: 'gather',
        title: 'Visitor of Book a table',
      })
    expect((await world.viewer.call('GET', `/api/chat-thread/${thread}`)).status).toBe(404)
  })
})

describe('a conversation with a person outside the workspace', () => {
  const age = (thread: string, days: number) =>
    service().sql(`update threads set updated_at = now() - make_interval(days => $2) where thread_id = $1`, [
      fromWire('thr', thread),
      days,
    ])
  const forget = async () => {
    const [row] = await service().sql<{ forgotten: number }>('select forget_conversations(400, 500) as forgotten')
    return row!.forgotten
  }
  const exists = async (thread: string): Promise<boolean> =>
    (await world.owner.call('GET', `/api/chat-thread/${thread}`)).status === 200

  test('is deleted after the days that its template sets, or otherwise the installation', async () => {
    const [kept, old] = [await chat(), await chat()]
    await age(kept, 300)
    await age(old, 401)
    expect(await forget()).toBe(1)
    expect([await exists(kept), await exists(old)]).toEqual([true, false])
    const patched = await maker.call('PATCH', `/api/templates/${template}`, { body: { retention_days: 30 } })
    expect(patched.body.retention_days).toBe(30)
    const fresh = await chat()
    await age(fresh, 29)
    expect(await forget()).toBe(1)
    expect([await exists(kept), await exists(fresh)]).toEqual([false, true])
    for (const retention_days of [0, -1, 1.5, 'never'])
      expect((await maker.call('PATCH', `/api/templates/${template}`, { body: { retention_days } })).status).toBe(422)
    await maker.call('PATCH', `/api/templates/${template}`, { body: { retention_days: null } })
  })

  test('is kept while an execution that it started is running, and threads of colleagues are always kept', async () => {
    const visitor = await visit(service(), template, token)
    const { body } = await visitor.chat('refund for order 7, it was late')
    await visitor.ended(body.execution_id)
    await service().sql(
      `update threads set state = jsonb_set(state::jsonb, '{running}', '[{"execution_id": "x", "title": "x"}]')::json where thread_id = $1`,
      [fromWire('thr', body.thread_id)],
    )
    const own = (await maker.call('POST', '/api/chat-thread', { body: { title: 'Ours' } })).body.thread_id
    await age(body.thread_id, 5000)
    await age(own, 5000)
    expect(await forget()).toBe(0)
    expect(await exists(body.thread_id)).toBe(true)
    expect((await maker.call('GET', `/api/chat-thread/${own}`)).status).toBe(200)
  })

  test('that was deleted starts again for its visitor', async () => {
    const visitor = await visit(service(), template, token)
    const { body } = await visitor.chat('Hello')
    await age(body.thread_id, 5000)
    expect(await forget()).toBe(1)
    expect((await visitor.chat('Are you there?', body.thread_id)).status).toBe(404)
    expect((await visitor.chat('Hello again')).status).toBe(200)
  })
})
