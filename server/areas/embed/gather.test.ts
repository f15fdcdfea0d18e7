import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId, toWire } from '#platform/ids'
import { type CallOptions, useSharedService } from '#test/harness/service'
import { slow } from '#test/harness/slow'
import { until } from '#test/harness/until'
import { askingWorkflow, makeTemplate, makeToken, makeWorkflow, refund, SITE } from '#test/harness/widget'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let workflow: string
let token: string

beforeAll(async () => {
  world = await makeWorld(service())
  workflow = await makeWorkflow(world.owner, 'Request a refund', refund)
  ;({ token } = await makeToken(world.owner, `/api/workflows/${workflow}`, { allowed_origins: [SITE] }))
})

type Visit = { id: string; token: string; visitorToken?: string }
const call = (visit: Visit, method: string, path: string, options: Omit<CallOptions, 'token'> = {}) =>
  service().call(method, `/api/embed/workflow/${visit.id}${path}`, {
    ...options,
    token: visit.token,
    headers: { origin: SITE, ...(visit.visitorToken && { 'x-visitor-token': visit.visitorToken }), ...options.headers },
  })
const begin = async (id = workflow, given = token): Promise<Visit> => {
  const { body } = await call({ id, token: given }, 'GET', '/config')
  return { id, token: given, visitorToken: body.visitor_token }
}
const gather = (visit: Visit, body: object) => call(visit, 'POST', '/gather', { body })
const ended = (visit: Visit, execution: string) =>
  until(async () => {
    const { body } = await call(visit, 'GET', `/executions/${execution}`)
    return body.finished_at ? body : undefined
  }, 'the end')

