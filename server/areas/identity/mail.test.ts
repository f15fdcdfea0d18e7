import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshEmail } from '#test/harness/browser'
import { type Service, startService } from '#test/harness/service'
import { makePerson, makeWorkspace } from '#test/harness/world'

const received: { to: string[]; data: Buffer }[] = []
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, session, callback) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      received.push({
        to: session.envelope.rcptTo.map(({ address }: { address: string }) => address),
        data: Buffer.concat(chunks),
      })
      callback()
    })
  },
})
let service: Service

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  service = await startService({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } })
})
afterAll(async () => {
  await service?.stop()
  await new Promise<void>((resolve) => server.close(() => resolve()))
})

test('with a mail server, an invitation arrives with its link, and a name cannot add a header', async () => {
  const owner = await makePerson(service, { name: 'Mal\r\nBcc: everybody@example.com' })
  const workspace = await makeWorkspace(service, owner, 'Home')
  const email = freshEmail()
  const { body } = await owner.call('POST', `/api/workspaces/${workspace.id}/members/invite`, { body: { email } })
  await expect.poll(() => received.length).toBe(1)
  const [mail] = received
  const parsed = await PostalMime.parse(mail!.data)
  expect(mail!.to).toEqual([email])
  expect(parsed.bcc).toBeUndefined()
  expect(parsed.subject).toBe('Mal Bcc: everybody@example.com invites you to Home')
  expect(parsed.text).toContain(body.link)
  expect(await service.sql('select from mail_outbox')).toEqual([])
})
