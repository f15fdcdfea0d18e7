import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { refuseForeignOrigin } from '#platform/http/caller'
import type { Context, Person } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { hashSecret } from '#platform/ids'
import * as factorStore from './factor-store.ts'
import { orgBaseUrl } from './links.ts'
import { isOurChallenge, makeChallenge } from './passkey-challenge.ts'
import type { BegunPasskeySignIn, PasskeySignIn, SignedIn } from './schema.ts'
import type { FactorDeps } from './second-factor.ts'
import { actingAs, enterAs } from './sessions.ts'
import { challengeOf, discoverableOptions, readAuthentication, siteOf } from './webauthn.ts'

// Sign-in with only a passkey. The passkey names its person, and must have verified the person by PIN, fingerprint or
// face. These are two factors, so no second factor is required.

const nobody = { workspaceId: null, userId: null }

export async function beginPasskeySignIn({ vault }: FactorDeps, ctx: Context): Promise<BegunPasskeySignIn> {
  const { bytes, expiresAt } = makeChallenge(vault, ctx.org.org_id, Date.now())
  const site = siteOf(await ctx.db.tenant(nobody, (tx) => orgBaseUrl(ctx, tx)))
  const options = await discoverableOptions(site, bytes)
  return { options: options as unknown as Record<string, unknown>, expires_at: expiresAt }
}

export async function finishPasskeySignIn(
  deps: FactorDeps,
  ctx: Context,
  { passkey }: z.output<typeof PasskeySignIn>,
  exchange: Exchange,
): Promise<SignedIn> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  const found = await ctx.db.tenant(nobody, (tx) => factorStore.findPasskey(tx, ctx.org.org_id, String(passkey.id)))
  if (!found) throw notAccepted()
  const person = deps.people.personOf(ctx, found)
  const outcome = await ctx.db.tenant({ workspaceId: null, userId: person.user_id }, async (tx) => {
    if (await provePasskey(deps, ctx, tx, found, passkey)) return enterAs(ctx, tx, exchange, person, 'session.started')
    await noteFailure(ctx, tx, person)
    return undefined
  })
  if (!outcome) throw notAccepted()
  ctx.header('set-cookie', outcome.cookie)
  return outcome.answer
}

/** Records the use and spends the challenge, so that the same response is refused the second time. */
async function provePasskey(
  { vault }: FactorDeps,
  ctx: Context,
  tx: Tx,
  found: factorStore.FoundPasskey,
  response: Record<string, unknown>,
): Promise<boolean> {
  const challenge = challengeOf(response)
  if (challenge === undefined || !isOurChallenge(vault, ctx.org.org_id, challenge, Date.now())) return false
  const site = siteOf(await orgBaseUrl(ctx, tx))
  const used = await readAuthentication(site, challenge, response, [found], { alone: found.user_id })
  if (!used) return false
  if ((await factorStore.spendChallenge(tx, found.user_id, hashSecret(challenge))) === 0) return false
  await factorStore.notePasskeyUse(tx, found.user_id, used.credential_id, used.counter)
  return true
}

const noteFailure = (ctx: Context, tx: Tx, person: Person): Promise<void> =>
  recordAudit(actingAs(ctx, person, null), tx, {
    action: 'sign_in.failed',
    subject: person.email,
    workspaceId: null,
    data: { reason: 'passkey' },
  })

const notAccepted = () =>
  problem('bad_second_factor', 'This passkey is not known here, or took too long. Try again, or use your password.')
