import { BellRing, Plus } from 'lucide-react'
import { useState } from 'react'
import type { AlertRule } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { useWorkflowNames } from '../runs/run-table.tsx'
import { AlertDialog } from './dialog.tsx'
import { AlertMenu } from './row-menu.tsx'
import { isSilenced, kinds, limitWords } from './words.ts'

export function AlertsPage() {
  const { canWrite, isOwner, userId } = useRole()
  const search = useSearchText()
  const rules = useList('listAlertRules', search.query, { refetchInterval: 15_000 })
  const nameOf = useWorkflowNames()
  const [adding, setAdding] = useState(false)
  const mayChange = (row: AlertRule): boolean => isOwner || row.created_by === userId
  const make = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      New alert rule
    </Button>
  )
  return (
    <ListPage
      title="Alerts"
      description="Rules that notify people when runs fail, take too long, stop or cost too much, and when the problem is over."
      what="the alert rules"
      list={rules}
      search={search}
      create={make}
      empty={{
        icon: BellRing,
        title: 'No alert rules yet',
        text: 'Add a rule to be notified of failures before others notice them.',
      }}
      rowKey={(row) => row.rule_id}
      columns={[
        {
          header: 'Rule',
          cell: (row) => (
            <>
              <span className="font-medium">{row.name}</span>
              <span className="block text-xs text-ink-2">
                {kinds[row.kind].label}, {row.workflow_id ? nameOf(row.workflow_id) : 'in the whole workspace'}
              </span>
            </>
          ),
        },
        {
          header: 'State',
          cell: (row) => <State rule={row} />,
          width: '8rem',
        },
        { header: 'Since', cell: (row) => <RelativeTime at={row.since} />, width: '8rem', secondary: true },
        { header: 'Limit', cell: (row) => limitWords(row), width: '11rem', secondary: true },
        { ...menuColumn, cell: (row) => mayChange(row) && <AlertMenu rule={row} /> },
      ]}
    >
      {adding && <AlertDialog onClose={() => setAdding(false)} />}
    </ListPage>
  )
}

function State({ rule }: { rule: AlertRule }) {
  if (!rule.enabled) return <Badge>off</Badge>
  if (isSilenced(rule)) return <Badge tone="waiting">silenced</Badge>
  return rule.state === 'firing' ? <Badge tone="danger">firing</Badge> : <Badge tone="success">quiet</Badge>
}
