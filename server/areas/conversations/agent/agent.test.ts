import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { callTools, type FakeAnswer, say, status } from '#test/fakes/llm/answers'
import type { Asked } from '#test/fakes/llm/chat'
import { useServiceWithModel } from '#test/harness/model'
import { until } from '#test/harness/until'
import {
  askingWorkflow,
  makeTemplate,
  makeToken,
  makeWorkflow,
  refund,
  type Visitor,
  visit,
} from '#test/harness/widget'
import type { TestPerson } from '#test/harness/world'

// Assistants with a language model, tested through the widget as a visitor uses them. The model is a fake server that
// implements the API of a provider and refuses invalid requests.

const { model, service, world } = await useServiceWithModel('fake-model')
let refunds: string

beforeAll(async () => {
  refunds = await makeWorkflow(world().owner, 'Request a refund', refund, { description: 'Money back for an order' })
})

async function open(more: object = {}, workflows: string[] = [refunds], person = world().owner): Promise<Visitor> {
  const template = await makeTemplate(person, workflows, { mode: 'agent', ...more })
  return visit(service(), template, (await makeToken(person, `/api/templates/${template}`)).token)
}

const call = (name: string, args: unknown = {}): FakeAnswer => callTools([{ name, arguments: args }])
const textsOf = ({ body }: { body: { messages: { text: string }[] } }): string[] =>
  body.messages.map(({ text }) => text)
const toolText = (asked: Asked): string => asked.messages.findLast(({ role }) => role === 'tool')!.text
const toolNamed = (asked: Asked, begin: string): string => asked.tools.find((name) => name.startsWith(begin))!

/** Calls the tool whose name starts with `begin`. */
const calling =
  (begin: string, args: unknown) =>
  (asked: Asked): FakeAnswer =>
    call(toolNamed(asked, begin), args)

