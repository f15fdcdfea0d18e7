import { once } from 'node:events'
import { connect } from 'node:net'
import { chain } from '#engine/testing'
import { startBenchDatabase } from './database.ts'
import { makeBenchPerson, makeHook, startBenchService } from './world.ts'

// Five times the load the service can carry, open loop: requests are sent at their time whether or not earlier ones were
// answered, each over a connection of its own client. Then, with the limits that everybody has, one tenant's flood beside
// another's quiet work. The load comes from this process over raw sockets, written ahead of time.

const SECONDS = Number(process.env.SECONDS ?? 8)

/** Status 0: the connection was lost. */
type Answer = { status: number; ms: number; at: number; retryAfterS: number }

type Line = ReturnType<typeof openLine>

/** One connection with requests in flight, answered in order. */
function openLine(base: URL, onAnswer: () => void = () => {}) {
  const socket = connect(Number(base.port), base.hostname)
  const sentAt: number[] = []
  const answers: Answer[] = []
  let rest = ''
  const read = (text: string): void => {
    rest += text
    for (;;) {
      const headEnd = rest.indexOf('\r\n\r\n')
      if (headEnd === -1) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(rest.slice(0, headEnd + 2))?.[1] ?? 0)
      if (rest.length < headEnd + 4 + length) return
      const now = performance.now()
      const retryAfterS = Number(/\r\nretry-after: (\d+)/i.exec(rest.slice(0, headEnd + 2))?.[1] ?? 0)
      answers.push({ status: Number(rest.slice(9, 12)), ms: now - sentAt.shift()!, at: now, retryAfterS })
      rest = rest.slice(headEnd + 4 + length)
      onAnswer()
    }
  }
  socket
    .setNoDelay(true)
    .setEncoding('latin1')
    .on('data', read)
    .on('error', () => {
      for (const at of sentAt.splice(0))
        answers.push({ status: 0, ms: performance.now() - at, at: performance.now(), retryAfterS: 0 })
    })
  return {
    opened: once(socket, 'connect'),
    answers,
    waiting: () => sentAt.length,
    send(bytes: Buffer): void {
      sentAt.push(performance.now())
      socket.write(bytes)
    },
    close: () => socket.destroy(),
  }
}

