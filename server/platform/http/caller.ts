import type { FastifyRequest } from 'fastify'
import { hasScope, requireScope } from '../access/scopes.ts'
import { SESSION_COOKIE } from '../auth/identify.ts'
import { problem } from '../errors.ts'
import type { Identity } from './context.ts'
import type { Kernel } from './kernel-parts.ts'
import { parametersOf, parseParameters } from './parameters.ts'
import { type AnyRoute, isOneTransaction } from './route.ts'

const unsafe = (method: string): boolean => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

/**
 * Identifies the caller before the body is read, so that 401 comes first. A known caller is taken from memory, and the
 * route's transaction checks whether the identity is still valid. This saves a round trip to the database.
 */
export async function identify(
  kernel: Kernel,
  route: AnyRoute,
  request: FastifyRequest,
  { afresh = !isOneTransaction(route) } = {},
): Promise<Identity> {
  if (route.access.word === 'token') {
    const find = kernel.tokens[route.access.scope]
    if (!find) throw new Error(`nothing identifies the tokens of a ${route.access.scope}`)
    return find(request, wellFormedOf(route.path, request))
  }
  const bearer = bearerOf(request)
  // A page of another origin can make the browser send the cookie, but does not act for the person. Its changes are
  // refused below.
  const { origin } = request.headers
  const isForeign = origin !== undefined && !unsafe(route.method) && !isOwnOrigin(origin, request, kernel.baseUrl())
  const session = isForeign ? undefined : request.cookies[SESSION_COOKIE]
  const workspaceHeader = request.headers['x-workspace-id']
  const credentials = {
    host: request.host,
    bearer,
    session,
    workspaceHeader: typeof workspaceHeader === 'string' ? workspaceHeader : undefined,
  }
  const { identifier } = kernel
  const identity =
    (afresh ? undefined : await identifier.remember(credentials)) ?? (await identifier.identify(credentials))
  if (route.access.word !== 'anyone' && identity.person === null)
    throw problem('unauthenticated', 'Sign in, or send a valid API key.', challengeOf(route, request, kernel.baseUrl()))
  // A key that was deleted in the meantime is 401, regardless of its scopes.
  if (identity.stillHolds && !hasScope(identity.credential, route.scope))
    return identify(kernel, route, request, { afresh: true })
  requireScope(identity.credential, route.scope)
  if (identity.factorMissing && isInSelected(route)) throw secondFactorMissing()
  if (identity.credential.kind === 'session' && unsafe(route.method)) refuseForeignOrigin(request, kernel.baseUrl())
  return identity
}

/** Callers under the hosts of other organisations get no challenge: it describes only the service's own address. */
const challengeOf = ({ challenge }: AnyRoute, request: FastifyRequest, baseUrl: string) =>
  challenge && request.host.toLowerCase() === new URL(baseUrl).host ? { challenge: challenge(baseUrl) } : {}

/** Routes that name their workspace are checked for that workspace, with the caller's level in it. */
const isInSelected = ({ access, path }: AnyRoute): boolean =>
  access.word === 'role' && !(access.of === 'workspace' && path.includes('/:workspace_id'))

export const secondFactorMissing = () =>
  problem(
    'second_factor_required',
    'Set up an authenticator app or a passkey for your account (POST /auth/second-factor/totp), then try again.',
  )

/** Ignores ill-formed ids until the token has been checked: 401 comes before 404. */
function wellFormedOf(path: string, request: FastifyRequest): Record<string, string> {
  try {
    return parametersOf(path, request)
  } catch {
    return Object.assign(
      {},
      ...Object.entries(request.params as Record<string, string>).map(([name, text]) => {
        try {
          return parseParameters(path, { [name]: text })
        } catch {
          return {}
        }
      }),
    )
  }
}

export function bearerOf(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization
  return header === undefined ? undefined : (/^Bearer +(\S+) *$/i.exec(header)?.[1] ?? '')
}

/** Returns the credential of the request, without looking it up. */
export const credentialOf = (request: FastifyRequest): string | undefined =>
  request.headers.authorization ?? request.cookies[SESSION_COOKIE]

/** Refuses requests from pages of other sites before anything is done, because browsers send the cookie with them. */
export function refuseForeignOrigin(request: FastifyRequest, baseUrl: string): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  if ((origin !== undefined && !isOwnOrigin(origin, request, baseUrl)) || site === 'cross-site')
    throw problem('foreign_origin', 'Call the service from its own pages, or use an API key.')
}

/**
 * The scheme that browsers use is known only for the service's own address. Under other hosts, a proxy may add the
 * encryption.
 */
function isOwnOrigin(text: string, request: FastifyRequest, baseUrl: string): boolean {
  if (!URL.canParse(text)) return false
  const { host, origin } = new URL(text)
  const base = new URL(baseUrl)
  return host === request.host.toLowerCase() && (host !== base.host || origin === base.origin)
}
