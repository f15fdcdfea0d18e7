import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { chain } from '#engine/testing'
import { machineTicks, stolenSince } from './cpu.ts'
import { startBenchDatabase } from './database.ts'
import {
  type Answer,
  type Clients,
  type Connection,
  openConnection,
  percentile,
  requestOf,
  sendLoad,
} from './open-loop.ts'
import type { QuietAnswer, QuietTask } from './quiet-client.ts'
import { makeBenchPerson, makeHook, startBenchService } from './world.ts'

// Sends five times the load that the service can handle, open loop: requests are sent at their time without waiting for
// earlier responses, each over the connection of a separate client. Then, with the default limits, one tenant floods
// the service beside another's quiet work. The load comes over raw sockets and is prepared in advance. Health checks, the
// quiet tenant and the flood use separate processes, so that delays in one do not count as time of the service. Before
// the flood, other tenants send ordinary load, so that the code is compiled as in a service that is in use.
// `node bench/overload.ts neighbour` runs one part alone; the parts are `pressed`, `neighbour` and `unlimited`.
//
// The control is a second process of the service, with the same database and on the same cores. It gets the same
// requests at the same time, but no flood. Its response time during the flood is caused by the machine; only the rest
// is caused by the flooded process.

const SECONDS = Number(process.env.SECONDS ?? 8)
/** The flood comes from other machines in real life. Here it must not take the cores from the service. */
const FLOOD_NICENESS = 10
/** Requests per second of five other tenants before the measurement, within their limits. */
const ORDINARY = 300
const ORDINARY_S = 15
/** In one flood of eight seconds, three delays by the machine decide the p99. */
const ROUNDS = Number(process.env.ROUNDS ?? 5)
/** The time in which the limit of the flooding tenant allows a whole burst again. */
const REFILL_MS = 3_000

/** Twice the capacity of the service, for parts in which the capacity is not measured. */
const FLOOD = 4_000

/**
 * Returns the capacity in requests per second: each connection sends the next request when the last one is answered.
 */
