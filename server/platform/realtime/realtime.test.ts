import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hashSecret, newId, newSecret, toWire } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { openSocket, type TestSocket } from '#test/harness/socket'
import { type Database, openDatabase } from '../db/pool.ts'
import { MAX_FRAMES_TOGETHER } from './channel.ts'
import { type Feed, type Frame, type ReadRequest, type Verdict, withGaps } from './feed.ts'
import { makeRealtime, type Realtime, type RealtimeOptions } from './realtime.ts'

// Tests what every feed can rely on: the realtime layer over a journal in memory, without the areas.

let database: TestDatabase
let db: Database
let superuser: pg.Client
const user = newId()
const key = newId()

beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: makeLogger('silent'), connections: { app: 4, engine: 2, operator: 1 } })
  superuser = await database.superuser()
  const org = newId()
  await superuser.query(`insert into orgs (org_id, name) values ($1, 'Org')`, [org])
  await superuser.query(`insert into users (user_id, org_id, email, name) values ($1, $2, 'a@example.com', 'A')`, [
    user,
    org,
  ])
  await superuser.query(
    `insert into api_keys (key_id, user_id, name, prefix, token_hash) values ($1, $2, 'k', 'hk_x', '\\x00')`,
    [key, user],
  )
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

type Journal = Feed & {
  append(resource: string, ...data: unknown[]): void
  reads: ReadRequest[][]
  verdict: Verdict
  failing: boolean
}

function makeJournal(): Journal {
  const entries = new Map<string, Frame[]>()
  const of = (resource: string): Frame[] => entries.get(resource) ?? []
  const journal: Journal = {
    path: '/ws/executions/:execution_id',
    prefix: 'exe',
    hintChannel: 'journal',
    reads: [],
    verdict: 'allowed',
    failing: false,
    authorise: async (viewers) => viewers.map(() => journal.verdict),
    snapshot: async ({ resource }) => ({ seq: of(resource).length, data: { entries: of(resource).length } }),
    async read(requests, most) {
      journal.reads.push([...requests])
      if (journal.failing) throw new Error('the database is away')
      return requests.map(({ resource, after }) => of(resource).slice(after, after + most))
    },
    append(resource, ...data) {
      const frames = of(resource)
      for (const one of data) frames.push({ seq: frames.length + 1, type: 'entry', at: new Date(), data: one })
      entries.set(resource, frames)
    },
  }
  return journal
}

let server: Server
let realtime: Realtime
let journal: Journal
let base: string

async function start(options: Partial<RealtimeOptions> = {}): Promise<void> {
  server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  journal = makeJournal()
  realtime = makeRealtime({ db, log: makeLogger('silent'), server, ...options })
  realtime.addFeed('execution', journal)
}
afterEach(async () => {
  await realtime.stop()
  await new Promise((resolve) => server.close(resolve))
})

async function makeTicket(resource: string): Promise<string> {
  const ticket = newSecret('tkt')
  await superuser.query(
    `insert into tickets (token_hash, kind, user_id, resource_id, credential_kind, credential_id, expires_at)
     values ($1, 'execution', $2, $3, 'api_key', $4, now() + interval '30 seconds')`,
    [hashSecret(ticket), user, resource, key],
  )
  return ticket
}
const connect = async (resource: string, query = '', named = resource): Promise<TestSocket> =>
  openSocket(`${base}/ws/executions/${toWire('exe', named)}${query}`, await makeTicket(resource))
const hint = (resource: string) => superuser.query(`select pg_notify('journal', $1)`, [resource])
const opened = async (resource: string, query = ''): Promise<TestSocket> => {
  const live = await connect(resource, query)
  await live.frame(({ type }) => type === 'snapshot')
  return live
}

