import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { requireUnbound } from '#platform/auth/scope'
import { DAY, HOUR, SECOND } from '#platform/clock'
import type { Config } from '#platform/config'
import { problem } from '#platform/errors'
import { refuseForeignOrigin } from '#platform/http/caller'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { hashSecret, newSecret, secretLooksValid, toWire } from '#platform/ids'
import { mailWords } from '#platform/mail-language'
import { mayMail, verifyMail } from './account-mail.ts'
import * as accountStore from './account-store.ts'
import { orgBaseUrl } from './links.ts'
import { sendsMail } from './mail.ts'
import type { CheckMail, ConfirmEmail } from './schema.ts'
import { type AccountMail, linkSpent } from './sign-up.ts'

const LIFETIME_S = DAY / SECOND
const nobody = { workspaceId: null, userId: null }

/**
 * For people whose account was created without a mail: by invitation, by a provider, or before a mail server was
 * configured.
 */
export async function sendVerification({ config, sendMail }: AccountMail, ctx: Context): Promise<CheckMail> {
  requireUnbound(ctx)
  if (!sendsMail(config))
    throw problem('provider_not_configured', 'No mail server is configured, so addresses do not have to be confirmed.')
  const { user_id: userId, email } = ctx.person
  if (await accountStore.isVerified(ctx.tx, userId)) throw problem('conflict', 'Your address is confirmed already.')
  if (!(await mayMail(ctx, ctx.tx, email)))
    throw problem('rate_limited', 'Several mails were sent to you within the hour. Look for them, or wait.', {
      retryAfterS: HOUR / SECOND,
    })
  const token = newSecret('vfy')
  await accountStore.deleteAccountTokens(ctx.tx, userId, 'verify_email')
  await accountStore.insertAccountToken(ctx.tx, {
    token_hash: hashSecret(token),
    user_id: userId,
    kind: 'verify_email',
    lifetime_s: LIFETIME_S,
  })
  await sendMail(ctx, {
    workspaceId: null,
    to: email,
    ...verifyMail(`${await orgBaseUrl(ctx, ctx.tx)}/confirm-email/${token}`, mailWords(ctx.language)),
    key: `verify:${hashSecret(token).toString('hex')}`,
  })
  await recordAudit(ctx, ctx.tx, { action: 'email.verification_sent', workspaceId: null })
  return { state: 'check_mail' }
}

/** Verifies the address without starting a session. */
export async function confirmEmail(
  ctx: Context,
  { token }: z.output<typeof ConfirmEmail>,
  exchange: Exchange,
): Promise<void> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  const tokenHash = hashSecret(token)
  const holder = secretLooksValid('vfy', token)
    ? await ctx.db.tenant(nobody, (tx) => accountStore.findAccountToken(tx, tokenHash, 'verify_email'))
    : undefined
  if (!holder || holder.org_id !== ctx.org.org_id) throw linkSpent()
  const { user_id: userId } = holder
  await ctx.db.tenant({ workspaceId: null, userId }, async (tx) => {
    if ((await accountStore.spendAccountToken(tx, tokenHash, 'verify_email')) === 0) throw linkSpent()
    await accountStore.setVerified(tx, userId)
    await recordAudit({ maybePerson: null, maybeWorkspace: null, address: ctx.address, request: ctx }, tx, {
      action: 'email.verified',
      subject: toWire('usr', userId),
    })
  })
}

/** Refuses requests that send mail to strangers if the person's own address is not verified and mail is configured. */
export const makeRequireVerified =
  (config: Config) =>
  async (ctx: Context): Promise<void> => {
    if (!sendsMail(config) || (await accountStore.isVerified(ctx.tx, ctx.person.user_id))) return
    throw problem(
      'email_unverified',
      'Confirm your e-mail address first: POST /auth/verification, then open the link in the mail.',
    )
  }
export type RequireVerified = ReturnType<typeof makeRequireVerified>
