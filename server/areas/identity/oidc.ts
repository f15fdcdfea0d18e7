import { recordAudit } from '#platform/audit'
import { namedCookie } from '#platform/auth/cookies'
import { enterScope, requireUnbound } from '#platform/auth/scope'
import { MINUTE, SECOND } from '#platform/clock'
import type { Config, OidcProvider } from '#platform/config'
import { isUniqueViolation, type Tx } from '#platform/db/pool'
import { isProblem, problem } from '#platform/errors'
import { type Context, type Person, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { hashSecret, toWire } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import { isInvited } from './invitations-store.ts'
import { orgBaseUrl } from './links.ts'
import { newAttempt, type OidcClient, type Profile } from './oidc-client.ts'
import * as oidcStore from './oidc-store.ts'
import { insertPerson, type People, settlePerson } from './people.ts'
import { beginSecondFactor } from './second-factor.ts'
import { enterAs } from './sessions.ts'
import * as store from './store.ts'

// Sign-in with an OpenID provider. A provider that claims the address of an existing account does not get access to it.
// Sign-up does not prove addresses, so an attacker could have created the account in advance. The person signs in and
// links the provider.

const COOKIE = 'heddle_oidc'
const COOKIE_PATH = '/auth/oidc'
const LIFETIME_S = (10 * MINUTE) / SECOND
const nobody = { workspaceId: null, userId: null }

type ByProvider = { provider: string }
type Finished = { cookies: string[]; challenge?: string }

type Deps = { config: Config; client: OidcClient; people: People }

const providerOf = ({ client }: Deps, id: string): OidcProvider => {
  const provider = client.find(id)
  if (!provider) throw problem('not_found')
  return provider
}

const callbackOf = async (ctx: Context, provider: OidcProvider): Promise<string> =>
  `${await ctx.db.tenant(nobody, (tx) => orgBaseUrl(ctx, tx))}/auth/oidc/${provider.id}/callback`

const cookieOf = ({ config }: Deps, exchange: Exchange, value: string, maxAgeS: number): string =>
  namedCookie(COOKIE, value, { config, request: exchange.request, path: COOKIE_PATH, maxAgeS })

/** Returns the address for the redirect, and the cookie that the browser must return with. */
const begin = async (
  deps: Deps,
  ctx: Context,
  exchange: Exchange,
  provider: OidcProvider,
  more: { linkUserId: string | null; returnTo: string },
): Promise<{ url: string; cookie: string }> => {
  const attempt = newAttempt()
  const url = await deps.client.authorizationUrl(provider, await callbackOf(ctx, provider), attempt)
  await ctx.db.tenant(nobody, (tx) =>
    oidcStore.insertAttempt(tx, {
      state_hash: hashSecret(attempt.state),
      browser_hash: hashSecret(attempt.secret),
      org_id: ctx.org.org_id,
      provider: provider.id,
      link_user_id: more.linkUserId,
      return_to: more.returnTo,
      lifetime_s: LIFETIME_S,
    }),
  )
  return { url, cookie: cookieOf(deps, exchange, attempt.secret, LIFETIME_S) }
}

const newPerson = async ({ config, people }: Deps, ctx: Context, tx: Tx, profile: Profile): Promise<Person> => {
  const { email, name } = profile
  if (email === null) throw problem('sign_in_failed', 'The provider sent no e-mail address.')
  if (people.reserved.has(email))
    throw problem('address_reserved', 'Sign up with the claim_token, then link the provider.')
  const account = { email, name, passwordHash: null, isVerified: profile.emailVerified }
  if (config.HEDDLE_SIGN_UP === 'open') return people.personOf(ctx, (await settlePerson(ctx, tx, account)).user)
  if (!profile.emailVerified || !(await isInvited(tx, ctx.org.org_id, email))) throw problem('sign_up_closed')
  return people.personOf(ctx, await insertPerson(ctx, tx, account))
}

const remember = async (ctx: Context, tx: Tx, person: Person, { issuer, subject }: Profile): Promise<void> => {
  await enterScope(tx, { workspaceId: null, userId: person.user_id })
  try {
    await oidcStore.insertIdentity(tx, { org_id: ctx.org.org_id, issuer, subject, user_id: person.user_id })
  } catch (error) {
    if (isUniqueViolation(error)) throw problem('already_exists', 'This identity belongs to another account.')
    throw error
  }
  await recordAudit({ maybePerson: person, maybeWorkspace: null, address: ctx.address, request: ctx }, tx, {
    action: 'oidc.linked',
    subject: toWire('usr', person.user_id),
    data: { issuer },
  })
}

/** Returns the cookies of a person with a confirmed profile, or the challenge of the second factor. */
const finish = (
  deps: Deps,
  ctx: Context,
  exchange: Exchange,
  profile: Profile,
  linkUserId: string | null,
): Promise<Finished> =>
  ctx.db.tenant(nobody, async (tx) => {
    const known = await oidcStore.findByIdentity(tx, ctx.org.org_id, profile.issuer, profile.subject)
    if (linkUserId !== null) {
      if (ctx.maybePerson?.user_id !== linkUserId) throw problem('sign_in_failed', 'Sign in and link again.')
      if (known?.user_id !== linkUserId) await remember(ctx, tx, ctx.person, profile)
      return { cookies: [] }
    }
    const person = known ? deps.people.personOf(ctx, known) : await newPerson(deps, ctx, tx, profile)
    if (!known) await remember(ctx, tx, person, profile)
    const second = await beginSecondFactor(ctx, tx, person.user_id)
    if (second) return { cookies: [], challenge: second.challenge }
    return { cookies: [(await enterAs(ctx, tx, exchange, person, 'session.started_oidc')).cookie] }
  })

const callback = async (deps: Deps, ctx: Context, input: ByProvider & { state?: string }, exchange: Exchange) => {
  const provider = providerOf(deps, input.provider)
  const attempt = { state: input.state ?? '', secret: exchange.request.cookies[COOKIE] ?? '' }
  const taken = await ctx.db.tenant(nobody, (tx) =>
    oidcStore.takeAttempt(tx, {
      state_hash: hashSecret(attempt.state),
      browser_hash: hashSecret(attempt.secret),
      org_id: ctx.org.org_id,
      provider: provider.id,
    }),
  )
  if (!taken)
    throw problem(
      'sign_in_failed',
      'This sign-in was started in another browser, was already used, or took too long. Start again.',
    )
  const address = new URL(await callbackOf(ctx, provider))
  address.search = new URL(exchange.request.url, address).search
  const profile = await deps.client.redeem(provider, address, attempt)
  const { cookies, challenge } = await finish(deps, ctx, exchange, profile, taken.link_user_id)
  // In the fragment, because neither servers nor logs see it.
  const secondStep = `/sign-in?return_to=${encodeURIComponent(taken.return_to)}#challenge=${challenge}`
  return { cookies, returnTo: challenge === undefined ? taken.return_to : secondStep }
}

export async function listOidcProviders({ config }: Deps, ctx: Context) {
  const linked = ctx.maybePerson ? await oidcStore.listIssuers(ctx.tx, ctx.person.user_id) : []
  return {
    items: config.HEDDLE_OIDC.map(({ id, title, issuer }) => ({
      provider: id,
      title,
      start_url: `/auth/oidc/${id}/start`,
      linked: linked.includes(issuer),
    })),
  }
}

export async function startOidc(
  deps: Deps,
  ctx: Context,
  input: ByProvider & { return_to: string },
  exchange: Exchange,
): Promise<void> {
  const { url, cookie } = await begin(deps, ctx, exchange, providerOf(deps, input.provider), {
    linkUserId: null,
    returnTo: input.return_to,
  })
  exchange.reply.header('set-cookie', cookie).header('cache-control', 'no-store').redirect(url, 302)
}

/** A browser is redirected to the console in both cases. A program gets the refusal itself. */
export async function finishOidc(
  deps: Deps,
  ctx: Context,
  input: ByProvider & { state?: string },
  exchange: Exchange,
): Promise<void> {
  const { request, reply } = exchange
  reply.header('cache-control', 'no-store')
  const forget = cookieOf(deps, exchange, '', 0)
  try {
    const { cookies, returnTo } = await callback(deps, ctx, input, exchange)
    reply.header('set-cookie', [...cookies, forget]).redirect(returnTo, 302)
  } catch (error) {
    reply.header('set-cookie', [forget])
    if (!isProblem(error) || !request.headers.accept?.includes('text/html')) throw error
    reply.redirect(`/sign-in?error=${error.code}`, 302)
  }
}

export async function findProvider(deps: Deps, _ctx: Context, { provider }: ByProvider): Promise<void> {
  providerOf(deps, provider)
}

/**
 * Called by POST from the service's own pages, because a link on another site must not connect another identity to this
 * account.
 */
export async function linkOidc(
  deps: Deps,
  ctx: Context,
  input: ByProvider & { return_to?: string | undefined },
  exchange: Exchange,
) {
  if (ctx.credential.kind !== 'session') throw problem('conflict', 'Sign in with a browser to link a provider.')
  const { url, cookie } = await begin(deps, ctx, exchange, providerOf(deps, input.provider), {
    linkUserId: ctx.person.user_id,
    returnTo: input.return_to ?? '/',
  })
  ctx.header('set-cookie', cookie)
  return { url }
}

export async function unlinkOidc(deps: Deps, ctx: Context, input: ByProvider): Promise<void> {
  requireUnbound(ctx)
  const { issuer } = providerOf(deps, input.provider)
  await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    if ((await oidcStore.deleteIdentities(tx, ctx.person.user_id, issuer)) === 0) throw problem('not_found')
    const left = await oidcStore.listIssuers(tx, ctx.person.user_id)
    const known = await store.credentialsOf(tx, ctx.org.org_id, ctx.person.email)
    if (left.length === 0 && known?.password_hash === null)
      throw problem('conflict', 'This is your only way to sign in.')
    await recordAudit(ctx, tx, {
      action: 'oidc.unlinked',
      subject: toWire('usr', ctx.person.user_id),
      workspaceId: null,
      data: { issuer },
    })
  })
}

const verbsOfOidc = {
  listOidcProviders,
  startOidc,
  finishOidc,
  findProvider,
  linkOidc,
  unlinkOidc,
}

export function makeOidc(dependencies: Deps) {
  return bindVerbs<Deps, typeof verbsOfOidc>(dependencies, verbsOfOidc)
}

export type Oidc = ReturnType<typeof makeOidc>
