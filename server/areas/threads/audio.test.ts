import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { MINUTE } from '#platform/clock'
import { blobDirectory } from '#platform/config'
import { partOf } from '#platform/http/range'
import { fromWire, newId } from '#platform/ids'
import { makeDiskBlobs } from '#providers/blobs/disk'
import { type Answer, useService } from '#test/harness/service'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'
import { makeClips } from './clips.ts'
import { makePlayback } from './playback.ts'

const service = useService({ env: { HEDDLE_MAX_AUDIO_BYTES: String(300_000) } })
let world: World
let thread: string
let spoken: Buffer

const fixture = (name: string): Buffer =>
  readFileSync(joinPath(import.meta.dirname, '..', '..', 'providers', 'transcription', 'fixtures', name))

/** Requests bytes, since responses of the harness are text. */
async function bytesOf(
  path: string,
  options: { person?: TestPerson; method?: string; body?: unknown; headers?: Record<string, string> } = {},
) {
  const response = await fetch(path.startsWith('http') ? path : service().base + path, {
    method: options.method ?? 'GET',
    headers: {
      ...(options.person && { authorization: `Bearer ${options.person.key}` }),
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

const speak = (body: unknown, person = world.member) =>
  bytesOf(`/api/chat-thread/${thread}/speech`, { person, method: 'POST', body })

beforeAll(async () => {
  world = await makeWorld(service())
  const made = await world.member.call('POST', '/api/chat-thread', { body: { title: 'Voices' } })
  thread = made.body.thread_id
  await world.member.call('POST', `/api/chat-thread/${thread}/invite`, {
    body: { email: world.viewer.email, role: 'viewer' },
  })
  const answer = await speak({ text: 'The meeting starts at nine in the morning.', format: 'wav' })
  expect(answer.status).toBe(200)
  spoken = answer.bytes
})

const form = (audio: Buffer | string, fields: Record<string, string> = {}, type = 'audio/wav', name = 'clip.wav') => {
  const data = new FormData()
  for (const [key, value] of Object.entries(fields)) data.set(key, value)
  data.set('audio', new Blob([audio as BlobPart], { type }), name)
  return data
}
const post = (raw: FormData, by = world.member): Promise<Answer> =>
  by.call('POST', `/api/chat-thread/${thread}/messages`, { raw })
const transcribe = (raw: Buffer | FormData, headers: Record<string, string> = {}, by = world.member) =>
  by.call('POST', `/api/chat-thread/${thread}/transcribe`, { raw, headers })

async function keepClip(audio = spoken): Promise<string> {
  const answer = await post(form(audio, { text: 'Listen' }))
  expect(answer.status).toBe(201)
  return answer.body.audio_id
}
const signedPath = async (audioId: string): Promise<string> => {
  const { body } = await world.member.call('GET', `/api/chat-thread/${thread}/audio/${audioId}`)
  return body.url.slice(service().base.length)
}
const countRows = async (): Promise<unknown> =>
  await service().sql(
    'select (select count(*) from audio_clips)::int as clips, (select count(*) from messages)::int as messages, (select count(*) from idempotency_keys)::int as kept',
  )
const blobs = (): string[] => {
  const folder = joinPath(service().config.HEDDLE_DATA_DIR, 'blobs')
  return existsSync(folder)
    ? (readdirSync(folder, { recursive: true }) as string[]).filter((name) => /[0-9a-f]{12}$/.test(name)).sort()
    : []
}

describe('speech and transcription', () => {
  test('convert text to audio and audio to text without storing anything', async () => {
    const before = [await countRows(), blobs()]
    const mp3 = await speak({ text: 'The meeting starts at nine in the morning.' })
    expect(mp3.headers.get('content-type')).toBe('audio/mpeg')
    expect(mp3.headers.get('cache-control')).toBe('no-store')
    for (const raw of [mp3.bytes, spoken, form(spoken)]) {
      const heard = await transcribe(raw, { 'idempotency-key': newId() })
      expect(heard.status).toBe(200)
      expect(heard.body.text.toLowerCase()).toMatch(/meeting starts at (nine|9)/)
      expect(heard.body).toMatchObject({ language: 'en', duration_s: expect.any(Number) })
    }
    expect([await countRows(), blobs()]).toEqual(before)
  })

  test('accept what browsers and phones record, regardless of the declared type', async () => {
    for (const name of ['browser.webm', 'voice.ogg']) {
      const heard = await transcribe(fixture(name), { 'content-type': 'application/x-lies' })
      expect([name, heard.status]).toEqual([name, 200])
    }
  })

  test('are available to viewers of the thread', async () => {
    expect((await speak({ text: 'Yes.', format: 'wav' }, world.viewer)).status).toBe(200)
    expect((await transcribe(spoken, {}, world.viewer)).status).toBe(200)
  })

  const silence = (): Buffer => Buffer.concat([spoken.subarray(0, 44), Buffer.alloc(spoken.length - 44)])
  test.each<[string, () => Buffer, number, string]>([
    ['nothing', () => Buffer.alloc(0), 422, 'audio_unreadable'],
    ['silence', silence, 422, 'audio_silent'],
    ['text', () => Buffer.from('this is no audio at all, but it goes on for a while'), 415, 'unsupported_media_type'],
    [
      'an HTML page with an audio content type',
      () => Buffer.from('<html><script>alert(1)</script></html>'),
      415,
      'unsupported_media_type',
    ],
    [
      'an HTML page after an audio header',
      () => Buffer.concat([spoken.subarray(0, 44), Buffer.from('<html><script>alert(1)</script>')]),
      415,
      'unsupported_media_type',
    ],
    ['audio that ends within its header', () => spoken.subarray(0, 30), 422, 'audio_unreadable'],
    ['too much', () => Buffer.concat([spoken, Buffer.alloc(300_000)]), 413, 'too_large'],
  ])('of %s is refused with a clear error', async (_what, bytes, status, code) => {
    const refused = await transcribe(bytes(), { 'content-type': 'audio/wav' })
    expect([refused.status, refused.body.code]).toEqual([status, code])
  })

  test.each([
    ['no text', { text: '' }, '/text'],
    ['too much text', { text: 'a'.repeat(4097) }, '/text'],
    ['a text without a pronounceable word', { text: '☃' }, '/text'],
    ['an unknown voice', { text: 'Hello', voice: '../../etc/passwd' }, '/voice'],
    ['an unknown format', { text: 'Hello', format: 'exe' }, '/format'],
    ['an unknown field', { text: 'Hello', model: 'x' }, '/model'],
  ])('refuse %s and name the field', async (_what, body, path) => {
    const refused = await world.member.call('POST', `/api/chat-thread/${thread}/speech`, { body })
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0].path).toBe(path)
  })
})

describe('a clip', () => {
  test('is stored with its message, and can be played by everyone in the thread', async () => {
    const answer = await post(form(spoken, { text: 'Listen to this' }, 'text/html', '../../../evil.html'))
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ text: 'Listen to this', audio_id: expect.stringMatching(/^aud_/) })
    const { body } = await world.viewer.call('GET', `/api/chat-thread/${thread}/audio/${answer.body.audio_id}`)
    expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(4 * MINUTE)
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThanOrEqual(5 * MINUTE)
    const heard = await bytesOf(body.url)
    expect(heard.status).toBe(200)
    expect(heard.bytes.equals(spoken)).toBe(true)
    expect(Object.fromEntries(heard.headers)).toMatchObject({
      'content-type': 'audio/wav',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="${answer.body.audio_id}.wav"`,
      'cache-control': 'private, no-store',
      'content-security-policy': "default-src 'none'; sandbox",
      'accept-ranges': 'bytes',
    })
    expect(heard.headers.has('set-cookie')).toBe(false)
  })

  test('without text is transcribed, so that others can read it', async () => {
    const answer = await post(form(spoken))
    expect(answer.body.text.toLowerCase()).toContain('meeting')
  })

  test.each([
    ['an HTML page', '<html><script>alert(1)</script></html>', 415],
    ['a truncated header', 'RIFF', 422],
  ])('that is %s is refused, and neither the clip nor its message is stored', async (_what, bytes, _status) => {
    const before = [await countRows(), blobs()]
    const refused = await post(form(bytes, { text: 'Listen' }, 'audio/wav'))
    expect(refused.status).toBeGreaterThanOrEqual(415)
    expect(refused.status).toBeLessThan(423)
    expect([await countRows(), blobs()]).toEqual(before)
  })

  test('of another thread, or that does not exist, is not found', async () => {
    const audioId = await keepClip()
    const other = (await world.member.call('POST', '/api/chat-thread', { body: { title: 'Other' } })).body.thread_id
    const call = (id: string) =>
      world.member.call('GET', `/api/chat-thread/${other}/audio/${id}`, { headers: { 'x-request-id': 'same' } })
    const [theirs, random] = [await call(audioId), await call('aud_01kf3v6h2he3wtpk1fw5c0wz9d')]
    expect(theirs.status).toBe(404)
    expect(theirs.text).toBe(random.text)
  })

  test('that belongs to no message is deleted, with its bytes', async () => {
    await keepClip()
    const audioId = newId()
    await service().sql(
      `insert into audio_clips (workspace_id, audio_id, thread_id, content_type, size_bytes, duration_s, created_at)
       values ($1, $2, $3, 'audio/wav', 1, 1, now() - interval '2 days')`,
      [world.workspace.uuid, audioId, fromWire('thr', thread)],
    )
    const key = `audio/${world.workspace.uuid}/${audioId}`
    const disk = makeDiskBlobs(blobDirectory(service().config))
    await disk.put(key, spoken)
    const others = blobs().length - 1
    const clips = makeClips({
      db: service().db,
      blobs: disk,
      speech: undefined as never,
      playback: undefined as never,
    })
    await clips.cleanUp()
    expect(await disk.get(key)).toBeUndefined()
    expect(blobs()).toHaveLength(others)
    expect(await service().sql('select from audio_to_remove')).toEqual([])
    await service().sql(
      'insert into audio_to_remove (workspace_id, audio_id) select $1, gen_random_uuid() from generate_series(1, 501)',
      [world.workspace.uuid],
    )
    await clips.cleanUp()
    expect(await service().sql('select from audio_to_remove')).toEqual([])
  })
})

describe('a signed address', () => {
  test('supports single ranges, and refuses ranges outside the clip', async () => {
    const path = await signedPath(await keepClip())
    const range = async (value: string, more: Record<string, string> = {}) => {
      const answer = await bytesOf(path, { headers: { range: value, ...more } })
      return { status: answer.status, range: answer.headers.get('content-range'), bytes: answer.bytes }
    }
    const size = spoken.length
    expect(await range('bytes=0-9')).toEqual({
      status: 206,
      range: `bytes 0-9/${size}`,
      bytes: spoken.subarray(0, 10),
    })
    expect(await range('bytes=100-')).toMatchObject({ status: 206, range: `bytes 100-${size - 1}/${size}` })
    expect(await range('bytes=-5')).toMatchObject({ status: 206, bytes: spoken.subarray(-5) })
    expect(await range(`bytes=${size}-`)).toMatchObject({ status: 416, range: `bytes */${size}` })
    for (const whole of ['bytes=0-1,5-9', 'bytes=9-1', 'bytes=-', 'lines=1-2', 'bytes=a-b'])
      expect([whole, (await range(whole)).status]).toEqual([whole, 200])
    expect((await range('bytes=0-9', { 'if-range': '"another"' })).status).toBe(200)
    expect(partOf('bytes=-0', 10)).toBe('none')
  })

  test('is refused if any byte of it changes', async () => {
    const path = await signedPath(await keepClip())
    expect((await bytesOf(path)).status).toBe(200)
    for (let at = 1; at < path.length; at++) {
      for (const letter of [path[at] === 'A' ? 'B' : 'A', path[at] === '1' ? '2' : '1', '']) {
        const changed = path.slice(0, at) + letter + path.slice(at + 1)
        const { status } = await bytesOf(changed)
        expect([changed, status < 400]).toEqual([changed, false])
      }
    }
  })

  test('is refused with another method, spelling, query, clip, workspace or time', async () => {
    const [first, second] = [await keepClip(), await keepClip()]
    const path = await signedPath(first)
    const [, , , grant] = path.split('/')
    const [workspace, expires, signature] = grant!.split('.')
    const wrong = [
      `${path}?`,
      `${path}?x=1`,
      `${path}/`,
      `/${path}`,
      path.replace('aud_', 'aud%5F'),
      path.replaceAll('.', '%2E'),
      path.toUpperCase(),
      path.replace(first, second),
      path.replace(workspace!, world.elsewhere.id),
      path.replace(expires!, String(Number(expires) + 1)),
      path.replace(expires!, `0${expires}`),
      path.replace(signature!, ''),
      path.replace(signature!, signature!.slice(0, 20)),
      path.replace(signature!, `${signature}=`),
      path.replace(signature!, `${signature}A`),
    ]
    for (const changed of wrong) expect([changed, (await bytesOf(changed)).status >= 400]).toEqual([changed, true])
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'])
      expect([method, (await bytesOf(path, { method })).status >= 400]).toEqual([method, true])
    expect((await bytesOf(path)).status).toBe(200)
  })

  test('expires after five minutes, and is refused when the key changes', async () => {
    const audioId = fromWire('aud', await keepClip())!
    const clip = { workspaceId: world.workspace.uuid, audioId }
    const key = service().vault.derive('audio-playback')
    const signedAgo = (age: number, by = key): string =>
      makePlayback({ key: by, clock: { now: () => new Date(Date.now() - age) } }).sign(clip).path
    expect((await bytesOf(signedAgo(4.5 * MINUTE))).status).toBe(200)
    expect((await bytesOf(signedAgo(5.1 * MINUTE))).status).toBe(401)
    expect((await bytesOf(signedAgo(0, service().vault.derive('another')))).status).toBe(401)
  })
})
