import { useState } from 'react'
import type { EngineHealth } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Section } from '#web/ui/page.tsx'
import { ShortId } from '#web/ui/short-id.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { Named } from './named.tsx'

type Poison = EngineHealth['poisoned'][number]

export function Poisoned({ rows }: { rows: Poison[] }) {
  const [asked, setAsked] = useState<Poison | null>(null)
  const release = useChange('releaseExecution', { stale: ['getEngineHealth'], done: 'Run restarted' })
  return (
    <Section
      title="Stopped after crashes"
      description="Runs whose worker crashed five times. They wait until you restart them. The newest 100 are shown."
    >
      {rows.length === 0 ? (
        <p className="text-ink-2">None.</p>
      ) : (
        <Table
          label="Runs stopped after crashes"
          rows={rows}
          rowKey={(row) => row.execution_id}
          columns={[
            { header: 'Run id', cell: (row) => <ShortId id={row.execution_id} /> },
            {
              header: 'Workspace',
              cell: (row) => <Named name={row.workspace_name} id={row.workspace_id} />,
              secondary: true,
            },
            { header: 'Since', cell: (row) => <RelativeTime at={row.since} />, width: '9rem', secondary: true },
            {
              header: <span className="sr-only">Actions</span>,
              cell: (row) => (
                <Button size="small" onClick={() => setAsked(row)}>
                  Run again
                </Button>
              ),
              width: '8rem',
              align: 'right',
            },
          ]}
        />
      )}
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title="Restart this run?"
        consequence="It may crash its worker again and interrupt other runs; it is then stopped again. The workspace's audit log records the restart."
        action="Run again"
        onConfirm={() => release.mutateAsync({ execution_id: asked!.execution_id })}
      />
    </Section>
  )
}
