import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2'
import type { JsonObject } from '#model/definition'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { makeMask } from '#platform/outgoing/mask'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makePlaceholderCredential } from '#platform/wall/placeholders'
import { makeWall } from '#platform/wall/wall'
import { makeNpmTurns } from '#providers/services/npm'
import { makePieceRunner } from '#providers/services/pieces/runner'
import { makePieceSource } from '#providers/services/pieces/source'
import { startFakeMongo } from '#test/fakes/mongodb/server'

// Runs actions of published pieces against a server on this machine that replaces every vendor. Shows what each piece
// sends, with the secret in its place, and the cost of a warm and a cold call. Needs the registry that npm is
// configured with, or HEDDLE_PIECES_MIRROR.

const SECRET = 'the-secret-8c2f41d7'

type Case = {
  piece: string
  part: string
  auth: { kind: string; config: JsonObject; secrets: Record<string, string> }
  args: JsonObject
  /** The response of the vendor. */
  body: unknown
  /** The place where the vendor finds the secret. */
  expect: string
}
const oauth = { kind: 'oauth2_code', config: {}, secrets: { access_token: SECRET } }
const custom = (values: JsonObject, ...secret: string[]) => ({
  kind: 'piece',
  config: { auth: 'CUSTOM_AUTH', values },
  secrets: Object.fromEntries(secret.map((name) => [name, SECRET])),
})
const basic = Buffer.from(`user:${SECRET}`).toString('base64')
const both = Buffer.from(`${SECRET}:${SECRET}`).toString('base64')
const SITE = 'https://vendor.example.com'

const CASES: Case[] = [
  {
    piece: 'slack@0.17.9',
    part: 'send_channel_message',
    auth: oauth,
    args: { channel: 'C1', text: 'hello', sendAsBot: true },
    body: { ok: true, channel: 'C1', ts: '1.2', message: {} },
    expect: `Bearer ${SECRET}`,
  },
  {
    piece: 'notion@0.7.3',
    part: 'retrieve_database',
    auth: oauth,
    args: { database_id: 'd1' },
    body: { object: 'database', id: 'd1', title: [], properties: {} },
    expect: `Bearer ${SECRET}`,
  },
  {
    piece: 'shopify@0.3.0',
    part: 'get_customer',
    auth: custom({ shopName: 'shop' }, 'adminToken'),
    args: { customerId: '5' },
    body: { customer: { id: 5 } },
    expect: SECRET,
  },
  {
    piece: 'woocommerce@0.4.0',
    part: 'Find Customer',
    auth: custom({ baseUrl: SITE }, 'consumerKey', 'consumerSecret'),
    args: { email: 'a@example.com' },
    body: [{ id: 1 }],
    expect: both,
  },
  {
    piece: 'wordpress@0.7.0',
    part: 'get_post',
    auth: custom({ username: 'user', website_url: SITE }, 'password'),
    args: { id: 3 },
    body: { id: 3 },
    expect: basic,
  },
  {
    piece: 'intercom@0.7.5',
    part: 'get-conversation',
    auth: oauth,
    args: { conversationId: '9' },
    body: { type: 'conversation', id: '9' },
    expect: `Bearer ${SECRET}`,
  },
  {
    piece: 'webflow@0.3.0',
    part: 'get_collection_item',
    auth: oauth,
    args: { site_id: 's', collection_id: 'c', collection_item_id: 'i' },
    body: { id: 'i', items: [] },
    expect: `Bearer ${SECRET}`,
  },
  {
    piece: 'baserow@0.10.0',
    part: 'baserow_get_row',
    auth: custom({ authType: 'database_token', apiUrl: SITE }, 'token'),
    args: { table_id: 7, row_id: 1 },
    body: { id: 1 },
    expect: SECRET,
  },
]

