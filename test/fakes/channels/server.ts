import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

// The common part of the vendors' servers: they store the messages, and can be busy or broken for a while.

export type Call = { method: string; path: string; headers: Record<string, string>; body: Buffer }
export type Reply = { status: number; body: unknown; headers?: Record<string, string> }
export type Sent = {
  to: string
  text: string
  thread?: string | undefined
  key?: string | undefined
  /** The buttons under the message: the value of each button by its label. */
  buttons?: Record<string, string>
  /** The id of the message that this message replaces. */
  instead?: string
}

/** `hang up`: the request has no effect. `take and hang up`: the request has its effect, and the response is lost. */
export type Plan = Reply | 'hang up' | 'take and hang up'

export type FakeVendor = {
  base: string
  /** The messages that people would see, in order. */
  sent: Sent[]
  /** Requests that the vendor refused as invalid, with the reason. */
  refused: string[]
  /**
   * Sets the replies to the next requests, regardless of their content. A request waits for a reply that is a promise.
   */
  next(...replies: (Plan | Promise<Plan>)[]): void
  close(): Promise<void>
}

/** Files that vendors store, by name. */
export const keptFiles: Record<string, string> = { orders: 'sku,count\nA,2\nB,3\n' }

export async function startVendor(
  answer: (call: Call, keep: (sent: Sent) => void) => Reply | Promise<Reply>,
): Promise<FakeVendor> {
  const sent: Sent[] = []
  const refused: string[] = []
  const planned: (Plan | Promise<Plan>)[] = []
  const server = createServer(async (request, response) => {
    const call: Call = {
      method: request.method!,
      path: request.url!,
      headers: request.headers as Record<string, string>,
      body: await bodyOf(request),
    }
    const plan = await planned.shift()
    if (plan === 'hang up' || plan === 'take and hang up') {
      if (plan === 'take and hang up') await answer(call, (message) => sent.push(message))
      request.socket.destroy()
      return
    }
    const reply = plan ?? (await answer(call, (message) => sent.push(message)))
    if (!plan && reply.status >= 400) refused.push(JSON.stringify(reply.body))
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    refused,
    next: (...replies) => planned.push(...replies),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

export const jsonOf = (call: Call): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(call.body.toString()) as Record<string, unknown>
  } catch {
    return undefined
  }
}
