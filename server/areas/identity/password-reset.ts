import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { refuseWeakPassword } from '#platform/auth/common-passwords'
import { hashPassword } from '#platform/auth/passwords'
import { enterScope } from '#platform/auth/scope'
import { HOUR, SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import { refuseForeignOrigin } from '#platform/http/caller'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { hashSecret, newSecret, secretLooksValid, toWire } from '#platform/ids'
import { mailWords } from '#platform/mail-language'
import { mayMail, resetMail } from './account-mail.ts'
import * as accountStore from './account-store.ts'
import { deleteAllFactors } from './factor-store.ts'
import { orgBaseUrl } from './links.ts'
import { forgiveCodes } from './lockout.ts'
import { sendsMail } from './mail.ts'
import type { CheckMail, ForgotPassword, ResetPassword } from './schema.ts'
import { type AccountMail, linkSpent } from './sign-up.ts'
import * as store from './store.ts'

const LIFETIME_S = HOUR / SECOND
const nobody = { workspaceId: null, userId: null }

/**
 * Answers before it is known whether the address has an account. The rest runs after the response, so that neither its
 * bytes nor its duration reveal the account. If the process ends before the mail is sent, the person can ask again.
 */
export async function forgotPassword(
  deps: AccountMail,
  ctx: Context,
  { email }: z.output<typeof ForgotPassword>,
  exchange: Exchange,
): Promise<CheckMail> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  if (!sendsMail(deps.config))
    throw problem('provider_not_configured', 'No mail server is configured. Ask an operator to replace the password.')
  const allowed = await ctx.db.tenant(nobody, (tx) => mayMail(ctx, tx, email))
  if (allowed)
    ctx.afterCommit(() => {
      sendReset(deps, ctx, email).catch((error: unknown) =>
        ctx.log.warn({ err: error }, 'the mail for a password reset could not be sent'),
      )
    })
  return { state: 'check_mail' }
}

async function sendReset({ sendMail }: AccountMail, ctx: Context, email: string): Promise<void> {
  const token = newSecret('rst')
  const base = await ctx.db.tenant(nobody, async (tx) => {
    const known = await store.credentialsOf(tx, ctx.org.org_id, email)
    if (!known) return undefined
    await enterScope(tx, { workspaceId: null, userId: known.user_id })
    await accountStore.insertAccountToken(tx, {
      token_hash: hashSecret(token),
      user_id: known.user_id,
      kind: 'reset_password',
      lifetime_s: LIFETIME_S,
    })
    return orgBaseUrl(ctx, tx)
  })
  if (base === undefined) return
  // The request has been answered, so work that would wait for its commit runs now.
  await sendMail(
    { maybeTx: null, afterCommit: (work) => work() },
    {
      workspaceId: null,
      to: email,
      ...resetMail(`${base}/reset-password/${token}`, mailWords(ctx.language)),
      key: `reset:${hashSecret(token).toString('hex')}`,
    },
  )
}

/**
 * The mail proves the address. If the address was never verified before, another person may have created the account
 * and still have access: that person's keys, factors and linked providers are deleted too.
 */
export async function resetPassword(
  _deps: AccountMail,
  ctx: Context,
  input: z.output<typeof ResetPassword>,
  exchange: Exchange,
): Promise<void> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  const tokenHash = hashSecret(input.token)
  const holder = secretLooksValid('rst', input.token)
    ? await ctx.db.tenant(nobody, (tx) => accountStore.findAccountToken(tx, tokenHash, 'reset_password'))
    : undefined
  if (!holder || holder.org_id !== ctx.org.org_id) throw linkSpent()
  refuseWeakPassword('/password', input.password, holder)
  const passwordHash = await hashPassword(input.password)
  const { user_id: userId } = holder
  await ctx.db.tenant({ workspaceId: null, userId }, async (tx) => {
    if ((await accountStore.spendAccountToken(tx, tokenHash, 'reset_password')) === 0) throw linkSpent()
    await accountStore.deleteAccountTokens(tx, userId, 'reset_password')
    await store.setPassword(tx, userId, passwordHash)
    await forgiveCodes(tx, holder.org_id, holder.email)
    const ended = await store.deleteSessions(tx, userId, null)
    const keys = holder.is_verified ? 0 : await accountStore.deleteKeysOf(tx, userId)
    if (!holder.is_verified) {
      await accountStore.deleteIdentitiesOf(tx, userId)
      await deleteAllFactors(tx, userId)
    }
    await accountStore.setVerified(tx, userId)
    await recordAudit({ maybePerson: null, maybeWorkspace: null, address: ctx.address, request: ctx }, tx, {
      action: 'password.reset',
      subject: toWire('usr', userId),
      data: { ended, by: 'mail', keys_deleted: keys },
    })
  })
}
