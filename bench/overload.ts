import { connect } from 'node:net'
import { chain } from '#engine/testing'
import { startBenchDatabase } from './database.ts'
import { makeBenchPerson, makeHook, startBenchService } from './world.ts'

// Five times the load the service can carry, open loop: requests are sent at their time whether or not earlier ones were
// answered. Then one tenant's flood beside another's quiet work. The load comes from this process over raw sockets, written
// ahead of time, so that it costs little beside the service that it presses on.

const SECONDS = Number(process.env.SECONDS ?? 8)
const CLIENTS = 1000

/** Status 0: the connection was lost. */
/** Status 0: the connection was lost. */
type Answer = { status: number; ms: number; at: number }

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
      answers.push({ status: Number(rest.slice(9, 12)), ms: now - sentAt.shift()!, at: now })
      rest = rest.slice(headEnd + 4 + length)
      onAnswer()
    }
  }
  socket
    .setNoDelay(true)
    .setEncoding('latin1')
    .on('data', read)
    .on('error', () => {
      for (const at of sentAt.splice(0)) answers.push({ status: 0, ms: performance.now() - at, at: performance.now() })
    })
  return {
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

/**
 * Sends `rate` requests a second, each over a connection that is free, until the time is over; then waits for the answers.
 * While a thousand clients wait for an answer nobody is left to ask.
 */
async function press(requests: Buffer[], rate: number, seconds: number, openBefore = 0): Promise<Answer[]> {
  const lines: Line[] = []
  const free: Line[] = []
  const openAnother = (): Line => {
    const line: Line = openLine(base, () => free.push(line))
    lines.push(line)
    return line
  }
  for (let n = 0; n < openBefore; n++) free.push(openAnother())
  await new Promise((resolve) => setTimeout(resolve, 500))
  const begun = performance.now()
  let sent = 0
  for (;;) {
    const elapsed = (performance.now() - begun) / 1000
    if (elapsed > seconds) break
    for (const due = Math.floor(elapsed * rate); sent < due; sent++)
      (free.pop() ?? (lines.length < CLIENTS ? openAnother() : undefined))?.send(requests[sent % requests.length]!)
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
const service = await startBenchService(database)
const base = new URL(service.base)

const hookOf = async (): Promise<{ request: Buffer; read: Buffer }> => {
  const { key } = await makeBenchPerson(database)
  const hook = await makeHook(service.base, key, chain(1))
  return {
    request: requestOf('POST', hook.url, hook.token, '{"value":7}'),
    read: requestOf('GET', `${service.base}/api/workflows/${hook.workflowId}`, key),
  }
}
const tenants: Awaited<ReturnType<typeof hookOf>>[] = []
for (let n = 0; n < 10; n++) tenants.push(await hookOf())
const triggers = tenants.map(({ request }) => request)
await capacity(base, triggers, 2)
const carried = await capacity(base, triggers, 5)

const health = openLine(base)
const healthRequest = requestOf('GET', `${service.base}/healthz`, 'none')
const probing = setInterval(() => health.send(healthRequest), 100)

const pressed = await press(triggers, carried * 5, SECONDS)
const memory = (await service.memory()).rss >> 20
clearInterval(probing)
const accepted = pressed.filter(({ status }) => status === 202)
const refused = pressed.filter(({ status }) => status !== 202)
const span = (Math.max(...pressed.map(({ at }) => at)) - Math.min(...pressed.map(({ at, ms }) => at - ms))) / 1000
const recoveredRate = await capacity(base, triggers, 5)

const quiet = tenants[0]!
const loud = tenants[1]!
// Its connections are open before the flood begins: Node accepts one new connection a turn of its loop, and turns are long then.
const calm = async (): Promise<number[]> => {
  const answers = await press([quiet.read, quiet.request], 40, SECONDS, 8)
  return answers.filter(({ status }) => status < 300).map(({ ms }) => ms)
}
const alone = await calm()
const [beside] = await Promise.all([calm(), press([loud.request], carried * 2, SECONDS)])

console.log(
  JSON.stringify(
    {
      carried_per_s: Math.round(carried),
      offered_per_s: Math.round(pressed.length / SECONDS),
      accepted_per_s: Math.round(accepted.length / span),
      kept_ratio: Number((accepted.length / span / carried).toFixed(2)),
      statuses: Object.fromEntries(
        [...Map.groupBy(pressed, ({ status }) => status)].map(([status, list]) => [status, list.length]),
      ),
      accepted_p99_ms: percentile(
        accepted.map(({ ms }) => ms),
        0.99,
      ),
      refused_p50_ms: percentile(
        refused.map(({ ms }) => ms),
        0.5,
      ),
      refused_p99_ms: percentile(
        refused.map(({ ms }) => ms),
        0.99,
      ),
      health_max_ms: percentile(
        health.answers.map(({ ms }) => ms),
        1,
      ),
      server_rss_mb: memory,
      recovered_ratio: Number((recoveredRate / carried).toFixed(2)),
      neighbour_alone_p99_ms: percentile(alone, 0.99),
      neighbour_beside_flood_p99_ms: percentile(beside, 0.99),
      neighbour_answered: beside.length,
    },
    null,
    2,
  ),
)
health.close()
service.stop()
await database.stop()
process.exit(0)
