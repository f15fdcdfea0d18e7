import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { until } from './until.ts'

export type ReceivedMail = { to: string[]; subject: string; text: string }

/** Starts a mail server for one test. */
export async function startMailbox() {
  const received: ReceivedMail[] = []
  /** The addresses that are refused, with the status. */
  const refused = new Map<string, number>()
  const refusals: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, callback) {
      const responseCode = refused.get(address)
      if (responseCode === undefined) return callback()
      refusals.push(address)
      callback(Object.assign(new Error('refused'), { responseCode }))
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }: { address: string }) => address)
        PostalMime.parse(Buffer.concat(chunks))
          .then(({ subject = '', text = '' }) => received.push({ to, subject, text }))
          .then(() => callback(), callback)
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const to = (email: string): ReceivedMail[] => received.filter((mail) => mail.to.includes(email))
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refused,
    refusals,
    to,
    /** Waits until `count` mails have arrived for this address and returns the newest. */
    async wait(email: string, count = 1): Promise<ReceivedMail> {
      await until(async () => to(email).length >= count, `mail ${count} to ${email}`)
      return to(email).at(-1)!
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

export type Mailbox = Awaited<ReturnType<typeof startMailbox>>

/** Returns the token at the end of the link in a mail. */
export const tokenIn = ({ text }: ReceivedMail, prefix: string): string =>
  new RegExp(`${prefix}_\\w+`).exec(text)?.[0] ?? ''
