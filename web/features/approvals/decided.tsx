import { Stamp } from 'lucide-react'
import type { Approval } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { useWorkflowNames } from '../runs/run-table.tsx'
import { ApprovalTabs } from './tabs.tsx'

const words = { approve: t('approved'), reject: t('rejected'), abstain: t('abstained') }

/** The decisions of this user, and their outcome. */
export function DecidedPage() {
  const search = useSearchText()
  const decided = useList('listDecided', { limit: 100, ...search.query })
  const nameOf = useWorkflowNames()
  const { nameOf: personOf } = usePeople()
  const { userId } = useRole()
  const mine = ({ votes }: Approval) => votes.find(({ voter }) => voter.id === userId)
  return (
    <Page wide title="Your decisions" heading="Approvals" description="Requests on which you have voted, newest first.">
      <ApprovalTabs />
      <SearchBar search={search} rows={decided.data} />
      <Loaded of={decided} what="your decisions">
        {(rows) => (
          <Table
            label="Your decisions"
            rows={rows}
            more={decided.more}
            rowKey={({ request_id }) => request_id}
            rowTo={({ request_id }) => `/approvals/${request_id}`}
            empty={emptyWith(search, <Empty icon={Stamp} title="You have not voted yet" />)}
            columns={[
              { header: 'Request', link: true, cell: ({ title }) => title },
              {
                header: 'Your vote',
                width: '6rem',
                cell: (row) => {
                  const vote = mine(row)
                  return vote ? words[vote.decision] : '–'
                },
              },
              { header: 'Result', width: '6.5rem', cell: ({ status }) => <StatusBadge status={status} /> },
              { header: 'Workflow', width: '12rem', secondary: true, cell: (row) => nameOf(row.workflow_id) },
              {
                header: 'Started by',
                width: '10rem',
                secondary: true,
                cell: ({ started_by }) => (started_by ? personOf(started_by) : t('no person')),
              },
              {
                header: 'When',
                width: '9rem',
                secondary: true,
                cell: (row) => <RelativeTime at={mine(row)?.voted_at} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
