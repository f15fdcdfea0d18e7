import { createHash } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { checkMessage, type Mail, MailFailure } from './index.ts'

export type SmtpOptions = { url: string; from: string; timeoutMs?: number }

/** Sends by SMTP. The address of the server is the operator's own and may be private. */
export function makeSmtpMail({ url, from, timeoutMs = 20_000 }: SmtpOptions): Mail {
  const transport = createTransport(
    {
      url,
      pool: true,
      maxConnections: 3,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
    },
    { from, disableFileAccess: true, disableUrlAccess: true },
  )
  return {
    provider: 'smtp',
    async send(unchecked) {
      const message = checkMessage(unchecked)
      const id = createHash('sha256').update(message.key).digest('hex').slice(0, 40)
      try {
        const sent = await transport.sendMail({
          to: message.to,
          subject: message.subject,
          text: message.text,
          html: message.html,
          ...(message.replyTo !== undefined && { replyTo: message.replyTo }),
          ...(message.inReplyTo !== undefined && {
            inReplyTo: message.inReplyTo,
            references: message.inReplyTo,
            // Other robots do not answer it.
            headers: { 'Auto-Submitted': 'auto-replied' },
          }),
          messageId: `<${id}@heddle>`,
        })
        return {
          mail_id: sent.messageId,
          provider: 'smtp',
          accepted: sent.accepted.map(addressOf),
          rejected: (sent.rejected ?? []).map(addressOf),
        }
      } catch (error) {
        throw asMailFailure(error)
      }
    },
    close: async () => transport.close(),
  }
}

const addressOf = (entry: string | { address: string }): string => (typeof entry === 'string' ? entry : entry.address)

/** 5xx: the server will not take this mail. Anything else may pass. The server's own words can hold credentials. */
function asMailFailure(error: unknown): MailFailure {
  const { responseCode, code, command } = (error ?? {}) as { responseCode?: number; code?: string; command?: string }
  if (code === 'EAUTH')
    return new MailFailure('mail_unavailable', 'the mail server refuses our credentials', error, true)
  if (responseCode !== undefined && responseCode >= 500) {
    return new MailFailure('mail_refused', `the mail server refused the mail (${responseCode})`, error)
  }
  return new MailFailure('mail_unavailable', 'the mail server cannot be reached', error, command === 'CONN')
}
