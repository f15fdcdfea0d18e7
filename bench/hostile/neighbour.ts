import { fork } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { percentile } from '../database.ts'

// The other tenant, in a separate process: requests its own account, runs a workflow of one node, and requests the
// health status, in turn and at a steady rate, without waiting for earlier responses.

const EVERY_MS = 25

export type NeighbourFigures = {
  asked: number
  p50_ms: number
  p99_ms: number
  slowest_ms: number
  run_p99_ms: number
  health_ms: number
  refused: number
}

type NeighbourTimes = { me: number[]; run: number[]; health: number[]; refused: number }

if (import.meta.main) await watch(process.argv[2]!, process.argv[3]!, process.argv[4]!)

async function watch(base: string, key: string, workflowId: string): Promise<void> {
  const times: NeighbourTimes = { me: [], run: [], health: [], refused: 0 }
  const under = new Set<Promise<void>>()
  const ask = (into: number[], path: string, method = 'GET'): void => {
    const from = performance.now()
    const asked = fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{}' }),
    })
      .then(async (answer) => {
        await answer.arrayBuffer()
        if (answer.status >= 300) times.refused += 1
      })
      .catch(() => {
        times.refused += 1
      })
      .finally(() => {
        into.push(performance.now() - from)
        under.delete(asked)
      })
    under.add(asked)
  }
  // Warms up connections, compiled code and query plans before the measurement.
  for (let n = 0; n < 20; n += 1) {
    ask([], '/auth/me')
    ask([], `/api/workflows/${workflowId}/run?wait_s=20`, 'POST')
    await Promise.all(under)
  }
  times.refused = 0
  process.send!('ready')
  let n = 0
  const timer = setInterval(() => {
    n += 1
    if (n % 4 === 0) ask(times.health, '/healthz')
    else if (n % 4 === 2) ask(times.run, `/api/workflows/${workflowId}/run?wait_s=20`, 'POST')
    else ask(times.me, '/auth/me')
  }, EVERY_MS)
  process.once('message', async () => {
    clearInterval(timer)
    await Promise.all(under)
    process.send!(times, () => process.disconnect())
  })
}

/** Resolves when the neighbour has started; `stop` waits for outstanding responses. */
export async function watchNeighbour(
  base: string,
  key: string,
  workflowId: string,
): Promise<{ stop(): Promise<NeighbourFigures> }> {
  const child = fork(import.meta.filename, [base, key, workflowId])
  const message = () => new Promise<unknown>((resolve) => child.once('message', resolve))
  await message()
  return {
    async stop() {
      const answer = message()
      child.send('stop')
      const { me, run, health, refused } = (await answer) as NeighbourTimes
      const ms = (values: number[], p: number): number => Math.round(percentile(values, p))
      return {
        asked: me.length,
        p50_ms: ms(me, 50),
        p99_ms: ms(me, 99),
        slowest_ms: ms(me, 100),
        run_p99_ms: ms(run, 99),
        health_ms: ms(health, 100),
        refused,
      }
    },
  }
}

/** Returns the maximum memory in megabytes since this call (Linux has a high-water mark that can be reset). */
export function peakMemory(pid: number): { mb(): number } {
  const marks = `/proc/${pid}/clear_refs`
  if (existsSync(marks)) writeFileSync(marks, '5')
  return {
    mb: () => {
      const path = `/proc/${pid}/status`
      if (!existsSync(path)) return Number.NaN
      return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(path, 'utf8'))?.[1]) / 1024)
    },
  }
}
