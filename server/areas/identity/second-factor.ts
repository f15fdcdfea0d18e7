import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { enterScope } from '#platform/auth/scope'
import { matchTotp } from '#platform/auth/totp'
import { MINUTE, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { refuseForeignOrigin } from '#platform/http/caller'
import type { Context, Person } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { callerAddress } from '#platform/http/throttle'
import { hashSecret, newSecret, secretLooksValid } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import * as factorStore from './factor-store.ts'
import { orgBaseUrl } from './links.ts'
import { forgive, forgiveCodes, noteAttempt, noteCode } from './lockout.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import type { SecondFactor, SecondFactorChallenge, SecondFactorRequired, SignedIn } from './schema.ts'
import { actingAs, enterAs } from './sessions.ts'
import { authenticationOptions, readAuthentication, siteOf } from './webauthn.ts'

// Sign-in in two steps. The first step proves the password (or the provider) and returns a challenge. The second step
// proves the factor.

const LIFETIME_S = (5 * MINUTE) / SECOND
/** After this number of failures, the sign-in starts again with the password. */
const MAX_FAILURES = 5
const nobody = { workspaceId: null, userId: null }

/** Returns the person whom the second step signs in. */
type PersonOf = (ctx: Context, user: { user_id: string; email: string; name: string }) => Person

export type FactorDeps = { vault: Vault; people: { personOf: PersonOf } }

/** The place to which a person's TOTP secret is sealed. */
export const totpPlace = (userId: string) => ['person', 'totp_factors', userId, 'secret'] as const

/**
 * Starts the second step of a sign-in. Returns undefined if the person has no second factor. Leaves the transaction in
 * the person's scope.
 */
export async function beginSecondFactor(
  ctx: Context,
  tx: Tx,
  userId: string,
): Promise<SecondFactorRequired | undefined> {
  await enterScope(tx, { workspaceId: null, userId })
  const factors = await factorStore.findFactors(tx, userId)
  if (!factors.totp && factors.passkeys === 0) return undefined
  const passkeys = await factorStore.listCredentials(tx, userId)
  const options =
    passkeys.length === 0 ? null : await authenticationOptions(siteOf(await orgBaseUrl(ctx, tx)), passkeys)
  const token = newSecret('mfa')
  const { expires_at } = await factorStore.insertChallenge(tx, {
    token_hash: hashSecret(token),
    user_id: userId,
    kind: 'sign_in',
    passkey_challenge: options?.challenge ?? null,
    lifetime_s: LIFETIME_S,
  })
  return {
    second_factor_required: true,
    challenge: token,
    methods: methodsOf(factors),
    passkey: asJson(options),
    expires_at,
  }
}

/** Describes the second step to a page that has only the challenge. */
export async function describeSecondFactor(
  ctx: Context,
  input: z.output<typeof SecondFactorChallenge>,
): Promise<SecondFactorRequired> {
  const tokenHash = hashSecret(input.challenge)
  const challenge = secretLooksValid('mfa', input.challenge)
    ? await ctx.db.tenant(nobody, (tx) => factorStore.findChallenge(tx, tokenHash))
    : undefined
  if (!challenge || challenge.org_id !== ctx.org.org_id || challenge.failures >= MAX_FAILURES) throw beginAgain()
  const { user_id: userId, passkey_challenge, expires_at } = challenge
  return ctx.db.tenant({ workspaceId: null, userId }, async (tx) => {
    const passkeys = passkey_challenge === null ? [] : await factorStore.listCredentials(tx, userId)
    const options =
      passkey_challenge === null
        ? null
        : await authenticationOptions(siteOf(await orgBaseUrl(ctx, tx)), passkeys, passkey_challenge)
    const methods = methodsOf(await factorStore.findFactors(tx, userId))
    return { second_factor_required: true, challenge: input.challenge, methods, passkey: asJson(options), expires_at }
  })
}

const asJson = (options: object | null) => options as Record<string, unknown> | null

const methodsOf = (factors: factorStore.Factors): SecondFactorRequired['methods'] => [
  ...(factors.totp ? (['totp'] as const) : []),
  ...(factors.passkeys > 0 ? (['passkey'] as const) : []),
  ...(factors.recovery_codes_left > 0 ? (['recovery_code'] as const) : []),
]

export async function finishSignIn(
  deps: FactorDeps,
  ctx: Context,
  input: z.output<typeof SecondFactor>,
  exchange: Exchange,
): Promise<SignedIn> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  const tokenHash = hashSecret(input.challenge)
  const challenge = secretLooksValid('mfa', input.challenge)
    ? await ctx.db.tenant(nobody, (tx) => factorStore.findChallenge(tx, tokenHash))
    : undefined
  if (!challenge || challenge.org_id !== ctx.org.org_id || challenge.failures >= MAX_FAILURES) throw beginAgain()
  const person = deps.people.personOf(ctx, challenge)
  // Counted like a wrong password before it is checked, so that simultaneous guesses are all counted.
  const attempt = await ctx.db.tenant(nobody, async (tx) => {
    if (input.code !== undefined) await noteCode(tx, ctx.org.org_id, person.email)
    return noteAttempt(tx, ctx.org.org_id, person.email, callerAddress(ctx.address))
  })
  const outcome = await ctx.db.tenant({ workspaceId: null, userId: person.user_id }, async (tx) => {
    const method = await proveFactor(deps, ctx, tx, challenge, input)
    if (method === undefined) {
      await factorStore.noteChallengeFailure(tx, tokenHash)
      await recordAudit(actingAs(ctx, person, null), tx, {
        action: 'sign_in.failed',
        subject: person.email,
        workspaceId: null,
        data: { reason: 'second_factor' },
      })
      return undefined
    }
    if (!(await factorStore.takeChallenge(tx, tokenHash, 'sign_in'))) throw beginAgain()
    await forgive(tx, attempt)
    await forgiveCodes(tx, ctx.org.org_id, person.email)
    if (method === 'recovery_code') await noteRecovery(ctx, tx, person)
    return enterAs(ctx, tx, exchange, person, 'session.started')
  })
  if (!outcome) throw problem('bad_second_factor', 'Try again with the current code, or with another factor.')
  ctx.header('set-cookie', outcome.cookie)
  return outcome.answer
}

