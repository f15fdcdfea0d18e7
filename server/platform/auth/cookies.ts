import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { SESSION_COOKIE } from './identify.ts'

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i

/**
 * Checks the configured base URL if there is one: behind a proxy, the Host header may be a loopback name that the
 * browser did not use.
 */
function isLoopback(config: Config, request: FastifyRequest): boolean {
  if (config.HEDDLE_BASE_URL !== null) return loopback.test(new URL(config.HEDDLE_BASE_URL).hostname)
  return request.protocol === 'http' && loopback.test(request.hostname)
}

export type CookieOptions = { config: Config; request: FastifyRequest; path?: string; maxAgeS: number }

function cookieText(name: string, value: string, { config, request, path = '/', maxAgeS }: CookieOptions): string {
  const secure = isLoopback(config, request) ? '' : '; Secure'
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure}`
}

export const sessionCookie = (token: string, options: CookieOptions): string =>
  cookieText(SESSION_COOKIE, token, options)

export const noSessionCookie = (options: Omit<CookieOptions, 'maxAgeS'>): string =>
  cookieText(SESSION_COOKIE, '', { ...options, maxAgeS: 0 })

export const namedCookie = cookieText
