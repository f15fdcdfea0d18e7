import { expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { makeClient } from '#sdk/client'
import { piecemeal, say } from '#test/fakes/llm/answers'
import { useServiceWithModel } from '#test/harness/model'
import { until } from '#test/harness/until'
import { makeTemplate, makeToken, makeWorkflow, refund, SITE, type Visitor, visit } from '#test/harness/widget'

// Clients that watch an assistant write. The model streams like a provider, and the test decides when each piece is
// sent.

const { model, service, world } = await useServiceWithModel('fake-model')

type Frame = { id: string | null; event: string; data: Record<string, unknown> }

/** Sends a request and reads its response frame by frame. */
async function watch(path: string, headers: Record<string, string>, body: object) {
  const stop = new AbortController()
  const response = await fetch(service().base + path, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: stop.signal,
  })
  async function* read(): AsyncGenerator<Frame> {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const event = field('event')
        if (event !== undefined) yield { id: field('id') ?? null, event, data: JSON.parse(field('data')!) }
      }
    }
  }
  const frames = read()
  return {
    response,
    next: async (): Promise<Frame> => (await frames.next()).value as Frame,
    rest: async (): Promise<Frame[]> => {
      const all: Frame[] = []
      for await (const frame of frames) all.push(frame)
      return all
    },
    cut: () => stop.abort(),
  }
}

async function open(
  workflows: string[] = [],
): Promise<Visitor & { watch: (message: string, more?: object) => ReturnType<typeof watch> }> {
  const template = await makeTemplate(world().owner, workflows, { mode: 'agent' })
  const { token } = await makeToken(world().owner, `/api/templates/${template}`)
  const visitor = await visit(service(), template, token)
  return {
    ...visitor,
    watch: (message, more = {}) =>
      watch(
        `/api/embed/template/${template}/chat`,
        { authorization: `Bearer ${token}`, origin: SITE, 'x-visitor-token': visitor.visitorToken, ...more },
        { message },
      ),
  }
}

/** Returns an answer whose pieces are sent one at a time, when the test calls `go`. */
function gated(pieces: string[]) {
  const gates = [...pieces, ''].map(() => Promise.withResolvers<void>())
  return { answer: piecemeal(pieces, (index) => gates[index]!.promise), go: (index: number) => gates[index]!.resolve() }
}

test('each piece is sent as soon as the model returns it, and the answer is stored at the end', async () => {
  const visitor = await open()
  const { answer, go } = gated(['We open ', 'at nine.'])
  model.script(answer)
  go(0)
  const stream = await visitor.watch('When do you open?')
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(stream.response.headers.get('access-control-allow-origin')).toBe(SITE)
  expect(await stream.next()).toMatchObject({ event: 'text', data: { delta: 'We open ' } })
  // The model has not sent more, so only its first piece can have arrived.
  go(1)
  expect(await stream.next()).toMatchObject({ event: 'text', data: { delta: 'at nine.' } })
  go(2)
  const [done, ...more] = await stream.rest()
  expect(done).toMatchObject({ event: 'done', data: { messages: [{ role: 'assistant', text: 'We open at nine.' }] } })
  expect(more).toEqual([])
  const texts = (await visitor.history(done!.data.thread_id as string)).map(({ text }) => text)
  expect(texts.slice(1)).toEqual(['When do you open?', 'We open at nine.'])
})

test('a client that reconnects continues after its last frame; no text and no call is repeated', async () => {
  const visitor = await open()
  const { answer, go } = gated(['One ', 'two ', 'three.'])
  model.script(answer, say('never'))
  go(0)
  const key = { 'idempotency-key': 'count-for-me' }
  const before = model.count()
  const first = await visitor.watch('Count', key)
  const seen = await first.next()
  expect(seen).toMatchObject({ event: 'text', data: { delta: 'One ' } })
  first.cut()
  go(1)
  const again = await visitor.watch('Count', { ...key, 'last-event-id': seen.id! })
  expect(await again.next()).toMatchObject({ event: 'text', data: { delta: 'two ' } })
  go(2)
  go(3)
  const frames = await again.rest()
  expect(frames.filter(({ event }) => event === 'text').map(({ data }) => data.delta)).toEqual(['three.'])
  expect(frames.at(-1)).toMatchObject({ event: 'done', data: { messages: [{ text: 'One two three.' }] } })
  // A later request gets the stored answer, also as JSON.
  const late = await (await visitor.watch('Count', { ...key, 'last-event-id': seen.id! })).rest()
  expect(late).toMatchObject([{ event: 'done', data: frames.at(-1)!.data }])
  expect(model.count()).toBe(before + 1)
})

test('the SDK client shows the text as it grows, and continues after its connection is cut', async () => {
  const { owner } = world()
  const template_id = await makeTemplate(owner, [], { mode: 'agent' })
  const { body: thread } = await owner.call('POST', '/api/chat-thread', { body: { title: 'T', template_id } })
  const { answer, go } = gated(['One ', 'two.'])
  model.script(answer, say('never'))
  go(0)
  const cut = new AbortController()
  const lastIds: (string | null)[] = []
  const client = makeClient({
    baseUrl: service().base,
    token: owner.key,
    fetch: (address, init) => {
      const isFirst = lastIds.push(new Headers(init?.headers).get('last-event-id')) === 1
      if (!isFirst) go(1)
      return fetch(address, isFirst ? { ...init, signal: AbortSignal.any([init!.signal!, cut.signal]) } : init)
    },
  })
  const shown: string[] = []
  const said = await client.stream(
    'postThreadMessage',
    { thread_id: thread.thread_id, body: { text: 'Count' } },
    {
      onText(text) {
        shown.push(text)
        if (text === 'One ') cut.abort()
        else go(2)
      },
    },
  )
  expect(shown).toEqual(['One ', 'One two.'])
  expect(lastIds).toEqual([null, expect.stringMatching(/^\d+\.4$/)])
  expect(said).toMatchObject({ text: 'Count', answers: [{ text: 'One two.' }] })
  expect(model.count()).toBe(1)
})