describe('the widget of a workflow', () => {
  test('gathers the inputs, names the missing ones, then starts the workflow', async () => {
    const first = await gather({ id: workflow, token }, {})
    expect(first.body).toMatchObject({ values: {}, missing: ['order', 'reason'], complete: false })
    expect(first.body.reply).toContain('order number')
    expect(first.body.conversation_id).toMatch(/^conv_/)
    const visit = { id: workflow, token, visitorToken: first.body.visitor_token }
    const { conversation_id } = first.body
    const second = await gather(visit, { conversation_id, message: 'It is 1042' })
    expect(second.body).toMatchObject({ values: { order: 1042 }, missing: ['reason'], complete: false })
    expect(second.body.visitor_token).toBeUndefined()
    const third = await gather(visit, { conversation_id, message: 'it came damaged' })
    expect(third.body).toMatchObject({ values: { order: 1042, reason: 'damaged' }, missing: [], complete: true })
    const execution = await ended(visit, third.body.execution_id)
    expect(execution).toMatchObject({
      status: 'succeeded',
      results: { order: 1042, reason: 'damaged' },
      question: null,
    })
    const after = await gather(visit, { conversation_id, message: 'again' })
    expect(after.body).toMatchObject({ complete: true, execution_id: third.body.execution_id })
    expect((await world.owner.call('GET', `/api/workflows/${workflow}/executions`)).body.items).toHaveLength(1)
  })

  test('uses the language of the visitor', async () => {
    const visit = await begin()
    const first = await gather(visit, { locale: 'fr' })
    expect(first.body.reply).toBe(
      'Pour « Request a refund », il me faut : order number, reason. Veuillez indiquer : order number. Un nombre, s’il vous plaît.',
    )
    const { conversation_id } = first.body
    expect((await gather(visit, { conversation_id, message: 'annuler' })).body.reply).toContain(
      'D’accord, je me suis arrêté.',
    )
    expect((await gather(visit, { message: 'order 5', locale: 'es' })).body.reply).toContain(
      'Para «Request a refund» me falta un dato.',
    )
  })

  test('starts nothing when it is opened without a message, even if no input is missing', async () => {
    const plain = await makeWorkflow(world.owner, 'Ring the bell', { nodes: [], edges: [], output: 'ding' })
    const made = await makeToken(world.owner, `/api/workflows/${plain}`)
    const visit = { id: plain, token: made.token }
    const first = await call(visit, 'POST', '/gather', { body: {}, headers: { origin: service().base } })
    expect(first.body).toMatchObject({ complete: false, missing: [], reply: 'Shall I start "Ring the bell"?' })
    const second = await call({ ...visit, visitorToken: first.body.visitor_token }, 'POST', '/gather', {
      body: { conversation_id: first.body.conversation_id, message: 'yes' },
      headers: { origin: service().base },
    })
    expect(second.body.complete).toBe(true)
  })

  test('starts only after a yes when it asks whether to start', async () => {
    const optional = { type: 'object', properties: { note: { type: 'string' } } }
    for (const inputs of [undefined, optional]) {
      const definition = { nodes: [], edges: [], output: 'wiped', ...(inputs && { inputs }) }
      const plain = await makeWorkflow(world.owner, 'Wipe the cache', definition)
      const made = await makeToken(world.owner, `/api/workflows/${plain}`, { allowed_origins: [SITE] })
      const visit = await begin(plain, made.token)
      const { conversation_id } = (await gather(visit, {})).body
      for (const message of ['No, please do not.', 'no', 'what does this do?', 'hm']) {
        const { body } = await gather(visit, { conversation_id, message })
        expect([message, body.complete, body.execution_id]).toEqual([message, false, undefined])
      }
      expect((await gather(visit, { message: 'what does this do?' })).body.complete).toBe(false)
      expect((await gather(visit, { conversation_id, message: 'Yes, please' })).body.complete).toBe(true)
    }
  })

  test('shows a conversation and an execution only to their visitor', async () => {
    const ada = await begin()
    const { body } = await gather(ada, { message: 'order 7, late' })
    expect(body.complete).toBe(true)
    const bob = await begin()
    expect((await gather(bob, { conversation_id: body.conversation_id, message: 'x' })).status).toBe(404)
    expect((await gather(bob, { conversation_id: toWire('conv', newId()), message: 'x' })).status).toBe(404)
    expect((await gather({ ...bob, visitorToken: 'vst_x' }, { conversation_id: body.conversation_id })).status).toBe(
      401,
    )
    expect((await call(bob, 'GET', `/executions/${body.execution_id}`)).status).toBe(404)
    expect(
      (await call(bob, 'POST', `/executions/${body.execution_id}/respond`, { body: { response: 1 } })).status,
    ).toBe(404)
    expect((await call(ada, 'GET', `/executions/${body.execution_id}`)).status).toBe(200)
    // A template's thread is not a workflow's conversation, and vice versa.
    const template = await makeTemplate(world.owner, [workflow])
    const other = await makeToken(world.owner, `/api/templates/${template}`)
    const crossed = await service().call('POST', `/api/embed/template/${template}/chat`, {
      token: other.token,
      headers: { 'x-visitor-token': ada.visitorToken! },
      body: { thread_id: body.conversation_id.replace('conv_', 'thr_'), message: 'x' },
    })
    expect(crossed.status).toBe(401)
  })

  test('accepts one response to a question', async () => {
    const id = await makeWorkflow(world.owner, 'Paint', askingWorkflow({ type: 'string' }))
    const made = await makeToken(world.owner, `/api/workflows/${id}`, { allowed_origins: [SITE] })
    const visit = await begin(id, made.token)
    const { body } = await gather(visit, { message: 'go' })
    const question = await until(
      async () => (await call(visit, 'GET', `/executions/${body.execution_id}`)).body.question ?? undefined,
      'the question',
    )
    expect(question).toMatchObject({ question: 'Which colour?', schema: { type: 'string' } })
    const respond = () =>
      call(visit, 'POST', `/executions/${body.execution_id}/respond`, {
        body: { response: 'red', clarification_id: question.clarification_id },
      })
    const answers = await Promise.all(Array.from({ length: 10 }, respond))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(409)])
    expect((await ended(visit, body.execution_id)).results).toEqual({ colour: 'red' })
  })

  test('gives a clear refusal if the workflow has no active version or is deleted', async () => {
    const bare = (await world.owner.call('POST', '/api/workflows', { body: { name: 'Bare' } })).body.workflow_id
    const made = await makeToken(world.owner, `/api/workflows/${bare}`, { allowed_origins: [SITE] })
    expect((await gather({ id: bare, token: made.token }, {})).body.code).toBe('no_active_version')
    const gone = await makeWorkflow(world.owner, 'Gone', refund)
    const goneToken = await makeToken(world.owner, `/api/workflows/${gone}`, { allowed_origins: [SITE] })
    const visit = await begin(gone, goneToken.token)
    await gather(visit, {})
    await world.owner.call('DELETE', `/api/workflows/${gone}`)
    await until(async () => (await gather(visit, {})).status === 401, 'the refusal')
  })
})

