import { type AddressInfo, connect, createServer } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Mail, MailFailure, type MailMessage } from './index.ts'
import { makeOutboxMail, type OutboxRow } from './outbox.ts'
import { makeSmtpMail } from './smtp.ts'

type Received = { to: string[]; subject: string; text: string; html: string; key: string }

const message: MailMessage = {
  workspaceId: 'w',
  to: ['ann@example.org', 'bob@example.org'],
  subject: 'Grüße',
  text: 'Hello\n.\nthere',
  html: '<b>Hello</b>',
  key: 'exe:node:0',
}

const rows: OutboxRow[] = []
const outbox = makeOutboxMail({
  store: async (row) => {
    if (!rows.some((known) => known.idempotency_key === row.idempotency_key)) rows.push(row)
  },
})
const readOutbox = async (): Promise<Received[]> =>
  rows.map((row) => ({
    to: row.recipient,
    subject: row.subject,
    text: row.body_text ?? '',
    html: row.body_html ?? '',
    key: row.idempotency_key,
  }))

const raw: { to: string[]; data: string }[] = []
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onRcptTo(address, _session, callback) {
    callback(
      address.address.startsWith('nobody') ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null,
    )
  },
  onData(stream, session, callback) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      raw.push({
        to: session.envelope.rcptTo.map(({ address }: { address: string }) => address),
        data: Buffer.concat(chunks).toString(),
      })
      callback()
    })
  },
})
let smtp: Mail
const readSmtp = async (): Promise<Received[]> =>
  Promise.all(
    raw.map(async ({ to, data }) => {
      const parsed = await PostalMime.parse(data)
      return {
        to,
        subject: parsed.subject ?? '',
        text: parsed.text ?? '',
        html: parsed.html ?? '',
        key: parsed.messageId ?? '',
      }
    }),
  )

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.server.address() as AddressInfo
  smtp = makeSmtpMail({ url: `smtp://127.0.0.1:${port}`, from: 'Heddle <heddle@example.org>' })
})
afterAll(async () => {
  await smtp.close()
  await new Promise<void>((done) => server.close(done))
})

describe.each<[string, () => Mail, () => Promise<Received[]>]>([
  ['smtp', () => smtp, readSmtp],
  ['outbox', () => outbox, readOutbox],
])('mail by %s', (provider, mail, read) => {
  it('arrives complete at every recipient', async () => {
    const receipt = await mail().send(message)
    expect(receipt).toMatchObject({ provider, accepted: message.to, rejected: [] })
    const [received] = await read()
    expect(received).toMatchObject({ to: message.to, subject: message.subject })
    expect(received?.text.trim()).toBe(message.text)
    expect(received?.html.trim()).toBe(message.html)
  })

  it('has the same key when it is sent again', async () => {
    await mail().send(message)
    expect(new Set((await read()).map(({ key }) => key)).size).toBe(1)
  })

  it.each<[string, Partial<MailMessage>]>([
    ['no recipient', { to: [] }],
    ['a list in one recipient', { to: ['a@example.org, b@example.org'] }],
    ['a header in a recipient', { to: ['a@example.org\r\nBcc: evil@example.org'] }],
    ['a name and a group', { to: ['Group: a@example.org;'] }],
    ['a header in the subject', { subject: 'a\r\nBcc: evil@example.org' }],
    ['neither text nor HTML', { text: undefined, html: undefined }],
    ['too many recipients', { to: Array.from({ length: 51 }, (_, i) => `a${i}@example.org`) }],
  ])('with %s is refused', async (_name, wrong) => {
    const before = (await read()).length
    await expect(mail().send({ ...message, ...wrong })).rejects.toMatchObject({
      code: 'mail_invalid',
      retryable: false,
    })
    expect(await read()).toHaveLength(before)
  })
})

describe('a mail server', () => {
  it('that never ends a response fails the mails in progress, and not the mails that wait for them', async () => {
    let connections = 0
    const slow = createServer((socket) => {
      socket.on('error', () => {})
      connections += 1
      if (connections > 3) {
        const answering = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
        answering.on('error', () => {})
        socket.pipe(answering).pipe(socket)
        return
      }
      socket.write('220 slow\r\n')
      socket.once('data', () => {
        const timer = setInterval(() => socket.write('250-more\r\n'), 20)
        socket.once('close', () => clearInterval(timer))
      })
    })
    await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done))
    const { port } = slow.address() as AddressInfo
    const mail = makeSmtpMail({ url: `smtp://127.0.0.1:${port}`, from: 'a@example.org', timeoutMs: 1_000 })
    const sent = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) => mail.send({ ...message, key: `slow:${n}` })),
    )
    expect(sent.map(({ status }) => status)).toEqual([
      ...Array<string>(3).fill('rejected'),
      ...Array<string>(3).fill('fulfilled'),
    ])
    await mail.close()
    await new Promise((done) => slow.close(done))
  })

  it('that refuses a recipient is distinguished from a mail server that cannot be reached', async () => {
    await expect(smtp.send({ ...message, to: ['nobody@example.org'] })).rejects.toMatchObject({ code: 'mail_refused' })
    const gone = makeSmtpMail({ url: 'smtp://127.0.0.1:1', from: 'a@example.org', timeoutMs: 2_000 })
    const error = await gone.send(message).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(MailFailure)
    expect(error).toMatchObject({ code: 'mail_unavailable', retryable: true, nothingSent: true })
    await gone.close()
  })
})
