import type { Tx } from '#platform/db/pool'
import { newId, toWire } from '#platform/ids'
import { checkMessage, type Mail } from './index.ts'

export type OutboxRow = {
  mail_id: string
  workspace_id: string | null
  idempotency_key: string
  recipient: string[]
  subject: string
  body_text: string | null
  body_html: string | null
  /** The files that a mail server would have received as attachments. */
  attachments: { file_id: string; name: string; media_type: string; bytes: number }[]
}

/** Stores mail instead of sending it. `store` writes the row once per idempotency key. */
export function makeOutboxMail({ store }: { store(row: OutboxRow): Promise<void> }): Mail {
  return {
    provider: 'outbox',
    async send(unchecked) {
      const message = checkMessage(unchecked)
      const mailId = newId()
      await store({
        mail_id: mailId,
        workspace_id: message.workspaceId,
        idempotency_key: message.key,
        recipient: message.to,
        subject: message.subject,
        body_text: message.text ?? null,
        body_html: message.html ?? null,
        attachments: (message.attachments ?? []).map(({ file_id, name, media_type, bytes }) => ({
          file_id: toWire('file', file_id),
          name,
          media_type,
          bytes,
        })),
      })
      return { mail_id: mailId, provider: 'outbox', accepted: message.to, rejected: [] }
    },
    close: async () => {},
  }
}

/**
 * There is no conflict target, because a conflict target requires the right to read the table, which writers do not
 * have.
 */
export async function insertIntoOutbox(tx: Tx, row: OutboxRow): Promise<void> {
  await tx.count(
    `insert into mail_outbox (mail_id, workspace_id, idempotency_key, recipient, subject, body_text, body_html, attachments)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [
      row.mail_id,
      row.workspace_id,
      row.idempotency_key,
      row.recipient,
      row.subject,
      row.body_text,
      row.body_html,
      JSON.stringify(row.attachments),
    ],
  )
}
