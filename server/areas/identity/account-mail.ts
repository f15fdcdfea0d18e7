import { createHash } from 'node:crypto'
import { HOUR, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import { callerAddress } from '#platform/http/throttle'
import type { MailWords } from '#platform/mail-language'

// Mails that every caller can cause by naming an address. They are counted for every address, with or without an
// account, so that neither the count nor its duration reveals which accounts exist.

const WINDOW_S = HOUR / SECOND
const MAX_PER_CALLER = 5
/** The limit per recipient is higher than per caller, so that one caller cannot use up a person's mails. */
const MAX_PER_RECIPIENT = 20

const hashOf = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** Counts one more mail to this address. Returns false if there were too many within the hour. */
export async function mayMail(ctx: Context, tx: Tx, email: string): Promise<boolean> {
  const recipient = hashOf(ctx.org.org_id, email)
  const caller = hashOf(ctx.org.org_id, email, callerAddress(ctx.address))
  await tx.count(
    `delete from account_mails where ctid = any(array(
       select ctid from account_mails where at < now() - make_interval(secs => $1) limit 100))`,
    [WINDOW_S],
  )
  const { sent, by_caller } = await tx.row<{ sent: number; by_caller: number }>(
    `with noted as (insert into account_mails (recipient_hash, caller_hash) values ($1, $2))
     select count(*)::int as sent, count(*) filter (where caller_hash = $2)::int as by_caller from account_mails
     where recipient_hash = $1 and at > now() - make_interval(secs => $3)`,
    [recipient, caller, WINDOW_S],
  )
  return sent < MAX_PER_RECIPIENT && by_caller < MAX_PER_CALLER
}

type Words = Pick<MailWords, 'say'>
type Text = { subject: string; text: string }

const paragraphs = (...texts: string[]): string => `${texts.join('\n\n')}\n`

export const confirmSignUpMail = (link: string, { say }: Words): Text => ({
  subject: say('Confirm your account'),
  text: paragraphs(
    say('Someone, probably you, created an account with this address.'),
    `${say('Open this link and enter the password you chose; it works once, for 24 hours:')}\n${link}`,
    say('If it was not you, do nothing: there is no account yet.'),
  ),
})

export const alreadyThereMail = (base: string, { say }: Words): Text => ({
  subject: say('You have an account already'),
  text: paragraphs(
    say('Someone, probably you, tried to create an account with this address. It already exists.'),
    `${say('Sign in: {0}', [`${base}/sign-in`])}\n${say('Reset your password: {0}', [`${base}/forgot-password`])}`,
    say('If it was not you, do nothing.'),
  ),
})

export const verifyMail = (link: string, { say }: Words): Text => ({
  subject: say('Confirm your e-mail address'),
  text: `${say('Open this link to confirm that this address is yours; it works once, for 24 hours:')}\n${link}\n`,
})

export const resetMail = (link: string, { say }: Words): Text => ({
  subject: say('Choose a new password'),
  text: paragraphs(
    say('Someone, probably you, asked to reset the password of the account with this address.'),
    `${say('Open this link to choose a new one; it works once, for one hour:')}\n${link}`,
    say('If it was not you, do nothing: your password stays as it is.'),
  ),
})

/** Names are user input, so each is reduced to one line. */
export function invitationMail(from: string, to: string, link: string, { say }: Words): Text {
  const invites = say('{0} invites you to {1}', [from, to])
  return {
    subject: invites,
    text: `${invites}.\n\n${say('Open this link to accept; it works once, for 7 days:')}\n${link}\n`,
  }
}
