import { Link } from '@tanstack/react-router'
import { MessageCircleQuestion } from 'lucide-react'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { inWords } from '#web/ui/schema-facts.ts'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { ApprovalTabs } from './tabs.tsx'

/** Answers that later questions reuse until they are withdrawn. */
export function KeptAnswersPage() {
  const search = useSearchText()
  const kept = useList('listKeptAnswers', { limit: 100, ...search.query })
  const withdraw = useChange('withdrawAnswer', {
    stale: ['listKeptAnswers'],
    done: 'The answer is no longer used',
    failed: 'Could not withdraw the answer',
  })
  return (
    <Page
      wide
      title="Saved answers"
      heading="Approvals"
      description="Answers that later runs reuse instead of asking again: your own answers, and answers to questions of your workflows."
    >
      <ApprovalTabs />
      <SearchBar search={search} rows={kept.data} />
      <Loaded of={kept} what="saved answers">
        {(rows) => (
          <Table
            label="Saved answers"
            rows={rows}
            more={kept.more}
            rowKey={({ clarification_id }) => clarification_id}
            empty={emptyWith(search, <Empty icon={MessageCircleQuestion} title="No saved answers" />)}
            columns={[
              {
                header: 'Question',
                cell: ({ question, execution_id }) => (
                  <Link to={`/runs/${execution_id}`} className="text-accent underline">
                    {question}
                  </Link>
                ),
              },
              {
                header: 'Response',
                width: '12rem',
                cell: ({ answer }) => inWords(answer),
              },
              { header: 'By', width: '9rem', secondary: true, cell: ({ answered_by }) => answered_by.name },
              {
                header: 'When',
                width: '9rem',
                secondary: true,
                cell: ({ answered_at }) => <RelativeTime at={answered_at} />,
              },
              { header: 'Used', width: '5rem', secondary: true, cell: ({ times_used }) => times_used },
              {
                header: <span className="sr-only">Actions</span>,
                width: '8rem',
                cell: ({ clarification_id, withdrawn_at }) =>
                  withdrawn_at ? (
                    <Badge tone="neutral">withdrawn</Badge>
                  ) : (
                    <Button
                      size="small"
                      disabled={withdraw.isPending}
                      onClick={() => withdraw.mutate({ clarification_id })}
                    >
                      Withdraw
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
