import { MailOpen } from 'lucide-react'
import { useState } from 'react'
import type { KeptMail } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Facts, Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactTime } from '#web/ui/time-words.ts'
import { OperatorsOnly } from './operators-only.tsx'

export const OutboxPage = () => (
  <OperatorsOnly title="Outbox">
    <Outbox />
  </OperatorsOnly>
)

function Outbox() {
  const mails = useList('listOutbox', { limit: 100 })
  const [shown, setShown] = useState<KeptMail | null>(null)
  return (
    <Page
      title="Outbox"
      description="Mails that were not sent because no mail server is configured (SMTP_URL). Copy invitations from here to pass them on."
    >
      <Loaded of={mails} what="the outbox">
        {(rows) => (
          <Table
            label="Unsent mails"
            rows={rows}
            rowKey={(row) => row.mail_id}
            more={mails.more}
            empty={
              <Empty icon={MailOpen} title="The outbox is empty">
                With a mail server configured, mails are sent and do not appear here.
              </Empty>
            }
            columns={[
              { header: 'Recipient', cell: (row) => row.recipient.join(', '), width: '14rem' },
              { header: 'Subject', secondary: true, cell: (row) => <span className="font-medium">{row.subject}</span> },
              {
                header: 'Created',
                cell: (row) => <RelativeTime at={row.created_at} />,
                width: '9rem',
                secondary: true,
              },
              {
                header: <span className="sr-only">Actions</span>,
                cell: (row) => (
                  <Button size="small" look="quiet" onClick={() => setShown(row)} aria-label={`Read "${row.subject}"`}>
                    Read
                  </Button>
                ),
                width: '5rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
      <Dialog open={shown !== null} onClose={() => setShown(null)} title={shown?.subject ?? ''} size="medium">
        {shown && (
          <div className="flex flex-col gap-4">
            <Facts
              facts={[
                ['Recipient', shown.recipient.join(', ')],
                ['Created', exactTime(shown.created_at)],
                ['Workspace', shown.workspace_id ?? 'none'],
              ]}
            />
            <pre className="rounded-md border border-line bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap">
              {shown.body_text ?? 'No text.'}
            </pre>
          </div>
        )}
      </Dialog>
    </Page>
  )
}
