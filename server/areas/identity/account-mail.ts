import { createHash } from 'node:crypto'
import { HOUR, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import { callerAddress } from '#platform/http/throttle'

// Mails that anybody can cause by naming an address. Counted for every address, whether or not it has an account, so that
// neither the count nor its time tells who exists.

const WINDOW_S = HOUR / SECOND
const MAX_PER_CALLER = 5
/** One caller must not use up the mails of a person who is asked for from many addresses. */
const MAX_PER_RECIPIENT = 20

const hashOf = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** Counts one more mail to this address; false where there were too many within the hour. */
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

export const confirmSignUpMail = (link: string) => ({
  subject: 'Confirm your account',
  text: `Somebody, probably you, made an account with this address.\n\nOpen this link and enter the password you chose; it works once, for 24 hours:\n${link}\n\nIf it was not you, do nothing: there is no account yet.\n`,
})

export const alreadyThereMail = (base: string) => ({
  subject: 'You have an account already',
  text: `Somebody, probably you, tried to make an account with this address. There is one already.\n\nSign in: ${base}/sign-in\nForgotten the password: ${base}/forgot-password\n\nIf it was not you, do nothing.\n`,
})

export const verifyMail = (link: string) => ({
  subject: 'Confirm your e-mail address',
  text: `Open this link to confirm that this address is yours; it works once, for 24 hours:\n${link}\n`,
})

export const resetMail = (link: string) => ({
  subject: 'Choose a new password',
  text: `Somebody, probably you, asked to replace the password of the account with this address.\n\nOpen this link to choose a new one; it works once, for one hour:\n${link}\n\nIf it was not you, do nothing: your password stays as it is.\n`,
})
