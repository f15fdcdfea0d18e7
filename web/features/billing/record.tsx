import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Subscription } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { ChangeAndDelete } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { FactRow, Page, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { RecordDialog } from './record-dialog.tsx'

export function RecordPage() {
  const { subscription_id } = useParams({ strict: false }) as { subscription_id: string }
  const record = useApi('getSubscription', { subscription_id })
  return (
    <Loaded of={record} what="the record">
      {(found) => <Found record={found} />}
    </Loaded>
  )
}

function Found({ record }: { record: Subscription }) {
  const navigate = useNavigate()
  const { workspaces } = useMe()
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null)
  const close = (): void => setOpen(null)
  const workspace = workspaces.find(({ workspace_id }) => workspace_id === record.workspace_id)
  const update = useChange('updateSubscription', {
    stale: ['getSubscription', 'listSubscriptions'],
    done: 'Saved',
    onDone: close,
  })
  const remove = useChange('deleteSubscription', { stale: ['listSubscriptions'], done: 'The record was deleted' })
  return (
    <Page
      title={record.name}
      crumbs={[
        { label: 'Billing', to: '/billing' },
        { label: 'Subscription records', to: '/billing/records' },
      ]}
      actions={
        workspace?.role === 'owner' && (
          <ChangeAndDelete onChange={() => setOpen('edit')} onDelete={() => setOpen('delete')} />
        )
      }
    >
      <div className="mb-8">
        <FactRow
          facts={[
            ['State', <StatusBadge key="state" status={record.status} />],
            ['Quantity', record.quantity],
            ['From', <RelativeTime key="from" at={record.starts_at} />],
            ['To', <RelativeTime key="to" at={record.ends_at} never="open" />],
            ['Workspace', workspace?.name ?? 'another workspace'],
            ['Changed', <RelativeTime key="changed" at={record.updated_at} />],
          ]}
        />
      </div>
      {Object.keys(record.metadata).length > 0 && (
        <Section title="Notes">
          <JsonView value={record.metadata} label="Notes" />
        </Section>
      )}
      <RecordDialog
        open={open === 'edit'}
        onClose={close}
        title="Change record"
        submit="Save"
        record={record}
        onSave={(values) => update.mutateAsync({ subscription_id: record.subscription_id, ...values })}
      />
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${record.name}?`}
        consequence="The record and its notes are deleted permanently. To keep it, set its state to ended instead."
        action="Delete record"
        onConfirm={async () => {
          await remove.mutateAsync({ subscription_id: record.subscription_id })
          await navigate({ to: '/billing/records' })
        }}
      />
    </Page>
  )
}
