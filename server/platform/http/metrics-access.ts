import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { bearerOf } from './caller.ts'

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && isIP(address) !== 0 && /^(127\.|::1$|::ffff:127\.)/i.test(address)

/** What proxies add. A request that went through one comes from somewhere else, whatever address the last hop has. */
const forwarding = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via']

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The peer of the connection counts, never an address that a header names. */
export function mayReadMetrics(token: string | null, request: FastifyRequest): boolean {
  const shown = bearerOf(request)
  if (token !== null && shown !== undefined && timingSafeEqual(digest(shown), digest(token))) return true
  return (
    isLoopback(request.raw.socket.remoteAddress) && forwarding.every((header) => request.headers[header] === undefined)
  )
}
