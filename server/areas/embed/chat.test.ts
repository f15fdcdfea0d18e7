import { beforeAll, describe, expect, test } from 'vitest'
import { startService, useService } from '#test/harness/service'
import { until } from '#test/harness/until'
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
import { makeWorld, type World } from '#test/harness/world'

const service = useService()
let world: World
let refunds: string
let template: string
let token: string
let visitor: Visitor

beforeAll(async () => {
  world = await makeWorld(service())
  refunds = await makeWorkflow(world.owner, 'Request a refund', refund, { description: 'Money back for an order' })
  const news = await makeWorkflow(world.owner, 'Subscribe to the newsletter', {
    inputs: { type: 'object', properties: { email: { type: 'string', format: 'email' } }, required: ['email'] },
    nodes: [],
    edges: [],
    output: { $ref: 'input.email' },
  })
  template = await makeTemplate(world.owner, [refunds, news], { greeting: 'Welcome to the shop!' })
  ;({ token } = await makeToken(world.owner, `/api/templates/${template}`))
  visitor = await visit(service(), template, token)
})

const say = ({ body }: { body: { messages: { text: string }[] } }): string =>
  body.messages.map(({ text }) => text).join('\n')

describe('a conversation without a language model', () => {
  test('leads from a request through a form to the result, which appears in the history once', async () => {
    const first = await visitor.chat('Hello')
    expect(first.status).toBe(200)
    expect(say(first)).toContain('Welcome to the shop!')
    expect(say(first)).toContain('1. Request a refund')
    const thread = first.body.thread_id
    const second = await visitor.chat('I want a refund, it was damaged', thread)
    expect(second.body.form).toMatchObject({ title: 'Request a refund', values: { reason: 'damaged' } })
    expect(second.body.form.schema).toEqual(refund.inputs)
    expect(second.body.execution_id).toBeUndefined()
    const submitted = await visitor.call('POST', `/thread/${thread}/action`, {
      body: { action: 'submit', form_id: second.body.form.form_id, values: { order: 1042, reason: 'damaged' } },
    })
    expect(submitted.status).toBe(200)
    expect(submitted.body.form).toBeUndefined()
    const ended = await visitor.ended(submitted.body.execution_id)
    expect(ended.body).toMatchObject({ status: 'succeeded', results: { order: 1042, reason: 'damaged' }, error: null })
    expect(ended.body.nodes).toBeUndefined()
    const texts = (await visitor.history(thread)).map(({ text }) => text)
    expect(texts[0]).toBe('Welcome to the shop!')
    expect(texts.filter((text) => text === 'order: 1042\nreason: damaged')).toHaveLength(1)
    expect(texts.at(-1)).toBe('order: 1042\nreason: damaged')
  })

  test('gathers inputs from messages alone, one value after the other', async () => {
    const one = await visitor.chat('2')
    expect(say(one)).toContain('e-mail address')
    const wrong = await visitor.chat('hm?', one.body.thread_id)
    expect(say(wrong)).toContain('did not understand')
    const done = await visitor.chat('ada@example.com', one.body.thread_id)
    expect((await visitor.ended(done.body.execution_id)).body.results).toBe('ada@example.com')
    const execution = await world.owner.call('GET', `/api/workflows/executions/${done.body.execution_id}`)
    expect(execution.body.trigger).toMatchObject({ kind: 'embed', id: expect.stringMatching(/^emb_/) })
  })

  test('does not start a workflow that the visitor declines or only asks about', async () => {
    const workflow = await makeWorkflow(world.owner, 'Wipe the cache', { nodes: [], edges: [], output: 'wiped' })
    const own = await makeTemplate(world.owner, [workflow])
    const guest = await visit(service(), own, (await makeToken(world.owner, `/api/templates/${own}`)).token)
    for (const text of ['please do not wipe the cache', "don't wipe the cache", 'what does wipe the cache do?']) {
      const first = await guest.chat(text)
      expect([text, first.body.execution_id]).toEqual([text, undefined])
      expect(say(first)).toBe('Shall I start "Wipe the cache"?')
      const second = await guest.chat('No, thank you', first.body.thread_id)
      expect([text, second.body.execution_id]).toEqual([text, undefined])
    }
    expect((await guest.chat('wipe the cache')).body.execution_id).toBeDefined()
  })

  test('treats expressions and markup as plain text', async () => {
    for (const text of ['{{1+1}}', '<script>alert(1)</script>', '<%= 7*7 %>', "'; drop table threads; --"]) {
      const { status, body } = await visitor.chat(text)
      expect(status).toBe(200)
      expect((await visitor.history(body.thread_id))[1]).toMatchObject({ role: 'visitor', text })
    }
  })

  test('refuses an invalid message and names the path', async () => {
    for (const message of ['', '  \n ', '\u200b\u2060', 'x'.repeat(8001), 7, null]) {
      const { status, body } = await visitor.call('POST', '/chat', { body: { message } })
      expect([message, status, body.errors[0].path]).toEqual([message, 422, '/message'])
    }
    const nul = await visitor.call('POST', '/chat', {
      raw: '{"message":"a\\u0000b"}',
      headers: { 'content-type': 'application/json' },
    })
    expect(nul.status).toBe(422)
    const binary = await visitor.call('POST', '/chat', {
      raw: Buffer.from([0xff, 0xfe, 0x00, 0x80]),
      headers: { 'content-type': 'application/json' },
    })
    expect(binary.body.code).toBe('malformed')
    const huge = await visitor.call('POST', '/chat', { body: { message: 'x'.repeat(2 << 20) } })
    expect(huge.status).toBe(413)
  })
})