describe('an assistant', () => {
  test('answers immediately, with the conversation so far, and offers no menu', async () => {
    const visitor = await open({ greeting: 'Welcome!', instructions: 'Be kind.' })
    model.script(say('We open at nine.'), say('On Sundays at ten.'))
    const first = await visitor.chat('When do you open?')
    expect([first.status, textsOf(first)]).toEqual([200, ['We open at nine.']])
    const second = await visitor.chat('And on Sundays?', first.body.thread_id)
    expect(textsOf(second)).toEqual(['On Sundays at ten.'])
    const asked = model.asked.at(-1)!
    expect(asked.system).toContain('Be kind.')
    expect(asked.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', expect.stringContaining('opened the chat')],
      ['assistant', 'Welcome!'],
      ['user', 'When do you open?'],
      ['assistant', 'We open at nine.'],
      ['user', 'And on Sundays?'],
    ])
    expect(model.refused).toEqual([])
  })

  test('starts a workflow as a tool and reports its result in its own words, once', async () => {
    const visitor = await open()
    model.script(calling('request_a_refund', { order: 1042, reason: 'late' }), (asked) => {
      expect(JSON.parse(toolText(asked))).toEqual({ status: 'succeeded', results: { order: 1042, reason: 'late' } })
      return say('Your refund for order 1042 is on its way.')
    })
    const answer = await visitor.chat('Refund order 1042, it was late')
    expect(textsOf(answer)).toEqual(['Your refund for order 1042 is on its way.'])
    await visitor.ended(answer.body.execution_id)
    const texts = (await visitor.history(answer.body.thread_id)).map(({ text }) => text)
    expect(texts.slice(1)).toEqual(['Refund order 1042, it was late', 'Your refund for order 1042 is on its way.'])
  })

  test('receives errors about its arguments, and cannot call a tool outside its grant', async () => {
    const visitor = await open()
    model.script(
      calling('request_a_refund', { order: 'x' }),
      (asked) => {
        expect(toolText(asked)).toContain('/order')
        return call('delete_everything')
      },
      (asked) => {
        expect(toolText(asked)).toContain('there is no tool')
        return say('Which order is it?')
      },
    )
    const answer = await visitor.chat('Refund')
    expect(textsOf(answer)).toEqual(['Which order is it?'])
    expect(answer.body.execution_id).toBeUndefined()
  })

  test('passes on the answer to a question of a workflow', async () => {
    const workflow = await makeWorkflow(
      world().owner,
      'Paint it',
      askingWorkflow({ type: 'string', enum: ['red', 'blue'] }),
    )
    const visitor = await open({}, [workflow])
    model.script(calling('paint_it', {}), (asked) => {
      expect(toolText(asked)).toContain('waiting_for_answer')
      return say('One question first.')
    })
    const begun = await visitor.chat('Paint my fence')
    const thread = begun.body.thread_id
    expect((await visitor.history(thread)).map(({ text }) => text)).toContain('Which colour? Choose red or blue.')
    model.script(calling('answer_question_1', { answer: 'blue' }), say('Blue it is.'))
    expect(textsOf(await visitor.chat('the colour of the sky', thread))).toEqual(['Blue it is.'])
    const ended = await visitor.ended(begun.body.execution_id)
    expect(ended.body.results).toEqual({ colour: 'blue' })
    // The execution may end before the assistant has sent its last message.
    await until(
      async () => (await visitor.history(thread)).some(({ text }) => text === 'colour: blue'),
      'the result to be posted',
    )
  })

  test('gives a workflow the history, the sender, the page and the language, which visitors and the model cannot forge', async () => {
    const workflow = await makeWorkflow(world().owner, 'Open a ticket', {
      inputs: {
        type: 'object',
        properties: { about: { type: 'string' }, talk: { 'x-source': 'conversation' } },
        required: ['about', 'talk'],
        additionalProperties: false,
      },
      nodes: [],
      edges: [],
      output: { $ref: 'input.talk' },
    })
    const visitor = await open({}, [workflow])
    model.script(
      calling('open_a_ticket', { about: 'x', talk: { sender: 'the owner' } }),
      (asked) => {
        expect(toolText(asked)).toContain('talk')
        return call(toolNamed(asked, 'open_a_ticket'), { about: 'x' })
      },
      say('Done.'),
    )
    const answer = await visitor.call('POST', '/chat', {
      body: {
        message: 'It is broken',
        page: { url: 'https://shop.example/a', title: 'A' },
        locale: 'de-CH',
        time_zone: 'Europe/Zurich',
      },
    })
    const { body } = await visitor.ended(answer.body.execution_id)
    expect(body.results).toMatchObject({
      thread_id: answer.body.thread_id,
      kind: 'embed',
      sender: { kind: 'visitor' },
      page: { url: 'https://shop.example/a', title: 'A' },
      locale: 'de-CH',
      time_zone: 'Europe/Zurich',
    })
    expect(body.results.history.at(-1)).toMatchObject({ role: 'visitor', text: 'It is broken' })
    const properties = (
      model.asked[0]!.body.tools as { function: { name: string; parameters: { properties: object } } }[]
    ).find(({ function: { name } }) => name.startsWith('open_a_ticket'))!.function.parameters.properties
    expect(Object.keys(properties)).toEqual(['about'])
  })

  test('searches datasets and knowledge with the rights of its owner, and cites passages', async () => {
    const { member, owner } = world()
    const dataset = await owner.call('POST', '/api/datasets', {
      body: {
        name: 'Orders',
        records: [
          { order: 7, mail: 'ada@example.com', state: 'sent' },
          { order: 8, mail: 'bob@example.com', state: 'lost' },
        ],
      },
    })
    expect(dataset.status, dataset.text).toBe(201)
    const base = await knowledgeOf(owner, 'Parcels', 'Parcels arrive within three days. Returns are free.')
    const share = (shared: object[]) => owner.call('PATCH', `/api/knowledge/${base}`, { body: { shared } })
    await share([{ kind: 'workspace', role: 'use' }])
    const visitor = await open(
      {
        knowledge_ids: [base],
        tools: [{ dataset_id: dataset.body.dataset_id, match: ['mail'], columns: ['order', 'state'] }],
      },
      [],
      member,
    )
    model.script(
      callTools([
        { name: 'look_up_Orders', arguments: { mail: 'ADA@example.com' } },
        { name: 'search_knowledge', arguments: { q: 'When does a parcel arrive?' } },
        { name: 'look_up_Orders', arguments: {} },
      ]),
      (asked) => {
        const [orders, passages, none] = asked.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
        expect(JSON.parse(orders!)).toEqual({ records: [{ order: 7, state: 'sent' }], more: false })
        expect(JSON.parse(passages!).passages[0]).toMatchObject({ n: 1, text: expect.stringContaining('three days') })
        expect(none).toContain('are not valid')
        return say('It was sent and arrives within three days [1].')
      },
    )
    const answer = await visitor.chat('Where is my parcel? I am ada@example.com')
    expect(answer.body.messages[0].citations).toEqual([
      {
        n: 1,
        title: 'Parcels',
        url: null,
        heading: [],
        quote: 'Parcels arrive within three days. Returns are free.',
      },
    ])
    // The owner of the template loses the right, so the assistant loses it too.
    expect((await share([])).status).toBe(200)
    model.script(call('search_knowledge', { q: 'parcel' }), (asked) => {
      expect(JSON.parse(toolText(asked))).toEqual({ passages: [] })
      return say('I do not know.')
    })
    expect(textsOf(await visitor.chat('And returns?', answer.body.thread_id))).toEqual(['I do not know.'])
  })

  test('answers by the rules of the menu if the model fails', async () => {
    const visitor = await open()
    model.otherwise(status(400))
    const answer = await visitor.chat('I want a refund for order 9, it came late')
    expect(textsOf(answer).join()).toContain('Request a refund')
  })

  test('reports what was done if the model fails afterwards, and asks for a person', async () => {
    const visitor = await open()
    model.script(calling('request_a_refund', { order: 5, reason: 'late' }))
    model.otherwise(status(400))
    const answer = await visitor.chat('Refund order 5')
    expect(textsOf(answer)).toEqual(['order: 5\nreason: late', expect.stringContaining('colleagues')])
  })
})

