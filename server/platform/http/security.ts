import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'

/** On every answer of the API. Pages that need scripts set a policy of their own. */
export const secureHeaders: Record<string, string> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'geolocation=(), camera=()',
}

const HSTS = { 'strict-transport-security': 'max-age=31536000' }

/**
 * Where people come by TLS, browsers are told to come by nothing else for a year. Known from the configured address, or from
 * the connection itself (a trusted proxy says so for it). Subdomains are the operator's own business.
 */
export const transportHeaders = (
  config: Pick<Config, 'HEDDLE_BASE_URL'>,
  { protocol }: Pick<FastifyRequest, 'protocol'>,
): Record<string, string> => (protocol === 'https' || config.HEDDLE_BASE_URL?.startsWith('https://') ? HSTS : NONE)

const NONE = {}
