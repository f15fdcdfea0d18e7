import { randomUUID } from 'node:crypto'
import PostalMime, { addressParser } from 'postal-mime'
import { z } from 'zod'
import { type Mail, MailFailure } from '#providers/mail/index'
import {
  type Attachment,
  type Channel,
  type ChannelConfig,
  ChannelFailure,
  InboundMalformed,
  type InboundMessage,
  type InboundRequest,
  json,
  MAX_ATTACHMENTS,
  SignatureRefused,
} from './index.ts'
import { attachmentsIn } from './mime.ts'
import { withoutQuotations } from './quotations.ts'
import { equalInConstantTime, secretOf } from './signature.ts'
import { InlineFile, inlineFile, Locale, localeField, MAX_READ, readJson, storable } from './text.ts'

// A mail server passes on incoming mail unchanged (message/rfc822) or as JSON, authenticated with the inbound secret.
// Answers are sent through the installation's mail provider. The external id is the address that people write to.

const Json = z.object({
  from: z.string().max(1000),
  subject: z.string().max(2000).optional(),
  text: z.string(),
  message_id: z.string().max(500).optional(),
  attachments: z.array(InlineFile).max(MAX_ATTACHMENTS).optional(),
  headers: z.record(z.string(), z.string()).optional(),
})

const QUOTA_WAIT_S = 60

const MAX_BYTES = 256 * 1024
const MAX_LINES = 3000
const MAX_MAIL_BYTES = 25 * 1024 * 1024

type Read = {
  from: { address: string; name: string }
  subject: string
  text: string
  messageId: string
  files: Attachment[]
  header(name: string): string
}

export const makeEmail = ({ mail }: { mail: Pick<Mail, 'send'> }): Channel => ({
  name: 'email',
  title: 'E-mail',
  credentials: ['inbound_secret'],
  mostCharacters: 100_000,
  checkExternalId: (externalId) =>
    /^[^\s@<>"]{1,64}@[^\s@<>"]{1,255}$/.test(externalId) ? null : 'must be the e-mail address that people write to',

  maxBodyBytes({ headers }, { credentials }) {
    refuseStranger(headers, credentials)
    return MAX_MAIL_BYTES
  },

  async receive({ headers, body }, { credentials, external_id }) {
    refuseStranger(headers, credentials)
    const read = /\bjson\b/i.test(String(headers['content-type'] ?? '')) ? readBody(body) : await readMime(body)
    const message = read && messageOf(read, external_id)
    return { answer: json({ received: true }), messages: message ? [message] : [] }
  },

  addressOf: (to) => (/^[^\s@]{1,64}@[^\s@]{1,255}$/.test(to) ? { to, subject: '' } : undefined),
  sends: () => true,

  async send({ external_id }, { address, text, key, workspaceId }) {
    const subject = (address.subject || text).replaceAll(/\s+/g, ' ').slice(0, 200)
    try {
      await mail.send({
        workspaceId,
        to: [address.to!],
        subject: address.message_id !== undefined && !/^re:/i.test(subject) ? `Re: ${subject}` : subject,
        text,
        key,
        replyTo: external_id,
        ...(address.message_id !== undefined && { inReplyTo: address.message_id }),
      })
    } catch (error) {
      if (!(error instanceof MailFailure)) throw error
      // Quotas are for a minute or a day, or end when an owner confirms their address: the answer waits.
      if (error.code === 'quota_exceeded')
        throw new ChannelFailure('rate_limited', error.message, { retryAfterS: QUOTA_WAIT_S })
      throw new ChannelFailure(error.retryable ? 'unavailable' : 'refused', error.message)
    }
  },
})

function refuseStranger(headers: InboundRequest['headers'], credentials: ChannelConfig['credentials']): void {
  const secret = secretOf(credentials, 'inbound_secret')
  if (!presented(headers).some((given) => equalInConstantTime(given, secret)))
    throw new SignatureRefused('the secret is wrong')
}

/**
 * Returns the secrets in the request: in a separate header, or as the password of basic authentication, which every
 * mail service can send.
 */
function presented(headers: Readonly<Record<string, string | string[] | undefined>>): (string | undefined)[] {
  const own = headers['x-inbound-secret']
  const authorization = String(headers.authorization ?? '')
  const basic = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1]
  const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1]
  const decoded = basic === undefined ? undefined : Buffer.from(basic, 'base64').toString()
  return [typeof own === 'string' ? own : undefined, bearer, decoded?.slice(decoded.indexOf(':') + 1)]
}