const requestOf = (method: string, url: string, token: string, body = ''): Buffer => {
  const { host, pathname } = new URL(url)
  return Buffer.from(
    `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}

const percentile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1))
}

type Clients = { most: number; openBefore?: number; obedient?: boolean }

/**
 * Sends `rate` requests a second, each over a connection that is free, until the time is over; then waits for the answers.
 * While all clients wait for an answer nobody is left to ask. An obedient client that is refused asks no sooner than told.
 */
async function press(
  base: URL,
  requests: Buffer[],
  rate: number,
  { most, openBefore = 0, obedient = false }: Clients,
): Promise<Answer[]> {
  const lines: Line[] = []
  const free: Line[] = []
  const openAnother = (): Line => {
    const line: Line = openLine(base, () => {
      const { retryAfterS } = line.answers.at(-1)!
      if (obedient && retryAfterS > 0) setTimeout(() => free.push(line), retryAfterS * 1000)
      else free.push(line)
    })
    lines.push(line)
    return line
  }
  for (let n = 0; n < openBefore; n++) free.push(openAnother())
  await Promise.all(lines.map(({ opened }) => opened))
  const begun = performance.now()
  let sent = 0
  for (;;) {
    const elapsed = (performance.now() - begun) / 1000
    if (elapsed > SECONDS) break
    for (const due = Math.floor(elapsed * rate); sent < due; sent++)
      (free.pop() ?? (lines.length < most ? openAnother() : undefined))?.send(requests[sent % requests.length]!)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const patience = performance.now() + 20_000
  while (lines.some(({ waiting }) => waiting() > 0) && performance.now() < patience)
    await new Promise((resolve) => setTimeout(resolve, 10))
  const unanswered = lines.filter(({ waiting }) => waiting() > 0)
  if (unanswered.length > 0) throw new Error(`${unanswered.length} of ${sent} requests were not answered`)
  for (const line of lines) line.close()
  return lines.flatMap(({ answers }) => answers)
}

/** How many a second it carries: each line sends the next request when the last one is answered. */
async function capacity(base: URL, requests: Buffer[], seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  const lines: Line[] = []
  for (let n = 0; n < 64; n++) {
    const request = requests[n % requests.length]!
    const line: Line = openLine(base, () => performance.now() < until && line.send(request))
    lines.push(line)
    line.send(request)
  }
  while (lines.some(({ waiting }) => waiting() > 0)) await new Promise((resolve) => setTimeout(resolve, 5))
  const answers = lines.flatMap((line) => line.answers)
  for (const line of lines) line.close()
  const odd = answers.find(({ status }) => status !== 202)
  if (odd) throw new Error(`status ${odd.status}`)
  return answers.length / seconds
}

const database = await startBenchDatabase()

async function startPressed(rateLimits: 'on' | 'off') {
  process.env.HEDDLE_RATE_LIMITS = rateLimits
  const service = await startBenchService(database)
  const base = new URL(service.base)
  const tenantOf = async (): Promise<{ request: Buffer; read: Buffer }> => {
    const { key } = await makeBenchPerson(database)
    const hook = await makeHook(service.base, key, chain(1))
    return {
      request: requestOf('POST', hook.url, hook.token, '{"value":7}'),
      read: requestOf('GET', `${service.base}/api/workflows/${hook.workflowId}`, key),
    }
  }
  const stop = async (): Promise<void> => {
    service.stop()
    await once(service.child, 'exit')
  }
  return { service, base, tenantOf, stop }
}

const ms = (answers: Answer[]): number[] => answers.map(({ ms: took }) => took)

async function underPressure() {
  const { service, base, tenantOf, stop } = await startPressed('off')
  const triggers: Buffer[] = []
  for (let n = 0; n < 10; n++) triggers.push((await tenantOf()).request)
  await capacity(base, triggers, 5)
  const carried = await capacity(base, triggers, 5)

  const measure = async (clients: Clients) => {
    const health = openLine(base)
    const healthRequest = requestOf('GET', `${service.base}/healthz`, 'none')
    const probing = setInterval(() => health.send(healthRequest), 100)
    const answers = await press(base, triggers, carried * 5, clients)
    clearInterval(probing)
    health.close()
    const accepted = answers.filter(({ status }) => status === 202)
    const refused = answers.filter(({ status }) => status !== 202)
    const span = (Math.max(...answers.map(({ at }) => at)) - Math.min(...answers.map((one) => one.at - one.ms))) / 1000
    return {
      offered_per_s: Math.round(answers.length / SECONDS),
      accepted_per_s: Math.round(accepted.length / span),
      kept_ratio: Number((accepted.length / span / carried).toFixed(2)),
      accepted_p99_ms: percentile(ms(accepted), 0.99),
      refused_p50_ms: percentile(ms(refused), 0.5),
      refused_p99_ms: percentile(ms(refused), 0.99),
      health_max_ms: percentile(ms(health.answers), 1),
      lost: refused.filter(({ status }) => status !== 503).length,
    }
  }
  const insistent = await measure({ most: 1000 })
  const obedient = await measure({ most: 8000, openBefore: 8000, obedient: true })
  const recovered = await capacity(base, triggers, 5)
  const rss = (await service.memory()).rss >> 20
  await stop()
  return {
    carried_per_s: Math.round(carried),
    insistent,
    obedient,
    recovered: Number((recovered / carried).toFixed(2)),
    server_rss_mb: rss,
    flood: carried * 2,
  }
}

async function besideFlood(rateLimits: 'on' | 'off', flood: number) {
  const { base, tenantOf, stop } = await startPressed(rateLimits)
  const [quiet, loud] = [await tenantOf(), await tenantOf()]
  const calm = () => press(base, [quiet.read, quiet.request], 40, { most: 100, openBefore: 8 })
  await calm()
  const alone = await calm()
  const [beside] = await Promise.all([calm(), press(base, [loud.request], flood, { most: 1000 })])
  await stop()
  return {
    alone_p50_ms: percentile(ms(alone), 0.5),
    alone_p99_ms: percentile(ms(alone), 0.99),
    beside_flood_p50_ms: percentile(ms(beside), 0.5),
    beside_flood_p99_ms: percentile(ms(beside), 0.99),
    refused: beside.filter(({ status }) => status >= 400).length,
  }
}

const { flood, ...pressed } = await underPressure()
const neighbour = { limits_on: await besideFlood('on', flood), limits_off: await besideFlood('off', flood) }
console.log(JSON.stringify({ ...pressed, neighbour }, null, 2))
await database.stop()
process.exit(0)