describe('sockets', () => {
  test('a hint wakes all sockets of the feed with one read; an idle socket costs no read', async () => {
    // No tick and therefore no poll, so that reads happen only after a hint.
    await start({ timing: { tick: 600_000, pingEvery: 600_000, pollEvery: 600_000 } })
    const resources = Array.from({ length: 20 }, () => newId())
    const lives = await Promise.all(resources.map((resource) => opened(resource)))
    await expect.poll(() => journal.reads.flat().length).toBe(20)
    journal.reads.length = 0
    for (const resource of resources) journal.append(resource, 'news')
    await superuser.query(`select pg_notify('journal', r) from unnest($1::text[]) as r`, [resources])
    await Promise.all(lives.map((live) => live.frame(({ seq }) => seq === 1)))
    expect(journal.reads.flat()).toHaveLength(20)
    expect(journal.reads.length).toBeLessThanOrEqual(2)
    journal.reads.length = 0
    await hint(newId())
    journal.append(resources[0]!, 'more')
    await hint(resources[0]!)
    await lives[0]!.frame(({ seq }) => seq === 2)
    expect(journal.reads.flat()).toEqual([expect.objectContaining({ resource: resources[0], after: 1 })])
  })

  test('a long journal is sent completely and in order; sockets at the same position share the read', async () => {
    await start()
    const resource = newId()
    journal.append(resource, ...Array.from({ length: 1234 }, (_, n) => n))
    const [one, two] = await Promise.all([connect(resource, '?after=0'), connect(resource, '?after=1000')])
    await Promise.all([one, two].map((live) => live!.frame(({ seq }) => seq === 1234)))
    expect(one!.frames.map(({ seq }) => seq)).toEqual(Array.from({ length: 1234 }, (_, n) => n + 1))
    expect(two!.frames.map(({ seq }) => seq)).toEqual(Array.from({ length: 234 }, (_, n) => n + 1001))
  })

  test('many sockets that reconnect at once get everything, and each read is limited', async () => {
    await start()
    const resources = Array.from({ length: 60 }, () => newId())
    for (const resource of resources) journal.append(resource, ...Array.from({ length: 300 }, (_, n) => n))
    const { read } = journal
    const asked: number[] = []
    journal.read = (requests, most) => {
      asked.push(requests.length * most)
      return read(requests, most)
    }
    const lives = await Promise.all(resources.map((resource) => connect(resource, '?after=0')))
    await Promise.all(lives.map((live) => live.frame(({ seq }) => seq === 300)))
    for (const { frames } of lives)
      expect(frames.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1))
    expect(Math.max(...asked)).toBeLessThanOrEqual(MAX_FRAMES_TOGETHER)
  })

  test('an entry whose hint was lost is found by the next poll', async () => {
    await start({ timing: { tick: 20, pollEvery: 20 } })
    const resource = newId()
    const live = await opened(resource)
    journal.append(resource, 'unannounced')
    await live.frame(({ seq }) => seq === 1)
  })

  test('a feed that cannot be read for a while continues at its position', async () => {
    await start()
    const resource = newId()
    const live = await opened(resource)
    journal.failing = true
    journal.reads.length = 0
    journal.append(resource, 'late')
    await hint(resource)
    await expect.poll(() => journal.reads.length).toBeGreaterThan(0)
    journal.failing = false
    await live.frame(({ seq }) => seq === 1)
  })

  test('a socket beyond the maximum number being opened is refused, and its ticket stays valid', async () => {
    await start({ mostOpening: 1 })
    const [first, second] = [newId(), newId()]
    const { snapshot } = journal
    let letIn = (): void => {}
    const told = new Promise<void>((asked) => {
      journal.snapshot = (viewer) => {
        asked()
        return new Promise((resolve) => {
          letIn = () => resolve(snapshot(viewer))
        })
      }
    })
    const one = await connect(first)
    await told
    const ticket = await makeTicket(second)
    const address = `${base}/ws/executions/${toWire('exe', second)}`
    const refused = openSocket(address, ticket)
    expect(await refused.closed).toBe(1006)
    journal.snapshot = snapshot
    letIn()
    await one.frame(({ type }) => type === 'snapshot')
    await openSocket(address, ticket).frame(({ type }) => type === 'snapshot')
  })

  test('a ticket for one resource does not open another, and is used up by the attempt', async () => {
    await start()
    const resource = newId()
    const ticket = await makeTicket(resource)
    const address = (id: string) => `${base}/ws/executions/${id}`
    expect(await openSocket(address(toWire('exe', newId())), ticket).closed).toBe(4401)
    expect(await openSocket(address(toWire('exe', resource)), ticket).closed).toBe(4401)
    expect(await openSocket(address('nonsense'), await makeTicket(resource)).closed).toBe(4401)
  })

  test('a deleted resource closes with 4404 and withdrawn access with 4403, at the start and later', async () => {
    await start({ timing: { tick: 20, checkEvery: 20 } })
    const resource = newId()
    const [one] = await Promise.all([opened(resource)])
    journal.verdict = 'withdrawn'
    expect(await one!.closed).toBe(4403)
    expect(await (await connect(resource)).closed).toBe(4403)
    journal.verdict = 'gone'
    expect(await (await connect(resource)).closed).toBe(4404)
    expect(realtime.open()).toBe(0)
  })

  test('a client that does not read is closed with 4408, with a limited buffer; others are not affected', async () => {
    await start({ timing: { tick: 20, checkEvery: 20, slowAfter: 1000 }, mostBuffered: 64 * 1024 })
    const resource = newId()
    const slow = await opened(resource)
    const quick = await opened(resource)
    slow.socket.pause()
    const big = 'x'.repeat(64 * 1024)
    journal.append(resource, ...Array.from({ length: 400 }, () => big))
    await hint(resource)
    await quick.frame(({ seq }) => seq === 400)
    await expect.poll(() => realtime.open()).toBe(1)
    slow.socket.resume()
    expect(await slow.closed).toBe(4408)
    expect(slow.frames.length).toBeLessThan(400)
    expect(slow.frames.map(({ seq }) => seq)).toEqual(slow.frames.map((_, at) => at))
  })

  test('a client that pings without reading does not fill the memory with pongs', async () => {
    await start()
    const resource = newId()
    const live = await opened(resource)
    let pongs = 0
    live.socket.on('pong', () => {
      pongs += 1
    })
    live.socket.pause()
    const many = 200_000
    const data = Buffer.alloc(125)
    for (let n = 1; n < many; n++) live.socket.ping(data)
    await new Promise<void>((resolve) => live.socket.ping(data, true, () => resolve()))
    journal.append(resource, 'last')
    await hint(resource)
    live.socket.resume()
    await live.frame(({ seq }) => seq === 1)
    expect(pongs).toBeGreaterThan(0)
    expect(pongs).toBeLessThan(many)
  })

  test('a client that reads slowly but steadily gets everything', async () => {
    await start({ mostBuffered: 64 * 1024 })
    const resource = newId()
    const live = await opened(resource)
    journal.append(resource, ...Array.from({ length: 300 }, () => 'x'.repeat(64 * 1024)))
    live.socket.on('message', () => {
      live.socket.pause()
      setImmediate(() => live.socket.resume())
    })
    await hint(resource)
    await live.frame(({ seq }) => seq === 300)
    expect(live.frames.map(({ seq }) => seq)).toEqual(Array.from({ length: 301 }, (_, n) => n))
  })

  test('a client is pinged, and closed when it no longer answers', async () => {
    await start({ timing: { tick: 20, pingEvery: 100 } })
    const live = await opened(newId())
    await once(live.socket, 'ping')
    await once(live.socket, 'ping')
    live.socket.pause()
    await expect.poll(() => realtime.open()).toBe(0)
    live.socket.terminate()
  })

  test('one person can open a limited number of sockets', async () => {
    await start({ mostPerPerson: 3 })
    for (let n = 0; n < 3; n++) await opened(newId())
    expect(await (await connect(newId())).closed).toBe(1013)
  })

  test('simultaneous attempts of one person do not exceed the limit', async () => {
    await start({ mostPerPerson: 1 })
    const { snapshot } = journal
    const bothAsked = Promise.withResolvers<void>()
    let asked = 0
    journal.snapshot = async (viewer) => {
      asked += 1
      if (asked === 2) bothAsked.resolve()
      await bothAsked.promise
      return snapshot(viewer)
    }
    const sockets = [await connect(newId()), await connect(newId())]
    expect(await Promise.race(sockets.map(({ closed }) => closed))).toBe(1013)
    expect(realtime.open()).toBe(1)
  })

  test('messages of a client are ignored, and a large one closes the socket', async () => {
    await start()
    const live = await opened(newId())
    live.socket.send(JSON.stringify({ subscribe: toWire('exe', newId()) }))
    live.socket.send('x'.repeat(10_000))
    expect(await live.closed).toBe(1009)
  })

  test('stopping the service closes all sockets, even those of unresponsive clients', async () => {
    await start()
    const polite = await opened(newId())
    const deaf = await opened(newId())
    deaf.socket.pause()
    await realtime.stop()
    expect(await polite.closed).toBe(1001)
    deaf.socket.terminate()
  })
})

describe('gaps', () => {
  const entry = (seq: number): Frame => ({ seq, type: 'entry', at: new Date(0), data: null })
  const told = (after: number, last: number, seqs: number[], most = 10) =>
    withGaps(after, last, seqs.map(entry), most).map(({ seq, type, data }) =>
      type === 'gap' ? { seq, ...(data as object) } : seq,
    )

  test('are reported where entries are missing before, between and after the remaining entries', () => {
    expect(told(0, 3, [1, 2, 3])).toEqual([1, 2, 3])
    expect(told(0, 5, [3, 5])).toEqual([{ seq: 2, from: 1, to: 2 }, 3, { seq: 4, from: 4, to: 4 }, 5])
    expect(told(2, 5, [])).toEqual([{ seq: 5, from: 3, to: 5 }])
    expect(told(2, 5, [3], 1)).toEqual([3])
    expect(told(5, 5, [])).toEqual([])
    expect(told(9, 5, [])).toEqual([{ seq: 5, from: 1, to: 5 }])
  })
})