describe('a form', () => {
  const open = async () => {
    const { body } = await visitor.chat('refund')
    return { thread: body.thread_id as string, form: body.form.form_id as string }
  }
  const act = (thread: string, body: object) => visitor.call('POST', `/thread/${thread}/action`, { body })

  test('refuses wrong values with their paths and stays open', async () => {
    const { thread, form } = await open()
    const wrong = await act(thread, {
      action: 'submit',
      form_id: form,
      values: { order: 'many', reason: 'bored', x: 1 },
    })
    expect(wrong.status).toBe(422)
    expect(wrong.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      '/values/order',
      '/values/reason',
      '/values/x',
    ])
    expect((await act(thread, { action: 'submit', form_id: form, values: { order: 1, reason: 'late' } })).status).toBe(
      200,
    )
  })

  test('can be submitted once: of ten simultaneous submissions, one starts an execution', async () => {
    const { thread, form } = await open()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        act(thread, { action: 'submit', form_id: form, values: { order: 2, reason: 'late' } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'form_closed')).toHaveLength(9)
  })

  test('is closed when it is cancelled, and the conversation continues', async () => {
    const { thread, form } = await open()
    expect((await act(thread, { action: 'cancel', form_id: form })).status).toBe(200)
    expect((await act(thread, { action: 'submit', form_id: form, values: {} })).body.code).toBe('form_closed')
    expect((await visitor.chat('refund', thread)).body.form.form_id).not.toBe(form)
  })

  test('is replaced by a form with the same values if its workflow has a new version', async () => {
    const workflow = await makeWorkflow(world.owner, 'Book a table', refund)
    const own = await makeTemplate(world.owner, [workflow])
    const guest = await visit(service(), own, (await makeToken(world.owner, `/api/templates/${own}`)).token)
    const { body } = await guest.chat('book a table')
    const { inputs } = refund
    await world.owner.call('POST', `/api/workflows/${workflow}/versions`, {
      body: {
        activate: true,
        definition: {
          ...refund,
          inputs: {
            ...inputs,
            properties: { ...inputs.properties, seats: { type: 'integer' } },
            required: [...inputs.required, 'seats'],
          },
        },
      },
    })
    const submit = (form_id: string, values: object) =>
      guest.call('POST', `/thread/${body.thread_id}/action`, { body: { action: 'submit', form_id, values } })
    const values = { order: 1, reason: 'late' }
    const changed = await submit(body.form.form_id, values)
    expect([changed.status, changed.body.execution_id]).toEqual([200, undefined])
    expect(changed.body.form).toMatchObject({ values, schema: { required: ['order', 'reason', 'seats'] } })
    expect((await submit(body.form.form_id, values)).body.code).toBe('form_closed')
    const done = await submit(changed.body.form.form_id, { ...values, seats: 4 })
    expect((await guest.ended(done.body.execution_id)).body.results).toEqual(values)
  })

  test('is unknown in another conversation', async () => {
    const { thread } = await open()
    const other = await open()
    const answer = await act(thread, { action: 'cancel', form_id: other.form })
    expect([answer.status, answer.body.code]).toEqual([422, 'unknown_reference'])
  })
})