const seen: { method: string; url: string; headers: string; body: string }[] = []
let body: unknown = {}
const vendor = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  seen.push({
    method: request.method ?? '',
    url: request.url ?? '',
    headers: JSON.stringify(request.headers),
    body: text,
  })
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(vendor.address() as AddressInfo).port}`
const folder = mkdtempSync(join(tmpdir(), 'pieces-'))
const real = makeOutgoing({ allowTargets: [host] })
/** The server on this machine replaces every vendor; everything else is as in the service. */
const outgoing = {
  ...real,
  request: ((asked) =>
    real.request({ ...asked, url: asked.url.replace(/^https:\/\/[^/]+/, `http://${host}`) })) as typeof real.request,
}
const wall = makeWall({ outgoing, level: 'namespaces', processes: 8 })
const npmTurns = makeNpmTurns()
const source = makePieceSource({ folder, allowed: ['*'], mirror: process.env.HEDDLE_PIECES_MIRROR ?? null, npmTurns })
const caller = { workspaceId: 'script', signal: new AbortController().signal }
const pieces = makePieceRunner({ wall, source })
const median = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
const warm: number[] = []
const cold: number[] = []
let ran = 0

for (const { piece: named, part, auth, args, body: answer, expect } of CASES) {
  const [name = '', version] = named.split('@')
  const { folder: _folder, ...piece } = await source.fetch(caller, name, version)
  const service = `piece.${name}`
  const about = { ...auth, config: { ...auth.config, service } }
  const base = { name: 'test', hosts: ['*'], allows: () => true, mask: makeMask([SECRET]) }
  const credential: OutgoingCredential = {
    ...base,
    apply: (hop) => hop,
    veiled: () => makePlaceholderCredential(about, base),
  }
  body = answer
  const before = seen.length
  const times: number[] = []
  let problem: string | undefined
  for (let round = 0; round < 21; round += 1) {
    const since = performance.now()
    const { result } = await pieces.call({
      workspaceId: 'script',
      piece,
      service,
      request: { do: 'run', part, args },
      credential,
      signal: AbortSignal.timeout(60_000),
    })
    times.push(performance.now() - since)
    if ('error' in result) problem = result.error.message
    if (problem !== undefined) break
  }
  const requests = seen.slice(before)
  const request = requests.find(({ headers, url, body }) => `${headers} ${url} ${body}`.includes(expect)) ?? requests[0]
  const sent = request !== undefined && `${request.headers} ${request.url} ${request.body}`.includes(expect)
  if (problem === undefined && sent) ran += 1
  cold.push(times[0] ?? 0)
  warm.push(...times.slice(1))
  console.log(
    `${named} ${part}: ${request?.method} ${request?.url} ${problem ?? (sent ? 'ok' : `no secret in ${request?.headers}`)}`,
  )
}

// MySQL has its own protocol: the connection is forwarded, and the driver has the password.
const asked: string[] = []
const database = mysql.createServer(() => {})
database.on('connection', (connection) => {
  const talk = connection as unknown as {
    sequenceId: number
    serverHandshake(options: object): void
    on(event: string, listener: (sql: string) => void): void
    writeTextResult(rows: object[], columns: object[]): void
  }
  talk.serverHandshake({
    protocolVersion: 10,
    serverVersion: '8.0.0',
    connectionId: 1,
    statusFlags: 2,
    characterSet: 8,
    capabilityFlags: 0xffffff & ~32 & ~2048,
    authCallback: (_params: object, done: (error: null) => void) => done(null),
  })
  talk.on('error', () => {})
  talk.on('query', (sql) => {
    asked.push(sql)
    // The library does not reset its sequence number for each command.
    talk.sequenceId = 1
    const column = {
      catalog: 'def',
      schema: '',
      table: '',
      orgTable: '',
      name: 'n',
      orgName: 'n',
      characterSet: 63,
      columnLength: 11,
      columnType: 253,
      flags: 0,
      decimals: 0,
    }
    talk.writeTextResult([{ n: 'one' }], [column])
  })
})
await new Promise<void>((resolve) =>
  (database as unknown as { listen(port: number, host: string, done: () => void): void }).listen(
    0,
    '127.0.0.1',
    resolve,
  ),
)
const port = (database as unknown as { _server: { address(): AddressInfo } })._server.address().port

