// Sends mail to people. If SMTP is configured, mail is sent; otherwise it is stored in a table that the console shows.

export type MailAttachment = {
  file_id: string
  name: string
  media_type: string
  bytes: number
  chunks(): AsyncIterable<Buffer>
}

export type MailMessage = {
  /** Null for mail from the service itself, such as an invitation. */
  workspaceId: string | null
  to: string[]
  subject: string
  text?: string | undefined
  html?: string | undefined
  attachments?: MailAttachment[]
  /** The address for replies. The default is the sender's own address. */
  replyTo?: string
  /** The Message-ID of the mail that this mail answers. */
  inReplyTo?: string
  /** Identifies the mail: a repeated key is stored once, and has the same Message-ID when sent again. */
  key: string
}

export type MailReceipt = { mail_id: string; provider: string; accepted: string[]; rejected: string[] }

export type Mail = {
  readonly provider: 'smtp' | 'outbox'
  /** Throws MailFailure. */
  send(message: MailMessage): Promise<MailReceipt>
  close(): Promise<void>
}

/**
 * `mail_invalid`: correct the message. `mail_refused`: the server will not accept it. `mail_unavailable`: retry later.
 * `quota_exceeded`: the workspace may send no more mail.
 */
export class MailFailure extends Error {
  readonly code: 'mail_invalid' | 'mail_refused' | 'mail_unavailable' | 'quota_exceeded'
  /** True if the mail was certainly not sent. */
  readonly nothingSent: boolean

  constructor(code: MailFailure['code'], message: string, cause?: unknown, nothingSent = code !== 'mail_unavailable') {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.nothingSent = nothingSent
  }

  get retryable(): boolean {
    return this.code === 'mail_unavailable'
  }
}

const MAX_RECIPIENTS = 50
const MAX_SUBJECT = 500
const MAX_BODY = 1024 * 1024
/** One plain address, without a display name, list, group or line break that could inject a header. */
const ADDRESS = /^[^\s@"(),:;<>[\\\]]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/

/** Returns the message, or throws a MailFailure that says what to correct. */
export function checkMessage(message: MailMessage): MailMessage {
  const wrong = (text: string): MailFailure => new MailFailure('mail_invalid', text)
  if (message.to.length === 0) throw wrong('at least one recipient is required')
  if (message.to.length > MAX_RECIPIENTS) throw wrong(`a mail has at most ${MAX_RECIPIENTS} recipients`)
  for (const address of message.to) {
    if (!ADDRESS.test(address)) throw wrong(`"${address.slice(0, 100)}" is not an e-mail address`)
  }
  if (message.replyTo !== undefined && !ADDRESS.test(message.replyTo)) throw wrong('replyTo is not an e-mail address')
  if (message.inReplyTo !== undefined && !/^<[^<>\s]{1,500}>$/.test(message.inReplyTo))
    throw wrong('inReplyTo is not a Message-ID')
  if (message.subject.length > MAX_SUBJECT || /[\r\n\0]/.test(message.subject)) {
    throw wrong(`the subject must be one line of at most ${MAX_SUBJECT} characters`)
  }
  if (!message.text && !message.html) throw wrong('the mail needs text or html')
  if ((message.text?.length ?? 0) + (message.html?.length ?? 0) > MAX_BODY) throw wrong('the mail is too long')
  return { ...message, to: [...new Set(message.to)] }
}