describe('questions of an execution', () => {
  const begin = async (definition: unknown) => {
    const workflow = await makeWorkflow(world.owner, 'Paint the fence', definition)
    const own = await makeTemplate(world.owner, [workflow])
    const embed = await makeToken(world.owner, `/api/templates/${own}`)
    const guest = await visit(service(), own, embed.token)
    const { body } = await guest.chat('start')
    return { guest, thread: body.thread_id as string, execution: body.execution_id as string }
  }
  const asked = (guest: Visitor, execution: string) =>
    until(async () => {
      const { body } = await guest.call('GET', `/execution/${execution}/status`)
      return body.question ?? undefined
    }, 'the question')

  test('are asked in the conversation and answered by a message', async () => {
    const { guest, thread, execution } = await begin(askingWorkflow({ type: 'string', enum: ['red', 'green'] }))
    await asked(guest, execution)
    expect((await guest.history(thread)).at(-1)!.text).toBe('Which colour? Choose red or green.')
    expect(say(await guest.chat('purple please', thread))).toContain('did not understand')
    await guest.chat('Green, thanks', thread)
    expect((await guest.ended(execution)).body.results).toEqual({ colour: 'green' })
    expect((await guest.history(thread)).at(-1)!.text).toBe('colour: green')
  })

  test('appear as a form if they have several fields', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const { guest, thread, execution } = await begin(askingWorkflow(schema))
    await asked(guest, execution)
    const { body } = await guest.call('GET', `/thread/${thread}/history`)
    await guest.call('POST', `/thread/${thread}/action`, {
      body: { action: 'submit', form_id: body.form.form_id, values: { name: 'teal' } },
    })
    expect((await guest.ended(execution)).body.results).toEqual({ colour: { name: 'teal' } })
  })

  test('each have a separate form, even if two ask for the same fields', async () => {
    const schema = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] }
    const node = (id: string, question: string) => ({ id, type: 'clarification', args: { question, schema } })
    const { guest, thread, execution } = await begin({
      nodes: [node('small', 'Refund 10 euros?'), node('large', 'Refund 10000 euros?')],
      edges: [{ id: 'e', from: { node: 'small' }, to: 'large' }],
      output: { small: { $ref: 'nodes.small.output' }, large: { $ref: 'nodes.large.output' } },
    })
    const first = await asked(guest, execution)
    const shown = async () => (await guest.call('GET', `/thread/${thread}/history`)).body.form
    const submit = async (form: { form_id: string }, sure: boolean) =>
      guest.call('POST', `/thread/${thread}/action`, {
        body: { action: 'submit', form_id: form.form_id, values: { sure } },
      })
    const small = await shown()
    expect(small.title).toBe('Refund 10 euros?')
    await world.owner.call('POST', `/api/workflows/executions/${execution}/respond`, {
      body: { response: { sure: true }, clarification_id: first.clarification_id },
    })
    await until(async () => (await shown())?.title === 'Refund 10000 euros?' || undefined, 'the second form')
    expect((await submit(small, true)).body.code).toBe('form_closed')
    expect((await submit(await shown(), false)).status).toBe(200)
    expect((await guest.ended(execution)).body.results).toEqual({ small: { sure: true }, large: { sure: false } })
  })

  test('lose their form after a colleague answers, and do not reveal the colleague’s name', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const { guest, thread, execution } = await begin({
      ...askingWorkflow(schema),
      nodes: [...askingWorkflow(schema).nodes, { id: 'rest', type: 'wait', args: { for_s: 3600 } }],
      edges: [{ id: 'e', from: { node: 'ask' }, to: 'rest' }],
    })
    const { clarification_id } = await asked(guest, execution)
    const answer = { response: { name: 'teal' }, clarification_id }
    await world.owner.call('POST', `/api/workflows/executions/${execution}/respond`, { body: answer })
    expect((await guest.call('GET', `/thread/${thread}/history`)).body.form).toBeUndefined()
    const late = await guest.call('POST', `/executions/${execution}/respond`, { body: answer })
    expect([late.status, late.body.code]).toEqual([409, 'not_waiting'])
    expect(late.text).not.toContain('Person')
    expect(late.body.detail).toBe('It was answered before.')
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
  })

  test('can be left and resumed', async () => {
    for (const schema of [{ type: 'string' }, { type: 'string', enum: ['red', 'green'] }]) {
      const { guest, thread, execution } = await begin(askingWorkflow(schema))
      await asked(guest, execution)
      const left = say(await guest.chat('cancel', thread))
      expect(left).toContain('stays open')
      expect(left).toContain('1. Paint the fence')
      expect(say(await guest.chat('answer', thread))).toContain('Which colour?')
      await guest.chat('green', thread)
      expect((await guest.ended(execution)).body.results).toEqual({ colour: 'green' })
    }
  })

  test('may have "cancel" among their answers', async () => {
    const { guest, thread, execution } = await begin(askingWorkflow({ type: 'string', enum: ['go on', 'cancel'] }))
    await asked(guest, execution)
    await guest.chat('cancel', thread)
    expect((await guest.ended(execution)).body.results).toEqual({ colour: 'cancel' })
  })

  test('can also be answered by their id, once and only if the answer fits their schema', async () => {
    const { guest, execution } = await begin(askingWorkflow({ type: 'string', maxLength: 5 }))
    const question = await asked(guest, execution)
    const respond = (body: object) => guest.call('POST', `/executions/${execution}/respond`, { body })
    expect((await respond({ response: 'far too long' })).body.errors[0].path).toBe('/response')
    const { clarification_id } = question
    expect((await respond({ response: 'x', clarification_id: 'clr_nonsense' })).body.code).toBe('unknown_reference')
    expect((await respond({ response: 'red', clarification_id })).status).toBe(202)
    expect((await respond({ response: 'blue', clarification_id })).body.code).toBe('not_waiting')
    expect((await guest.ended(execution)).body.results).toEqual({ colour: 'red' })
  })

  test('for a colleague are neither shown to the visitor nor answerable by the visitor', async () => {
    const { guest, thread, execution } = await begin(
      askingWorkflow({ type: 'string' }, [{ kind: 'user', id: world.member.id }]),
    )
    await until(async () => (await guest.history(thread)).at(-1)!.text.includes('colleague') || undefined, 'the note')
    expect((await guest.call('GET', `/execution/${execution}/status`)).body.question).toBeNull()
    const answer = await guest.call('POST', `/executions/${execution}/respond`, { body: { response: 'red' } })
    expect(answer.status).toBe(403)
    await world.member.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response: 'blue' } })
    expect((await guest.ended(execution)).body.results).toEqual({ colour: 'blue' })
  })

  test('include a note in the conversation while an approval is pending', async () => {
    const policy = { approvers: [{ kind: 'user', id: world.member.id }], quorum: 'any' }
    const { guest, thread } = await begin({
      nodes: [{ id: 'gate', type: 'approval', args: { title: 'Really paint it?', payload: {}, policy } }],
      edges: [],
    })
    await until(
      async () => (await guest.history(thread)).at(-1)!.text === 'Waiting for approval: Really paint it?' || undefined,
      'the gate',
    )
    expect(say(await guest.chat('And now?', thread))).toBe('Waiting for approval: Really paint it?')
  })
})

