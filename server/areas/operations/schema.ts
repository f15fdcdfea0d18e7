import { z } from 'zod'
import { anyId, defineList } from '#platform/http/list'
import { id, timestamp } from '#platform/http/schema'

export const KeptMail = z
  .object({
    mail_id: id('mail'),
    workspace_id: id('ws').nullable(),
    recipient: z.array(z.string()),
    subject: z.string(),
    body_text: z.string().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'KeptMail' })
export type KeptMail = z.input<typeof KeptMail>

export const outboxList = defineList({
  id: 'mail_id',
  search: ['subject', 'recipient'],
  sort: { created_at: 'id' },
  order: '-created_at',
  idsByTime: true,
  filters: { workspace_id: anyId('ws', 'Only mails of this workspace') },
})
