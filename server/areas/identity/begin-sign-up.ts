import type { z } from 'zod'
import { DAY, SECOND } from '#platform/clock'
import type { Context } from '#platform/http/context'
import { hashSecret, newSecret } from '#platform/ids'
import { mailWords } from '#platform/mail-language'
import { alreadyThereMail, confirmSignUpMail, mayMail } from './account-mail.ts'
import * as accountStore from './account-store.ts'
import { orgBaseUrl } from './links.ts'
import type { SendMail } from './mail.ts'
import type { CheckMail, SignUp } from './schema.ts'
import * as store from './store.ts'

// With a mail server, sign-up does the same work and gives the same response for an address with and without an
// account. Only the mail differs, and only the owner of the address reads it.

const LIFETIME_S = DAY / SECOND
const nobody = { workspaceId: null, userId: null }

/** Stores the sign-up until the link in the mail is opened. The account does not exist before that. */
export async function beginSignUp(
  ctx: Context,
  sendMail: SendMail,
  input: z.output<typeof SignUp>,
  passwordHash: string,
): Promise<CheckMail> {
  const token = newSecret('sgn')
  const { known, allowed, base } = await ctx.db.tenant(nobody, async (tx) => {
    const allowed = await mayMail(ctx, tx, input.email)
    const known = await store.credentialsOf(tx, ctx.org.org_id, input.email)
    await accountStore.pruneSignUps(tx)
    if (allowed)
      await accountStore.insertSignUp(tx, {
        token_hash: hashSecret(token),
        org_id: ctx.org.org_id,
        email: input.email,
        name: input.name,
        password_hash: passwordHash,
        workspace_name: input.workspace_name ?? null,
        lifetime_s: LIFETIME_S,
      })
    return { known, allowed, base: await orgBaseUrl(ctx, tx) }
  })
  const words = mailWords(ctx.language)
  if (allowed)
    await sendMail(ctx, {
      workspaceId: null,
      to: input.email,
      ...(known ? alreadyThereMail(base, words) : confirmSignUpMail(`${base}/confirm-account/${token}`, words)),
      key: `sign-up:${hashSecret(token).toString('hex')}`,
    })
  ctx.status(202)
  return { state: 'check_mail' }
}
