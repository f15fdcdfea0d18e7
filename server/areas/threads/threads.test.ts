import { beforeAll, describe, expect, test } from 'vitest'
import { phrasesIn } from '#areas/conversations/languages/index'
import { fromWire } from '#platform/ids'
import { freshEmail, PASSWORD } from '#test/harness/browser'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { askingWorkflow, makeTemplate, makeWorkflow } from '#test/harness/widget'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let colleague: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service(), { name: 'Cleo Colleague' })
  await addMember(service(), world.workspace, colleague, 'member')
})

async function makeThread(by = world.member, body: Record<string, unknown> = {}): Promise<string> {
  const made = await by.call('POST', '/api/chat-thread', { body: { title: 'Refunds', ...body } })
  expect(made.status).toBe(201)
  return made.body.thread_id
}
const invite = (thread: string, person: { email: string }, role?: string, by = world.member) =>
  by.call('POST', `/api/chat-thread/${thread}/invite`, { body: { email: person.email, ...(role && { role }) } })
const say = (thread: string, text: string, by = world.member) =>
  by.call('POST', `/api/chat-thread/${thread}/messages`, { body: { text } })
const read = async (thread: string, by = world.member): Promise<string[]> =>
  (await by.call('GET', `/api/chat-thread/${thread}/messages`)).body.items.map(({ text }: { text: string }) => text)

function formWith(text: string): FormData {
  const form = new FormData()
  form.set('text', text)
  return form
}

describe('a thread', () => {
  test('belongs to the person who opened it, and is listed only to its members', async () => {
    const thread = await makeThread()
    expect((await world.member.call('GET', `/api/chat-thread/${thread}`)).body).toMatchObject({
      thread_id: thread,
      title: 'Refunds',
      template_id: null,
      role: 'owner',
      created_by: world.member.id,
    })
    const idsOf = async (person: TestPerson) =>
      (await person.call('GET', '/api/chat-thread')).body.items.map(({ thread_id }: { thread_id: string }) => thread_id)
    expect(await idsOf(world.member)).toContain(thread)
    expect(await idsOf(colleague)).not.toContain(thread)
    await invite(thread, colleague)
    expect(await idsOf(colleague)).toContain(thread)
  })

  test('is not found by colleagues outside it, not even by the owner of the workspace', async () => {
    const thread = await makeThread()
    const random = 'thr_01kf3v6h2he3wtpk1fw5c0wz9d'
    for (const [method, tail, body] of [
      ['GET', ''],
      ['GET', '/messages'],
      ['POST', '/messages', { text: 'x' }],
      ['GET', '/members'],
      ['POST', '/invite', { email: freshEmail() }],
      ['POST', '/speech', { text: 'x' }],
      ['POST', '/transcribe'],
      ['GET', '/audio/aud_01kf3v6h2he3wtpk1fw5c0wz9d'],
      ['DELETE', `/members/${world.owner.id}`],
    ] as const)
      for (const person of [world.owner, colleague, world.stranger]) {
        const options = { headers: { 'x-request-id': 'same' }, ...(body && { body }) }
        const hidden = await person.call(method, `/api/chat-thread/${thread}${tail}`, options)
        const absent = await person.call(method, `/api/chat-thread/${random}${tail}`, options)
        expect([method, tail, hidden.status]).toEqual([method, tail, 404])
        expect(hidden.text).toBe(absent.text)
      }
    expect(await read(thread)).toEqual([])
  })

  test('can be opened only with a template of the same workspace', async () => {
    const { body: foreign } = await world.stranger.call('POST', '/api/templates', { body: { name: 'Theirs' } })
    const refuse = (template_id: string) =>
      world.member.call('POST', '/api/chat-thread', {
        body: { title: 'x', template_id },
        headers: { 'x-request-id': 'same' },
      })
    const [theirs, random, nonsense] = [
      await refuse(foreign.template_id),
      await refuse('tmpl_01kf3v6h2he3wtpk1fw5c0wz9d'),
      await refuse('nonsense'),
    ]
    expect(theirs.body).toMatchObject({ code: 'unknown_reference', errors: [{ path: '/template_id' }] })
    expect(new Set([theirs.text, random.text, nonsense.text]).size).toBe(1)
  })

  test('cannot be opened by viewers of the workspace, who can write in threads of which they are members', async () => {
    expect((await world.viewer.call('POST', '/api/chat-thread', { body: { title: 'x' } })).status).toBe(403)
    const thread = await makeThread()
    await invite(thread, world.viewer, 'member')
    expect((await say(thread, 'Hello', world.viewer)).status).toBe(201)
  })
})

