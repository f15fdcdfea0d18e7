import { once } from 'node:events'
import { connect } from 'node:net'

// Generates load over raw sockets, open loop: requests are prepared in advance and sent at their time, without waiting
// for earlier responses.

/** Status 0: the connection was lost. `at`: the time of the response, on the clock of the requesting process. */
export type Answer = { status: number; ms: number; at: number; retryAfterS: number }

export type Connection = ReturnType<typeof openConnection>

/** Opens one connection with requests in flight, which are answered in order. */
export function openConnection(base: URL, onAnswer: () => void = () => {}) {
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

export const requestOf = (method: string, url: string, token: string, body = ''): Buffer => {
  const { host, pathname } = new URL(url)
  return Buffer.from(
    `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}

export const percentile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1))
}

export type Clients = { seconds: number; most: number; openBefore?: number; obedient?: boolean }

/**
 * Sends `rate` requests per second, each over a free connection, until the time is over; then waits for the responses.
 * While all clients wait for a response, no request is sent. An obedient client that is refused waits as long as the
 * response says.
 */
export async function sendLoad(
  base: URL,
  requests: Buffer[],
  rate: number,
  { seconds, most, openBefore = 0, obedient = false }: Clients,
  onBegun: () => void = () => {},
): Promise<Answer[]> {
  const lines: Connection[] = []
  const free: Connection[] = []
  const openAnother = (): Connection => {
    const line: Connection = openConnection(base, () => {
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
  onBegun()
  let sent = 0
  for (;;) {
    const elapsed = (performance.now() - begun) / 1000
    if (elapsed > seconds) break
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
