// Composes a mail as RFC 5322 text, for vendors that accept whole mails. Nothing is sent, read from disk or fetched.

/** Loads the library with the first mail, because few services send mail. */
const loadComposer = async () => {
  const { createTransport } = await import('nodemailer')
  return createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
}
let composer: ReturnType<typeof loadComposer> | undefined

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
  composer ??= loadComposer()
  const { message: composed } = await (await composer).sendMail({
    ...message,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composed as Buffer
}
