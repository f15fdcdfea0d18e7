import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'
import { WebSocket } from 'ws'
import { notificationFeed } from '#areas/notifications/feed'
import { type Database, type DatabaseUrls, openDatabase } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { hashSecret, newId, newSecret } from '#platform/ids'
import { makeLogger } from '#platform/log'
import type { Feed } from '#platform/realtime/feed'
import { makeRealtime } from '#platform/realtime/realtime'
import { percentile, startBenchDatabase } from './database.ts'

// Many idle and some active sockets on one server process: measures the memory of an idle socket, the cost of idle
// sockets, and the time from an event to its frame. This process contains the clients and the writer; the server is a
// separate process.
//   node bench/sockets.ts            IDLE=10000 ACTIVE=500 SECONDS=10 by default

type Report = { rss: number; heap: number; open: number; cpuMs: number; reads: number; requests: number }

async function serve(urls: DatabaseUrls): Promise<void> {
  const log = makeLogger('warn')
  const db = openDatabase({ urls, log })
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const realtime = makeRealtime({ db, log, server })
  const counted = { reads: 0, requests: 0 }
  const feed = notificationFeed(db)
  const read: Feed['read'] = (requests, most) => {
    counted.reads += 1
    counted.requests += requests.length
    return feed.read(requests, most)
  }
  realtime.addFeed('notifications', { ...feed, read })
  process.on('disconnect', () => process.exit())
  process.on('message', () => {
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const report: Report = { rss, heap: heapUsed, open: realtime.open(), cpuMs: (user + system) / 1000, ...counted }
    process.send!(report)
  })
  process.send!({ port: (server.address() as AddressInfo).port })
}

async function measure(): Promise<void> {
  const database = await startBenchDatabase()
  const owner = new pg.Pool({ connectionString: database.urls.owner, max: 16 })
  const writer = openDatabase({ urls: database.urls, log: makeLogger('silent') })
  const child = fork(import.meta.filename, ['server', JSON.stringify(database.urls)], { execArgv: ['--expose-gc'] })
  try {
    await measureWith(owner, writer, child)
  } finally {
    child.kill()
    await writer.close()
    await owner.end()
    await database.stop()
  }
}

async function measureWith(owner: pg.Pool, writer: Database, child: ChildProcess): Promise<void> {
  const idle = Number(process.env.IDLE ?? 10_000)
  const active = Number(process.env.ACTIVE ?? 500)
  const seconds = Number(process.env.SECONDS ?? 10)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const report = async (): Promise<Report> => {
    child.send('report')
    return (await once(child, 'message'))[0] as Report
  }
  const people = await makePeople(owner, Math.ceil(idle / 10) + active)
  const url = `ws://127.0.0.1:${port}/ws/notifications`

  const first = await openAll(owner, url, people.slice(active, active + 1), () => {})
  const before = await report()
  const began = performance.now()
  const idlers = Array.from({ length: idle }, (_, n) => people[active + Math.floor(n / 10)]!)
  const sockets = [...first, ...(await openAll(owner, url, idlers, () => {}))]
  const connectedIn = performance.now() - began
  const settled = await report()
  say(
    `${settled.open} idle sockets in ${(connectedIn / 1000).toFixed(1)} s (${Math.round(idle / (connectedIn / 1000))}/s); ` +
      `memory of one: ${kib((settled.rss - before.rss) / idle)} resident, ${kib((settled.heap - before.heap) / idle)} of it heap`,
  )

  const commits = async (): Promise<number> =>
    Number(
      (await owner.query(`select xact_commit from pg_stat_database where datname = current_database()`)).rows[0]
        .xact_commit,
    )
  // PostgreSQL counts the statistics of a quiet connection up to ten seconds late.
  await after(12_000)
  const [commitsBefore, cpuBefore] = [await commits(), await report()]
  await after(seconds * 1000)
  const [commitsAfter, cpuAfter] = [await commits(), await report()]
  const idleCpu = (cpuAfter.cpuMs - cpuBefore.cpuMs) / seconds / 10
  say(
    `idle: ${idleCpu.toFixed(1)} % of a core, ` +
      `${((commitsAfter - commitsBefore) / seconds).toFixed(1)} transactions/s`,
  )

  const pending = new Map<string, { begun: number; committed: number; seen: number }>()
  const busy = people.slice(0, active)
  const onFrame = (text: string): void => {
    const arrived = performance.now()
    const title = /"title":"(event \d+)"/.exec(text)?.[1]
    const event = title === undefined ? undefined : pending.get(title)
    if (event) event.seen = arrived
  }
  sockets.push(...(await openAll(owner, url, busy, onFrame)))

  const byRate: Record<string, Record<string, number>> = {}
  for (const rate of [50, 200, 500]) {
    pending.clear()
    const start = await report()
    const total = rate * seconds
    const from = performance.now()
    const writes: Promise<void>[] = []
    for (let n = 0; n < total; n++) {
      const due = from + (n * 1000) / rate
      const early = due - performance.now()
      if (early > 0) await after(early)
      writes.push(deliver(writer, busy[Math.floor(Math.random() * active)]!, `event ${n}`, pending))
    }
    await Promise.all(writes)
    for (let n = 0; n < 100 && [...pending.values()].some(({ seen }) => seen === 0); n++) await after(100)
    const end = await report()
    const events = [...pending.values()]
    const lost = events.filter(({ seen }) => seen === 0).length
    const sinceBegin = events.map(({ begun, seen }) => seen - begun)
    const sinceCommit = events.map(({ committed, seen }) => seen - committed)
    byRate[`at_${rate}_a_second`] = {
      p50_ms: Number(percentile(sinceBegin, 50).toFixed(1)),
      p99_ms: Number(percentile(sinceBegin, 99).toFixed(1)),
      lost,
      queries_per_event: Number(((end.reads - start.reads) / total).toFixed(2)),
      server_cpu_percent: Math.round((end.cpuMs - start.cpuMs) / seconds / 10),
    }
    say(
      `${rate} events/s for ${active} active among ${idle} idle: event to frame p50 ${ms(sinceBegin, 50)} p99 ${ms(sinceBegin, 99)} ` +
        `(after the writer heard of the commit: p50 ${ms(sinceCommit, 50)} p99 ${ms(sinceCommit, 99)}), ${lost} lost, ` +
        `${end.reads - start.reads} queries for ${total} events, server ${((end.cpuMs - start.cpuMs) / seconds / 10).toFixed(0)} % of a core`,
    )
  }

  pending.clear()
  const storm = await report()
  const burst = performance.now()
  await Promise.all(busy.map((person, n) => deliver(writer, person, `event ${n}`, pending)))
  while ([...pending.values()].some(({ seen }) => seen === 0)) await after(1)
  say(
    `${active} events at once: last frame after ${(performance.now() - burst).toFixed(0)} ms, ${(await report()).reads - storm.reads} queries`,
  )

  for (const socket of sockets) socket.terminate()
  const kibOf = (bytes: number): number => Number((bytes / 1024).toFixed(1))
  console.log(
    JSON.stringify(
      {
        idle_sockets: settled.open,
        memory_of_one_kib: kibOf((settled.rss - before.rss) / idle),
        heap_of_one_kib: kibOf((settled.heap - before.heap) / idle),
        idle_cpu_percent: Number(idleCpu.toFixed(1)),
        event_to_frame: byRate,
      },
      null,
      2,
    ),
  )
}