describe('a request for a person', () => {
  test('notifies the owner of the template and its teams with the last messages, once until a colleague answers', async () => {
    const { owner, member } = world()
    const team = await owner.call('POST', '/api/teams', { body: { name: 'Support' } })
    await owner.call('POST', `/api/teams/${team.body.team_id}/add_users`, { body: { user_ids: [member.id] } })
    const visitor = await open({ teams: [{ team_id: team.body.team_id }] })
    model.script(call('hand_over', { reason: 'Wants a human' }), say('A colleague will come.'))
    const answer = await visitor.chat('Give me a human')
    expect(textsOf(answer)).toEqual(['A colleague will come.'])
    const thread = answer.body.thread_id
    for (const person of [owner, member]) {
      const told = await noticesOf(person, thread)
      expect(told).toHaveLength(1)
      expect(told[0]!.body).toContain('Give me a human')
    }
    const seen = await member.call('GET', `/api/chat-thread/${thread}`)
    expect(seen.body).toMatchObject({ handover_at: expect.any(String), handover_reason: 'Wants a human' })
    model.script(call('hand_over', { reason: 'Again' }), (asked) => {
      expect(toolText(asked)).toContain('already')
      return say('They know.')
    })
    await visitor.chat('Hello?', thread)
    expect(await noticesOf(owner, thread)).toHaveLength(1)
    await member.call('POST', `/api/chat-thread/${thread}/messages`, { body: { text: 'Here I am' } })
    expect((await member.call('GET', `/api/chat-thread/${thread}`)).body.handover_at).toBeNull()
    // The assistant does not answer any more.
    const asked = model.count()
    expect(textsOf(await visitor.chat('Great', thread))).toEqual([])
    expect(model.count()).toBe(asked)
  })

  test('also works in the menu mode', async () => {
    const template = await makeTemplate(world().owner, [refunds])
    const visitor = await visit(
      service(),
      template,
      (await makeToken(world().owner, `/api/templates/${template}`)).token,
    )
    const answer = await visitor.chat('I want to talk to a human')
    expect(textsOf(answer).join()).toContain('colleagues')
    expect(await noticesOf(world().owner, answer.body.thread_id)).toHaveLength(1)
  })
})