async function capacity(base: URL, requests: Buffer[], seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  const lines: Connection[] = []
  for (let n = 0; n < 64; n++) {
    const request = requests[n % requests.length]!
    const line: Connection = openConnection(base, () => performance.now() < until && line.send(request))
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

/** Sends `rate` requests per second from another process. Resolves when the process has started. */
async function startQuietClient(
  base: URL,
  requests: Buffer[],
  rate: number,
  clients: Clients,
  niceness = 0,
): Promise<{ begunAt: number; answers: Promise<QuietAnswer[]> }> {
  const child = fork(join(import.meta.dirname, 'quiet-client.ts'), { serialization: 'advanced' })
  child.send({ base: base.href, requests, rate, clients, niceness } satisfies QuietTask)
  const [begunAt] = (await once(child, 'message')) as [number]
  const answers = once(child, 'message').then(([calm]) => {
    child.disconnect()
    return calm as QuietAnswer[]
  })
  return { begunAt, answers }
}

const database = await startBenchDatabase()

async function startServices(rateLimits: 'on' | 'off') {
  process.env.HEDDLE_RATE_LIMITS = rateLimits
  const service = await startBenchService(database)
  const control = await startBenchService(database, 'api')
  const [base, controlBase] = [new URL(service.base), new URL(control.base)]
  const tenantOf = async (): Promise<{ request: Buffer; read: Buffer }> => {
    const { key } = await makeBenchPerson(database)
    const hook = await makeHook(service.base, key, chain(1))
    return {
      request: requestOf('POST', hook.url, hook.token, '{"value":7}'),
      read: requestOf('GET', `${service.base}/api/workflows/${hook.workflowId}`, key),
    }
  }
  const stop = async (): Promise<void> => {
    for (const one of [service, control]) {
      one.stop()
      await once(one.child, 'exit')
    }
  }
  return { service, base, controlBase, tenantOf, stop }
}

const ms = (answers: Answer[]): number[] => answers.map(({ ms: took }) => took)

async function underPressure() {
  const { service, base, controlBase, tenantOf, stop } = await startServices('off')
  const triggers: Buffer[] = []
  for (let n = 0; n < 10; n++) triggers.push((await tenantOf()).request)
  // With code that was just compiled, the capacity was up to a third lower than after the load.
  await capacity(base, triggers, 15)
  const carried = await capacity(base, triggers, 5)

  const healthRequest = requestOf('GET', `${service.base}/healthz`, 'none')
  const measure = async (clients: Omit<Clients, 'seconds'>) => {
    const probe = (at: URL) =>
      startQuietClient(at, [healthRequest], 10, { seconds: SECONDS + 2, most: 20, openBefore: 1 })
    const [asked, controlAsked] = [await probe(base), await probe(controlBase)]
    const ticks = machineTicks()
    const answers = await sendLoad(base, triggers, carried * 5, { ...clients, seconds: SECONDS })
    const [health, controlHealth] = [await asked.answers, await controlAsked.answers]
    const stolen_percent = stolenSince(ticks)
    const accepted = answers.filter(({ status }) => status === 202)
    const refused = answers.filter(({ status }) => status !== 202)
    // Only requests accepted while the load lasted count: late refusals lengthen the measurement, not the load.
    const begun = Math.min(...answers.map(({ at, ms: took }) => at - took))
    const accepting = accepted.filter(({ at }) => at < begun + SECONDS * 1000).length / SECONDS
    return {
      offered_per_s: Math.round(answers.length / SECONDS),
      accepted_per_s: Math.round(accepting),
      kept_ratio: Number((accepting / carried).toFixed(2)),
      accepted_p99_ms: percentile(ms(accepted), 0.99),
      refused_p50_ms: percentile(ms(refused), 0.5),
      refused_p99_ms: percentile(ms(refused), 0.99),
      health_p50_ms: percentile(ms(health), 0.5),
      health_max_ms: percentile(ms(health), 1),
      control_health_max_ms: percentile(ms(controlHealth), 1),
      lost: refused.filter(({ status }) => status !== 503).length,
      stolen_percent,
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

type Calm = { service: QuietAnswer[]; control: QuietAnswer[] }
type Round = { alone: Calm; beside: Calm; firstSecond: Calm; stolen: { alone: number; beside: number } }

async function besideFlood(rateLimits: 'on' | 'off', flood: number) {
  const { base, controlBase, tenantOf, stop } = await startServices(rateLimits)
  const [quiet, controlled, loud] = [await tenantOf(), await tenantOf(), await tenantOf()]
  const calm = async (): Promise<{ answers: Promise<Calm> }> => {
    const clients = { seconds: SECONDS, most: 100, openBefore: 8 }
    const asked = await startQuietClient(base, [quiet.read, quiet.request], 40, clients)
    const controlAsked = await startQuietClient(controlBase, [controlled.read, controlled.request], 40, clients)
    const both = Promise.all([asked.answers, controlAsked.answers])
    return { answers: both.then(([service, control]) => ({ service, control })) }
  }
  const round = async (): Promise<Round> => {
    let ticks = machineTicks()
    const alone = await (await calm()).answers
    const aloneStolen = stolenSince(ticks)
    ticks = machineTicks()
    const asking = await calm()
    const flooding = { seconds: SECONDS - 1, most: 1000 }
    const { begunAt, answers } = await startQuietClient(base, [loud.request], flood, flooding, FLOOD_NICENESS)
    await answers
    const beside = await asking.answers
    const stolen = { alone: aloneStolen, beside: stolenSince(ticks) }
    const first = (calm: QuietAnswer[]): QuietAnswer[] =>
      calm.filter(({ sentAt }) => sentAt >= begunAt && sentAt < begunAt + 1000)
    return { alone, beside, firstSecond: { service: first(beside.service), control: first(beside.control) }, stolen }
  }
  const others: Buffer[] = []
  for (let n = 0; n < 5; n++) others.push((await tenantOf()).request)
  await sendLoad(base, others, ORDINARY, { seconds: ORDINARY_S, most: 64 })
  await (await calm()).answers
  const rounds: Round[] = []
  while (rounds.length < ROUNDS) {
    rounds.push(await round())
    await new Promise((resolve) => setTimeout(resolve, REFILL_MS))
  }
  await stop()
  const figures = (process: keyof Calm) => {
    const all = (part: 'alone' | 'beside' | 'firstSecond'): number[] => rounds.flatMap((one) => ms(one[part][process]))
    return {
      alone_p50_ms: percentile(all('alone'), 0.5),
      alone_p99_ms: percentile(all('alone'), 0.99),
      beside_flood_p50_ms: percentile(all('beside'), 0.5),
      beside_flood_p99_ms: percentile(all('beside'), 0.99),
      first_second_p50_ms: percentile(all('firstSecond'), 0.5),
      first_second_max_ms: percentile(all('firstSecond'), 1),
    }
  }
  return {
    ...figures('service'),
    refused: rounds.flatMap(({ beside }) => beside.service).filter(({ status }) => status >= 400).length,
    control: figures('control'),
    rounds: rounds.map(({ alone, beside, stolen }) => ({
      alone_p99_ms: percentile(ms(alone.service), 0.99),
      beside_flood_p99_ms: percentile(ms(beside.service), 0.99),
      stolen_percent: stolen,
    })),
  }
}

const wanted = process.argv.slice(2)
const isWanted = (part: string): boolean => wanted.length === 0 || wanted.includes(part)
const { flood, ...pressed } = isWanted('pressed') ? await underPressure() : { flood: FLOOD }
const neighbour = {
  ...(isWanted('neighbour') && { limits_on: await besideFlood('on', flood) }),
  ...(isWanted('unlimited') && { limits_off: await besideFlood('off', flood) }),
}
console.log(JSON.stringify({ ...pressed, neighbour }, null, 2))
await database.stop()
process.exit(0)
