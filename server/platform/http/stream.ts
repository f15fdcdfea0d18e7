import type { FastifyReply, FastifyRequest } from 'fastify'
import { SECOND } from '../clock.ts'
import { type Answer, problemAnswer, toProblem } from './answer.ts'

// A response as a stream of server-sent events: frames as they are produced, then `done` with the response that the
// route otherwise returns as JSON, or `error` with a problem. A refusal before the first frame is an ordinary response.

export type EventStream = {
  /** The id of the last frame that the client received, if it resumes. */
  readonly after: string | null
  send(event: string, data: unknown, id?: string): void
}

/** The interval of keep-alive comments, because proxies close idle connections. */
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
    // Headers such as those for the origin were set before.
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

  /** JSON contains no raw line breaks, so it fits into one data line. */
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
