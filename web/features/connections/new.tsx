import { useNavigate, useSearch } from '@tanstack/react-router'
import { Database, Lock } from 'lucide-react'
import { useState } from 'react'
import { api, invalidate, newKey, useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { toast } from '#web/ui/toast.tsx'
import { formSchema, type Kind, readFilled, said } from './kinds.ts'
import { Probe, type ProbeState, probeFailure } from './probe.tsx'

export function NewConnectionPage() {
  const { canWrite } = useRole()
  const connections = useApi('listConnections')
  const chosen = (useSearch({ strict: false }) as { kind?: string }).kind
  return (
    <Page
      title="New connection"
      crumbs={[{ label: 'Connections', to: '/connections' }]}
      description="The connection is tested before it is saved."
    >
      {!canWrite ? (
        <Empty icon={Lock} title="Viewers cannot add connections">
          Ask a member of the workspace.
        </Empty>
      ) : (
        <Loaded of={connections} what="the kinds of connections">
          {({ kinds }) => {
            const kind = kinds.find((one) => one.kind === chosen)
            return kind ? <Fill key={kind.kind} kind={kind} /> : <Choose kinds={kinds} />
          }}
        </Loaded>
      )}
    </Page>
  )
}

const Choose = ({ kinds }: { kinds: Kind[] }) => (
  <>
    <h2 className="mb-3 text-base font-semibold">What do you want to connect?</h2>
    <ul className="grid gap-3 sm:grid-cols-2 md:grid-cols-3">
      {kinds.map(({ kind, title }) => (
        <li key={kind}>
          <ButtonLink
            to="/connections/new"
            search={{ kind }}
            icon={Database}
            className="h-14! w-full justify-start! px-4! text-base!"
          >
            {said(title)}
          </ButtonLink>
        </li>
      ))}
    </ul>
  </>
)

function Fill({ kind }: { kind: Kind }) {
  const navigate = useNavigate()
  const [probe, setProbe] = useState<ProbeState | null>(null)
  const send = async (value: unknown): Promise<void> => {
    const { name, config, secrets } = readFilled(value)
    setProbe({ state: 'running' })
    try {
      const made = await api.createConnection(
        { name, kind: kind.kind, config, ...(Object.keys(secrets).length > 0 && { secrets }) },
        { idempotencyKey: newKey() },
      )
      setProbe({ state: 'passed' })
      await invalidate('listConnections')
      toast.done(`${made.name} is connected`)
      await navigate({ to: `/connections/${made.connection_id}` })
    } catch (error) {
      const failure = probeFailure(error)
      setProbe(failure)
      if (!failure) throw error
    }
  }
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <Card>
        <h2 className="mb-4 text-base font-semibold">{said(kind.title)}</h2>
        <SchemaForm
          schema={formSchema(kind, { named: true })}
          onSubmit={send}
          submit="Test and save"
          actions={
            <ButtonLink to="/connections/new" look="quiet">
              Choose another kind
            </ButtonLink>
          }
        />
      </Card>
      <div>{probe && <Probe probe={probe} />}</div>
    </div>
  )
}
