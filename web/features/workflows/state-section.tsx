import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { StateEntry, Workflow } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

const MAX_SHOWN = 200

const shown = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/** What the executions of a workflow have stored for later executions. */
export function StateSection({ workflow: { workflow_id } }: { workflow: Workflow }) {
  const state = useList('listWorkflowState', { workflow_id })
  const [deleting, setDeleting] = useState<StateEntry | 'all' | null>(null)
  const remove = useChange('deleteWorkflowState', { stale: ['listWorkflowState'], done: 'Value deleted' })
  const clear = useChange('clearWorkflowState', { stale: ['listWorkflowState'], done: 'State cleared' })
  const hasSome = (state.data?.length ?? 0) > 0
  return (
    <Section
      title="State"
      description="Values that runs store with state.set and later runs read with state.get."
      actions={
        hasSome && (
          <Button size="small" look="quiet" onClick={() => setDeleting('all')}>
            Clear
          </Button>
        )
      }
    >
      <Loaded of={state} what="the state">
        {(rows) => (
          <Table
            label="State"
            rows={rows}
            more={state.more}
            rowKey={({ key }) => key}
            empty={<Empty title="Nothing stored">Runs of this workflow have not stored anything.</Empty>}
            columns={[
              { header: 'Key', width: '10rem', cell: ({ key }) => <code className="text-xs">{key}</code> },
              { header: 'Value', cell: ({ value }) => <code className="truncate text-xs">{shown(value)}</code> },
              {
                header: 'Changed',
                width: '9rem',
                secondary: true,
                cell: ({ updated_at }) => <RelativeTime at={updated_at} />,
              },
              {
                header: <span className="sr-only">Delete</span>,
                width: '4rem',
                align: 'right',
                cell: (row) => (
                  <IconButton size="small" icon={Trash2} label={`Delete ${row.key}`} onClick={() => setDeleting(row)} />
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <ConfirmDialog
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={deleting === 'all' ? 'Clear the state?' : 'Delete this value?'}
        consequence="Later runs start as if nothing had been stored."
        action={deleting === 'all' ? 'Clear state' : 'Delete value'}
        onConfirm={() =>
          deleting === 'all' || deleting === null
            ? clear.mutateAsync({ workflow_id })
            : remove.mutateAsync({ workflow_id, key: deleting.key })
        }
      />
    </Section>
  )
}
