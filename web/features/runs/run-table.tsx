import { Activity } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ExecutionSummary } from '#sdk/types.generated'
import { useAll } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import type { Selection } from '#web/ui/selection.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Table, type TableProps } from '#web/ui/table.tsx'
import { Duration, RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { workflowName } from '../workflows/built-in.ts'
import { waitsFor } from './words.ts'

/** Returns a function that gives the name of a workflow, for lists that contain only ids. */
export function useWorkflowNames(): (workflowId: string | null) => string {
  const { data } = useAll('listWorkflows', { scope: 'workspace', limit: 200 }, { staleTime: 60_000 })
  return (id) => {
    const found = data?.find(({ workflow_id }) => workflow_id === id)
    if (found) return workflowName(found)
    return id === null ? t('A standalone job') : t('A workflow')
  }
}

export function RunTable({
  rows,
  more,
  empty,
  withoutWorkflow = false,
  selection,
}: {
  rows: ExecutionSummary[]
  more?: TableProps<ExecutionSummary>['more']
  empty?: ReactNode
  withoutWorkflow?: boolean
  selection?: Selection<ExecutionSummary>
}) {
  const nameOf = useWorkflowNames()
  const { nameOf: personOf } = usePeople()
  const startedBy = (row: ExecutionSummary): string =>
    row.started_by && row.trigger.kind !== 'job'
      ? personOf(row.started_by)
      : ({
          webhook: t('a webhook'),
          event: t('an event'),
          embed: t('a visitor'),
          schedule: t('its schedule'),
          job: t('a job'),
          channel: t('a message'),
          workflow: t('another workflow'),
          system: t('the system'),
          user: t('a person'),
          trial: t('a trial'),
        }[row.trigger.kind] ?? row.trigger.kind)
  return (
    <Table
      label="Runs"
      rows={rows}
      {...(more && { more })}
      rowKey={({ execution_id }) => execution_id}
      rowTo={({ execution_id }) => `/runs/${execution_id}`}
      empty={
        empty ?? (
          <Empty icon={Activity} title="No runs yet">
            Every run appears here, step by step.
          </Empty>
        )
      }
      columns={[
        ...(selection?.column ? [selection.column] : []),
        {
          header: withoutWorkflow ? 'Run id' : 'Workflow',
          link: true,
          cell: (row) =>
            withoutWorkflow ? (
              <code className="font-mono text-xs">{row.execution_id.slice(-10)}</code>
            ) : (
              nameOf(row.workflow_id)
            ),
        },
        {
          header: 'State',
          width: '10.5rem',
          cell: (row) => (
            <StatusBadge status={row.status} label={row.status === 'waiting' ? waitsFor(row) : undefined} />
          ),
        },
        { header: 'Started by', width: '10rem', secondary: true, cell: startedBy },
        { header: 'Started', width: '9rem', secondary: true, cell: (row) => <RelativeTime at={row.created_at} /> },
        {
          header: 'Duration',
          width: '7rem',
          align: 'right',
          secondary: true,
          cell: (row) => <Duration from={row.started_at} to={row.finished_at} />,
        },
      ]}
    />
  )
}