describe('messages', () => {
  test('are written by members and read by viewers, oldest first, in pages', async () => {
    const thread = await makeThread()
    await invite(thread, colleague, 'viewer')
    const first = await say(thread, ' Hello <script>alert(1)</script> {{1+1}} ')
    expect(first.body).toMatchObject({
      role: 'user',
      author: { user_id: world.member.id, name: world.member.name },
      text: 'Hello <script>alert(1)</script> {{1+1}}',
      audio_id: null,
      answers: [],
    })
    await say(thread, 'two')
    await say(thread, 'three')
    const page = await colleague.call('GET', `/api/chat-thread/${thread}/messages?limit=2`)
    expect(page.body.items.map(({ text }: { text: string }) => text)).toEqual([first.body.text, 'two'])
    const rest = await colleague.call(
      'GET',
      `/api/chat-thread/${thread}/messages?limit=2&cursor=${page.body.next_cursor}`,
    )
    expect(rest.body).toMatchObject({ items: [{ text: 'three' }], next_cursor: null })
    expect((await say(thread, 'not mine to say', colleague)).status).toBe(403)
  })

  test.each([
    ['no text', { body: {} }, 422],
    ['only spaces', { body: { text: ' \n ' } }, 422],
    ['only invisible characters', { body: { text: '\u200b\u2060' } }, 422],
    ['a NUL in a form', { raw: formWith('a\0b') }, 422],
    ['too long a text', { body: { text: 'x'.repeat(8001) } }, 422],
    ['an unknown field', { body: { text: 'x', role: 'assistant' } }, 422],
    ['a NUL', { raw: '{"text":"a\\u0000b"}', headers: { 'content-type': 'application/json' } }, 422],
    ['invalid JSON', { raw: '{', headers: { 'content-type': 'application/json' } }, 400],
    ['another content type', { raw: 'hello', headers: { 'content-type': 'text/plain' } }, 415],
    ['a megabyte', { body: { text: 'x'.repeat(1 << 20) } }, 413],
    ['an unknown time zone', { body: { text: 'x', time_zone: 'Mars/Olympus' } }, 422],
  ])('with %s are refused and not stored', async (_what, options, status) => {
    const thread = await makeThread()
    const refused = await world.member.call('POST', `/api/chat-thread/${thread}/messages`, options)
    expect(refused.status).toBe(status)
    expect(await read(thread)).toEqual([])
  })

  test('sent twice with one idempotency key are stored once', async () => {
    const thread = await makeThread()
    const send = (text: string) =>
      world.member.call('POST', `/api/chat-thread/${thread}/messages`, {
        body: { text },
        headers: { 'idempotency-key': `once-${thread}`, 'x-request-id': 'r' },
      })
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('Once')))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await send('Another')).body.code).toBe('idempotency_key_reused')
    expect(await read(thread)).toEqual(['Once'])
  })

  test('in a thread with a template are answered, and the requested workflow is executed', async () => {
    const { body: workflow } = await world.member.call('POST', '/api/workflows', {
      body: {
        name: 'Greet somebody',
        definition: {
          inputs: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
          nodes: [{ id: 'say', type: 'set', args: { values: { message: { $cel: '"Hello, " + input.who + "!"' } } } }],
          edges: [],
          output: { $ref: 'nodes.say.output' },
        },
      },
    })
    const { body: template } = await world.member.call('POST', '/api/templates', {
      body: { name: 'Desk', greeting: 'Welcome!', workflow_ids: [workflow.workflow_id] },
    })
    const thread = await makeThread(world.member, { template_id: template.template_id })
    expect(await read(thread)).toEqual(['Welcome!'])
    const asked = await say(thread, 'greet somebody')
    expect(asked.body.answers).not.toEqual([])
    await say(thread, 'Ada')
    await expect.poll(() => read(thread)).toContain('Hello, Ada!')
  })

  test('are answered in the language of the last author, otherwise in the language of the template', async () => {
    const { body: template } = await world.member.call('POST', '/api/templates', {
      body: { name: 'Desk', locale: 'fr' },
    })
    const { template_id } = template
    expect(await read(await makeThread(world.member, { template_id }))).toEqual([
      'Bonjour ! Comment puis-je vous aider ?',
    ])
    const thread = await makeThread(world.member, { template_id, locale: 'de-AT' })
    expect(await read(thread)).toEqual(['Guten Tag! Wie kann ich Ihnen helfen?'])
    const path = `/api/chat-thread/${thread}/messages`
    const answered = await world.member.call('POST', path, { body: { text: 'Hola', locale: 'es' } })
    expect(answered.body.answers[0].text).toBe(phrasesIn('es').greeting)
    const refused = await world.member.call('POST', path, { body: { text: 'x', locale: 'not a tag' } })
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/locale'])
    const wrong = await world.member.call('PATCH', `/api/templates/${template_id}`, { body: { locale: '<b>' } })
    expect([wrong.status, wrong.body.errors[0].path]).toEqual([422, '/locale'])
  })
})

