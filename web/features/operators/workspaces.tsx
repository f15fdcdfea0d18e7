import { Ban, CirclePlay, ShieldCheck, ShieldOff } from 'lucide-react'
import { useState } from 'react'
import type { TenantWorkspace } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Select, Textarea } from '#web/ui/field.tsx'
import { formatBytes, formatNumber } from '#web/ui/format.ts'
import { MenuItem } from '#web/ui/menu.tsx'
import { menuColumn, RowMenu } from '#web/ui/row-menu.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { dollars } from '../insights/words.ts'

const ORDERS = [
  { value: '-model_cost_this_month', label: 'Cost of models, highest first' },
  { value: '-runs_this_month', label: 'Runs this month, most first' },
  { value: '-storage_bytes', label: 'Storage, largest first' },
  { value: '-created_at', label: 'Newest first' },
] as const
type Order = (typeof ORDERS)[number]['value']

export function Workspaces() {
  const [sort, setSort] = useState<Order>('-runs_this_month')
  const workspaces = useList('listTenants', { limit: 100, sort })
  return (
    <div className="flex flex-col gap-4">
      <Field name="sort" label="Sort by" className="max-w-80">
        <Select options={ORDERS} value={sort} onChange={(event) => setSort(event.target.value as Order)} />
      </Field>
      <Loaded of={workspaces} what="the workspaces">
        {(rows) => (
          <Table
            label="All workspaces"
            rows={rows}
            rowKey={(row) => row.workspace_id}
            more={workspaces.more}
            empty={<Empty title="No workspaces yet" />}
            columns={[
              { header: 'Workspace', cell: (row) => <Named row={row} /> },
              {
                header: 'Owner',
                cell: (row) => row.owners.map(({ email }) => email).join(', '),
                secondary: true,
              },
              {
                header: 'Runs this month',
                cell: (row) => formatNumber(row.runs_this_month),
                align: 'right',
                width: '8rem',
              },
              {
                header: 'Cost of models',
                cell: (row) => dollars(row.model_cost_this_month),
                align: 'right',
                width: '8rem',
                secondary: true,
              },
              {
                header: 'Storage',
                cell: (row) => formatBytes(row.storage_bytes),
                align: 'right',
                width: '7rem',
                secondary: true,
              },
              {
                header: 'Created',
                cell: (row) => <RelativeTime at={row.created_at} />,
                width: '8rem',
                secondary: true,
              },
              { ...menuColumn, cell: (row) => <Actions row={row} /> },
            ]}
          />
        )}
      </Loaded>
    </div>
  )
}

const Named = ({ row }: { row: TenantWorkspace }) => (
  <span className="flex flex-wrap items-center gap-2">
    <span className="font-medium">{row.name}</span>
    {row.suspended && <Badge tone="danger">Suspended</Badge>}
    {row.trusted && <Badge>Trusted</Badge>}
  </span>
)

const stale: ['listTenants'] = ['listTenants']

function Actions({ row: { workspace_id, name, suspended, trusted } }: { row: TenantWorkspace }) {
  const [asked, setAsked] = useState(false)
  const suspend = useChange('suspendWorkspace', { stale, done: `${name} is suspended` })
  const resume = useChange('suspendWorkspace', { stale, done: 'Suspension ended', failed: 'Could not change this' })
  const trust = useChange('trustWorkspace', { stale, done: 'Saved', failed: 'Could not save' })
  const remove = useChange('deleteTenant', { stale, done: `${name} was deleted` })
  return (
    <>
      <RowMenu
        name={name}
        removal={
          suspended && {
            title: `Delete ${name}?`,
            consequence:
              'Everything in the workspace is deleted and cannot be restored. Its company and its people stay.',
            action: 'Delete workspace',
            onConfirm: () => remove.mutateAsync({ workspace_id }),
          }
        }
      >
        {suspended ? (
          <MenuItem icon={CirclePlay} onSelect={() => resume.mutate({ workspace_id, suspended: false })}>
            End suspension
          </MenuItem>
        ) : (
          <MenuItem icon={Ban} onSelect={() => setAsked(true)}>
            Suspend…
          </MenuItem>
        )}
        <MenuItem
          icon={trusted ? ShieldOff : ShieldCheck}
          onSelect={() => trust.mutate({ workspace_id, trusted: !trusted })}
        >
          {trusted ? 'Limit mail to outsiders' : 'Trust: no daily limit for mail to outsiders'}
        </MenuItem>
      </RowMenu>
      <Dialog
        open={asked}
        onClose={() => setAsked(false)}
        title={`Suspend ${name}`}
        description="Nothing starts there, and its active runs make no requests, send no mail and ask no language model of the installation. Its people can still sign in, read and export."
      >
        <Form<{ reason: string }>
          submit="Suspend"
          onCancel={() => setAsked(false)}
          onSubmit={async ({ reason }) => {
            await suspend.mutateAsync({ workspace_id, suspended: true, reason })
            setAsked(false)
          }}
        >
          <Field name="reason" label="Reason" hint="The people of the workspace see it.">
            <Textarea required autoFocus maxLength={500} rows={3} />
          </Field>
        </Form>
      </Dialog>
    </>
  )
}
