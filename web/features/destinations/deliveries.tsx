import { RotateCw, Send } from 'lucide-react'
import type { EventDelivery } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'

const statuses = {
  pending: { tone: 'waiting', label: 'Waiting' },
  delivered: { tone: 'success', label: 'Accepted' },
  failed: { tone: 'danger', label: 'Failed' },
} as const

const answerOf = ({ answer_status, problem, answer_text }: EventDelivery): string =>
  problem ?? (answer_status === null ? t('not sent yet') : [answer_status, answer_text].filter(Boolean).join(' '))

export function Deliveries({ destinationId, isOn }: { destinationId: string; isOn: boolean }) {
  const deliveries = useList('listDeliveries', { destination_id: destinationId, limit: 20 })
  const redeliver = useChange('redeliverEvent', {
    stale: ['listDeliveries', 'getDestination'],
    done: 'The event is sent again',
    failed: 'Could not send it again',
  })
  return (
    <Section
      title="Deliveries"
      actions={
        <Button icon={RotateCw} size="small" onClick={() => void deliveries.refetch()}>
          Refresh
        </Button>
      }
    >
      <Loaded of={deliveries} what="the deliveries">
        {(items) => (
          <Table
            label="Deliveries"
            rows={items}
            rowKey={(row) => row.delivery_id}
            more={deliveries.more}
            empty={
              <Empty icon={Send} title="Nothing was sent yet">
                Events appear here as they happen. Send a test event to see what the receiver answers.
              </Empty>
            }
            columns={[
              { header: 'Event', cell: (row) => <code className="font-mono text-xs">{row.type}</code> },
              {
                header: 'State',
                cell: (row) => <Badge tone={statuses[row.status].tone}>{statuses[row.status].label}</Badge>,
                width: '7rem',
              },
              {
                header: 'Response',
                cell: (row) => <span className="break-words">{answerOf(row)}</span>,
                secondary: true,
              },
              { header: 'Attempts', cell: (row) => row.attempts, width: '6rem', secondary: true },
              { header: 'Happened', cell: (row) => <RelativeTime at={row.event_at} />, width: '8rem', secondary: true },
              {
                header: <span className="sr-only">Actions</span>,
                cell: (row) => (
                  <IconButton
                    icon={Send}
                    size="small"
                    label={`Send ${row.type} again`}
                    disabled={!isOn || redeliver.isPending}
                    onClick={() => redeliver.mutate({ destination_id: destinationId, delivery_id: row.delivery_id })}
                  />
                ),
                width: '4rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
