import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire, toWire } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import {
  askingWorkflow,
  makeTemplate,
  makeToken,
  makeWorkflow,
  refund,
  SITE,
  type Visitor,
  visit,
} from '#test/harness/widget'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// A colleague answers a visitor instead of the assistant.

const service = useSharedService()
let world: World
let maker: TestPerson
let template: string
let token: string
beforeAll(async () => {
  world = await makeWorld(service())
  maker = await makePerson(service(), { name: 'Mia Maker' })
  await addMember(service(), world.workspace, maker, 'member')
  const refunds = await makeWorkflow(maker, 'Request a refund', refund)
  const colours = await makeWorkflow(maker, 'Paint it', askingWorkflow({ type: 'string', enum: ['red', 'green'] }))
  template = await makeTemplate(maker, [refunds, colours], { name: 'Shop', features: { names: true } })
  ;({ token } = await makeToken(maker, `/api/templates/${template}`))
})

type Talk = { visitor: Visitor; thread: string }
async function begin(text = 'Hello'): Promise<Talk> {
  const visitor = await visit(service(), template, token)
  return { visitor, thread: (await visitor.chat(text)).body.thread_id }
}
const act = (person: TestPerson, thread: string, verb: string, body: unknown = {}, headers = {}) =>
  person.call('POST', `/api/chat-thread/${thread}/${verb}`, { body, headers })
const say = (person: TestPerson, { thread }: Talk, text: string, headers = {}) =>
  act(person, thread, 'messages', { text }, headers)
const read = async ({ visitor, thread }: Talk) =>
  (await visitor.call('GET', `/thread/${thread}/history?limit=200`)).body as {
    items: { role: string; text: string; author?: string }[]
    colleague: string | null
    form?: { title: string; values: unknown }
  }
const textsOf = async (talk: Talk): Promise<string[]> => (await read(talk)).items.map(({ text }) => text)

