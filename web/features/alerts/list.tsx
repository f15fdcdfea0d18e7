import { BellOff, BellRing, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { AlertRule } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { useWorkflowNames } from '../runs/run-table.tsx'
import { AlertDialog } from './dialog.tsx'
import { kinds, limitWords } from './words.ts'

const HOUR = 60 * 60 * 1000
const isSilenced = ({ silenced_until }: AlertRule): boolean =>
  silenced_until !== null && Date.parse(silenced_until) > Date.now()

export function AlertsPage() {
  const { canWrite, isOwner, userId } = useRole()
  const search = useSearchText()
  const rules = useList('listAlertRules', search.query, { refetchInterval: 15_000 })
  const nameOf = useWorkflowNames()
  const [adding, setAdding] = useState(false)
  const [asked, setAsked] = useState<AlertRule | null>(null)
  const update = useChange('updateAlertRule', { stale: ['listAlertRules'], done: 'Saved' })
  const remove = useChange('deleteAlertRule', { stale: ['listAlertRules'], done: 'The alert rule was deleted' })
  const mayChange = (row: AlertRule): boolean => isOwner || row.created_by === userId
  const make = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      New alert rule
    </Button>
  )
  return (
    <ListPage
      title="Alerts"
      description="Rules that notify people when runs fail, take too long, stop or cost too much, and when that is over."
      what="the alert rules"
      list={rules}
      search={search}
      create={make}
      empty={{
        icon: BellRing,
        title: 'No alert rules yet',
        text: 'Add a rule to learn of failures before others notice them.',
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
        {
          header: <span className="sr-only">Actions</span>,
          cell: (row) =>
            mayChange(row) && (
              <span className="inline-flex gap-1">
                <IconButton
                  icon={isSilenced(row) ? BellRing : BellOff}
                  size="small"
                  label={isSilenced(row) ? `End the silence of ${row.name}` : `Silence ${row.name} for an hour`}
                  onClick={() =>
                    update.mutate({
                      rule_id: row.rule_id,
                      silenced_until: isSilenced(row) ? null : new Date(Date.now() + HOUR).toISOString(),
                    })
                  }
                />
                <IconButton icon={Trash2} size="small" label={`Delete ${row.name}`} onClick={() => setAsked(row)} />
              </span>
            ),
          width: '6rem',
          align: 'right',
        },
      ]}
    >
      {adding && <AlertDialog onClose={() => setAdding(false)} />}
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Delete ${asked?.name}?`}
        consequence="It no longer notifies anyone."
        action="Delete alert rule"
        onConfirm={() => remove.mutateAsync({ rule_id: asked!.rule_id })}
      />
    </ListPage>
  )
}

function State({ rule }: { rule: AlertRule }) {
  if (!rule.enabled) return <Badge>off</Badge>
  if (isSilenced(rule)) return <Badge tone="waiting">silenced</Badge>
  return rule.state === 'firing' ? <Badge tone="danger">firing</Badge> : <Badge tone="success">quiet</Badge>
}
