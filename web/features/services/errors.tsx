import { Link } from '@tanstack/react-router'
import { useList } from '#web/api.ts'
import { Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'

/** Recent failures, each with its execution. */
export function RecentErrors({ service }: { service: string }) {
  const list = useList('listServiceErrors', { service, limit: 20 }, { refetchInterval: 15_000 })
  return (
    <Section title="Recent errors">
      <Loaded of={list} what="the recent errors">
        {(rows) => (
          <Table
            label="Recent errors"
            rows={rows}
            more={list.more}
            rowKey={(row) => row.error_id}
            rowTo={(row) => `/runs/${row.execution_id}`}
            empty={<p className="text-ink-2">No run that you can see failed here.</p>}
            columns={[
              { header: 'When', cell: (row) => <RelativeTime at={row.failed_at} />, width: '8rem', secondary: true },
              { header: 'Action', link: true, cell: (row) => row.action, width: '12rem' },
              {
                header: 'Error',
                cell: (row) => (
                  <span title={translateMessage(row.message)}>
                    <code className="font-mono text-xs">{row.code}</code> {translateMessage(row.message)}
                  </span>
                ),
              },
              { header: 'Times', cell: (row) => row.failures, width: '5rem', align: 'right', secondary: true },
              {
                header: 'Workflow',
                cell: (row) =>
                  row.workflow_id && (
                    <Link to={`/workflows/${row.workflow_id}`} className="text-accent hover:underline">
                      Open
                    </Link>
                  ),
                width: '6rem',
                secondary: true,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