describe('a colleague who takes over', () => {
  test('is announced in the language of the visitor’s page', async () => {
    const talk = await begin()
    const chat = (message: string) =>
      talk.visitor.call('POST', '/chat', { body: { message, thread_id: talk.thread, locale: 'de-AT' } })
    const asked = await chat('I want to talk to a human')
    expect(asked.body.messages.at(-1).text).toBe(
      'Ich habe dem Team gesagt, dass Sie mit einem Menschen sprechen möchten. Sie bekommen hier eine Antwort.',
    )
    await act(maker, talk.thread, 'take-over')
    await act(maker, talk.thread, 'hand-back')
    const texts = (await read(talk)).items.filter(({ role }) => role === 'system').map(({ text }) => text)
    expect(texts).toEqual(['Mia Maker ist jetzt im Gespräch.', 'Der Assistent antwortet wieder.'])
    await maker.call('PATCH', `/api/templates/${template}`, { body: { features: { names: false } } })
    await act(maker, talk.thread, 'take-over')
    expect((await read(talk)).colleague).toBe('Jemand aus dem Team')
    await maker.call('PATCH', `/api/templates/${template}`, { body: { features: { names: true } } })
  })

  test('is announced, and silences the assistant until the conversation is handed back', async () => {
    const talk = await begin()
    const taken = await act(maker, talk.thread, 'take-over')
    expect(taken.status).toBe(200)
    expect(taken.body.taken_over_by).toEqual({ user_id: maker.id, name: 'Mia Maker' })
    expect((await read(talk)).colleague).toBe('Mia Maker')
    expect((await talk.visitor.chat('Request a refund', talk.thread)).body).toMatchObject({ messages: [] })
    const said = await say(maker, talk, 'Which order is it?')
    expect(said.status).toBe(201)
    expect(said.body).toMatchObject({ role: 'user', author: { user_id: maker.id, name: 'Mia Maker' }, answers: [] })
    expect((await act(maker, talk.thread, 'hand-back')).body.taken_over_by).toBeNull()
    const { items, colleague } = await read(talk)
    expect(colleague).toBeNull()
    expect(items.slice(-4)).toMatchObject([
      { role: 'system', text: 'Mia Maker has joined the conversation.' },
      { role: 'visitor', text: 'Request a refund' },
      { role: 'assistant', author: 'Mia Maker', text: 'Which order is it?' },
      { role: 'system', text: 'The assistant answers again.' },
    ])
    const again = await talk.visitor.chat('Request a refund', talk.thread)
    expect(again.body.messages[0].text).toMatch(/order number/)
    expect(again.body.messages[0]).not.toHaveProperty('author')
  })

  test('can take over by sending a message; a repeated request sends nothing twice', async () => {
    const talk = await begin()
    const headers = { 'idempotency-key': 'one message' }
    const first = await say(maker, talk, 'Good morning', headers)
    expect((await say(maker, talk, 'Good morning', headers)).body.message_id).toBe(first.body.message_id)
    expect((await act(maker, talk.thread, 'take-over')).status).toBe(200)
    expect((await textsOf(talk)).slice(-2)).toEqual(['Mia Maker has joined the conversation.', 'Good morning'])
    expect((await talk.visitor.chat('Morning', talk.thread)).body.messages).toEqual([])
  })

  test('is not named if the template does not allow names', async () => {
    await maker.call('PATCH', `/api/templates/${template}`, { body: { features: { names: false } } })
    try {
      const talk = await begin()
      await say(maker, talk, 'Good morning')
      const { items, colleague } = await read(talk)
      expect(colleague).toBe('A colleague')
      expect(items.at(-1)).toMatchObject({ role: 'assistant', author: 'A colleague', text: 'Good morning' })
      expect(JSON.stringify(items)).not.toContain('Mia')
    } finally {
      await maker.call('PATCH', `/api/templates/${template}`, { body: { features: { names: true } } })
    }
  })

  test('hides a form and a question, which are shown again when the conversation is handed back', async () => {
    const talk = await begin('I would like a refund for order 12')
    expect((await read(talk)).form).toMatchObject({ values: { order: 12 } })
    const { form_id } = (await talk.visitor.call('GET', `/thread/${talk.thread}/history`)).body.form
    await act(maker, talk.thread, 'take-over')
    expect((await read(talk)).form).toBeUndefined()
    const late = await talk.visitor.call('POST', `/thread/${talk.thread}/action`, {
      body: { action: 'submit', form_id, values: { order: 12, reason: 'late' } },
    })
    expect([late.status, late.body.code]).toEqual([409, 'form_closed'])
    await act(maker, talk.thread, 'hand-back')
    expect((await read(talk)).form).toMatchObject({ title: 'Request a refund', values: { order: 12 } })
    expect((await textsOf(talk)).at(-1)).toMatch(/What is the reason/)
    expect((await talk.visitor.chat('it was late', talk.thread)).body.execution_id).toMatch(/^exe_/)
  })

  test('is notified once that the visitor is waiting, until they have answered', async () => {
    const talk = await begin()
    await say(maker, talk, 'How can I help?')
    for (const text of ['My parcel', 'is not here', 'since Monday']) await talk.visitor.chat(text, talk.thread)
    await say(maker, talk, 'I am looking')
    await talk.visitor.chat('Thanks', talk.thread)
    const { items } = (await maker.call('GET', '/api/notifications?limit=200')).body
    const waiting = items.filter(
      (item: { kind: string; link: string }) =>
        item.kind === 'thread.visitor_wrote' && item.link === `/conversations/${talk.thread}`,
    )
    expect(waiting).toHaveLength(2)
  })

  test('can be replaced by another colleague; leaving the workspace hands back the conversation', async () => {
    const talk = await begin()
    const leaver = await makePerson(service(), { name: 'Leo Leaver' })
    await addMember(service(), world.workspace, leaver, 'owner')
    await act(maker, talk.thread, 'take-over')
    await say(leaver, talk, 'May I?')
    expect((await maker.call('GET', `/api/chat-thread/${talk.thread}`)).body.taken_over_by.name).toBe('Mia Maker')
    expect((await act(leaver, talk.thread, 'take-over')).body.taken_over_by.name).toBe('Leo Leaver')
    const listed = (await maker.call('GET', '/api/chat-thread?with=outside&limit=1')).body.items[0]
    expect(listed).toMatchObject({ thread_id: talk.thread, taken_over_by: { name: 'Leo Leaver' } })
    await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    expect((await maker.call('GET', `/api/chat-thread/${talk.thread}`)).body.taken_over_by).toBeNull()
    expect((await talk.visitor.chat('Hello', talk.thread)).body.messages.length).toBeGreaterThan(0)
  })

  test('hands back the conversation after half a day without a message', async () => {
    const talk = await begin()
    await act(maker, talk.thread, 'take-over')
    await service().sql(`update threads set taken_over_until = now() where thread_id = $1`, [
      fromWire('thr', talk.thread),
    ])
    expect((await maker.call('GET', `/api/chat-thread/${talk.thread}`)).body.taken_over_by).toBeNull()
    expect((await talk.visitor.chat('Hello', talk.thread)).body.messages.length).toBeGreaterThan(0)
  })

  test('does not hide the questions and the result of an execution', async () => {
    const talk = await begin()
    const { execution_id } = (await talk.visitor.chat('Paint it', talk.thread)).body
    await act(maker, talk.thread, 'take-over')
    await talk.visitor.call('GET', `/execution/${execution_id}/status`)
    await expect.poll(() => textsOf(talk)).toContainEqual(expect.stringContaining('Which colour?'))
    expect((await talk.visitor.chat('green', talk.thread)).body.messages).toEqual([])
    await act(maker, talk.thread, 'hand-back')
    expect((await textsOf(talk)).at(-1)).toContain('Which colour?')
    await talk.visitor.chat('green', talk.thread)
    await talk.visitor.ended(execution_id)
    expect((await textsOf(talk)).join('\n')).toContain('green')
  })
})

