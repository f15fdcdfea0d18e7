import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { makeClient } from './client.ts'
import * as problems from './problems.ts'

type Answer = number | 'lost' | 'silent'

/** Creates a client whose service gives these responses in sequence and then repeats the last one. */
function answering(answers: Answer[], options: { retries?: number; timeoutMs?: number; token?: string } = {}) {
  const sent: { method: string; key: string | null }[] = []
  const send: typeof fetch = async (_url, init) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)]!
    sent.push({ method: init!.method!, key: (init!.headers as Headers).get('idempotency-key') })
    if (answer === 'lost') throw new TypeError('fetch failed')
    if (answer === 'silent')
      return new Promise((_, reject) =>
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason), { once: true }),
      )
    return Response.json({ code: 'unavailable', detail: 'Later.' }, { status: answer })
  }
  return { client: makeClient({ fetch: send, token: 'hk_1', ...options }), sent }
}

describe('a refusal', () => {
  test.each([
    [400, 'InvalidRequest'],
    [401, 'Unauthenticated'],
    [402, 'PaymentRequired'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [409, 'Conflict'],
    [412, 'PreconditionFailed'],
    [413, 'InvalidRequest'],
    [422, 'InvalidRequest'],
    [428, 'PreconditionFailed'],
    [429, 'RateLimited'],
    [500, 'ServiceUnavailable'],
    [503, 'ServiceUnavailable'],
  ] as const)('with status %i is a %s', async (status, name) => {
    const { client } = answering([status], { retries: 0 })
    const refused = await client.listTeams().catch((error: unknown) => error)
    expect((refused as Error).constructor.name).toBe(name)
    expect(refused).toBeInstanceOf(problems.HeddleProblem)
    expect(refused).toMatchObject({ status, name, code: 'unavailable', message: 'Later.' })
  })
})

describe('the body of an upload', () => {
  test.each([
    ['a stream of the web', new Blob(['a']).stream()],
    ['a stream of Node', Readable.from(['a'])],
  ])('is refused if it is %s, before anything is sent', async (_what, body) => {
    const { client, sent } = answering([200])
    await expect(client.uploadFile({ body })).rejects.toThrow('The body is a stream')
    expect(sent).toEqual([])
  })
})

describe('a request that fails temporarily', () => {
  test.each([429, 500, 502, 503, 504, 'lost'] as const)('is retried after %s', async (failure) => {
    const { client, sent } = answering([failure, 200])
    await client.listTeams()
    expect(sent).toHaveLength(2)
  })

  test.each([400, 401, 403, 404, 409, 412, 422])('is not retried after %i', async (status) => {
    const { client, sent } = answering([status])
    await expect(client.listTeams()).rejects.toMatchObject({ status })
    expect(sent).toHaveLength(1)
  })

  test('is retried as often as `retries` says', async () => {
    const { client, sent } = answering([503], { retries: 1 })
    await expect(client.listTeams()).rejects.toMatchObject({ status: 503 })
    expect(sent).toHaveLength(2)
  })

  test('has the same key on each attempt if it is a POST, and is sent once if it is a PATCH', async () => {
    const posted = answering([503, 200])
    await posted.client.createTeam({ name: 'A' })
    expect(posted.sent).toEqual([posted.sent[0], posted.sent[0]])
    expect(posted.sent[0]!.key).toMatch(/^[\da-f-]{36}$/)
    const own = answering([200])
    await own.client.createTeam({ name: 'A' }, { idempotencyKey: 'mine' })
    expect(own.sent[0]!.key).toBe('mine')
    const patched = answering([503])
    await expect(patched.client.updateTeam({ team_id: 'team_1', name: 'B' })).rejects.toMatchObject({ status: 503 })
    expect(patched.sent).toEqual([{ method: 'PATCH', key: null }])
  })

  test('has no key and is sent once if it is a POST of a browser session', async () => {
    const { client, sent } = answering([503], { token: '' })
    await expect(client.createTeam({ name: 'A' })).rejects.toMatchObject({ status: 503 })
    expect(sent).toEqual([{ method: 'POST', key: null }])
  })
})

test('a request without a response times out after timeoutMs', async () => {
  const { client, sent } = answering(['silent'], { timeoutMs: 1, retries: 1 })
  await expect(client.listTeams()).rejects.toBeInstanceOf(problems.TimedOut)
  expect(sent).toHaveLength(2)
})

test('the caller can abort a request with its own reason, and no listener remains', async () => {
  const { client, sent } = answering(['silent'])
  const stop = new AbortController()
  const listed = client.listTeams({}, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(listed).rejects.toThrow('enough')
  expect(sent).toHaveLength(1)
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])
})

describe('a body', () => {
  /** Creates a client of a service that sends only the start of a JSON body; `rest` decides what follows. */
  const sendingPart = (rest: (body: ReadableStreamDefaultController, signal: AbortSignal) => void) =>
    makeClient({
      token: 'hk_1',
      fetch: async (_url, init) => {
        const start = (body: ReadableStreamDefaultController): void => {
          body.enqueue(new TextEncoder().encode('{"items":'))
          rest(body, init!.signal!)
        }
        return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'application/json' } })
      },
    })

  test('that does not end is ended by the signal of the caller', async () => {
    const client = sendingPart((body, signal) => signal.addEventListener('abort', () => body.error(signal.reason)))
    const stop = new AbortController()
    const listed = client.listTeams({}, { signal: stop.signal })
    // The headers have arrived before the next turn of the event loop.
    setImmediate(() => stop.abort(new Error('enough')))
    await expect(listed).rejects.toThrow('enough')
  })

  test('that is cut off is a lost connection', async () => {
    const client = sendingPart((body) => body.error(new TypeError('terminated')))
    await expect(client.listTeams()).rejects.toBeInstanceOf(problems.ConnectionFailed)
  })

  test.each([
    ['of another program', {}, problems.ConnectionFailed],
    ['of the service', { 'x-request-id': '1' }, undefined],
  ])('that is a web page %s is told apart from a response', async (_whose, headers, refused) => {
    const fetch = async () => new Response('<p>Hello</p>', { headers: { 'content-type': 'text/html', ...headers } })
    const listed = makeClient({ token: 'hk_1', fetch }).listTeams()
    if (refused) await expect(listed).rejects.toBeInstanceOf(refused)
    else expect(await listed).toBeInstanceOf(Blob)
  })
})
