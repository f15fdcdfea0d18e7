import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { bearerOf } from './caller.ts'

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && isIP(address) !== 0 && /^(127\.|::1$|::ffff:127\.)/i.test(address)

/**
 * Headers that proxies add. A request through a proxy comes from elsewhere, regardless of the address of the last hop.
 */
const forwarding = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via']

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Checks the peer of the connection, never an address from a header. */
export function mayReadMetrics(token: string | null, request: FastifyRequest): boolean {
  const shown = bearerOf(request)
  if (token !== null && shown !== undefined && timingSafeEqual(digest(shown), digest(token))) return true
  return (
    isLoopback(request.raw.socket.remoteAddress) && forwarding.every((header) => request.headers[header] === undefined)
  )
}