test('the key of a stream belongs to its body: a different body is refused, and a JSON request gets the same answer', async () => {
  const visitor = await open()
  model.script(say('Nine.'), say('never'))
  const key = { 'idempotency-key': 'when-do-you-open' }
  const before = model.count()
  const frames = await (await visitor.watch('When do you open?', key)).rest()
  const other = await visitor.watch('When do you close?', key)
  expect(other.response.status).toBe(409)
  expect(await other.response.json()).toMatchObject({ code: 'idempotency_key_reused' })
  const json = await visitor.watch('When do you open?', { ...key, accept: 'application/json' })
  expect(json.response.headers.get('idempotent-replayed')).toBe('true')
  expect(await json.response.json()).toEqual(frames.at(-1)!.data)
  expect(model.count()).toBe(before + 1)
  // A refused request leaves the key free.
  const free = { 'idempotency-key': 'nothing-was-said' }
  expect((await visitor.watch('', free)).response.status).toBe(422)
  model.script(say('Ten.'))
  expect((await (await visitor.watch('And on Sundays?', free)).rest()).at(-1)).toMatchObject({ event: 'done' })
})

test('simultaneous first messages with one key start one conversation, and all of them receive its answer', async () => {
  const visitor = await open()
  model.script(say('Nine.'), say('never'))
  const key = { 'idempotency-key': 'all-at-once' }
  const before = model.count()
  const streams = await Promise.all(Array.from({ length: 4 }, () => visitor.watch('When do you open?', key)))
  expect(streams.map(({ response }) => response.status)).toEqual([200, 200, 200, 200])
  const ends = await Promise.all(streams.map(async ({ rest }) => (await rest()).at(-1)!))
  expect(ends.map(({ event }) => event)).toEqual(['done', 'done', 'done', 'done'])
  expect(new Set(ends.map(({ data }) => data.thread_id)).size).toBe(1)
  expect(model.count()).toBe(before + 1)
  const begun = await service().sql('select from threads where template_id = $1', [
    fromWire('tmpl', visitor.templateId),
  ])
  expect(begun.length).toBe(1)
})

test('text that the model writes before a tool call is withdrawn when the model continues', async () => {
  const workflow = await makeWorkflow(world().owner, 'Request a refund', refund)
  const visitor = await open([workflow])
  model.script(
    (asked) => ({
      kind: 'tools',
      text: 'I look. ',
      calls: [
        { name: asked.tools.find((name) => name.startsWith('request'))!, arguments: { order: 7, reason: 'late' } },
      ],
    }),
    say('Done.'),
  )
  const frames = await (await visitor.watch('Refund order 7')).rest()
  expect(frames.map(({ event, data }) => [event, data.delta])).toEqual([
    ['text', 'I look. '],
    ['reset', undefined],
    ['text', 'Done.'],
    ['done', undefined],
  ])
})

test('another process sends the stored draft, and the turn of a killed process starts its text again', async () => {
  const visitor = await open()
  const { answer, go } = gated(['Half'])
  const second = gated(['Who', 'le.'])
  model.script(answer, second.answer)
  go(0)
  const key = { 'idempotency-key': 'half-of-it' }
  const first = await visitor.watch('Say it', key)
  const seen = await first.next()
  await until(
    async () => (await service().sql(`select from assistant_turns where draft = 'Half'`)).length === 1,
    'the draft to be stored',
  )
  first.cut()
  // Simulates a turn that is held by another process, which has died.
  await service().sql(`update assistant_turns set runner = gen_random_uuid(), lease_until = now() where draft = 'Half'`)
  go(1)
  second.go(0)
  const again = await visitor.watch('Say it', { ...key, 'last-event-id': seen.id! })
  const begun = [await again.next(), await again.next()]
  second.go(1)
  second.go(2)
  const frames = [...begun, ...(await again.rest())]
  const text = frames.filter(({ event }) => event === 'text').map(({ data }) => data.delta)
  expect(frames[0]).toMatchObject({ event: 'reset' })
  expect(text.join('')).toBe('Whole.')
  expect(frames.at(-1)).toMatchObject({ event: 'done', data: { messages: [{ text: 'Whole.' }] } })
})

test('an error before the first frame is an ordinary response, and the menu answers with one frame', async () => {
  const visitor = await open()
  const refused = await visitor.watch('')
  expect(refused.response.status).toBe(422)
  const template = await makeTemplate(world().owner, [], { mode: 'menu' })
  const { token } = await makeToken(world().owner, `/api/templates/${template}`)
  const headers = { authorization: `Bearer ${token}`, origin: SITE }
  const menu = await (await watch(`/api/embed/template/${template}/chat`, headers, { message: 'Hello' })).rest()
  expect(menu).toMatchObject([{ event: 'done', data: { messages: expect.any(Array) } }])
})

test('a thread of colleagues also streams', async () => {
  const { owner } = world()
  const template = await makeTemplate(owner, [], { mode: 'agent' })
  const thread = await owner.call('POST', '/api/chat-thread', { body: { title: 'T', template_id: template } })
  const path = `/api/chat-thread/${thread.body.thread_id}/messages`
  model.script(say('Good morning.'))
  const answered = await owner.call('POST', path, { body: { text: 'Hello' }, headers: { accept: 'text/event-stream' } })
  expect(answered.text.split('\n').filter((line) => line.startsWith('event'))).toEqual([
    'event: text',
    'event: text',
    'event: done',
  ])
  expect(answered.text).toContain('"text":"Good morning."')
})
