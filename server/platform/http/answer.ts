import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { isDatabaseUnavailable } from '../db/unavailable.ts'
import { type FieldError, Problem, problem, StoreUnavailable, statusOf } from '../errors.ts'
import { addVary, isSameEtag } from './encoding.ts'

/** A response as bytes, ready to be sent, stored for a repeated request, or compared. */
export type Answer = { status: number; headers: Record<string, string>; body: Buffer | null }

/**
 * Checks whether the value of an If-Match contains the ETag. Uses no regular expression: `\s*,\s*` takes seconds on ten
 * thousand spaces.
 */
export const listsEtag = (ifMatch: string, etag: string): boolean =>
  ifMatch.split(',').some((one) => isSameEtag(one.trim(), etag))

/**
 * Returns the tag of an If-None-Match that matches the ETag: any tag of the list, weak or not, or `*` (RFC 9110,
 * 13.1.2). Undefined if none matches.
 */
export function matchingTag(ifNoneMatch: string | undefined, etag: string): string | undefined {
  for (const one of ifNoneMatch?.split(',') ?? []) {
    const tag = one.trim()
    if (tag === '*') return etag
    const strong = tag.startsWith('W/') ? tag.slice(2) : tag
    if (isSameEtag(strong, etag)) return strong
  }
  return undefined
}

export const sendUnchanged = (reply: FastifyReply, etag: string): FastifyReply =>
  reply
    .code(304)
    .headers({ etag, vary: addVary(reply.getHeader('vary'), 'Accept-Encoding') })
    .send()

export const etagOf = (body: Buffer): string => `"${createHash('sha1').update(body).digest('base64url')}"`

export function problemAnswer(error: Problem, requestId: string): Answer {
  const status = statusOf(error.code)
  const body = {
    type: `urn:heddle:problem:${error.code}`,
    title: error.title,
    status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...errorsOf(error, status),
    ...(error.report && { report: error.report }),
  }
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
  }
  const retryAfterS = error.retryAfterS ?? (status === 503 || status === 429 ? 1 : undefined)
  if (retryAfterS !== undefined) headers['retry-after'] = String(retryAfterS)
  if (status === 401) headers['www-authenticate'] = error.challenge ?? 'Bearer'
  if (error.allow !== undefined) headers.allow = error.allow.join(', ')
  return { status, headers, body: Buffer.from(JSON.stringify(body)) }
}

/** A 422 always names what is wrong. The empty path means the whole body. */
function errorsOf({ errors, message }: Problem, status: number): { errors?: FieldError[] } {
  if (errors) return { errors }
  return status === 422 ? { errors: [{ path: '', message }] } : {}
}

/** Converts anything thrown to a problem. An unexpected error tells the caller only that the service failed. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || statusCode === 413)
    return problem('too_large', 'Send less, or raise the limit in the settings.')
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return problem('malformed', 'The body is shorter or longer than Content-Length says.')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || statusCode === 415) return problem('unsupported_media_type')
  if (code === 'FST_REQ_FILE_TOO_LARGE') return problem('too_large', 'The file is larger than the limit.')
  if (code === '53100' || code === 'ENOSPC')
    return problem('storage_full', 'The disk of the service is full.', { retryAfterS: 30 })
  if (code === '57014' || code === '55P03')
    return problem('unavailable', 'The database took too long. Try again.', { retryAfterS: 1, cause: error })
  if (code === '22P05' || code === '22021')
    return problem('invalid', 'A text contains a character that cannot be stored.')
  if (error instanceof StoreUnavailable)
    return problem('unavailable', 'The storage of the service does not answer. Try again in a moment.', {
      retryAfterS: 1,
      cause: error,
    })
  if (isDatabaseUnavailable(error))
    return problem('unavailable', 'The database does not answer. Try again in a moment.', {
      retryAfterS: 1,
      cause: error,
    })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return problem('malformed', 'The request could not be read.')
  return problem('internal', 'Try again. If the error continues, give the request id to the operator.', {
    cause: error,
  })
}

/** A small body is sent as text: Node.js then writes it with the headers in one piece, which takes 12 µs less. */
const SMALL_BYTES = 4096

export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  reply.code(status).headers(headers)
  if (body === null) return reply.send()
  return reply.send(body.length <= SMALL_BYTES ? body.toString() : body)
}