type Person = { user: string; workspace: string; key: string }

async function makePeople(owner: pg.Pool, count: number): Promise<Person[]> {
  const [org, company, workspace] = [newId(), newId(), newId()]
  const people = Array.from({ length: count }, () => ({ user: newId(), workspace, key: newId() }))
  const users = people.map(({ user }) => user)
  await owner.query(`insert into orgs (org_id, name) values ($1, 'Bench')`, [org])
  await owner.query(
    `insert into users (user_id, org_id, email, name) select u, $1, u || '@example.com', 'Bench' from unnest($2::uuid[]) u`,
    [org, users],
  )
  await owner.query(`insert into companies (company_id, org_id, owner_id, name) values ($1, $2, $3, 'Bench')`, [
    company,
    org,
    users[0],
  ])
  await owner.query(`insert into workspaces (workspace_id, company_id, org_id, name) values ($1, $2, $3, 'Bench')`, [
    workspace,
    company,
    org,
  ])
  await owner.query(
    `insert into memberships (workspace_id, user_id, role) select $1, u, 'member' from unnest($2::uuid[]) u`,
    [workspace, users],
  )
  await owner.query(
    `insert into api_keys (key_id, user_id, name, prefix, token_hash)
     select k, u, 'bench', 'hk_', decode(replace(k::text, '-', ''), 'hex') from unnest($1::uuid[], $2::uuid[]) as t (k, u)`,
    [people.map(({ key }) => key), users],
  )
  await owner.query('analyze')
  return people
}

/** Opens a hundred sockets at a time. Each is ready when its snapshot has arrived. */
async function openAll(
  owner: pg.Pool,
  url: string,
  people: Person[],
  onFrame: (text: string) => void,
): Promise<WebSocket[]> {
  const sockets: WebSocket[] = []
  for (let from = 0; from < people.length; from += 100) {
    const batch = people.slice(from, from + 100)
    const tickets = batch.map(() => newSecret('tkt'))
    await owner.query(
      `insert into tickets (token_hash, kind, user_id, workspace_id, resource_id, credential_kind, credential_id, expires_at)
       select h, 'notifications', u, w, u, 'api_key', k, now() + interval '30 seconds'
       from unnest($1::bytea[], $2::uuid[], $3::uuid[], $4::uuid[]) as t (h, u, w, k)`,
      [tickets.map(hashSecret), batch.map((p) => p.user), batch.map((p) => p.workspace), batch.map((p) => p.key)],
    )
    sockets.push(
      ...(await Promise.all(
        tickets.map(
          (ticket) =>
            new Promise<WebSocket>((resolve, reject) => {
              const socket = new WebSocket(url, ['heddle.v1', `ticket.${ticket}`], { perMessageDeflate: false })
              socket.once('message', () => {
                resolve(socket)
                socket.on('message', (data) => onFrame(data.toString()))
              })
              socket.once('error', reject)
              socket.once('close', (code) => reject(new Error(`closed with ${code}`)))
            }),
        ),
      )),
    )
  }
  return sockets
}

async function deliver(
  writer: Database,
  person: Person,
  title: string,
  pending: Map<string, { begun: number; committed: number; seen: number }>,
): Promise<void> {
  const event = { begun: performance.now(), committed: 0, seen: 0 }
  pending.set(title, event)
  await writer.tenant({ workspaceId: person.workspace, userId: person.user }, (tx) =>
    deliverEvent(tx, { workspaceId: person.workspace, kind: 'bench.event', title, to: [person.user] }),
  )
  event.committed = performance.now()
}

const say = (line: string): void => console.error(line)
const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`
const ms = (values: number[], at: number): string => `${percentile(values, at).toFixed(1)} ms`

if (process.argv[2] === 'server') await serve(JSON.parse(process.argv[3]!) as DatabaseUrls)
else await measure()
