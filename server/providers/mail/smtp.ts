import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { makeWorkspaceTurns } from '#platform/workspace-turns'
import { checkMessage, type Mail, MailFailure } from './index.ts'

const require = createRequire(import.meta.url)

export type SmtpOptions = { url: string; from: string; timeoutMs?: number }

const MAX_RESPONSE = 64 * 1024
const CONNECTIONS = 3
/** The timeout of a whole mail, as a multiple of the timeout of a single step. */
const SEND_WITHIN = 3

/** Sends mail by SMTP. The operator sets the address of the server, so it may be private. */
export function makeSmtpMail({ url, from, timeoutMs = 20_000 }: SmtpOptions): Mail {
  // Loaded only if a mail server is configured.
  const { createTransport } = require('nodemailer') as typeof import('nodemailer')
  const transport = createTransport(
    {
      url,
      pool: true,
      maxConnections: CONNECTIONS,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      maxResponseSize: MAX_RESPONSE,
    },
    { from, disableFileAccess: true, disableUrlAccess: true },
  )
  /** The time of a mail starts when it gets a connection. The workspaces take turns. */
  const inTurn = makeWorkspaceTurns({ atOnce: CONNECTIONS, perWorkspace: CONNECTIONS })
  const sockets = new Set<Socket>()
  transport.getSocket = (server, callback) => {
    const socket = dial(server, timeoutMs)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    const failed = (error: Error): void => callback(Object.assign(error, { command: 'CONN' }))
    socket.once('error', failed)
    socket.once('connect', () => {
      socket.off('error', failed)
      socket.setTimeout(0)
      callback(null, { connection: socket })
    })
  }
  /**
   * Limits the total time. The library limits only inactivity, so a server that sends one byte a second would never
   * time out.
   */
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      reject(new Error('the mail took too long'))
      for (const socket of sockets) socket.destroy()
    }, SEND_WITHIN * timeoutMs)
    return Promise.race([work, promise]).finally(() => clearTimeout(timer))
  }
  return {
    provider: 'smtp',
    async send(unchecked) {
      const message = checkMessage(unchecked)
      const id = createHash('sha256').update(message.key).digest('hex').slice(0, 40)
      try {
        const mail = {
          to: message.to,
          subject: message.subject,
          text: message.text,
          html: message.html,
          attachments: (message.attachments ?? []).map(({ name, media_type, chunks }) => ({
            filename: name,
            contentType: media_type,
            content: Readable.from(chunks(), { objectMode: false }),
          })),
          ...(message.replyTo !== undefined && { replyTo: message.replyTo }),
          ...(message.inReplyTo !== undefined && {
            inReplyTo: message.inReplyTo,
            references: message.inReplyTo,
            // This header keeps other automatic senders from answering.
            headers: { 'Auto-Submitted': 'auto-replied' },
          }),
          messageId: `<${id}@heddle>`,
        }
        const sent = await inTurn(message.workspaceId ?? '', () => inTime(transport.sendMail(mail)))
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

function dial({ host, port, secure }: { host?: string; port?: number; secure?: boolean }, timeoutMs: number): Socket {
  const socket = connect({ host: host || 'localhost', port: Number(port) || (secure ? 465 : 587) })
  return socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the connection took too long')))
}

const addressOf = (entry: string | { address: string }): string => (typeof entry === 'string' ? entry : entry.address)

/**
 * Converts an error to a MailFailure. After a 5xx response the server will never accept the mail; other errors may be
 * temporary. The server's own text is not passed on, because it can contain credentials.
 */
function asMailFailure(error: unknown): MailFailure {
  const { responseCode, code, command } = (error ?? {}) as { responseCode?: number; code?: string; command?: string }
  if (code === 'EAUTH')
    return new MailFailure('mail_unavailable', 'the mail server refuses our credentials', error, true)
  if (responseCode !== undefined && responseCode >= 500) {
    return new MailFailure('mail_refused', `the mail server refused the mail (${responseCode})`, error)
  }
  return new MailFailure('mail_unavailable', 'the mail server cannot be reached', error, command === 'CONN')
}
