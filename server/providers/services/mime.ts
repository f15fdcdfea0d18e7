import { createTransport } from 'nodemailer'

// A mail as RFC 5322 text, for vendors that take it whole. Nothing is sent, read from disk or fetched.

const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })

export type MimeMessage = {
  from?: string | undefined
  to?: string[] | undefined
  cc?: string[] | undefined
  bcc?: string[] | undefined
  replyTo?: string | undefined
  subject?: string | undefined
  text?: string | undefined
  html?: string | undefined
  inReplyTo?: string | undefined
  references?: string | undefined
  attachments?: { filename: string; contentType: string; content: Buffer }[]
}

export async function composeMime(message: MimeMessage): Promise<Buffer> {
  const { message: composed } = await composer.sendMail({
    ...message,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composed as Buffer
}
