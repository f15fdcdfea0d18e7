import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeLocalTranscription } from '#providers/transcription/local'
import { slow } from '#test/harness/slow'
import type { Speech } from './index.ts'
import { makeLocalSpeech } from './local.ts'
import { makeOpenAiSpeech } from './openai.ts'
import { STAND_IN_KEY, startStandIn } from './openai-stand-in.ts'
import { makeAudioProcess } from './process.ts'

const audio = makeAudioProcess({ niceness: 0 })
const ear = makeLocalTranscription({ audio })
const standIn = await startStandIn()

const providers: [string, Speech][] = [
  ['the local voice', makeLocalSpeech({ audio })],
  ['an OpenAI-compatible service', makeOpenAiSpeech({ baseUrl: standIn.baseUrl, apiKey: STAND_IN_KEY })],
]

beforeAll(() => expect(providers.map(([, speech]) => speech.available())).toEqual([null, null]))
afterAll(async () => {
  await audio.close()
  await standIn.close()
})

describe.each(providers)('%s', (_name, speech) => {
  test.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
  ] as const)('returns valid %s with the stated duration', async (format, contentType) => {
    const spoken = await speech.synthesize({ text: 'Good morning, how can I help you?', format })
    expect(spoken.contentType).toBe(contentType)
    const facts = await ear.inspect({ bytes: spoken.bytes })
    expect(facts.format).toBe(format)
    expect(spoken.duration_s).toBeGreaterThan(0.5)
    expect(Math.abs(facts.duration_s - spoken.duration_s)).toBeLessThan(0.2)
  })

  test('returns longer audio for a longer text', async () => {
    const short = await speech.synthesize({ text: 'Yes.', format: 'wav' })
    const long = await speech.synthesize({
      text: 'Yes, and I will tell you all about it tomorrow. Good night.',
      format: 'wav',
    })
    expect(long.duration_s).toBeGreaterThan(short.duration_s)
  })

  test('has voices, each of which can speak', async () => {
    expect(speech.voices().length).toBeGreaterThan(0)
    for (const { id } of speech.voices()) {
      const { bytes } = await speech.synthesize({ text: 'Hello.', voice: id, format: 'mp3' })
      expect(bytes.length).toBeGreaterThan(500)
    }
  })

  test.each([
    ['a text of 4,097 characters', { text: 'a'.repeat(4097) }, 'text_too_long'],
    ['an empty text', { text: '' }, 'text_unspeakable'],
    ['only spaces', { text: ' \n\t ' }, 'text_unspeakable'],
    ['an unknown voice', { text: 'Hello.', voice: '../../etc/passwd' }, 'unknown_voice'],
  ])('refuses %s', async (_what, request, code) => {
    await expect(speech.synthesize({ format: 'mp3', ...request })).rejects.toMatchObject({ code })
  })

  test('stops when the caller aborts', async () => {
    const gone = new AbortController()
    const spoken = speech.synthesize({ text: 'This will be said. '.repeat(200), format: 'mp3', signal: gone.signal })
    gone.abort(new Error('hung up'))
    await expect(spoken).rejects.toThrow('hung up')
  })
})

describe('the local voice', () => {
  const [, speech] = providers[0] as [string, Speech]

  slow('speaks symbols, accented letters and amounts of money as words', async () => {
    const { bytes } = await speech.synthesize({ text: 'Café “Zoë” & sons: €12 — 50%', format: 'wav' })
    const { text } = await ear.transcribe({ bytes })
    expect(text.toLowerCase()).toMatch(/and sons/)
    expect(text.toLowerCase()).toMatch(/twelve euro|12 euro|€12/)
  })

  test('speaks symbols and accented letters, and refuses a text without a pronounceable word', async () => {
    const { duration_s } = await speech.synthesize({ text: 'Café “Zoë” & sons: €12 — 50%', format: 'wav' })
    const { duration_s: bare } = await speech.synthesize({ text: 'Café Zoë sons', format: 'wav' })
    expect(duration_s).toBeGreaterThan(bare)
    await expect(speech.synthesize({ text: '你好，世界', format: 'wav' })).rejects.toMatchObject({
      code: 'text_unspeakable',
    })
    await expect(speech.synthesize({ text: '?!… ***', format: 'wav' })).rejects.toMatchObject({
      code: 'text_unspeakable',
    })
  })

  test('treats options and markup in a text as plain text', async () => {
    const { duration_s } = await speech.synthesize({
      text: '-o /tmp/x -voice kal\0 <script>alert(1)</script>',
      format: 'wav',
    })
    expect(duration_s).toBeGreaterThan(1)
  })

  test('refuses a text that would take more than ten minutes to speak', async () => {
    const spelled = 'xw'.repeat(2048)
    await expect(speech.synthesize({ text: spelled, voice: 'kal16', format: 'mp3' })).rejects.toMatchObject({
      code: 'text_too_long',
    })
  })
})

describe('a service', () => {
  const speakThrough = async (handle: (request: Request) => Promise<Response>, timeout?: number) => {
    const server = await startStandIn(handle)
    const speech = makeOpenAiSpeech({ baseUrl: server.baseUrl, apiKey: STAND_IN_KEY, timeout })
    try {
      return await speech.synthesize({ text: 'Hello.', format: 'mp3' })
    } finally {
      await server.close()
    }
  }

  test.each([
    ['rejects the key', async () => new Response('{}', { status: 401 }), 'provider_unavailable'],
    ['is overloaded', async () => new Response('{}', { status: 429 }), 'provider_busy'],
    ['fails', async () => new Response('oops', { status: 503 }), 'provider_unavailable'],
    [
      'redirects',
      async () => new Response('', { status: 307, headers: { location: 'http://127.0.0.1:9/' } }),
      'provider_unavailable',
    ],
    ['returns an HTML page', async () => new Response('<html>hello</html>'), 'provider_unavailable'],
    ['returns no data', async () => new Response(Buffer.alloc(0)), 'provider_unavailable'],
  ])('that %s is reported with a specific code', async (_what, handle, code) => {
    await expect(speakThrough(handle)).rejects.toMatchObject({ code })
  })

  test('that never responds is reported as unavailable after the timeout', async () => {
    await expect(speakThrough(() => new Promise(() => {}), 50)).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  test('does not have its error text, which may contain the key, passed on', async () => {
    const speech = makeOpenAiSpeech({ baseUrl: standIn.baseUrl, apiKey: 'sk-wrong-key' })
    const problem = await speech.synthesize({ text: 'Hello.', format: 'mp3' }).catch((cause) => cause)
    expect(problem.code).toBe('provider_unavailable')
    expect(problem.message).not.toContain('sk-')
  })
})
