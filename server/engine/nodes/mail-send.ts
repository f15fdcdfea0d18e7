import { NodeFailure, type NodeKind, NotBegun } from '#engine/node'
import { type Mail, MailFailure } from '#providers/mail/index'
import { checked, fields } from './kind.ts'

const address = { type: 'string', format: 'email', maxLength: 320 }

export const makeMailSend = ({ mail }: { mail: Pick<Mail, 'send' | 'provider'> }): NodeKind =>
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
    async run({ args, workspaceId, effectKey }) {
      const to = Array.isArray(args.to) ? args.to.map(String) : [String(args.to)]
      const text = typeof args.text === 'string' ? args.text : undefined
      const html = typeof args.html === 'string' ? args.html : undefined
      try {
        const receipt = await mail.send({ workspaceId, to, subject: String(args.subject), text, html, key: effectKey })
        return { output: { ...receipt } }
      } catch (error) {
        if (!(error instanceof MailFailure)) {
          // The outbox is a table of ours that keeps a mail once, whatever becomes of the connection.
          throw mail.provider === 'outbox' ? new NotBegun(error) : error
        }
        const { code, message, retryable, nothingSent } = error
        throw new NodeFailure(code, message, { retryable, nothingDone: nothingSent })
      }
    },
  })
