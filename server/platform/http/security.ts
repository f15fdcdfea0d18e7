import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'

/** Headers of every API response. Pages that need scripts set their own policy. */
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
 * If the service is reached over TLS, tells browsers to use only TLS for a year. This is known from the configured
 * address, or from the connection (a trusted proxy reports it). Subdomains are up to the operator.
 */
export const transportHeaders = (
  config: Pick<Config, 'HEDDLE_BASE_URL'>,
  { protocol }: Pick<FastifyRequest, 'protocol'>,
): Record<string, string> => (protocol === 'https' || config.HEDDLE_BASE_URL?.startsWith('https://') ? HSTS : NONE)

const NONE = {}
