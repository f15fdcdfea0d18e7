import { Bot, Plus } from 'lucide-react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { PersonName } from '../people/names.tsx'

export function TemplatesPage() {
  const { canWrite } = useRole()
  const templates = useList('listTemplates', { limit: 100 })
  const make = canWrite && (
    <ButtonLink to="/templates/new" look="primary" icon={Plus}>
      New template
    </ButtonLink>
  )
  return (
    <Page
      title="Templates"
      description="An assistant for your site, a thread or a channel: what it says and which workflows it can start."
      actions={make}
    >
      <Loaded of={templates} what="the templates">
        {(rows) => (
          <Table
            label="Templates"
            rows={rows}
            rowKey={(row) => row.template_id}
            rowTo={(row) => `/templates/${row.template_id}`}
            more={templates.more}
            empty={
              <Empty icon={Bot} title="No templates yet" action={make}>
                {canWrite
                  ? 'Create a template, choose its workflows, and add it to your site with one line.'
                  : 'Workspace members can create one.'}
              </Empty>
            }
            columns={[
              {
                header: 'Name',
                link: true,
                cell: (row) => row.name,
              },
              {
                header: 'Workflows',
                cell: (row) => row.workflow_ids.length,
                align: 'right',
                width: '7rem',
                secondary: true,
              },
              {
                header: 'Sites',
                cell: (row) => <span className="text-ink-2">{row.allowed_origins.join(', ') || 'only this one'}</span>,
                secondary: true,
              },
              {
                header: 'Created by',
                cell: (row) => <PersonName id={row.owner_id} />,
                width: '12rem',
                secondary: true,
              },
              { header: 'Changed', cell: (row) => <RelativeTime at={row.updated_at} />, width: '9rem' },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
