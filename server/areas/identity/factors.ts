import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { verifyPassword } from '#platform/auth/passwords'
import { matchTotp, newTotpSecret, otpauthUrl, toBase32 } from '#platform/auth/totp'
import { MINUTE, SECOND } from '#platform/clock'
import { isUniqueViolation, type Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { callerAddress } from '#platform/http/throttle'
import { hashSecret, newId, newSecret, secretLooksValid, toWire } from '#platform/ids'
import * as factorStore from './factor-store.ts'
import { orgBaseUrl } from './links.ts'
import { forgive, noteAttempt } from './lockout.ts'
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts'
import type { AddedPasskey, ConfirmTotp, NewPasskey, PasswordAgain, RecoveryCodes, SecondFactors } from './schema.ts'
import { type FactorDeps, totpPlace } from './second-factor.ts'
import * as store from './store.ts'
import { readRegistration, registrationOptions, siteOf } from './webauthn.ts'

// A person's second factors. Every change requires the password again, so that access to an open browser is not enough.
// API keys are for programs and cannot change second factors.

const LIFETIME_S = (10 * MINUTE) / SECOND
const MAX_PASSKEYS = 20

function requireSession(ctx: Context): void {
  if (ctx.credential.kind !== 'session')
    throw problem('conflict', 'Sign in with a browser: second factors cannot be changed with an API key.')
}

/** Checks the password again, if the account has one. */
async function requirePassword(ctx: Context, password: string | undefined): Promise<void> {
  requireSession(ctx)
  const { attempt, known } = await ctx.db.tenant(scopeOf(ctx), async (tx) => ({
    attempt: await noteAttempt(tx, ctx.org.org_id, ctx.person.email, callerAddress(ctx.address)),
    known: await store.credentialsOf(tx, ctx.org.org_id, ctx.person.email),
  }))
  const asked = known?.password_hash != null
  if (asked && (password === undefined || !(await verifyPassword(known.password_hash, password))))
    throw invalid([{ path: '/current_password', message: 'is not your password' }])
  await ctx.db.tenant(scopeOf(ctx), (tx) => forgive(tx, attempt))
}

export async function getSecondFactors(ctx: Context): Promise<SecondFactors> {
  const { user_id: userId } = ctx.person
  const { totp, recovery_codes_left } = await factorStore.findFactors(ctx.tx, userId)
  return { totp, passkeys: await factorStore.listPasskeys(ctx.tx, userId), recovery_codes_left }
}

export async function beginTotp(deps: FactorDeps, ctx: Context, input: z.output<typeof PasswordAgain>) {
  await requirePassword(ctx, input.current_password)
  const { user_id: userId, email } = ctx.person
  const secret = newTotpSecret()
  const sealed = deps.vault.seal(totpPlace(userId), secret.toString('base64'))
  const begun = await ctx.db.tenant(scopeOf(ctx), (tx) => factorStore.putTotp(tx, userId, sealed))
  if (begun === 0) throw problem('already_exists', 'You have an authenticator already. Remove it first.')
  return { secret: toBase32(secret), otpauth_url: otpauthUrl(secret, email, 'Heddle') }
}

/** The first code proves that the app has the secret. The first factor also creates the recovery codes. */
export async function confirmTotp(
  deps: FactorDeps,
  ctx: Context,
  input: z.output<typeof ConfirmTotp>,
): Promise<RecoveryCodes> {
  requireSession(ctx)
  const { user_id: userId } = ctx.person
  const attempt = await ctx.db.tenant(scopeOf(ctx), (tx) =>
    noteAttempt(tx, ctx.org.org_id, ctx.person.email, callerAddress(ctx.address)),
  )
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const totp = await factorStore.holdTotp(tx, userId)
    if (!totp || totp.confirmed) throw problem('conflict', 'Begin with POST /auth/second-factor/totp.')
    const secret = Buffer.from(deps.vault.open(totpPlace(userId), totp.secret), 'base64')
    const step = matchTotp(secret, input.code.replaceAll(/\s/g, ''), Date.now(), 0)
    if (step === undefined) throw invalid([{ path: '/code', message: 'is not the current code' }])
    await factorStore.noteTotpStep(tx, userId, step)
    await forgive(tx, attempt)
    await recordAudit(ctx, tx, { action: 'second_factor.added', workspaceId: null, data: { kind: 'totp' } })
    return { recovery_codes: await firstRecoveryCodes(tx, userId) }
  })
}

/** Creates recovery codes if none are left. Existing codes are not shown again. */
async function firstRecoveryCodes(tx: Tx, userId: string): Promise<string[] | null> {
  const { recovery_codes_left } = await factorStore.findFactors(tx, userId)
  return recovery_codes_left > 0 ? null : makeRecoveryCodes(tx, userId)
}