const noteRecovery = (ctx: Context, tx: Tx, person: Person): Promise<void> =>
  recordAudit(actingAs(ctx, person, null), tx, { action: 'second_factor.recovery_code_used', workspaceId: null })

/** Returns the proven factor, or undefined. Records its use, so that it is not accepted again. */
async function proveFactor(
  { vault }: FactorDeps,
  ctx: Context,
  tx: Tx,
  challenge: factorStore.Challenge,
  input: z.output<typeof SecondFactor>,
): Promise<'totp' | 'passkey' | 'recovery_code' | undefined> {
  const { user_id: userId } = challenge
  if (input.code !== undefined) return (await spendTotp(vault, tx, userId, input.code)) ? 'totp' : undefined
  if (input.recovery_code !== undefined) {
    const hash = hashRecoveryCode(userId, input.recovery_code)
    return (await factorStore.spendRecoveryCode(tx, userId, hash)) === 1 ? 'recovery_code' : undefined
  }
  if (challenge.passkey_challenge === null || input.passkey === undefined) return undefined
  const passkeys = await factorStore.listCredentials(tx, userId)
  const site = siteOf(await orgBaseUrl(ctx, tx))
  const used = await readAuthentication(site, challenge.passkey_challenge, input.passkey, passkeys)
  if (!used) return undefined
  await factorStore.notePasskeyUse(tx, userId, used.credential_id, used.counter)
  return 'passkey'
}

/** Accepts a code of a confirmed authenticator once. */
async function spendTotp(vault: Vault, tx: Tx, userId: string, code: string): Promise<boolean> {
  const totp = await factorStore.holdTotp(tx, userId)
  if (!totp?.confirmed) return false
  const secret = Buffer.from(vault.open(totpPlace(userId), totp.secret), 'base64')
  const step = matchTotp(secret, code.replaceAll(/\s/g, ''), Date.now(), totp.last_step)
  return step !== undefined && (await factorStore.noteTotpStep(tx, userId, step)) === 1
}

const beginAgain = () => problem('bad_second_factor', 'This sign-in took too long or failed too often. Sign in again.')
