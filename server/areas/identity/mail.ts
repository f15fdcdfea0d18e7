import { setTimeout as pause } from 'node:timers/promises'
import { SECOND } from '#platform/clock'
import type { Config } from '#platform/config'
import type { Context } from '#platform/http/context'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { type Mail, MailFailure } from '#providers/mail/index'
import { insertIntoOutbox } from '#providers/mail/outbox'

export type Letter = { workspaceId: string | null; to: string; subject: string; text: string; key: string }

/** Sends a mail: with the transaction that causes it, or after the transaction if a mail server is used. */
export type SendMail = (ctx: Pick<Context, 'maybeTx' | 'afterCommit'>, letter: Letter) => Promise<void>

/** Stores mails for the operators if there is no mail server. */
export const keepMail: SendMail = async (ctx, letter) => {
  if (ctx.maybeTx === null) throw new Error('a mail is kept in the transaction that makes it necessary')
  await insertIntoOutbox(ctx.maybeTx, {
    mail_id: newId(),
    workspace_id: letter.workspaceId,
    idempotency_key: letter.key,
    recipient: [letter.to],
    subject: letter.subject,
    body_text: letter.text,
    body_html: null,
    attachments: [],
  })
}

/** Checks whether mails leave the service, so that a link in a mail proves an address. */
export const sendsMail = (config: Pick<Config, 'SMTP_URL'>): boolean => config.SMTP_URL !== null

const RETRY_AFTER = [2 * SECOND, 30 * SECOND]

/**
 * A mail that no server accepts is logged and given up, because the response to its sender contains the same
 * information.
 */
export function sendThrough(mail: Mail, log: Logger): SendMail {
  if (mail.provider === 'outbox') return keepMail

  const deliver = async ({ to, ...letter }: Letter): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      try {
        await mail.send({ ...letter, to: [to] })
        return
      } catch (error) {
        const wait = RETRY_AFTER[attempt]
        if (wait === undefined || !(error instanceof MailFailure && error.retryable)) throw error
        await pause(wait, undefined, { ref: false })
      }
    }
  }
  return async (ctx, letter) => {
    ctx.afterCommit(() => {
      deliver(letter).catch((error: unknown) => log.warn({ err: error, mail: letter.key }, 'a mail was not sent'))
    })
  }
}
