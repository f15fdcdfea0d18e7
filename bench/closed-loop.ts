import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Connection, openConnection, percentile, requestOf } from './open-loop.ts'

// Generates load over raw sockets, closed loop: each connection sends the next request when the last one is answered.
// The load comes from a thread of its own, so that it uses another core than the benchmark. (autocannon looks only once
// a second whether all requests are answered, which made a round of four seconds up to a fifth longer.)

export type ClosedLoad = { url: string; token: string; body: string; connections: number; amount: number }
/** The times are on the clock of the machine: from the first request to the last response. */
export type ClosedResult = { begunAt: number; endedAt: number; p99_ms: number }

/** Resolves when all requests are answered with 202. Rejects if one is not. */
export async function sendClosedLoad(load: ClosedLoad): Promise<ClosedResult> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load })
  const { odd, ...result } = await new Promise<ClosedResult & { odd?: number }>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject)
  })
  if (odd !== undefined) throw new Error(`status ${odd}`)
  return result
}

export const now = (): number => performance.timeOrigin + performance.now()

async function send({ url, token, body, connections, amount }: ClosedLoad): Promise<ClosedResult & { odd?: number }> {
  const request = requestOf('POST', url, token, body)
  let left = amount
  const lines: Connection[] = []
  const ended = new Promise<void>((resolve) => {
    const next = (line: Connection): void => {
      left -= 1
      line.send(request)
    }
    for (let n = 0; n < connections; n += 1) {
      const line: Connection = openConnection(new URL(url), () => {
        if (left > 0) next(line)
        else if (lines.every(({ waiting }) => waiting() === 0)) resolve()
      })
      lines.push(line)
    }
    void Promise.all(lines.map(({ opened }) => opened)).then(() => lines.forEach(next))
  })
  const begunAt = now()
  await ended
  const answers = lines.flatMap((line) => line.answers)
  for (const line of lines) line.close()
  const odd = answers.find(({ status }) => status !== 202)?.status
  const took = answers.map(({ ms }) => ms)
  return { begunAt, endedAt: now(), p99_ms: percentile(took, 0.99), ...(odd !== undefined && { odd }) }
}

if (!isMainThread) parentPort!.postMessage(await send(workerData as ClosedLoad))
