import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Config } from '../config.ts'
import { type KnownCallers, refuseEarly } from './early-refusal.ts'
import { limits } from './limits.ts'

const org = { org_id: 'org', name: 'Org' }
const caller = {
  org,
  credential: { kind: 'api_key', id: 'key', workspace_id: null },
  person: null,
  workspace: { workspace_id: 'tenant', role: 'owner' },
} as const

let full: boolean
let spent: boolean
let shared: boolean
let sockets: Socket[]
let line: Socket
let knownCallers: KnownCallers
let server: Server
let close: () => void

async function open(proxies: string[] = []): Promise<void> {
  server = createServer((_request, response) => response.end('let in'))
  server.on('connection', (socket) => sockets.push(socket))
  knownCallers = refuseEarly(server, {
    config: { HEDDLE_RATE_LIMITS: 'on', HEDDLE_TRUSTED_PROXIES: proxies } as unknown as Config,
    admission: { hasNoRoomFor: (tenant) => full && tenant === 'tenant', isSharedBy: () => shared },
    limiter: {
      peek: (limit, key) => ({
        allowed: !(spent && key === 'api_key:key'),
        limit,
        remaining: 0,
        retryAfterS: 1,
        waitMs: spent ? 1000 : 0,
      }),
    },
    retryAfter: { retryAfterS: () => (full ? 0.05 : 7) },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  line = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  close = () => {
    line.destroy()
    server.close()
  }
}

beforeEach(() => {
  full = spent = shared = false
  sockets = []
})
afterEach(() => close())

async function ask(path = '/api/companies', headers: Record<string, string> = {}): Promise<string> {
  const lines = Object.entries({ host: 'x', authorization: 'Bearer known', ...headers }).map((pair) => pair.join(': '))
  line.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  const [text] = await once(line, 'data')
  return text as string
}
/** Checks after the work that follows a response is done. */
const isResting = async (): Promise<boolean> => {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  return sockets[0]!.isPaused()
}

test('a known program whose tenant has no room is refused and paused, and is then served again', async () => {
  await open()
  full = true
  expect(await ask()).toContain('let in')
  knownCallers.remember('Bearer known', caller)
  expect(knownCallers.callerOf('Bearer known')).toEqual({ tenant: 'tenant', limitKey: 'api_key:key' })
  const refusal = await ask()
  expect(refusal).toMatch(/^HTTP\/1\.1 503 /)
  expect(refusal).toMatch(/"code":"overloaded"/)
  const id = /\r\nx-request-id: (\S+)\r\n/i.exec(refusal)![1]
  expect(JSON.parse(refusal.split('\r\n\r\n')[1]!)).toMatchObject({ status: 503, request_id: id })
  expect(refusal).toMatch(/\r\nx-content-type-options: nosniff\r\n/i)
  expect(await isResting()).toBe(true)
  expect(await ask()).toMatch(/^HTTP\/1\.1 503 /)
  full = false
  expect(await ask()).toContain('let in')
})

test('a known program that has used up its rate is refused first of all, with the time to wait', async () => {
  await open()
  knownCallers.remember('Bearer known', caller)
  spent = true
  const refusal = await ask()
  expect(refusal).toMatch(/^HTTP\/1\.1 429 /)
  expect(refusal).toMatch(/"code":"rate_limited"/)
  expect(refusal).toMatch(/\r\nretry-after: 7\r\n/i)
  expect(refusal).toMatch(/\r\nratelimit: "general";r=0;t=7\r\n/i)
  expect(refusal).toContain(`ratelimit-policy: "general";q=${limits.general.burst};w=2`)
  expect(await isResting()).toBe(true)
})

/** Checks whether the server lets a new connection from the address of `line` wait. */
function isSlow(): boolean {
  const [known] = sockets
  const next = Object.assign(new Socket(), { resume: () => next })
  Object.defineProperty(next, 'remoteAddress', { value: known!.remoteAddress })
  server.emit('connection', next)
  return !sockets.includes(next)
}

test.each([
  ['a client that exceeds its rate while others send requests opens', [], {}, true, true],
  ['a tenant that is alone opens', [], {}, false, false],
  ['a proxy opens', [], { via: '1.1 proxy' }, true, false],
  ['a trusted proxy opens', ['10.0.0.0/8'], {}, true, false],
] as const)('the connections that %s are slowed down or not', async (_who, proxies, headers, isShared, slow) => {
  await open([...proxies])
  knownCallers.remember('Bearer known', caller)
  await ask()
  expect(isSlow()).toBe(false)
  spent = true
  shared = isShared
  expect(await ask('/api/companies', headers)).toMatch(/^HTTP\/1\.1 429 /)
  expect(isSlow()).toBe(slow)
})

test('a turn of the event loop serves two of the new connections', async () => {
  await open()
  await ask()
  await new Promise(setImmediate)
  sockets.length = 0
  const come = Array.from({ length: 5 }, () => new Socket())
  for (const socket of come) server.emit('connection', socket)
  expect(sockets).toEqual(come.slice(0, 2))
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  expect(new Set(sockets)).toEqual(new Set(come))
  for (const socket of come) socket.destroy()
})

test('unknown callers, pages, and addresses outside the API are not refused here', async () => {
  await open()
  full = spent = true
  knownCallers.remember('Bearer known', caller)
  expect(await ask('/api/companies', { authorization: 'Bearer other' })).toContain('let in')
  expect(await ask('/api/companies', { origin: 'https://example.com' })).toContain('let in')
  expect(await ask('/healthz')).toContain('let in')
})

test.each([
  ['sends X-Forwarded-For', [], { 'x-forwarded-for': '203.0.113.7' }],
  ['sends Via', [], { via: '1.1 proxy' }],
  ['is trusted', ['10.0.0.0/8'], {}],
])(
  'a connection of a proxy that %s is not paused, because it also serves callers that were not refused',
  async (_how, proxies, headers) => {
    await open(proxies as string[])
    full = true
    knownCallers.remember('Bearer known', caller)
    expect(await ask('/api/companies', headers as Record<string, string>)).toMatch(/^HTTP\/1\.1 503 /)
    expect(await isResting()).toBe(false)
  },
)
