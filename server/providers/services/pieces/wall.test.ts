import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, createServer as listen } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { JsonObject } from '#model/definition'
import { makeMask } from '#platform/outgoing/mask'
import { makeOutgoing, type Outgoing } from '#platform/outgoing/outgoing'
import type { WallFailure } from '#platform/wall/failure'
import { makePlaceholderCredential } from '#platform/wall/placeholders'
import { makeWall, type Wall, type WallAnswer } from '#platform/wall/wall'

// A hostile piece behind the wall tries every known way out. Each must fail.

const SECRET = 'sk-live-7f3"9c+1e/5d=0a'
const CODE = join(import.meta.dirname, '../../../../test/pieces/hostile')
const ENTRY = join(import.meta.dirname, 'inside/child-main.ts')
const SMALL = { heapMb: 48, dataMb: 700, cpuSeconds: 60 }

type Seen = { url: string; headers: IncomingMessage['headers']; body: string }

let folder: string
let vendor: Server
let other: Server
let files: ReturnType<typeof listen>
let udp: UdpSocket
let outgoing: Outgoing
let wall: Wall
const seen: Seen[] = []
const stolen: Seen[] = []
const direct: string[] = []

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port
const addressOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`

async function read(request: IncomingMessage): Promise<Seen> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return { url: request.url ?? '', headers: request.headers, body }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wall-'))
  writeFileSync(join(folder, 'secret.txt'), 'a file of the host')
  vendor = createServer(async (request, response) => {
    const got = await read(request)
    seen.push(got)
    if (got.url.startsWith('/redirect')) {
      response.writeHead(302, { location: `${addressOf(other)}/steal?key=${encodeURIComponent(SECRET)}` }).end()
      return
    }
    const raw = Buffer.from(SECRET)
    response.setHeader('x-echo', String(got.headers['x-key'] ?? ''))
    response.setHeader('content-type', 'text/plain')
    response.end(
      [got.url, got.body, got.headers.authorization, raw.toString('base64'), raw.toString('hex'), SECRET].join('\n'),
    )
  })
  other = createServer(async (request, response) => {
    stolen.push(await read(request))
    response.end('taken')
  })
  files = listen((socket) => {
    direct.push('unix')
    socket.on('error', () => {})
    socket.end('a socket of the host')
  })
  udp = createSocket('udp4')
  udp.on('message', (_data, { port }) => {
    direct.push('udp')
    udp.send('answer', port)
  })
  vendor.listen(0, '127.0.0.1')
  other.listen(0, '127.0.0.1')
  files.listen(join(folder, 'host.sock'))
  udp.bind(0, '127.0.0.1')
  await Promise.all([vendor, other, files, udp].map((server) => once(server, 'listening')))
  outgoing = makeOutgoing({ allowTargets: [`127.0.0.1:${portOf(vendor)}`] })
  wall = makeWall({ outgoing, level: 'namespaces', processes: 4 })
})

afterAll(async () => {
  await wall.close()
  await outgoing.close()
  vendor.close()
  other.close()
  files.close()
  udp.close()
  rmSync(folder, { recursive: true, force: true })
})

const veil = () =>
  makePlaceholderCredential(
    { kind: 'piece', config: {}, secrets: { value: SECRET } },
    {
      name: 'hostile',
      hosts: ['127.0.0.1'],
      allows: ({ port }) => port === String(portOf(vendor)),
      mask: makeMask([SECRET]),
    },
  )

type Tried = Record<string, { got?: unknown; refused?: string }>

async function run(
  name: string,
  { args = {}, timeoutMs = 60_000, key = 'one', withSecret = false, workspaceId = 'a' } = {},
): Promise<WallAnswer> {
  const { credential, placeholders } = veil()
  return wall.call({
    workspaceId,
    key,
    program: { entry: ENTRY, code: CODE, transport: 'http', limits: SMALL },
    request: {
      do: 'run',
      name,
      args,
      ...(withSecret && { auth: { type: 'SECRET_TEXT', values: placeholders } }),
    },
    credential: withSecret ? credential : undefined,
    signal: new AbortController().signal,
    timeoutMs,
    maxBytes: 1024 * 1024,
  })
}

const output = async (...given: Parameters<typeof run>): Promise<unknown> => (await run(...given)).answer.output
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it answered',
    (error: WallFailure) => error.code,
  )

const unavailable = await makeWall({
  outgoing: makeOutgoing({ allowTargets: [] }),
  level: 'namespaces',
  processes: 1,
}).problem()

describe.skipIf(unavailable !== undefined)('a hostile piece', () => {
  test('sees no environment', async () => {
    expect(await output('environment')).toEqual({ names: [], argv: ['/ours/child-main.mjs'] })
  })

  test('reads and writes no file outside its own folder', async () => {
    const tried = (await output('files', {
      args: { pid: process.pid, file: join(folder, 'secret.txt') },
    })) as Tried
    expect(Object.entries(tried).filter(([, { refused }]) => refused === undefined)).toEqual([])
  })

  test('starts no process, thread, addon or debugger', async () => {
    const tried = (await output('processes', { args: { pid: process.pid } })) as Tried
    expect(Object.entries(tried).filter(([, { refused }]) => refused === undefined)).toEqual([])
  })

  test('opens no connection that bypasses the service: TCP, UDP, DNS, sockets of other programs, private addresses', async () => {
    const args = { port: portOf(other), udp: udp.address().port, unix: join(folder, 'host.sock') }
    const tried = (await output('sockets', { args })) as Tried
    expect(Object.entries(tried).filter(([, { refused }]) => refused === undefined)).toEqual([])
    expect(tried.stolen?.refused).toBe('ENOENT')
    expect(direct).toEqual([])
    expect(stolen).toEqual([])
  })

  test('never receives the secret', async () => {
    const { seen: text } = (await output('secret', { withSecret: true })) as { seen: string }
    expect(text).toMatch(/^"hdlph[0-9a-f]{40}"$/)
  })

  test('does not get the secret back from a service that echoes it', async () => {
    const before = seen.length
    const answer = await run('echo', { withSecret: true, args: { vendor: addressOf(vendor) } })
    const sent = seen[before]!
    // The vendor received the secret in every place that authenticates the caller, and nowhere else.
    expect(new URL(sent.url, 'http://x').searchParams.get('key')).toBe(SECRET)
    expect(sent.headers['x-key']).toBe(SECRET)
    expect(Buffer.from(String(sent.headers.authorization).slice(6), 'base64').toString()).toBe(`user:${SECRET}`)
    expect(JSON.parse(sent.body)).toEqual({ key: SECRET, form: expect.stringMatching(/^a=hdlph[0-9a-f]{40}$/) })
    const told = JSON.stringify(answer.answer)
    const raw = Buffer.from(SECRET)
    for (const form of [
      SECRET,
      JSON.stringify(SECRET).slice(1, -1),
      encodeURIComponent(SECRET),
      raw.toString('base64'),
      raw.toString('hex'),
      Buffer.from(`user:${SECRET}`).toString('base64'),
    ])
      expect(told).not.toContain(form)
  })

  test('sends the secret to no other host, even if the service redirects to one', async () => {
    const sent = await run('elsewhere', { withSecret: true, args: { other: addressOf(other) } })
    expect(sent.refused.map(({ code }) => code)).toEqual(['credential_refused'])
    expect(sent.sent).toBe(0)
    const moved = await run('redirect', { withSecret: true, args: { vendor: addressOf(vendor) } })
    expect(moved.refused.map(({ code }) => code)).toEqual(['credential_refused'])
    expect(stolen).toEqual([])
  })

  test('cannot change a prototype in the service', async () => {
    const answer = await run('pollution', { key: 'pollution' })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    const merged = { ...(answer.answer.output as JsonObject) } as { polluted?: unknown }
    expect(merged.polluted).toBeUndefined()
    expect(JSON.stringify([1])).toBe('[1]')
  })

  test('is stopped when it sends too much, never ends, or uses up its memory', async () => {
    expect(await codeOf(run('huge', { key: 'huge' }))).toBe('output_too_large')
    expect(await codeOf(run('loop', { key: 'loop', timeoutMs: 300 }))).toBe('timeout')
    expect(await codeOf(run('heap', { key: 'heap' }))).toBe('ended')
    expect(await codeOf(run('exit', { key: 'exit' }))).toBe('ended')
    // Its other outputs are read and discarded, up to a limit.
    expect(await codeOf(run('noise', { key: 'noise' }))).toBe('ended')
    // The wall still serves other workspaces.
    expect(await output('forge', { workspaceId: 'b' })).toBe('real')
  })

  test('is stopped when it allocates memory outside the heap', async () => {
    const answer = await run('buffers', { key: 'buffers' }).catch(() => undefined)
    expect(answer?.answer.ok ?? false).toBe(false)
  })

  test('can do nothing between calls', async () => {
    expect(await output('late', { args: { vendor: addressOf(vendor) }, key: 'late' })).toBe('started')
    // One process serves both calls. Code that the first call left running keeps sending requests, but without the
    // rights of a call.
    const before = seen.length
    expect(await output('quiet', { key: 'other' })).toBe('quiet')
    expect(seen.slice(before).filter(({ url }) => url === '/late')).toEqual([])
  })
})

describe.skipIf(unavailable !== undefined)('the wall', () => {
  test('never gives the process of one workspace to another', async () => {
    await output('forge', { workspaceId: 'c', key: 'same' })
    const live = wall.live
    await output('forge', { workspaceId: 'c', key: 'same' })
    expect(wall.live).toBe(live)
    await output('pollution', { workspaceId: 'c', key: 'same' })
    const told = (await output('environment', { workspaceId: 'd', key: 'same' })) as { polluted?: string }
    expect(told).toEqual({ names: [], argv: ['/ours/child-main.mjs'] })
  })

  test('ends a call whose caller aborted', async () => {
    const gone = new AbortController()
    const call = wall.call({
      workspaceId: 'e',
      key: 'gone',
      program: { entry: ENTRY, code: CODE, transport: 'http', limits: SMALL },
      request: { do: 'run', name: 'loop' },
      credential: undefined,
      signal: gone.signal,
    })
    setTimeout(() => gone.abort(new Error('the caller has gone')), 50)
    await expect(call).rejects.toThrow('the caller has gone')
  })
})

test('without namespaces the wall runs nothing and reports the reason', async () => {
  const temporary = mkdtempSync(join(folder, 'temporary-'))
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const closed = makeWall({ outgoing, level: 'namespaces', processes: 1, unshare: join(folder, 'no-such-program') })
  const call = closed.call({
    workspaceId: 'f',
    key: '',
    program: { entry: ENTRY, code: CODE, transport: 'http' },
    request: { do: 'run', name: 'environment' },
    credential: undefined,
    signal: new AbortController().signal,
  })
  await expect(call).rejects.toMatchObject({ code: 'wall_unavailable', sent: false })
  await expect(call).rejects.toThrow('HEDDLE_WALL')
  await closed.close()
  expect(readdirSync(temporary)).toEqual([])
})