describe('the memory of an assistant', () => {
  test('is a summary that the next conversation uses; the visitor can read and delete it', async () => {
    const visitor = await open()
    let thread: string | undefined
    model.otherwise((asked) => say(asked.system.includes('You keep notes') ? 'Likes blue parcels.' : 'Fine.'))
    for (let at = 0; at < 6; at += 1) thread = (await visitor.chat(`Message ${at}`, thread)).body.thread_id
    const known = await until(async () => (await visitor.call('GET', '/memory')).body.summary, 'a summary')
    expect(known).toBe('Likes blue parcels.')
    await visitor.chat('I am back')
    expect(model.asked.at(-1)!.system).toContain('Likes blue parcels.')
    // Another visitor of the same template gets none of it.
    const other = await visit(service(), visitor.templateId, visitor.token)
    await other.chat('Who am I?')
    expect(JSON.stringify(model.asked.at(-1)!.body)).not.toContain('blue')
    expect((await other.call('GET', '/memory')).body.summary).toBeNull()
    expect((await visitor.call('DELETE', '/memory')).status).toBe(204)
    expect((await visitor.call('GET', '/memory')).body.summary).toBeNull()
    await visitor.chat('And now?')
    expect(JSON.stringify(model.asked.at(-1)!.body)).not.toContain('blue')
    expect(model.asked.at(-1)!.system).not.toContain('I am back')
  })

  test('is deleted when the visitor asks for it in a message', async () => {
    const visitor = await open()
    model.script(say('Noted.'), call('forget_me'), say('Forgotten.'), say('I do not know you.'))
    const first = await visitor.chat('I am Ada')
    await visitor.chat('Forget me', first.body.thread_id)
    await visitor.chat('Who am I?')
    expect(model.asked.at(-1)!.system).not.toContain('Ada')
  })

  test('expires after the retention time of the template', async () => {
    const visitor = await open({ retention_days: 30 })
    await visitor.call('DELETE', '/memory')
    const known = async () => (await visitor.call('GET', '/memory')).body.summary
    const age = (days: number) =>
      service().sql(
        `update assistant_memories set summary = 'Likes tea.', updated_at = now() - make_interval(days => $2)
         where template_id = $1`,
        [fromWire('tmpl', visitor.templateId), days],
      )
    const forget = () => service().sql('select forget_assistant_memories(400, 500)')
    await age(29)
    await forget()
    expect(await known()).toBe('Likes tea.')
    await age(31)
    await forget()
    expect(await known()).toBeNull()
  })
})

describe('a template', () => {
  test('accepts only knowledge, tools and datasets that its author and its owner may use', async () => {
    const { owner, member } = world()
    const base = await knowledgeOf(owner, 'Secret', 'The code is 1234.')
    const create = (body: object, person: TestPerson = member) =>
      person.call('POST', '/api/templates', { body: { name: 'X', mode: 'agent', ...body } })
    expect((await create({ knowledge_ids: [base] })).body.errors).toMatchObject([{ path: '/knowledge_ids/0' }])
    expect((await create({ tools: [{ workflow_id: refunds }] })).body.errors).toMatchObject([
      { path: '/tools/0/workflow_id' },
    ])
    expect((await create({ tools: [{ dataset_id: 'ds_nothing' }] })).body.errors).toMatchObject([
      { path: '/tools/0/dataset_id' },
    ])
    expect((await create({ tools: [{ service: 'slack', action: 'send_message' }] })).status).toBe(422)
    expect((await create({ tools: [{ service: 'no', action: 'no' }] })).body.errors).toMatchObject([
      { path: '/tools/0/service' },
    ])
    const made = await create({ knowledge_ids: [base], tools: [{ workflow_id: refunds }] }, owner)
    expect(made.body).toMatchObject({ mode: 'agent', knowledge_ids: [base], tools: [{ workflow_id: refunds }] })
    const cleared = await owner.call('PATCH', `/api/templates/${made.body.template_id}`, {
      body: { mode: 'menu', knowledge_ids: null, tools: null },
    })
    expect(cleared.body).toMatchObject({ mode: 'menu', knowledge_ids: [], tools: [] })
  })

  test('fixes and limits the arguments of its tools', async () => {
    const visitor = await open(
      { tools: [{ workflow_id: refunds, arguments: { fixed: { reason: 'unwanted' }, allowed: { order: [1, 2] } } }] },
      [],
    )
    model.script(
      calling('request_a_refund', { order: 3 }),
      (asked) => {
        expect(toolText(asked)).toContain('/order')
        return call(toolNamed(asked, 'request_a_refund'), { order: 2, reason: 'late' })
      },
      (asked) => {
        expect(toolText(asked)).toContain('reason')
        return call(toolNamed(asked, 'request_a_refund'), { order: 2 })
      },
      say('Done.'),
    )
    const answer = await visitor.chat('Refund')
    expect((await visitor.ended(answer.body.execution_id)).body.results).toEqual({ order: 2, reason: 'unwanted' })
  })
})

