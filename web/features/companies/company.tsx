import { useNavigate, useParams } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { Company } from '#sdk/types.generated'
import { account, useApi, useChange } from '#web/api.ts'
import { resetSession, useMe, useRole } from '#web/session.tsx'
import { Button, ChangeAndDelete } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { FactRow, Page, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { PersonName } from '../people/names.tsx'
import { roleLabel } from '../people/roles.ts'
import { readObject } from './metadata.ts'

export function CompanyPage() {
  const { company_id } = useParams({ strict: false }) as { company_id: string }
  const company = useApi('getCompany', { company_id })
  return (
    <LoadedPage
      of={company}
      what="the company"
      title="Company"
      crumbs={[{ label: 'Companies and workspaces', to: '/companies' }]}
    >
      {(found) => <Found company={found} />}
    </LoadedPage>
  )
}

function Found({ company }: { company: Company }) {
  const navigate = useNavigate()
  const { workspaces } = useMe()
  const { userId } = useRole()
  const [open, setOpen] = useState<'edit' | 'delete' | 'workspace' | null>(null)
  const close = (): void => setOpen(null)
  const inside = workspaces.filter(({ company_id }) => company_id === company.company_id)
  const mayChange = company.owner_id === userId || inside.some(({ role }) => role === 'owner')
  const update = useChange('updateCompany', { stale: ['getCompany', 'listCompanies'], done: 'Saved', onDone: close })
  const remove = useChange('deleteCompany', { stale: ['listCompanies'], done: `${company.name} was deleted` })
  return (
    <Page
      title={company.name}
      crumbs={[{ label: 'Companies and workspaces', to: '/companies' }]}
      actions={mayChange && <ChangeAndDelete onChange={() => setOpen('edit')} onDelete={() => setOpen('delete')} />}
    >
      <div className="mb-8">
        <FactRow
          facts={[
            ['Owner', <PersonName key="owner" id={company.owner_id} />],
            ['Created', <RelativeTime key="made" at={company.created_at} />],
            ['Changed', <RelativeTime key="changed" at={company.updated_at} />],
          ]}
        />
        {Object.keys(company.metadata).length > 0 && (
          <JsonView className="mt-4" label="Company notes" value={company.metadata} />
        )}
      </div>
      <Section
        title="Workspaces you are in"
        actions={
          mayChange && (
            <Button size="small" icon={Plus} onClick={() => setOpen('workspace')}>
              New workspace
            </Button>
          )
        }
      >
        <Table
          label="Workspaces"
          rows={inside}
          rowKey={(row) => row.workspace_id}
          rowTo={(row) => `/workspaces/${row.workspace_id}`}
          empty={
            <Empty title="You have no workspace in this company">
              Create one, or ask a workspace owner for an invitation.
            </Empty>
          }
          columns={[
            {
              header: 'Name',
              link: true,
              cell: (row) => row.name,
            },
            { header: 'Your role', cell: (row) => roleLabel(row.role), width: '10rem' },
          ]}
        />
      </Section>
      <EditCompany
        open={open === 'edit'}
        onClose={close}
        company={company}
        onSave={(values) => update.mutateAsync({ company_id: company.company_id, ...values })}
      />
      <Dialog
        open={open === 'workspace'}
        onClose={close}
        title={`New workspace in ${company.name}`}
        description="You become its owner."
      >
        <Form<{ name: string }>
          submit="Create workspace"
          onCancel={close}
          onSubmit={async ({ name }) => {
            const { workspace_id } = await account.createWorkspace({ name, company_id: company.company_id })
            close()
            await resetSession()
            await navigate({ to: `/workspaces/${workspace_id}` })
          }}
        >
          <Field name="name" label="Name">
            <Input required autoFocus maxLength={200} />
          </Field>
        </Form>
      </Dialog>
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${company.name}?`}
        consequence="Move or delete the company's workspaces first. This cannot be undone."
        action="Delete company"
        onConfirm={async () => {
          await remove.mutateAsync({ company_id: company.company_id })
          await navigate({ to: '/companies' })
        }}
      />
    </Page>
  )
}

type Values = { name: string; metadata: Record<string, unknown> }

function EditCompany({
  open,
  onClose,
  company,
  onSave,
}: {
  open: boolean
  onClose(): void
  company: Company
  onSave(values: Values): Promise<unknown>
}) {
  return (
    <Dialog open={open} onClose={onClose} title="Change company">
      <Form<{ name: string; metadata: string }>
        submit="Save"
        onCancel={onClose}
        onSubmit={({ name, metadata }) => onSave({ name, metadata: readObject(metadata) })}
      >
        <Field name="name" label="Name">
          <Input required maxLength={200} defaultValue={company.name} />
        </Field>
        <Field name="metadata" label="Notes" hint="A JSON object with any information about the company.">
          <Textarea
            rows={5}
            spellCheck={false}
            className="font-mono text-xs"
            defaultValue={JSON.stringify(company.metadata, null, 2)}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
