import { useNavigate, useParams } from '@tanstack/react-router'
import { ArrowRight, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Workspace } from '#sdk/types.generated'
import { account, useAll, useApi, useChange } from '#web/api.ts'
import { resetSession, switchWorkspace, useMe } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Field, Form, Input, Select, Switch, withPresent } from '#web/ui/field.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Card, Facts, Page, Section } from '#web/ui/page.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'
import { t } from '#web/words/language.ts'
import { roleLabel } from '../people/roles.ts'

export function WorkspacePage() {
  const { workspace_id } = useParams({ strict: false }) as { workspace_id: string }
  const workspace = useApi('getWorkspace', { workspace_id })
  return (
    <LoadedPage
      of={workspace}
      what="the workspace"
      title="Workspace"
      crumbs={[{ label: 'Companies and workspaces', to: '/companies' }]}
    >
      {(found) => <Found workspace={found} />}
    </LoadedPage>
  )
}

function Found({ workspace }: { workspace: Workspace }) {
  const navigate = useNavigate()
  const me = useMe()
  const companies = useAll('listCompanies', { limit: 200 })
  const [deleting, setDeleting] = useState(false)
  const change = useChange('updateWorkspace', { stale: ['getWorkspace'], done: 'Saved', failed: 'Not changed' })
  const here = me.workspace?.workspace_id === workspace.workspace_id
  const isOwner = workspace.role === 'owner'
  const company = companies.data?.find(({ company_id }) => company_id === workspace.company_id)
  return (
    <Page
      title={workspace.name}
      crumbs={[
        { label: 'Companies and workspaces', to: '/companies' },
        ...(company ? [{ label: company.name, to: `/companies/${company.company_id}` }] : []),
      ]}
      actions={
        here ? (
          <Badge tone="success">You are here</Badge>
        ) : (
          <Button
            icon={ArrowRight}
            onClick={() => void switchWorkspace(workspace.workspace_id).then(() => navigate({ to: '/' }))}
          >
            Switch to this workspace
          </Button>
        )
      }
    >
      <Section title="About">
        <Facts
          facts={[
            ['Your role', roleLabel(workspace.role)],
            ['Created', <RelativeTime key="made" at={workspace.created_at} />],
          ]}
        />
        <div className="mt-4 max-w-xl">
          <CopyField label="Id, for the header X-Workspace-Id of API calls" text={workspace.workspace_id} />
        </div>
      </Section>
      {isOwner && (
        <>
          <Section title="Name and company">
            <Card className="max-w-xl">
              <Form<{ name: string; company_id: string }>
                submit="Save"
                onSubmit={async ({ name, company_id }) => {
                  await account.updateWorkspace({
                    workspace_id: workspace.workspace_id,
                    name,
                    ...(company_id && company_id !== workspace.company_id && { company_id }),
                  })
                  toast.done('Saved')
                  await resetSession()
                }}
              >
                <Field name="name" label="Name">
                  <Input required maxLength={200} defaultValue={workspace.name} />
                </Field>
                {companies.data && (
                  <Field
                    name="company_id"
                    label="Company"
                    hint="Moving the workspace does not change anything inside it."
                  >
                    <Select
                      defaultValue={workspace.company_id}
                      options={withPresent(
                        companies.data.map(({ company_id, name }) => ({ value: company_id, label: name })),
                        workspace.company_id,
                        t('the current company'),
                      )}
                    />
                  </Field>
                )}
              </Form>
            </Card>
          </Section>
          <Section
            title="Second factor"
            description="Members without an authenticator app or a passkey are refused until they set one up, their API keys too."
          >
            <Switch
              label="Ask every member for a second factor"
              checked={workspace.settings.require_second_factor}
              onCheckedChange={(require_second_factor) =>
                change.mutate({ workspace_id: workspace.workspace_id, settings: { require_second_factor } })
              }
            />
          </Section>
          <Section title="Delete this workspace" description="Deletes everything in it, for everyone.">
            <Button look="danger" icon={Trash2} onClick={() => setDeleting(true)}>
              Delete workspace…
            </Button>
          </Section>
        </>
      )}
      <ConfirmDialog
        open={deleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${workspace.name}?`}
        consequence="All workflows, runs, datasets, connections, jobs and conversations are deleted, webhooks stop working, and the subscription ends. This cannot be undone. The company is kept."
        action="Delete workspace and everything in it"
        onConfirm={async () => {
          await account.deleteWorkspace({ workspace_id: workspace.workspace_id })
          toast.done(`${workspace.name} was deleted`)
          await navigate({ to: '/' })
          await resetSession()
        }}
      />
    </Page>
  )
}
