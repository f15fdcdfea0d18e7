import { useNavigate } from '@tanstack/react-router'
import { Plus, UsersRound } from 'lucide-react'
import { useState } from 'react'
import { useChange, useList } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { TeamMenu } from './row-menu.tsx'

export function TeamsPage() {
  const { workspaces } = useMe()
  const { canWrite } = useRole()
  const [making, setMaking] = useState(false)
  const search = useSearchText()
  const teams = useList('listTeams', search.query)
  const workspaceName = (id: string): string =>
    workspaces.find(({ workspace_id }) => workspace_id === id)?.name ?? t('another workspace')
  const make = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New team
    </Button>
  )
  return (
    <ListPage
      title="Teams"
      description="Groups of people. Approvals and notifications can address a team instead of a person."
      what="the teams"
      list={teams}
      search={search}
      create={make}
      empty={{ icon: UsersRound, title: 'No teams yet', text: 'Create a team and use it as an approver.' }}
      rowKey={(row) => row.team_id}
      rowTo={(row) => `/teams/${row.team_id}`}
      columns={[
        {
          header: 'Name',
          link: true,
          cell: (row) => row.name,
        },
        {
          header: 'Slug',
          cell: (row) => <code className="font-mono text-xs text-ink-2">{row.slug}</code>,
          secondary: true,
        },
        {
          header: 'Workspace',
          cell: (row) => <span className="text-ink-2">{workspaceName(row.workspace_id)}</span>,
          secondary: true,
        },
        { header: 'People', cell: (row) => row.member_count, align: 'right', width: '6rem' },
        {
          header: 'Created',
          cell: (row) => <RelativeTime at={row.created_at} />,
          width: '8rem',
          secondary: true,
        },
        { ...menuColumn, cell: (row) => <TeamMenu team={row} /> },
      ]}
    >
      <NewTeam open={making} onClose={() => setMaking(false)} />
    </ListPage>
  )
}

function NewTeam({ open, onClose }: { open: boolean; onClose(): void }) {
  const navigate = useNavigate()
  const create = useChange('createTeam', {
    stale: ['listTeams'],
    onDone: ({ team_id }) => void navigate({ to: `/teams/${team_id}` }),
  })
  return (
    <Dialog open={open} onClose={onClose} title="New team" description="You add people next.">
      <Form<{ name: string; slug: string; description: string }>
        submit="Create team"
        onCancel={onClose}
        onSubmit={({ name, slug, description }) =>
          create.mutateAsync({ name, ...(slug && { slug }), ...(description && { description }) })
        }
      >
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={200} />
        </Field>
        <Field name="slug" label="Slug" hint="Used in addresses. Empty: derived from the name.">
          <Input maxLength={63} placeholder="finance" />
        </Field>
        <Field name="description" label="Description">
          <Textarea rows={2} maxLength={2000} />
        </Field>
      </Form>
    </Dialog>
  )
}
