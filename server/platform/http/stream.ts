import type { FastifyReply, FastifyRequest } from 'fastify'
import { SECOND } from '../clock.ts'
import { type Answer, problemAnswer, toProblem } from './answer.ts'

// An answer as a stream of server-sent events: frames as they come, and at last `done` with the answer that the route gives as
// JSON otherwise, or `error` with a problem. What is refused before the first frame is an ordinary answer.

export type EventStream = {
  /** The last frame that the client has, where it resumes. */
  readonly after: string | null
  send(event: string, data: unknown, id?: string): void
}

/** Proxies close connections on which nothing is sent. */
const SIGN_OF_LIFE_EVERY = 15 * SECOND
const MAX_ID_LENGTH = 100

export const wantsStream = ({ headers }: FastifyRequest): boolean =>
  /\btext\/event-stream\b/i.test(headers.accept ?? '')

export type OpenStream = EventStream & {
  isOpen(): boolean
  end(answer: Answer): void
  fail(error: unknown, requestId: string): void
}

export function makeEventStream(request: FastifyRequest, reply: FastifyReply, status: number): OpenStream {
  let opened = false
  let life: NodeJS.Timeout | undefined

  function open(): void {
    if (opened) return
    opened = true
    // Those of the request's origin were set before.
    const headers = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)
    reply.hijack()
    reply.raw.writeHead(status, {
      ...(Object.fromEntries(headers) as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    life = setInterval(() => reply.raw.write(': \n\n'), SIGN_OF_LIFE_EVERY)
    reply.raw.once('close', () => clearInterval(life))
  }

  /** JSON has no line breaks of its own, so one line holds it. */
  const write = (event: string, json: string, id?: string): void => {
    open()
    if (reply.raw.writable)
      reply.raw.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${json}\n\n`)
  }

  const finish = (event: string, { body }: Answer): void => {
    write(event, body?.toString() ?? 'null')
    clearInterval(life)
    reply.raw.end()
  }

  const after = request.headers['last-event-id']
  return {
    after: typeof after === 'string' && after.length <= MAX_ID_LENGTH ? after : null,
    send: (event, data, id) => write(event, JSON.stringify(data), id),
    isOpen: () => opened,
    end: (answer) => finish('done', answer),
    fail: (error, requestId) => finish('error', problemAnswer(toProblem(error), requestId)),
  }
}
