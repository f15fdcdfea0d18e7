import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeWav } from '#providers/speech/encode'
import { makeLocalSpeech } from '#providers/speech/local'
import { STAND_IN_KEY, STAND_IN_TEXT, startStandIn } from '#providers/speech/openai-stand-in'
import { makeAudioProcess } from '#providers/speech/process'
import type { Transcription } from './index.ts'
import { makeLocalTranscription } from './local.ts'
import { makeOpenAiTranscription } from './openai.ts'

const audio = makeAudioProcess({ niceness: 0 })
const speech = makeLocalSpeech({ audio })
const standIn = await startStandIn()
const limits = { bytes: 1024 * 1024, duration_s: 20 }
const openai = { baseUrl: standIn.baseUrl, apiKey: STAND_IN_KEY, audio, limits }

const providers: [string, Transcription][] = [
  ['the local model', makeLocalTranscription({ audio, limits })],
  ['an OpenAI-compatible service', makeOpenAiTranscription(openai)],
]

// One recording by Chromium's MediaRecorder, and one by opusenc.
const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url))
const clips: Record<string, Buffer> = { webm: fixture('browser.webm'), ogg: fixture('voice.ogg') }

beforeAll(async () => {
  for (const format of ['mp3', 'wav'] as const)
    clips[format] = (await speech.synthesize({ text: STAND_IN_TEXT, format })).bytes
})
afterAll(async () => {
  await audio.close()
  await standIn.close()
})

const quiet = (seconds: number) => encodeWav(new Int16Array(16_000 * seconds), 16_000)
const noise = (seconds: number) =>
  encodeWav(
    Int16Array.from({ length: 16_000 * seconds }, (_, i) => 9000 * Math.sin(i * i)),
    16_000,
  )

describe.each(providers)('%s', (_name, transcription) => {
  test.each(['mp3', 'wav', 'ogg', 'webm'])('transcribes %s, recognised by its content alone', async (format) => {
    const transcript = await transcription.transcribe({ bytes: clips[format] as Buffer })
    expect(transcript.text.toLowerCase()).toMatch(/send the invoice to the accounting team/)
    expect(transcript.language).toBe('en')
    expect(transcript.duration_s).toBeGreaterThan(3)
    expect(transcript.duration_s).toBeLessThan(5)
  })

  test.each([
    ['silence', () => quiet(2), 'audio_silent'],
    [
      'more bytes than allowed',
      () => Buffer.concat([clips.wav as Buffer, Buffer.alloc(limits.bytes)]),
      'audio_too_large',
    ],
    ['a longer recording than allowed', () => noise(22), 'audio_too_long'],
    ['an HTML page', () => Buffer.from('<!doctype html><p>audio/mpeg</p>'), 'unsupported_audio'],
    ['an empty file', () => Buffer.alloc(0), 'audio_unreadable'],
  ])('refuses %s', async (_what, bytes, code) => {
    await expect(transcription.transcribe({ bytes: bytes() })).rejects.toMatchObject({ code })
  })

  test('inspects the format and the duration of a clip without transcribing it', async () => {
    expect(await transcription.inspect({ bytes: clips.webm as Buffer })).toEqual({
      format: 'webm',
      contentType: 'audio/webm',
      duration_s: 3.84,
    })
    expect(await transcription.inspect({ bytes: quiet(2) })).toMatchObject({ format: 'wav', duration_s: 2 })
  })

  test('stops when the caller aborts', async () => {
    const gone = new AbortController()
    const transcript = transcription.transcribe({ bytes: clips.mp3 as Buffer, signal: gone.signal })
    gone.abort(new Error('hung up'))
    await expect(transcript).rejects.toThrow('hung up')
  })
})

describe('the local transcription', () => {
  test.each([
    ['pauses of two seconds', 64_000],
    ['pauses of a fifth of a second', 6400],
  ])('transcribes all of a recording longer than one window, with %s', async (_what, pause_bytes) => {
    const part = (clips.wav as Buffer).subarray(44)
    const recording = Buffer.concat([...Array(8)].flatMap(() => [part, Buffer.alloc(pause_bytes)]))
    const bytes = encodeWav(new Int16Array(new Uint8Array(recording).buffer), 16_000)
    const { text, duration_s } = await makeLocalTranscription({ audio }).transcribe({ bytes })
    expect(duration_s).toBeGreaterThan(25)
    expect(text.match(/invoice/gi)).toHaveLength(8)
  })
})

// The model recognises 8 of the 12 phrases. Before windows were halved it recognised none, and the clip was refused as
// silent.
test('a phrase that is repeated many times does not count as silence', async () => {
  const { bytes } = await speech.synthesize({ text: 'Hello there. '.repeat(12), format: 'mp3' })
  const { text } = await makeLocalTranscription({ audio }).transcribe({ bytes })
  expect(text.match(/hello/gi)?.length).toBeGreaterThanOrEqual(6)
})

describe('a service', () => {
  const through = async (handle: (request: Request) => Promise<Response>) => {
    const server = await startStandIn(handle)
    try {
      return await makeOpenAiTranscription({ ...openai, baseUrl: server.baseUrl }).transcribe({
        bytes: clips.mp3 as Buffer,
      })
    } finally {
      await server.close()
    }
  }

  test.each([
    ['rejects the key', async () => new Response('{}', { status: 401 }), 'provider_unavailable'],
    ['is overloaded', async () => new Response('{}', { status: 429 }), 'provider_busy'],
    ['returns an HTML page', async () => new Response('<html>'), 'provider_unavailable'],
    ['returns no text', async () => Response.json(null), 'provider_unavailable'],
    ['recognises no speech', async () => Response.json({ text: ' ' }), 'audio_silent'],
  ])('that %s is reported with a specific code', async (_what, handle, code) => {
    await expect(through(handle)).rejects.toMatchObject({ code })
  })

  test('that does not report the language leaves the language undetermined', async () => {
    const newer = makeOpenAiTranscription({ ...openai, model: 'gpt-4o-transcribe' })
    expect(await newer.transcribe({ bytes: clips.mp3 as Buffer })).toMatchObject({
      text: STAND_IN_TEXT,
      language: 'und',
    })
  })
})