describe('members', () => {
  test('of the workspace are added immediately; others are invited to the thread only', async () => {
    const thread = await makeThread()
    expect((await invite(thread, colleague)).body).toMatchObject({ state: 'added', role: 'member' })
    expect((await invite(thread, colleague)).body.code).toBe('already_exists')
    const email = freshEmail()
    const invited = await invite(thread, { email }, 'viewer')
    expect(invited.status).toBe(201)
    expect(invited.body).toMatchObject({ state: 'invited', role: 'viewer', email })
    const accepted = await service().call('POST', `/auth${new URL(invited.body.link).pathname}/accept`, {
      body: { name: 'Gast', password: PASSWORD },
    })
    expect(accepted.status).toBe(201)
    expect(accepted.body).toMatchObject({ workspace: { role: 'guest' }, resource: { kind: 'thread', id: thread } })
    const { body } = await world.member.call('GET', `/api/chat-thread/${thread}/members`)
    expect(Object.fromEntries(body.items.map((one: { name: string; role: string }) => [one.name, one.role]))).toEqual({
      [world.member.name]: 'owner',
      [colleague.name]: 'member',
      Gast: 'viewer',
    })
  })

  test('are changed and removed by owners; everyone else may leave', async () => {
    const thread = await makeThread()
    await invite(thread, colleague)
    await invite(thread, world.viewer, 'viewer')
    const path = (person: TestPerson) => `/api/chat-thread/${thread}/members/${person.id}`
    expect((await colleague.call('PATCH', path(colleague), { body: { role: 'owner' } })).status).toBe(403)
    expect((await colleague.call('DELETE', path(world.viewer))).status).toBe(403)
    expect((await colleague.call('DELETE', path(world.member))).status).toBe(403)
    expect((await invite(thread, { email: freshEmail() }, 'member', colleague)).status).toBe(403)
    expect((await world.member.call('PATCH', path(colleague), { body: { role: 'viewer' } })).body.role).toBe('viewer')
    expect((await say(thread, 'x', colleague)).status).toBe(403)
    expect((await world.viewer.call('DELETE', path(world.viewer))).status).toBe(204)
    expect((await world.viewer.call('GET', `/api/chat-thread/${thread}`)).status).toBe(404)
    expect((await world.member.call('DELETE', path(colleague))).status).toBe(204)
    expect((await world.member.call('DELETE', path(colleague))).status).toBe(404)
    expect((await world.member.call('PATCH', path(world.stranger), { body: { role: 'viewer' } })).status).toBe(404)
  })

  test('always include an owner, even if several leave at once', async () => {
    const thread = await makeThread()
    const path = (person: TestPerson) => `/api/chat-thread/${thread}/members/${person.id}`
    expect((await world.member.call('DELETE', path(world.member))).body.code).toBe('last_owner')
    expect((await world.member.call('PATCH', path(world.member), { body: { role: 'viewer' } })).body.code).toBe(
      'last_owner',
    )
    for (let round = 0; round < 5; round++) {
      const next = await makeThread()
      await invite(next, colleague, 'owner')
      const answers = await Promise.all(
        [world.member, colleague].flatMap((person) => [
          person.call('DELETE', `/api/chat-thread/${next}/members/${person.id}`),
          person.call('PATCH', `/api/chat-thread/${next}/members/${person.id}`, { body: { role: 'member' } }),
        ]),
      )
      expect(answers.some(({ body }) => body?.code === 'last_owner')).toBe(true)
      const [row] = await service().sql<{ n: number }>(
        `select count(*)::int as n from thread_members where role = 'owner' and thread_id = $1`,
        [fromWire('thr', next)],
      )
      expect(row!.n).toBeGreaterThanOrEqual(1)
    }
  })

  test('cannot be demoted by an invitation, and invitations by an owner end with their ownership', async () => {
    const thread = await makeThread()
    expect((await invite(thread, world.member, 'viewer')).body.code).toBe('already_exists')
    await invite(thread, colleague, 'owner')
    const sent = await invite(thread, { email: freshEmail() }, 'owner', colleague)
    await world.member.call('DELETE', `/api/chat-thread/${thread}/members/${colleague.id}`)
    const accept = await service().call('POST', `/auth${new URL(sent.body.link).pathname}/accept`, {
      body: { name: 'Back door', password: PASSWORD },
    })
    expect(accept.status).toBe(404)
  })

  test('who leave the workspace leave its threads, and threads without another owner get a new one', async () => {
    const leaver = await makePerson(service(), { name: 'Lea Leaver' })
    await addMember(service(), world.workspace, leaver, 'member')
    const shared = await makeThread(leaver)
    const alone = await makeThread(leaver)
    await invite(shared, colleague, 'viewer', leaver)
    await invite(shared, world.member, 'member', leaver)
    const gone = await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    expect(gone.status).toBe(204)
    expect((await world.member.call('GET', `/api/chat-thread/${shared}`)).body.role).toBe('owner')
    expect((await world.owner.call('GET', `/api/chat-thread/${alone}`)).body.role).toBe('owner')
    expect((await leaver.call('GET', `/api/chat-thread/${shared}`)).status).toBe(404)
  })
})

