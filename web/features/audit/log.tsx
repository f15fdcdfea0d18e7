import { useNavigate, useSearch } from '@tanstack/react-router'
import { Lock, ScrollText } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { AuditEntry } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useMe, useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Facts, Page } from '#web/ui/page.tsx'
import { ShortId } from '#web/ui/short-id.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactTime } from '#web/ui/time-words.ts'
import { PersonName } from '../people/names.tsx'
import { actionWords } from './actions.ts'
import { type AuditFilter, AuditFilters, asQuery } from './filters.tsx'
import { Subject } from './subject.tsx'

export function AuditPage() {
  const { isOwner, operator } = useRole()
  if (!isOwner && !operator) {
    return (
      <Page title="Audit log">
        <Empty icon={Lock} title="The audit log is for owners">
          Ask a workspace owner.
        </Empty>
      </Page>
    )
  }
  return <Log />
}

function Log() {
  const navigate = useNavigate()
  const { operator } = useRole()
  const { workspaces } = useMe()
  const filter = useSearch({ strict: false }) as AuditFilter
  const action = filter.action ?? ''
  const [shown, setShown] = useState<AuditEntry | null>(null)
  const [known, setKnown] = useState<string[]>([])
  const log = useList('listAuditLog', { limit: 100, ...asQuery(filter) })
  const seen = [
    ...new Set([...known, ...(log.data ?? []).map((entry) => entry.action), ...(action ? [action] : [])]),
  ].sort()
  const isFiltered = Object.keys(asQuery(filter)).length > 0
  const tenant = ({ workspace_id: id, workspace_name }: AuditEntry): ReactNode =>
    id === null
      ? '–'
      : (workspace_name ?? workspaces.find(({ workspace_id }) => workspace_id === id)?.name ?? <ShortId id={id} />)
  return (
    <Page
      wide
      title="Audit log"
      description={
        operator
          ? 'Changes in all tenants. Reading this log is recorded too.'
          : 'Changes in this workspace, also those that operators made.'
      }
    >
      <AuditFilters
        filter={filter}
        actions={seen}
        onChange={(next) => {
          setKnown(seen)
          void navigate({ to: '/audit', search: next })
        }}
      />
      <Loaded of={log} what="the audit log">
        {(rows) => (
          <Table
            label="Audit log"
            rows={rows}
            rowKey={(row) => row.entry_id}
            more={log.more}
            empty={<Empty icon={ScrollText} title={isFiltered ? 'No entries match these filters' : 'No entries yet'} />}
            columns={[
              { header: 'When', cell: (row) => <RelativeTime at={row.at} />, width: '8rem', secondary: true },
              { header: 'Who', cell: (row) => <Actor entry={row} />, width: '11rem', secondary: true },
              {
                header: 'Action',
                cell: (row) => (
                  <>
                    <span title={row.action} className="font-medium">
                      {actionWords(row.action)}
                    </span>
                    <span className="block text-xs text-ink-2 md:hidden">
                      <Actor entry={row} />, <RelativeTime at={row.at} />
                    </span>
                  </>
                ),
              },
              {
                header: 'Target',
                cell: (row) => <Subject entry={row} isForeign={operator} />,
                wide: true,
                width: '14rem',
              },
              ...(operator
                ? [
                    {
                      header: 'Workspace',
                      cell: (row: AuditEntry) => tenant(row),
                      wide: true,
                      width: '9rem',
                    },
                  ]
                : []),
              {
                header: <span className="sr-only">Details</span>,
                cell: (row) => (
                  <Button
                    size="small"
                    look="quiet"
                    onClick={() => setShown(row)}
                    aria-label={`Details of ${actionWords(row.action)}`}
                  >
                    Details
                  </Button>
                ),
                width: '7.5rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={actionWords(shown?.action ?? '')}
        size="medium"
      >
        {shown && (
          <div className="flex flex-col gap-4">
            <Facts
              facts={[
                ['When', exactTime(shown.at)],
                ['Who', <Actor key="who" entry={shown} />],
                ['Target', <Subject key="what" entry={shown} isForeign={operator} />],
                [
                  'Id of the target',
                  <code key="target" className="font-mono text-xs">
                    {shown.subject ?? '–'}
                  </code>,
                ],
                ['Workspace', tenant(shown)],
                ['IP address', shown.address ?? '–'],
                [
                  'Action in the API',
                  <code key="action" className="font-mono text-xs">
                    {shown.action}
                  </code>,
                ],
                [
                  'Entry',
                  <code key="id" className="font-mono text-xs">
                    {shown.entry_id}
                  </code>,
                ],
              ]}
            />
            {Object.keys(shown.data).length > 0 && <JsonView value={shown.data} label="Recorded details" />}
          </div>
        )}
      </Dialog>
    </Page>
  )
}

/** The names of actors who are not known people of the reader's workspace. */
const actors: Record<string, string> = {
  system: 'The system',
  operator: 'An operator',
  service_account: 'A service account',
  person: 'Somebody',
}

function Actor({ entry: { actor_id, actor_kind, actor_name } }: { entry: AuditEntry }) {
  const { list } = usePeople()
  const { user } = useMe()
  const isKnown = actor_id === user.user_id || list.some(({ user_id }) => user_id === actor_id)
  if (isKnown) return <PersonName id={actor_id} />
  if (actor_id !== null && actor_name) return <span title={actor_id}>{actor_name}</span>
  if (actor_id !== null && actor_kind !== 'operator') return <PersonName id={actor_id} />
  return <span className="text-ink-2">{actors[actor_kind] ?? actor_kind}</span>
}
