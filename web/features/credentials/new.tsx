import { useNavigate, useSearch } from '@tanstack/react-router'
import { KeySquare, Lock } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Field, Input } from '#web/ui/field.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { toast } from '#web/ui/toast.tsx'
import { CreateCredential } from './create.tsx'
import { formOf, type Kinds, kindTitle } from './forms.ts'

export function NewCredentialPage() {
  const { canWrite } = useRole()
  const navigate = useNavigate()
  const kinds = useApi('listCredentialKinds')
  const chosen = useSearch({ strict: false }) as { kind?: string; service?: string }
  return (
    <Page title="New credential" crumbs={[{ label: 'Credentials', to: '/credentials' }]}>
      {!canWrite ? (
        <Empty icon={Lock} title="Viewers cannot add credentials">
          Ask a member of the workspace.
        </Empty>
      ) : (
        <Loaded of={kinds} what="the kinds of credentials">
          {(all) => {
            const form = formOf(all, chosen)
            if (!form) return <Choose kinds={all} />
            return (
              <Card>
                <h2 className="mb-4 text-base font-semibold">{form.title}</h2>
                <CreateCredential
                  form={form}
                  onCreated={(made) => {
                    toast.done(`${made.name} is stored`)
                    void navigate({ to: `/credentials/${made.credential_id}` })
                  }}
                />
              </Card>
            )
          }}
        </Loaded>
      )}
    </Page>
  )
}

function Choose({ kinds }: { kinds: Kinds }) {
  const [sought, setSought] = useState('')
  const wanted = sought.trim().toLowerCase()
  const matches = (title: string): boolean => title.toLowerCase().includes(wanted)
  const choices = [
    ...kinds.services.map(({ service, title }) => ({ title, search: { service } as Record<string, string> })),
    ...kinds.kinds
      .filter(({ kind }) => kind !== 'service')
      .map(({ kind }) => ({ title: kindTitle(kind), search: { kind } as Record<string, string> })),
  ].filter(({ title }) => matches(title))
  return (
    <>
      <Field label="What is it for?" className="mb-4 max-w-md">
        <Input
          value={sought}
          onChange={(event) => setSought(event.target.value)}
          placeholder="A service, or a kind of secret"
        />
      </Field>
      <ul className="grid gap-3 sm:grid-cols-2 md:grid-cols-3">
        {choices.map(({ title, search }) => (
          <li key={JSON.stringify(search)}>
            <ButtonLink
              to="/credentials/new"
              search={search}
              icon={KeySquare}
              className="h-12! w-full justify-start! px-4!"
            >
              {title}
            </ButtonLink>
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p className="text-ink-2">No service of that name is known; choose a kind of secret.</p>}
    </>
  )
}