describe('a question of an execution that a thread started', () => {
  const open = async () => {
    const workflow = await makeWorkflow(world.owner, 'Paint the fence', askingWorkflow({ type: 'string' }))
    const template_id = await makeTemplate(world.owner, [workflow])
    const thread = await makeThread(world.owner, { template_id })
    await invite(thread, world.guest, 'member', world.owner)
    const answers = (await say(thread, 'start', world.owner)).body.answers
    const execution = answers.at(-1).execution_id as string
    await until(async () => (await read(thread, world.owner)).at(-1) === 'Which colour?' || undefined, 'the question')
    const state = async () => (await world.owner.call('GET', `/api/workflows/executions/${execution}`)).body
    return { thread, execution, state }
  }
  const silence = (): FormData => {
    const samples = Buffer.alloc(2 * 32_000)
    const header = Buffer.from('RIFF    WAVEfmt                     data    ')
    header.writeUInt32LE(36 + samples.length, 4)
    header.writeUInt32LE(16, 16)
    header.writeUInt16LE(1, 20)
    header.writeUInt16LE(1, 22)
    header.writeUInt32LE(16_000, 24)
    header.writeUInt32LE(32_000, 28)
    header.writeUInt16LE(2, 32)
    header.writeUInt16LE(16, 34)
    header.writeUInt32LE(samples.length, 40)
    const form = new FormData()
    form.set('audio', new Blob([header, samples], { type: 'audio/wav' }), 'clip.wav')
    return form
  }

  test('is answered only by people who may answer; messages of others are ordinary messages', async () => {
    const { thread, execution, state } = await open()
    const response = { body: { response: 'black' } }
    expect((await world.guest.call('POST', `/api/workflows/executions/${execution}/respond`, response)).status).toBe(
      404,
    )
    const said = await say(thread, 'black', world.guest)
    expect([said.status, said.body.answers]).toEqual([201, []])
    expect((await state()).status).toBe('waiting')
    await say(thread, 'red', world.owner)
    await until(async () => (await state()).status === 'succeeded' || undefined, 'the end')
    expect((await state()).results).toEqual({ colour: 'red' })
  })

  test('is not answered by silence', async () => {
    const { thread, state } = await open()
    const clip = await world.owner.call('POST', `/api/chat-thread/${thread}/messages`, { raw: silence() })
    expect([clip.status, clip.body.text, clip.body.answers]).toEqual([201, '', []])
    expect((await state()).status).toBe('waiting')
    await say(thread, 'red', world.owner)
    await until(async () => (await state()).status === 'succeeded' || undefined, 'the end')
  })
})