async function makeRecoveryCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = newRecoveryCodes()
  await factorStore.replaceRecoveryCodes(
    tx,
    userId,
    codes.map((code) => hashRecoveryCode(userId, code)),
  )
  return codes
}

export async function removeTotp(
  _deps: FactorDeps,
  ctx: Context,
  input: z.output<typeof PasswordAgain>,
): Promise<void> {
  await requirePassword(ctx, input.current_password)
  await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    if ((await factorStore.deleteTotp(tx, ctx.person.user_id)) === 0) throw problem('not_found')
    await afterRemoval(ctx, tx, 'totp')
  })
}

/** Without a second factor, the recovery codes are deleted too. */
async function afterRemoval(ctx: Context, tx: Tx, kind: 'totp' | 'passkey', subject?: string): Promise<void> {
  const { user_id: userId } = ctx.person
  const left = await factorStore.findFactors(tx, userId)
  if (!left.totp && left.passkeys === 0) await factorStore.deleteAllFactors(tx, userId)
  await recordAudit(ctx, tx, {
    action: 'second_factor.removed',
    workspaceId: null,
    data: { kind },
    ...(subject !== undefined && { subject }),
  })
}

export async function beginPasskey(_deps: FactorDeps, ctx: Context, input: z.output<typeof PasswordAgain>) {
  await requirePassword(ctx, input.current_password)
  const { user_id: userId } = ctx.person
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const passkeys = await factorStore.listCredentials(tx, userId)
    if (passkeys.length >= MAX_PASSKEYS) throw problem('conflict', `A person has at most ${MAX_PASSKEYS} passkeys.`)
    const options = await registrationOptions(siteOf(await orgBaseUrl(ctx, tx)), ctx.person, passkeys)
    const token = newSecret('mfa')
    const { expires_at } = await factorStore.insertChallenge(tx, {
      token_hash: hashSecret(token),
      user_id: userId,
      kind: 'add_passkey',
      passkey_challenge: options.challenge,
      lifetime_s: LIFETIME_S,
    })
    return { challenge: token, options: options as unknown as Record<string, unknown>, expires_at }
  })
}

export async function addPasskey(
  _deps: FactorDeps,
  ctx: Context,
  input: z.output<typeof NewPasskey>,
): Promise<AddedPasskey> {
  requireSession(ctx)
  const { user_id: userId } = ctx.person
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const taken = secretLooksValid('mfa', input.challenge)
      ? await factorStore.takeChallenge(tx, hashSecret(input.challenge), 'add_passkey')
      : undefined
    if (!taken) throw problem('conflict', 'This took too long, or was already done. Start again.')
    const site = siteOf(await orgBaseUrl(ctx, tx))
    const made = await readRegistration(site, taken.passkey_challenge!, input.response)
    if (!made) throw invalid([{ path: '/response', message: 'does not match the challenge' }])
    const passkey = await insertPasskey(tx, { ...made, passkey_id: newId(), user_id: userId, name: input.name })
    await recordAudit(ctx, tx, {
      action: 'second_factor.added',
      subject: toWire('psk', passkey.passkey_id),
      workspaceId: null,
      data: { kind: 'passkey' },
    })
    return { ...passkey, recovery_codes: await firstRecoveryCodes(tx, userId) }
  })
}

async function insertPasskey(...[tx, row]: Parameters<typeof factorStore.insertPasskey>) {
  try {
    return await factorStore.insertPasskey(tx, row)
  } catch (error) {
    if (isUniqueViolation(error)) throw problem('already_exists', 'This passkey is already registered.')
    throw error
  }
}

export async function removePasskey(
  _deps: FactorDeps,
  ctx: Context,
  input: { passkey_id: string } & z.output<typeof PasswordAgain>,
): Promise<void> {
  await requirePassword(ctx, input.current_password)
  await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    if ((await factorStore.deletePasskey(tx, ctx.person.user_id, input.passkey_id)) === 0) throw problem('not_found')
    await afterRemoval(ctx, tx, 'passkey', toWire('psk', input.passkey_id))
  })
}

export async function renewRecoveryCodes(
  _deps: FactorDeps,
  ctx: Context,
  input: z.output<typeof PasswordAgain>,
): Promise<RecoveryCodes> {
  await requirePassword(ctx, input.current_password)
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const { totp, passkeys } = await factorStore.findFactors(tx, ctx.person.user_id)
    if (!totp && passkeys === 0) throw problem('conflict', 'Add an authenticator or a passkey first.')
    const recovery_codes = await makeRecoveryCodes(tx, ctx.person.user_id)
    await recordAudit(ctx, tx, { action: 'second_factor.recovery_codes_renewed', workspaceId: null })
    return { recovery_codes }
  })
}
