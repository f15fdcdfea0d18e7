import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The external provider of a test scenario: supports Idempotency-Key and counts requests. The requests that arrive here
// are the actual effects of executions, independent of the journal.

export type Effects = {
  base: string
  /** By key: the number of requests, and the different bodies. All repetitions must have the same body. */
  arrived: Map<string, { times: number; bodies: Set<string> }>
  /** Holds all responses until the returned function is called. */
  hold(): () => void
  held(): number
  stop(): Promise<void>
}

const SLOWEST_MS = 30

export async function startEffects(random: () => number): Promise<Effects> {
  const arrived: Effects['arrived'] = new Map()
  let held: (() => void)[] | undefined
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const key = String(request.headers['idempotency-key'])
      const seen = arrived.get(key) ?? { times: 0, bodies: new Set<string>() }
      arrived.set(key, { times: seen.times + 1, bodies: seen.bodies.add(body) })
      const answer = (): void => {
        response.setHeader('content-type', 'application/json')
        response.end('{"ok":true}')
      }
      if (held && seen.times === 0) held.push(answer)
      // Responses have a random delay, so that at any moment some executions are in the middle of a node.
      else setTimeout(answer, random() * SLOWEST_MS)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    hold: () => {
      const waiting: (() => void)[] = []
      held = waiting
      return () => {
        held = undefined
        for (const answer of waiting) answer()
      }
    },
    held: () => held?.length ?? 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
