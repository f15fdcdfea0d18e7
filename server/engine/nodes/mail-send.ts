import { type Files, fileSchema } from '#engine/files'
import { type NodeCall, NodeFailure, type NodeKind, NotStarted } from '#engine/node'
import type { Json } from '#model/definition'
import { type Mail, type MailAttachment, MailFailure } from '#providers/mail/index'
import { checked, fields } from './kind.ts'

const address = { type: 'string', format: 'email', maxLength: 320 }

const MAX_ATTACHMENTS = 20
/** Most mail servers accept no more. */
const MAX_ATTACHED_BYTES = 20 * 1024 * 1024

export const makeMailSend = ({ mail, files }: { mail: Pick<Mail, 'send' | 'provider'>; files: Files }): NodeKind =>
  checked({
    descriptor: {
      type: 'mail.send',
      kind: 'tool',
      group: 'messages',
      title: 'Send mail',
      description: 'Sends an e-mail at most once: an interrupted attempt is not repeated.',
      icon: 'mail',
      colour: '#c2410c',
      keywords: ['email', 'e-mail', 'smtp', 'message', 'send'],
      args_schema: fields(
        {
          to: { title: 'To', anyOf: [address, { type: 'array', items: address, minItems: 1, maxItems: 50 }] },
          subject: { type: 'string', title: 'Subject', minLength: 1, maxLength: 500 },
          text: { type: 'string', title: 'Text', 'x-editor': 'text' },
          html: { type: 'string', title: 'HTML', 'x-editor': 'html' },
          attachments: { type: 'array', title: 'Attachments', items: fileSchema, maxItems: MAX_ATTACHMENTS },
        },
        ['to', 'subject'],
        { anyOf: [{ required: ['text'] }, { required: ['html'] }] },
      ),
      output_schema: {
        type: 'object',
        properties: {
          mail_id: { type: 'string' },
          provider: { type: 'string' },
          accepted: { type: 'array', items: { type: 'string' } },
          rejected: { type: 'array', items: { type: 'string' } },
        },
      },
      ports: ['out'],
      effect: 'at_most_once',
      defaults: { to: '', subject: '', text: '' },
    },
    async run(call) {
      const { args, workspaceId, effectKey } = call
      const attachments = await attachmentsOf(files, call)
      const to = Array.isArray(args.to) ? args.to.map(String) : [String(args.to)]
      const text = typeof args.text === 'string' ? args.text : undefined
      const html = typeof args.html === 'string' ? args.html : undefined
      try {
        const receipt = await mail.send({
          workspaceId,
          to,
          subject: String(args.subject),
          text,
          html,
          attachments,
          key: effectKey,
        })
        return { output: { ...receipt } }
      } catch (error) {
        if (!(error instanceof MailFailure)) {
          // The outbox is our own table. It stores each mail once, even if the connection breaks.
          throw mail.provider === 'outbox' ? new NotStarted(error) : error
        }
        const { code, message, retryable, nothingSent } = error
        throw new NodeFailure(code, message, { retryable, nothingDone: nothingSent })
      }
    },
  })

/** Opens the attachments before anything is sent: a missing file fails the node, and no mail is sent. */
async function attachmentsOf(files: Files, call: NodeCall): Promise<MailAttachment[]> {
  const opened: MailAttachment[] = []
  let bytes = 0
  for (const value of Array.isArray(call.args.attachments) ? (call.args.attachments as Json[]) : []) {
    const file = await files.open(call, value)
    bytes += file.bytes
    if (bytes > MAX_ATTACHED_BYTES) {
      const message = `attachments may have at most ${MAX_ATTACHED_BYTES} bytes together; send a link instead`
      throw new NodeFailure('file_too_large', message, { retryable: false, nothingDone: true })
    }
    opened.push(file)
  }
  return opened
}
