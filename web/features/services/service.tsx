import { useParams } from '@tanstack/react-router'
import { ExternalLink, KeySquare, Search } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { ServiceDetail } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Field, Input } from '#web/ui/field.tsx'
import { Facts, Page, Section } from '#web/ui/page.tsx'
import { SafeLink } from '#web/ui/safe-link.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { sources, wordsOf } from './words.ts'

const effects = {
  read: 'Reads',
  idempotent: 'Writes, may be repeated',
  write: 'Writes once',
} as const
const ways = { polling: 'Asked regularly', webhook: 'Calls us' } as const

/** What a service can do, and what it takes to call it. */
export function ServicePage() {
  const { service } = useParams({ strict: false }) as { service: string }
  const { canWrite } = useRole()
  const detail = useApi('getService', { service })
  const preset = detail.data?.credentials[0]
  return (
    <Page
      title={detail.data?.title ?? 'Service'}
      description={detail.data && wordsOf(detail.data, detail.data.description)}
      crumbs={[{ label: 'Services', to: '/services' }]}
      actions={
        canWrite &&
        preset !== undefined && (
          <ButtonLink to="/credentials/new" search={{ service: preset }} icon={KeySquare}>
            New credential
          </ButtonLink>
        )
      }
    >
      <Loaded of={detail} what="the service">
        {(found) => (
          <>
            <Facts facts={factsOf(found)} />
            <Actions service={found} />
            {found.triggers.length > 0 && <Triggers service={found} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

const factsOf = (service: ServiceDetail): [string, ReactNode][] => [
  ['Name in workflows', <code key="name">{service.service}</code>],
  ['Source', sources[service.source]],
  ['Credential', service.credential_required ? 'required' : 'not required'],
  ...(service.base_url === null ? [] : [['Address', <code key="url">{service.base_url}</code>] as [string, ReactNode]]),
  ...(/^https?:/.test(service.reference)
    ? [
        [
          'Reference',
          <SafeLink key="reference" to={service.reference} className="inline-flex items-center gap-1 text-accent">
            {new URL(service.reference).host}
            <ExternalLink className="size-3.5" aria-hidden />
          </SafeLink>,
        ] as [string, ReactNode],
      ]
    : []),
]

function Actions({ service }: { service: ServiceDetail }) {
  const [sought, setSought] = useState('')
  const wanted = sought.trim().toLowerCase()
  const rows = service.actions.filter(({ name, title, description }) =>
    [name, wordsOf(service, title), description].some((text) => text.toLowerCase().includes(wanted)),
  )
  return (
    <Section title="Actions" className="mt-8">
      {service.actions.length > 10 && (
        <Field label="Search actions" hideLabel className="mb-3 max-w-sm">
          <Input value={sought} placeholder="Search actions" onChange={(event) => setSought(event.target.value)} />
        </Field>
      )}
      <Table
        label="Actions"
        rows={rows}
        rowKey={({ name }) => name}
        empty={<Empty icon={Search} title="No such action" />}
        columns={[
          {
            header: 'Action',
            cell: ({ name, title }) => (
              <span className="flex flex-col">
                <span className="font-medium">{wordsOf(service, title)}</span>
                <code className="font-mono text-xs text-ink-2">{name}</code>
              </span>
            ),
          },
          {
            header: 'Description',
            cell: ({ description }) => <span className="line-clamp-2 text-ink-2">{description}</span>,
            secondary: true,
          },
          { header: 'Effect', cell: ({ effect }) => <Badge>{effects[effect]}</Badge>, width: '13rem', secondary: true },
        ]}
      />
    </Section>
  )
}

const Triggers = ({ service }: { service: ServiceDetail }) => (
  <Section
    title="Triggers"
    description="What starts a workflow. Set one up under the triggers of the workflow."
    className="mt-8"
  >
    <Table
      label="Triggers"
      rows={service.triggers}
      rowKey={({ name }) => name}
      columns={[
        {
          header: 'Trigger',
          cell: ({ name, title }) => (
            <span className="flex flex-col">
              <span className="font-medium">{wordsOf(service, title)}</span>
              <code className="font-mono text-xs text-ink-2">{name}</code>
            </span>
          ),
        },
        { header: 'Way', cell: ({ kind }) => <Badge>{ways[kind]}</Badge>, width: '13rem' },
      ]}
    />
  </Section>
)