test('a colleague can talk with the assistant in a thread', async () => {
  const { owner } = world()
  const template = await makeTemplate(owner, [refunds], { mode: 'agent' })
  const thread = await owner.call('POST', '/api/chat-thread', { body: { title: 'Help', template_id: template } })
  model.script(calling('request_a_refund', { order: 11, reason: 'late' }), say('Done: order 11.'))
  const answer = await owner.call('POST', `/api/chat-thread/${thread.body.thread_id}/messages`, {
    body: { text: 'Refund 11' },
  })
  expect(answer.body.answers.map(({ text }: { text: string }) => text)).toEqual(['Done: order 11.'])
})

test('a conversation shows the tokens and the cost of its model calls', async () => {
  const { owner } = world()
  await service().sql(
    `insert into model_prices (model, input, output) values ('openai-compatible/fake-model', 1000, 10000)`,
  )
  const template = await makeTemplate(owner, [refunds], { mode: 'agent' })
  const opened = await Promise.all(
    ['One', 'Other'].map((title) => owner.call('POST', '/api/chat-thread', { body: { title, template_id: template } })),
  )
  const [thread, other] = opened.map(({ body }) => `/api/chat-thread/${body.thread_id}`)
  model.script(say('Hello.', { input: 100, output: 10 }), say('Bye.', { input: 200, output: 20 }))
  for (const text of ['Hello', 'Goodbye']) await owner.call('POST', `${thread}/messages`, { body: { text } })
  const { usage } = (await owner.call('GET', thread!)).body
  expect(usage).toMatchObject({ calls: 2, unpriced_calls: 0, input_tokens: 300, output_tokens: 30 })
  expect(usage.cost).toBeCloseTo(0.6)
  expect((await owner.call('GET', other!)).body.usage).toMatchObject({ calls: 0, cost: null })
  await service().sql('delete from model_prices')
})

test('simultaneous messages are answered one after the other', async () => {
  const visitor = await open()
  const first = await visitor.chat('Hello')
  let atOnce = 0
  let most = 0
  model.otherwise(async () => {
    atOnce += 1
    most = Math.max(most, atOnce)
    await new Promise((resolve) => setImmediate(resolve))
    atOnce -= 1
    return say('Yes.')
  })
  const answers = await Promise.all(['One', 'Two', 'Three'].map((text) => visitor.chat(text, first.body.thread_id)))
  expect(answers.map(textsOf)).toEqual([['Yes.'], ['Yes.'], ['Yes.']])
  expect(most).toBe(1)
  const texts = (await visitor.history(first.body.thread_id)).map(({ text }) => text)
  expect(texts.filter((text) => text === 'Yes.')).toHaveLength(3)
})

async function knowledgeOf(person: TestPerson, name: string, text: string): Promise<string> {
  const base = await person.call('POST', '/api/knowledge', { body: { name, language: 'english' } })
  expect(base.status, base.text).toBe(201)
  const path = `/api/knowledge/${base.body.knowledge_id}/documents`
  const made = await person.call('POST', path, { body: { name, text } })
  expect(made.status, made.text).toBe(201)
  await until(
    async () => (await person.call('GET', `${path}/${made.body.document_id}`)).body.status === 'ready',
    'the document to be ready',
  )
  return base.body.knowledge_id
}

async function noticesOf(person: TestPerson, thread: string): Promise<{ body: string }[]> {
  const { body } = await person.call('GET', '/api/notifications?limit=100')
  return (body.items as { kind: string; body: string; data: { thread_id?: string } }[]).filter(
    ({ kind, data }) => kind === 'thread.handover' && data.thread_id === thread,
  )
}
