import { MessageCircleQuestion } from 'lucide-react'
import { useList } from '#web/api.ts'
import { ButtonLink } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { useWorkflowNames } from '../runs/run-table.tsx'

/** Questions of executions for this user. They are answered on the page of the execution, beside its steps. */
export function QuestionsPage() {
  const search = useSearchText()
  const questions = useList('listQuestionInbox', { limit: 100, ...search.query }, { refetchInterval: 15_000 })
  const nameOf = useWorkflowNames()
  return (
    <Page
      wide
      title="Questions"
      description="Runs that need an answer from you, soonest due first."
      actions={<ButtonLink to="/approvals/answers">Saved answers</ButtonLink>}
    >
      <SearchBar search={search} rows={questions.data} />
      <Loaded of={questions} what="your questions">
        {(rows) => (
          <Table
            label="Questions"
            rows={rows}
            more={questions.more}
            rowKey={({ clarification_id }) => clarification_id}
            rowTo={({ execution_id }) => `/runs/${execution_id}`}
            empty={emptyWith(
              search,
              <Empty icon={MessageCircleQuestion} title="Nothing to answer">
                When a run asks you something, the question appears here and in your notifications.
              </Empty>,
            )}
            columns={[
              { header: 'Question', link: true, cell: ({ question }) => question },
              { header: 'Workflow', width: '14rem', secondary: true, cell: (row) => nameOf(row.workflow_id) },
              { header: 'Asked', width: '9rem', secondary: true, cell: (row) => <RelativeTime at={row.asked_at} /> },
              {
                header: 'Due',
                width: '9rem',
                cell: ({ due_at }) => (due_at ? <RelativeTime at={due_at} /> : '–'),
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