describe('the language of the visitor', () => {
  const open = async (locale: string, workflows: string[]) => {
    const own = await makeTemplate(world.owner, workflows)
    const guest = await visit(service(), own, (await makeToken(world.owner, `/api/templates/${own}`)).token)
    const write = (message: string, thread_id?: string) =>
      guest.call('POST', '/chat', { body: { message, locale, ...(thread_id && { thread_id }) } })
    return { guest, write }
  }

  test('is used from the greeting to the result', async () => {
    const fence = await makeWorkflow(
      world.owner,
      'Zaun streichen',
      askingWorkflow({ type: 'string', enum: ['rot', 'grün'] }),
    )
    const { guest, write } = await open('de-AT', [fence, refunds])
    const greeting = 'Guten Tag! Wie kann ich Ihnen helfen?'
    expect((await guest.call('GET', '/config?locale=de-AT')).body.greeting).toBe(greeting)
    const first = await write('Hallo')
    const thread = first.body.thread_id
    expect(say(first)).toBe(
      `${greeting}\nDabei kann ich helfen:\n1. Zaun streichen\n2. Request a refund: Money back for an order\nAntworten Sie mit einer Nummer oder einem Namen.`,
    )
    expect(say(await write('2', thread))).toBe(
      'Für „Request a refund“ brauche ich: order number, reason. Bitte geben Sie an: order number. Bitte eine Zahl.',
    )
    expect(say(await write('abbrechen', thread))).toContain('Gut, ich habe aufgehört.')
    expect(say(await write('bitte nicht den Zaun streichen', thread))).toBe('Soll ich „Zaun streichen“ starten?')
    const started = await write('Ja, bitte', thread)
    expect(say(started)).toBe('Ich habe „Zaun streichen“ gestartet.')
    const question = 'Which colour? Zur Wahl: rot oder grün.'
    await until(async () => (await guest.history(thread)).at(-1)!.text === question, 'the question')
    expect(say(await write('abbrechen', thread))).toContain('Gut, die Frage bleibt offen.')
    expect(say(await write('antworten', thread))).toBe(question)
    expect(say(await write('grün', thread))).toBe('Danke. Ich habe Ihre Antwort weitergegeben.')
    await guest.ended(started.body.execution_id)
    expect((await guest.history(thread))[0]!.text).toBe(greeting)
  })

  test.each([
    ['de', 'Ich möchte mit einem Menschen sprechen', 'Ich habe dem Team gesagt'],
    ['fr-CA', 'Je voudrais parler à une personne', 'J’ai dit à l’équipe'],
    ['es-419', 'Quiero hablar con una persona', 'He avisado al equipo'],
    ['nb-NO', 'Jeg vil snakke med et menneske', 'Jeg har sagt fra til kollegene mine'],
    ['en', 'I want to talk to a human', 'I have told my colleagues'],
  ])('is understood when the visitor asks for a person: %s', async (locale, message, told) => {
    const { write } = await open(locale, [refunds])
    expect(say(await write(message))).toContain(told)
  })

  test('falls back to English if it is not supported, and an invalid tag is refused', async () => {
    const { guest, write } = await open('ja', [refunds])
    expect(say(await write('Hello'))).toContain('I can help with:')
    expect((await guest.call('GET', '/config')).body.greeting).toBe('Hello! How can I help you?')
    const refused = await guest.call('GET', '/config?locale=a%20b')
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/locale'])
  })
})

