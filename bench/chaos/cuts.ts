import { once } from 'node:events'
import { setTimeout as after } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { WebSocket } from 'ws'
import { SECOND } from '#platform/clock'
import { openPool, startBenchDatabase } from '../database.ts'
import { makeBenchPerson, post } from '../world.ts'
import { makeFleet } from './fleet.ts'
import { randomFrom } from './random.ts'

// Clients watch executions while their sockets are cut at random moments and the servers and workers are killed. Each
// client reconnects with the number of the last frame it received. The received frames must equal the journal in the
// end.

export type CutPlan = {
  seed: number
  cuts: number
  /** The number of kills, spread over the cuts: alternately the process with the sockets, and one of two workers. */
  kills: number
  watchers: number
  say?(line: string): void
}

export type CutOutcome = {
  seed: number
  cuts: number
  kills: { servers: number; workers: number }
  executions: number
  frames: number
  violations: string[]
}

type Frame = { seq: number; type: string; data: unknown }

const STEPS = 40
const PATIENCE = 60 * SECOND
const ENDS = /^execution\.(succeeded|failed|cancelled|timed_out)$/

/** Alternates waits that park the execution with steps that do not. */
const definition = {
  nodes: Array.from({ length: STEPS }, (_, n) =>
    n % 3 === 0
      ? { id: `n${n}`, type: 'wait', args: { for_s: 0.02 } }
      : { id: `n${n}`, type: n % 3 === 1 ? 'set' : 'echo', args: { [n % 3 === 1 ? 'values' : 'value']: { n } } },
  ),
  edges: Array.from({ length: STEPS - 1 }, (_, n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` })),
}

export async function runCuts(plan: CutPlan): Promise<CutOutcome> {
  const random = randomFrom(plan.seed)
  const database = await startBenchDatabase()
  const fleet = makeFleet({ database, env: {} })
  const journal = openPool({ connectionString: database.urls.owner, max: 2 })
  const done = { cuts: 0, servers: 0, workers: 0, executions: 0, frames: 0 }
  const violations: string[] = []
  const enough = (): boolean => done.cuts >= plan.cuts && done.servers + done.workers >= plan.kills

  /** Repeats a request to the current server, because the server may be dead at this moment. */
  const ask = async (path: string, body: unknown, key: string): Promise<Record<string, string>> => {
    for (const until = performance.now() + PATIENCE; ; ) {
      try {
        return await post(fleet.api().base, path, key, body)
      } catch (error) {
        if (performance.now() > until) throw error
        await after(25)
      }
    }
  }

  async function watchOnce(execution: string, from: number | undefined, key: string): Promise<Frame[]> {
    const { ticket, url } = await ask(`/auth/workflow-ticket/${execution}`, {}, key)
    const address = from === undefined ? url! : `${url}?after=${from}`
    const socket = new WebSocket(address, ['heddle.v1', `ticket.${ticket}`])
    const frames: Frame[] = []
    const most = Math.floor(random() * 6)
    const cutAfter = random() < 0.5 ? random() * 40 : 2000
    socket.on('error', () => {})
    socket.on('message', (data) => {
      frames.push(JSON.parse(data.toString()) as Frame)
      if (frames.length > most) socket.terminate()
    })
    const timer = setTimeout(() => socket.terminate(), cutAfter)
    await once(socket, 'close').catch(() => {})
    clearTimeout(timer)
    done.cuts += 1
    return frames
  }

  async function watch(key: string, workflow: string): Promise<void> {
    const { execution_id } = await ask(`/api/workflows/${workflow}/run`, {}, key)
    let seen: Frame[] = []
    for (let ended = false; !ended; ) {
      // Occasionally a client forgets its position and starts with a snapshot.
      const fresh = seen.length > 0 && random() < 0.02
      const last = fresh ? undefined : (seen.at(-1)?.seq ?? 0)
      const frames = await watchOnce(execution_id!, last, key)
      if (fresh && frames.length > 0) seen = []
      seen.push(...frames)
      const snapshot = frames.find(({ type }) => type === 'snapshot')?.data as { finished_at: string } | undefined
      ended = Boolean(snapshot?.finished_at) || frames.some(({ type }) => ENDS.test(type))
    }
    done.executions += 1
    done.frames += seen.length
    const begins = seen[0]?.type === 'snapshot' ? seen.shift()!.seq : 0
    const { rows } = await journal.query<Frame>(
      `select e.seq, e.type, e.data from journal e join executions x using (workspace_id, execution_id)
       where typeid('exe', e.execution_id) = $1 and e.seq > $2 order by e.seq`,
      [execution_id, begins],
    )
    const plain = (frames: Frame[]) => frames.map(({ seq, type, data }) => ({ seq, type, data }))
    if (!isDeepStrictEqual(plain(seen), plain(rows)))
      violations.push(
        `${execution_id}: saw ${seen.map(({ seq }) => seq)}, its journal is ${rows.map(({ seq }) => seq)}`,
      )
  }

  async function kill(): Promise<void> {
    const server = (done.servers + done.workers) % 2 === 0
    const [victim] = server ? [fleet.api()] : fleet.workers()
    await fleet.kill(victim!)
    if (server) done.servers += 1
    else done.workers += 1
    plan.say?.(`${server ? 'the server' : 'a worker'} killed after ${done.cuts} cuts`)
    await fleet.start(server ? 'api' : 'worker')
  }

  try {
    const { key } = await makeBenchPerson(database)
    await Promise.all([fleet.start('api'), fleet.start('worker'), fleet.start('worker')])
    const { workflow_id } = await ask('/api/workflows', { name: 'Watched', definition }, key)
    const watching = Array.from({ length: plan.watchers }, async () => {
      while (!enough()) await watch(key, workflow_id!)
    })
    const killing = (async () => {
      for (let n = 0; n < plan.kills; n += 1) {
        while (done.cuts < (plan.cuts / (plan.kills + 1)) * (n + 1)) await after(20)
        await kill()
      }
    })()
    await Promise.all([...watching, killing])
  } finally {
    await fleet.stop()
    await journal.end()
    await database.stop()
  }
  const { cuts, executions, frames, servers, workers } = done
  return { seed: plan.seed, cuts, kills: { servers, workers }, executions, frames, violations }
}