/** Runs one piece whose driver has the secret: its connections are forwarded to the host of the credential. */
async function runDatabase(
  named: string,
  at: number,
  { values, calls }: { values: Record<string, string>; calls: [part: string, args: JsonObject][] },
): Promise<void> {
  const [name = '', version] = named.split('@')
  const { folder: _folder, ...piece } = await source.fetch(caller, name, version)
  const carried = makeOutgoing({ allowTargets: [`127.0.0.1:${at}`] })
  const other = makeWall({ outgoing: carried, level: 'namespaces', processes: 1 })
  const base = {
    name: 'db',
    hosts: ['127.0.0.1'],
    allows: (url: URL) => url.port === String(at),
    mask: makeMask([SECRET]),
  }
  const service = `piece.${name}`
  const config = { service, auth: 'CUSTOM_AUTH', values }
  let failed = 0
  for (const [part, args] of calls) {
    const { result, refused } = await makePieceRunner({ wall: other, source }).call({
      workspaceId: 'script',
      piece,
      service,
      request: { do: 'run', part, args },
      credential: {
        ...base,
        apply: (hop) => hop,
        veiled: () => makePlaceholderCredential({ kind: 'piece', config, secrets: { password: SECRET } }, base),
      },
      signal: AbortSignal.timeout(60_000),
    })
    if ('error' in result) failed += 1
    console.log(`${named} ${part}: ${JSON.stringify(result)} ${refused.map(({ message }) => message).join()}`)
  }
  if (failed === 0) ran += 1
  await other.close()
  await carried.close()
}

await runDatabase('mysql@0.2.7', port, {
  values: { host: '127.0.0.1', port: String(port), user: 'root', database: 'x' },
  calls: [['execute_query', { query: 'select n from t', timeout: 10_000 }]],
})
console.log(`  asked: ${asked.join('; ')}`)
const mongo = await startFakeMongo({ shop: SECRET })
await runDatabase('mongodb@0.1.7', mongo.port, {
  values: { host: `127.0.0.1:${mongo.port}`, useAtlasUrl: 'false', database: 'shop', username: 'shop' },
  calls: [
    ['insert_documents', { collection: 'orders', documents: [{ no: 'o1', status: 'new' }] }],
    ['find_documents', { collection: 'orders', query: { status: 'new' }, limit: 5 }],
    ['delete_documents', { collection: 'orders', filter: { no: 'o1' } }],
  ],
})
console.log(`  asked: ${mongo.asked.map((command) => Object.keys(command)[0]).join('; ')}`)
mongo.close()
database.close(() => {})

/** Returns the memory of the Node.js processes behind the wall. */
function memoryOfChildren(): number[] {
  const found: number[] = []
  for (const pid of readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')) {
    const inner = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]
    const status = inner ? readFileSync(`/proc/${inner}/status`, 'utf8') : ''
    const kb = /VmRSS:\s+(\d+)/.exec(status)?.[1]
    if (kb) found.push(Number(kb) / 1024)
  }
  return found
}
const memory = memoryOfChildren()
console.log(
  `${ran} of ${CASES.length + 2} ran; cold ${median(cold).toFixed(0)} ms, warm median ${median(warm).toFixed(1)} ms, p99 ${warm.at(Math.floor(warm.length * 0.99))?.toFixed(0)} ms`,
)
console.log(
  `memory of ${memory.length} warm processes: median ${median(memory).toFixed(0)} MB, most ${Math.max(0, ...memory).toFixed(0)} MB`,
)
await wall.close()
await real.close()
vendor.close()
rmSync(folder, { recursive: true, force: true })
