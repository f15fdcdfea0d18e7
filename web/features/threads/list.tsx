import { useNavigate } from '@tanstack/react-router'
import { MessagesSquare, Plus } from 'lucide-react'
import { useState } from 'react'
import { useAll, useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { spokenLanguage, t } from '#web/words/language.ts'
import { PersonName } from '../people/names.tsx'
import { roleLabel } from '../people/roles.ts'

export function ThreadsPage() {
  const { canWrite, isGuest } = useRole()
  const [making, setMaking] = useState(false)
  const search = useSearchText()
  const threads = useList('listThreads', { limit: 100, ...search.query }, { refetchInterval: 15_000 })
  const templates = useAll('listTemplates', { limit: 200 }, { enabled: !isGuest })
  const templateName = (id: string): string =>
    templates.data?.find(({ template_id }) => template_id === id)?.name ?? t('a template')
  const make = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New thread
    </Button>
  )
  return (
    <Page
      title="Threads"
      description="Conversations with colleagues. With a template, an assistant answers too."
      actions={make}
    >
      <SearchBar search={search} rows={threads.data} />
      <Loaded of={threads} what="the threads">
        {(rows) => (
          <Table
            label="Threads"
            rows={rows}
            rowKey={(row) => row.thread_id}
            rowTo={(row) => `/threads/${row.thread_id}`}
            more={threads.more}
            empty={emptyWith(
              search,
              <Empty icon={MessagesSquare} title="No threads yet" action={make}>
                {canWrite ? 'Create one and invite people.' : 'Threads you are invited to appear here.'}
              </Empty>,
            )}
            columns={[
              {
                header: 'Title',
                link: true,
                cell: (row) => row.title,
              },
              {
                header: 'Answered by',
                cell: (row) =>
                  row.template_id ? (
                    <Badge tone="accent">{templateName(row.template_id)}</Badge>
                  ) : (
                    <span className="text-ink-2">people</span>
                  ),
                width: '12rem',
                secondary: true,
              },
              {
                header: 'Created by',
                cell: (row) => <PersonName id={row.created_by} />,
                width: '12rem',
                secondary: true,
              },
              { header: 'Your role', cell: (row) => roleLabel(row.role), width: '7rem', secondary: true },
              { header: 'Last message', cell: (row) => <RelativeTime at={row.updated_at} />, width: '9rem' },
            ]}
          />
        )}
      </Loaded>
      <NewThread open={making} onClose={() => setMaking(false)} templates={templates.data ?? []} />
    </Page>
  )
}

function NewThread({
  open,
  onClose,
  templates,
}: {
  open: boolean
  onClose(): void
  templates: { template_id: string; name: string }[]
}) {
  const navigate = useNavigate()
  const create = useChange('createThread', {
    stale: ['listThreads'],
    onDone: ({ thread_id }) => void navigate({ to: `/threads/${thread_id}` }),
  })
  return (
    <Dialog open={open} onClose={onClose} title="New thread">
      <Form<{ title: string; template_id: string }>
        submit="Create thread"
        onCancel={onClose}
        onSubmit={({ title, template_id }) =>
          create.mutateAsync({ title, template_id: template_id || null, locale: spokenLanguage() })
        }
      >
        <Field name="title" label="Title">
          <Input required autoFocus maxLength={200} />
        </Field>
        <Field name="template_id" label="Who answers" hint="The assistant offers the workflows of its template.">
          <Select
            defaultValue=""
            options={[
              { value: '', label: 'Only people' },
              ...templates.map(({ template_id, name }) => ({ value: template_id, label: `The assistant of ${name}` })),
            ]}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
