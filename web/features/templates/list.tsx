import { Bot, Plus } from 'lucide-react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { PersonName } from '../people/names.tsx'
import { TemplateMenu } from './row-menu.tsx'

export function TemplatesPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const templates = useList('listTemplates', { limit: 100, ...search.query })
  const make = canWrite && (
    <ButtonLink to="/templates/new" look="primary" icon={Plus}>
      New template
    </ButtonLink>
  )
  return (
    <ListPage
      title="Templates"
      description="An assistant for your site, a thread or a channel: what it says and which workflows it can start."
      what="the templates"
      list={templates}
      search={search}
      create={make}
      empty={{
        icon: Bot,
        title: 'No templates yet',
        text: canWrite
          ? 'Create a template, choose its workflows, and add it to your site with one line.'
          : 'Workspace members can create one.',
      }}
      rowKey={(row) => row.template_id}
      rowTo={(row) => `/templates/${row.template_id}`}
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
        { ...menuColumn, cell: (row) => <TemplateMenu template={row} /> },
      ]}
    />
  )
}
