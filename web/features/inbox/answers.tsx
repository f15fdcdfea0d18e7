import { MessageSquareQuote, Pencil, Plus } from 'lucide-react'
import { useState } from 'react'
import type { CannedAnswer } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { Page } from '#web/ui/page.tsx'
import { menuColumn, RowMenu } from '#web/ui/row-menu.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { InboxSections } from './sections.tsx'

export function CannedAnswersPage() {
  const { canWrite, isOwner, userId } = useRole()
  const search = useSearchText()
  const answers = useList('listCannedAnswers', { limit: 200, ...search.query })
  const [editing, setEditing] = useState<CannedAnswer | 'new' | null>(null)
  const remove = useChange('deleteCannedAnswer', { stale: ['listCannedAnswers'], done: 'The answer was deleted' })
  const make = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setEditing('new')}>
      New answer
    </Button>
  )
  return (
    <Page
      title="Canned answers"
      heading="Conversations"
      description="Texts that you send often. Anyone in the workspace can put them into a message."
      actions={make}
    >
      <InboxSections />
      <SearchBar search={search} rows={answers.data} />
      <Loaded of={answers} what="the canned answers">
        {(rows) => (
          <Table
            label="Canned answers"
            rows={rows}
            rowKey={(row) => row.answer_id}
            more={answers.more}
            empty={emptyWith(
              search,
              <Empty icon={MessageSquareQuote} title="No canned answers yet" action={make}>
                Add one for a question that you are asked often.
              </Empty>,
            )}
            columns={[
              { header: 'Name', cell: (row) => <span className="font-medium">{row.name}</span>, width: '14rem' },
              {
                header: 'Text',
                cell: (row) => <span className="line-clamp-2 break-words text-ink-2">{row.text}</span>,
                secondary: true,
              },
              {
                ...menuColumn,
                cell: (row) =>
                  canWrite &&
                  (isOwner || row.created_by === userId) && (
                    <RowMenu
                      name={row.name}
                      removal={{
                        ...deletionOf(row),
                        onConfirm: () => remove.mutateAsync({ answer_id: row.answer_id }),
                      }}
                    >
                      <MenuItem icon={Pencil} onSelect={() => setEditing(row)}>
                        Change…
                      </MenuItem>
                    </RowMenu>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {editing !== null && (
        <AnswerDialog answer={editing === 'new' ? undefined : editing} onClose={() => setEditing(null)} />
      )}
    </Page>
  )
}

/** The confirmation before an answer is deleted. */
const deletionOf = ({ name }: CannedAnswer) => ({
  title: `Delete ${name}?`,
  consequence: 'Nobody can choose it any more. Messages that were sent with it stay.',
  action: 'Delete answer',
})

function AnswerDialog({ answer, onClose }: { answer: CannedAnswer | undefined; onClose(): void }) {
  const stale = ['listCannedAnswers'] as const
  const create = useChange('createCannedAnswer', { stale: [...stale], done: 'Saved', onDone: onClose })
  const update = useChange('updateCannedAnswer', { stale: [...stale], done: 'Saved', onDone: onClose })
  return (
    <Dialog open onClose={onClose} title={answer ? `Change ${answer.name}` : 'New answer'} size="medium">
      <Form<{ name: string; text: string }>
        submit="Save"
        onCancel={onClose}
        onSubmit={(values) =>
          answer ? update.mutateAsync({ answer_id: answer.answer_id, ...values }) : create.mutateAsync(values)
        }
      >
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={100} defaultValue={answer?.name ?? ''} />
        </Field>
        <Field name="text" label="Text">
          <Textarea required rows={6} maxLength={4000} defaultValue={answer?.text ?? ''} />
        </Field>
      </Form>
    </Dialog>
  )
}