describe('closing a conversation that a colleague has taken over', () => {
  const close = (thread: string) => maker.call('PATCH', `/api/conversations/${thread}`, { body: { state: 'closed' } })
  const BACK = 'The assistant answers again.'

  test('asks nothing again: a question is set aside until the visitor returns to it', async () => {
    const talk = await begin()
    const { execution_id } = (await talk.visitor.chat('Paint it', talk.thread)).body
    await talk.visitor.call('GET', `/execution/${execution_id}/status`)
    await expect.poll(() => textsOf(talk)).toContainEqual(expect.stringContaining('Which colour?'))
    await say(maker, talk, 'I paint it myself')
    expect((await close(talk.thread)).body).toMatchObject({ state: 'closed', taken_over_by: null })
    expect((await textsOf(talk)).slice(-2)).toEqual(['I paint it myself', BACK])
    // The next message is not an answer.
    expect((await talk.visitor.chat('red', talk.thread)).body.messages[0].text).not.toContain('Which colour?')
    expect((await talk.visitor.chat('continue', talk.thread)).body.messages[0].text).toContain('Which colour?')
    await talk.visitor.chat('green', talk.thread)
    await talk.visitor.ended(execution_id)
  })

  test('drops the inputs that the assistant was collecting', async () => {
    const talk = await begin('I would like a refund for order 12')
    await say(maker, talk, 'Refunded')
    await close(talk.thread)
    expect((await textsOf(talk)).slice(-2)).toEqual(['Refunded', BACK])
    expect((await read(talk)).form).toBeUndefined()
    expect((await talk.visitor.chat('it was late', talk.thread)).body.execution_id ?? null).toBeNull()
  })
})

describe('taking over', () => {
  test('is allowed only for people who are responsible for the conversation', async () => {
    const { thread } = await begin()
    for (const person of [world.member, world.viewer, world.guest, world.stranger])
      for (const verb of ['take-over', 'hand-back', 'messages'])
        expect((await act(person, thread, verb, verb === 'messages' ? { text: 'Hello' } : {})).status).toBe(404)
    expect((await act(world.owner, thread, 'take-over')).status).toBe(200)
    expect((await act(maker, thread, 'hand-back')).status).toBe(200)
    expect((await act(maker, thread, 'hand-back')).body.taken_over_by).toBeNull()
  })

  test('is refused for a thread of colleagues and for the widget of a workflow', async () => {
    const own = (await maker.call('POST', '/api/chat-thread', { body: { title: 'Ours' } })).body.thread_id
    const refused = await act(maker, own, 'take-over')
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    const workflow = await makeWorkflow(maker, 'Book a table', refund)
    const embed = await makeToken(maker, `/api/workflows/${workflow}`, { allowed_origins: [SITE] })
    const { conversation_id } = (
      await service().call('POST', `/api/embed/workflow/${workflow}/gather`, {
        token: embed.token,
        headers: { origin: SITE },
        body: { message: 'order 12' },
      })
    ).body
    const thread = toWire('thr', fromWire('conv', conversation_id)!)
    for (const verb of ['take-over', 'messages'])
      expect((await act(maker, thread, verb, verb === 'messages' ? { text: 'Hello' } : {})).status).toBe(403)
  })

  test('is refused after the template is deleted, since the visitor cannot be reached', async () => {
    const passing = await makeTemplate(maker, [])
    const { token: short } = await makeToken(maker, `/api/templates/${passing}`)
    const visitor = await visit(service(), passing, short)
    const { thread_id } = (await visitor.chat('Hello')).body
    await maker.call('DELETE', `/api/templates/${passing}`)
    for (const verb of ['take-over', 'messages']) {
      const refused = await act(world.owner, thread_id, verb, verb === 'messages' ? { text: 'Hello?' } : {})
      expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    }
    // Depends on whether the token is still cached, for up to a second.
    expect([401, 404]).toContain((await visitor.chat('Hello')).status)
  })

  test('accepts only text, and never the form of the visitor', async () => {
    const talk = await begin('I would like a refund')
    const { form_id } = (await talk.visitor.call('GET', `/thread/${talk.thread}/history`)).body.form
    const submitted = await act(maker, talk.thread, 'action', { action: 'cancel', form_id })
    expect([submitted.status, submitted.body.code]).toEqual([403, 'forbidden'])
    const raw = new FormData()
    raw.set('audio', new Blob([Buffer.from('RIFF')]), 'clip.wav')
    const clip = await maker.call('POST', `/api/chat-thread/${talk.thread}/messages`, { raw })
    expect([clip.status, clip.body.errors?.[0].path]).toEqual([422, '/audio'])
    for (const body of [
      [],
      'Hello',
      null,
      5,
      {},
      { text: '' },
      { text: ' \u200b ' },
      { text: 'x'.repeat(8001) },
      { text: 5 },
    ])
      expect((await act(maker, talk.thread, 'messages', body)).status).toBe(422)
    expect((await read(talk)).colleague).toBeNull()
  })
})
