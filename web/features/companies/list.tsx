import { Link, useNavigate } from '@tanstack/react-router'
import { Building2, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Company } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

export function CompaniesPage() {
  const { workspaces } = useMe()
  const { canWrite, userId } = useRole()
  const [making, setMaking] = useState(false)
  const search = useSearchText()
  const companies = useList('listCompanies', search.query)
  const inside = (company: Company) => workspaces.filter(({ company_id }) => company_id === company.company_id)
  const make = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New company
    </Button>
  )
  return (
    <ListPage
      title="Companies and workspaces"
      description="A company has workspaces. Each workspace has its own workflows, data and people."
      what="the companies"
      list={companies}
      search={search}
      create={make}
      empty={{ icon: Building2, title: 'No companies yet' }}
      rowKey={(row) => row.company_id}
      rowTo={(row) => `/companies/${row.company_id}`}
      columns={[
        {
          header: 'Company',
          link: true,
          cell: (row) => row.name,
          after: (row) => row.owner_id === userId && <Badge tone="accent">Yours</Badge>,
        },
        {
          header: 'Your workspaces in it',
          cell: (row) => (
            <span className="flex gap-2 overflow-hidden">
              {inside(row).map((workspace) => (
                <Link
                  key={workspace.workspace_id}
                  to={`/workspaces/${workspace.workspace_id}`}
                  className="text-accent hover:underline"
                >
                  {workspace.name}
                </Link>
              ))}
              {inside(row).length === 0 && <span className="text-ink-3">none</span>}
            </span>
          ),
        },
        {
          header: 'Created',
          cell: (row) => <RelativeTime at={row.created_at} />,
          width: '9rem',
          secondary: true,
        },
      ]}
    >
      <NewCompany open={making} onClose={() => setMaking(false)} />
    </ListPage>
  )
}

function NewCompany({ open, onClose }: { open: boolean; onClose(): void }) {
  const navigate = useNavigate()
  const create = useChange('createCompany', {
    stale: ['listCompanies'],
    onDone: ({ company_id }) => void navigate({ to: `/companies/${company_id}` }),
  })
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="New company"
      description="It starts without workspaces. Create one next."
    >
      <Form<{ name: string }>
        submit="Create company"
        onCancel={onClose}
        onSubmit={({ name }) => create.mutateAsync({ name })}
      >
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={200} />
        </Field>
      </Form>
    </Dialog>
  )
}