function readBody(body: Buffer): Read {
  const mailed = readJson(body, Json)
  if (!mailed)
    throw new InboundMalformed('Send {"from": "…", "subject": "…", "text": "…"}, or the message as message/rfc822.')
  const { address, name } = addressParser(mailed.from, { flatten: true })[0] ?? { address: '', name: '' }
  const headers = new Map(Object.entries(mailed.headers ?? {}).map(([key, value]) => [key.toLowerCase(), value]))
  return {
    from: { address: address ?? '', name: name ?? '' },
    subject: mailed.subject ?? '',
    text: mailed.text,
    messageId: mailed.message_id ?? '',
    files: (mailed.attachments ?? []).map(inlineFile),
    header: (wanted) => headers.get(wanted) ?? '',
  }
}

/**
 * Returns the beginning of a mail. The parser blocks the event loop for about 10 µs per line, even for short lines.
 * Only the text is needed, and it precedes the attachments.
 */
function beginningOf(body: Buffer): Buffer {
  let end = 0
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    const found = body.indexOf(10, end)
    if (found === -1) return body.subarray(0, MAX_BYTES)
    end = found + 1
  }
  return body.subarray(0, Math.min(end, MAX_BYTES))
}

async function readMime(body: Buffer): Promise<Read> {
  if (body.length === 0) throw new InboundMalformed('The message is empty.')
  const mailed = await PostalMime.parse(beginningOf(body), { maxNestingDepth: 20, maxHeadersSize: 64 * 1024 }).catch(
    () => {
      throw new InboundMalformed('The message could not be read.')
    },
  )
  return {
    from: { address: mailed.from?.address ?? '', name: mailed.from?.name ?? '' },
    subject: mailed.subject ?? '',
    text: mailed.text ?? plainOf(mailed.html ?? ''),
    messageId: mailed.messageId ?? '',
    files: attachmentsIn(body),
    // The first header of this name was added last, by the server that accepted the mail.
    header: (wanted) => mailed.headers.find(({ key }) => key === wanted)?.value ?? '',
  }
}

function messageOf(read: Read, ours: string): InboundMessage | undefined {
  const from = read.from.address.toLowerCase()
  if (!/^[^\s@]{1,64}@[^\s@]{1,255}$/.test(from)) throw new InboundMalformed('The message has no sender.')
  // Two automatic senders would answer each other forever.
  const automatic =
    /^auto-/i.test(read.header('auto-submitted')) ||
    /\b(bulk|junk|list|auto_reply)\b/i.test(read.header('precedence')) ||
    read.header('x-autoreply') !== '' ||
    from === ours.toLowerCase() ||
    /^(mailer-daemon|postmaster|no-?reply)@/.test(from)
  const forged = /\bdmarc=fail\b/i.test(read.header('authentication-results'))
  if (automatic || forged) return undefined
  const text = storable(withoutQuotations(read.text.slice(0, MAX_READ)))
  return {
    // Without a message id, a redelivery cannot be distinguished from a second "yes". Processing a message twice is
    // better than losing it.
    deliveryId: read.messageId === '' ? randomUUID() : read.messageId.slice(0, 500),
    conversation: from,
    sender: { id: from, name: storable(read.from.name, 200) || from, ...localeField(languageOf(read)) },
    text,
    files: read.files,
    address: {
      to: from,
      subject: storable(read.subject.replaceAll(/\s+/g, ' '), 200),
      ...(/^<[^<>\s]+>$/.test(read.messageId) && { message_id: read.messageId }),
    },
  }
}

/** Returns the language of the text, or else the language of the mail program. */
function languageOf({ header }: Read): string | undefined {
  const [first] = (header('content-language') || header('accept-language')).split(/[,;]/, 1)
  return Locale.parse(first?.trim())
}

/**
 * Converts HTML to text in one pass that stops when there is enough text. Anyone can send a mail, and patterns that
 * searched for the end of a tag from every `<` blocked the event loop for 2.7 s on 30,000 of them.
 */
function plainOf(html: string): string {
  let text = ''
  let from = 0
  while (text.length < MAX_READ) {
    const opens = html.indexOf('<', from)
    const closes = opens === -1 ? -1 : html.indexOf('>', opens)
    if (closes === -1) {
      text += html.slice(from)
      break
    }
    const tag = html.slice(opens + 1, Math.min(closes, opens + 20)).toLowerCase()
    text += html.slice(from, opens) + (/^(br\s*\/?|\/(p|div|li|tr))$/.test(tag) ? '\n' : ' ')
    const unseen = /^(script|style)\b/.exec(tag)?.[1]
    from = unseen === undefined ? closes + 1 : endOf(unseen, html, closes)
  }
  return text.replaceAll('&nbsp;', ' ').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/**
 * Returns the position after the closing tag. Without a closing tag, the rest of the text is hidden, as in a browser.
 */
function endOf(tag: string, html: string, from: number): number {
  const closing = new RegExp(`</${tag}\\s*>`, 'gi')
  closing.lastIndex = from
  return closing.test(html) ? closing.lastIndex : html.length
}
