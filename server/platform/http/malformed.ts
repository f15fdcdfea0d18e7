import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Problem, problem } from '../errors.ts'
import { newId } from '../ids.ts'
import { problemAnswer, sendAnswer } from './answer.ts'
import { secureHeaders } from './security.ts'

// Invalid requests that the parser or the router rejects. They are refused in the same format as all others.

const problemOf = (code: string | undefined): Problem => {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers_too_large', 'Send fewer or shorter header fields, or a shorter address.')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return problem('too_large', 'Leave the chunk extensions out.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request_timeout', 'Send the request faster: it took too long to arrive.')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return problem('address_too_long', 'A part of the address is longer than any id or name.')
    case 'FST_ERR_BAD_URL':
      return problem('malformed', 'The address contains an escape sequence that is not valid.')
    default:
      return problem('malformed', 'The request is not valid HTTP.')
  }
}

/** Refuses bytes that the parser cannot read. The connection cannot be used any longer. */
export function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  // Node keeps the current response here. Once it has started, no other response can follow.
  const { _httpMessage: begun } = socket as Socket & { _httpMessage?: ServerResponse | null }
  if (error.code === 'ECONNRESET' || !socket.writable || begun?.headersSent) {
    socket.destroy(error)
    return
  }
  const id = newId()
  const { status, headers, body } = problemAnswer(problemOf(error.code), id)
  const fields = {
    ...secureHeaders,
    ...headers,
    'x-request-id': id,
    'content-length': body!.length,
    connection: 'close',
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`, () => socket.destroy())
}

/** Refuses an address that the router cannot read. No hook has run for the request. */
export function refuseAddress(error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(secureHeaders)
  reply.header('x-request-id', request.id)
  sendAnswer(reply, problemAnswer(problemOf(error.code), request.id))
}