describe('a lasting conversation', () => {
  test('handles two simultaneous messages as two turns, one after the other', async () => {
    const { body } = await visitor.chat('refund')
    const thread = body.thread_id
    await Promise.all([visitor.chat('order number: 77', thread), visitor.chat('reason: late', thread)])
    const history = await visitor.history(thread)
    const roles = history.map(({ role }) => role)
    expect(roles.filter((role) => role === 'visitor')).toHaveLength(3)
    expect(roles.some((role, at) => role === 'visitor' && roles[at + 1] === 'visitor')).toBe(false)
    const found = history.filter(({ text }) => text.startsWith('I have started'))
    expect(found).toHaveLength(1)
  })

  test('continues on another server with the same database', async () => {
    const { body } = await visitor.chat('refund, it came late')
    const again = await startService({ database: service().database })
    try {
      const answer = await again.call('POST', `/api/embed/template/${template}/chat`, {
        token,
        headers: { origin: SITE, 'x-visitor-token': visitor.visitorToken },
        body: { thread_id: body.thread_id, message: 'order 31' },
      })
      expect(answer.status).toBe(200)
      expect((await visitor.ended(answer.body.execution_id)).body.results).toEqual({ order: 31, reason: 'late' })
    } finally {
      await again.stop()
    }
    expect(
      (await visitor.history(body.thread_id)).filter(({ text }) => text === 'order: 31\nreason: late'),
    ).toHaveLength(1)
  })

  test('answers a repeated delivery with the same turn and the same bytes', async () => {
    const send = () =>
      visitor.call('POST', '/chat', { body: { message: 'refund' }, headers: { 'idempotency-key': 'delivery-9' } })
    const answers = await Promise.all(Array.from({ length: 8 }, send))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    // Simulates a server crash after the turn was stored and before its idempotency key was.
    await service().sql('delete from idempotency_keys')
    const repeated = await send()
    expect(repeated.body.thread_id).toBe(answers[0]!.body.thread_id)
    expect(repeated.body.messages).toEqual(answers[0]!.body.messages)
    expect((await visitor.history(repeated.body.thread_id)).filter(({ role }) => role === 'visitor')).toHaveLength(1)
  })

  test('accepts an idempotency key again after a day, with another message or in another conversation', async () => {
    const key = crypto.randomUUID()
    const send = (message: string, thread_id?: string) =>
      visitor.call('POST', '/chat', {
        body: { message, ...(thread_id && { thread_id }) },
        headers: { 'idempotency-key': key },
      })
    const dayAfter = async () => {
      await service().sql('delete from idempotency_keys')
      await service().sql(`update messages set created_at = created_at - interval '25 hours'`)
    }
    const first = await send('refund')
    await dayAfter()
    const second = await send('newsletter')
    expect(second.body.thread_id).not.toBe(first.body.thread_id)
    expect(second.body.form.title).toBe('Subscribe to the newsletter')
    await dayAfter()
    expect((await send('newsletter')).body.thread_id).not.toBe(second.body.thread_id)
    await dayAfter()
    expect((await send('order 5', first.body.thread_id)).body.form.values).toMatchObject({ order: 5 })
  })

  test('does not give one client without a visitor token the response of another', async () => {
    const send = (key: string) =>
      service().call('POST', `/api/embed/template/${template}/chat`, {
        token,
        headers: { origin: SITE, 'idempotency-key': key },
        body: { message: 'hello' },
      })
    const [one, other] = [await send('1'), await send('1')]
    expect(one.body.visitor_token).toBeDefined()
    expect(other.body.thread_id).not.toBe(one.body.thread_id)
    expect(other.body.visitor_token).not.toBe(one.body.visitor_token)
    const key = crypto.randomUUID()
    expect((await send(key)).text).toBe((await send(key)).text)
  })

  test('answers politely after its workflow is deleted', async () => {
    const workflow = await makeWorkflow(world.owner, 'Book a room', refund)
    const own = await makeTemplate(world.owner, [workflow])
    const guest = await visit(service(), own, (await makeToken(world.owner, `/api/templates/${own}`)).token)
    const { body } = await guest.chat('book a room')
    expect((await world.owner.call('DELETE', `/api/workflows/${workflow}`)).status).toBe(204)
    const submitted = await guest.call('POST', `/thread/${body.thread_id}/action`, {
      body: { action: 'submit', form_id: body.form.form_id, values: { order: 1, reason: 'late' } },
    })
    expect(submitted.status).toBe(200)
    expect(say(submitted)).toContain('no longer available')
    expect(submitted.body.execution_id).toBeUndefined()
    expect((await guest.chat('book a room', body.thread_id)).status).toBe(200)
  })

  test('closes the form of a deleted workflow with an apology', async () => {
    const gone = await makeWorkflow(world.owner, 'Order a parrot', refund)
    const shop = await makeTemplate(world.owner, [gone, refunds])
    const someone = await visit(service(), shop, (await makeToken(world.owner, `/api/templates/${shop}`)).token)
    const { body } = await someone.chat('I would like to order a parrot')
    await world.owner.call('DELETE', `/api/workflows/${gone}`)
    const act = (action: string) =>
      someone.call('POST', `/thread/${body.thread_id}/action`, {
        body: { action, form_id: body.form.form_id, values: { order: 1, reason: 'late' } },
      })
    const submitted = await act('submit')
    expect(submitted.status).toBe(200)
    expect(say(submitted)).toContain('no longer available')
    expect(submitted.body.execution_id).toBeUndefined()
    expect((await act('submit')).body.code).toBe('form_closed')
    expect((await act('cancel')).body.code).toBe('form_closed')
  })

  test('does not offer a workflow that the person who added it may no longer start', async () => {
    const workflow = await makeWorkflow(world.owner, 'Shared', refund, {
      members: [{ user_id: world.member.id, role: 'member' }],
    })
    const own = await makeTemplate(world.member, [workflow])
    const guest = await visit(service(), own, (await makeToken(world.member, `/api/templates/${own}`)).token)
    const { body } = await guest.chat('shared')
    expect(body.form).toBeDefined()
    await world.owner.call('PATCH', `/api/workflows/${workflow}`, { body: { members: [] } })
    const answer = await guest.chat('order 5, late', body.thread_id)
    expect(say(answer)).toContain('no longer available')
    expect(answer.body.execution_id).toBeUndefined()
    expect((await guest.call('GET', '/config')).body.suggestions).toEqual([])
  })
})