describe('speech of a widget', () => {
  slow('synthesizes mp3 and transcribes audio, and stores neither', async () => {
    const template = await makeTemplate(world.owner, [], {
      features: { speech: true, transcribe: true },
      voice: 'unknown-voice',
    })
    const made = await makeToken(world.owner, `/api/templates/${template}`)
    const path = `/api/embed/template/${template}`
    const spoken = await fetch(`${service().base}${path}/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json', origin: SITE },
      body: JSON.stringify({ text: 'Good morning to everybody in the house.' }),
    })
    expect(spoken.status).toBe(200)
    expect(spoken.headers.get('content-type')).toBe('audio/mpeg')
    expect(spoken.headers.get('access-control-allow-origin')).toBe(SITE)
    const audio = Buffer.from(await spoken.arrayBuffer())
    expect(audio.length).toBeGreaterThan(5000)
    const heard = await service().call('POST', `${path}/transcribe`, {
      token: made.token,
      raw: audio,
      headers: { 'content-type': 'audio/mpeg' },
    })
    expect(heard.status).toBe(200)
    expect(heard.body.text.toLowerCase()).toContain('good morning')
    const form = new FormData()
    form.set('audio', new Blob([audio], { type: 'image/png' }), 'holiday.png')
    const inForm = await service().call('POST', `${path}/transcribe`, { token: made.token, raw: form })
    expect(inForm.body.text).toBe(heard.body.text)
    const [rows] = await service().sql<{ n: number }>(
      'select count(*)::int as n from messages where workspace_id = $1 and text ilike $2',
      [world.workspace.uuid, '%good morning%'],
    )
    expect(rows!.n).toBe(0)
  })

  test('refuses data that is not audio, and text that is empty or too long', async () => {
    const template = await makeTemplate(world.owner, [])
    const made = await makeToken(world.owner, `/api/templates/${template}`)
    const path = `/api/embed/template/${template}`
    const send = (raw: Buffer, type = 'audio/wav') =>
      service().call('POST', `${path}/transcribe`, { token: made.token, raw, headers: { 'content-type': type } })
    expect((await send(Buffer.from('<html><script>alert(1)</script>'))).status).toBe(415)
    expect((await send(Buffer.alloc(0))).status).toBe(422)
    const cut = (await readFile(new URL('../../providers/transcription/fixtures/voice.ogg', import.meta.url))).subarray(
      0,
      60,
    )
    expect((await send(Buffer.from(cut))).status).toBe(422)
    const speak = (body: object) => service().call('POST', `${path}/speech`, { token: made.token, body })
    expect((await speak({ text: '' })).status).toBe(422)
    expect((await speak({ text: 'x'.repeat(4097) })).status).toBe(422)
    expect((await speak({ text: 'Hello', voice: 'nobody' })).body.errors[0].path).toBe('/voice')
    expect((await speak({ text: 'Hello', format: 'wav' })).status).toBe(422)
  })
})
