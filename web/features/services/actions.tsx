import { Search } from 'lucide-react'
import { useState } from 'react'
import type { ServiceDetail, ServiceInList } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Field, Input } from '#web/ui/field.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { argumentsIn, wordsOf } from './words.ts'

// The actions and triggers of a service, each with its arguments.

const SHOWN = 100

type Action = ServiceInList['actions'][number]

const effects = {
  read: 'Reads',
  idempotent: 'Writes, may be repeated',
  write: 'Writes once',
} as const
const ways = { polling: 'Polling', webhook: 'Webhook' } as const

export function Actions({ service, actions }: { service: ServiceDetail; actions: readonly Action[] }) {
  const [sought, setSought] = useState('')
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  const found = actions.filter(({ name, title, description }) => {
    const text = `${name} ${wordsOf(service, title)} ${wordsOf(service, description)}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <>
      {actions.length > 10 && (
        <Field label="Search actions" hideLabel className="mb-3 max-w-md">
          <Input
            type="search"
            placeholder="Search actions"
            value={sought}
            onChange={(event) => setSought(event.currentTarget.value)}
          />
        </Field>
      )}
      <ul aria-label="Actions" className="flex flex-col gap-1">
        {found.slice(0, SHOWN).map((action) => (
          <li key={action.name}>
            <Described
              title={wordsOf(service, action.title)}
              name={action.name}
              description={wordsOf(service, action.description)}
              badge={effects[action.effect]}
            >
              {() => <ActionArguments service={service} action={action.name} />}
            </Described>
          </li>
        ))}
      </ul>
      {found.length > SHOWN && (
        <p className="mt-2 text-ink-2">{found.length - SHOWN} more; a search narrows them down.</p>
      )}
      {found.length === 0 && <Empty icon={Search} title="No such action" />}
    </>
  )
}

export const Triggers = ({ service }: { service: ServiceDetail }) => (
  <Section
    title="Triggers"
    description="Events that can start a workflow. Add a trigger in the settings of the workflow."
  >
    <ul aria-label="Triggers" className="flex flex-col gap-1">
      {service.triggers.map(({ name, title, description, kind, args_schema }) => (
        <li key={name}>
          <Described
            title={wordsOf(service, title)}
            name={name}
            description={wordsOf(service, description)}
            badge={ways[kind]}
          >
            {() => <Arguments schema={argumentsIn(service, args_schema)} />}
          </Described>
        </li>
      ))}
    </ul>
  </Section>
)

function Described({
  title,
  name,
  description,
  badge,
  children,
}: {
  title: string
  name: string
  description: string
  badge: string
  children(): React.ReactNode
}) {
  const [open, setOpen] = useState(false)
  return (
    <details
      className="rounded-lg border border-line bg-surface px-3 py-2"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="cursor-pointer">
        <span className="font-medium">{title}</span> <code className="font-mono text-xs text-ink-2">{name}</code>{' '}
        <Badge>{badge}</Badge>
      </summary>
      {description !== title && <p className="mt-2 max-w-prose text-pretty text-ink-2">{description}</p>}
      {open && <div className="mt-2">{children()}</div>}
    </details>
  )
}

function ActionArguments({ service, action }: { service: ServiceDetail; action: string }) {
  const detail = useApi('getService', { service: service.service, action })
  return (
    <Loaded of={detail} what="the arguments">
      {({ actions }) => (
        <Arguments schema={argumentsIn(service, actions.find(({ name }) => name === action)?.args_schema ?? {})} />
      )}
    </Loaded>
  )
}

type Schema = { type?: unknown; enum?: unknown[]; format?: unknown; title?: unknown; description?: unknown }

const typeOf = ({ type, enum: values, format }: Schema): string => {
  if (values) return values.map(String).join(' | ')
  if (typeof type !== 'string') return 'any'
  return typeof format === 'string' ? `${type} (${format})` : type
}

function Arguments({ schema }: { schema: Record<string, unknown> }) {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const required = new Set((schema.required ?? []) as string[])
  if (fields.length === 0) return <p className="text-ink-2">It has no arguments.</p>
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-6 gap-y-1">
      {fields.map(([name, field]) => (
        <div key={name} className="col-span-2 grid grid-cols-subgrid">
          <dt className="min-w-0 break-words">
            <code className="font-mono text-xs">{name}</code>
            {required.has(name) && <span className="text-ink-2"> required</span>}
          </dt>
          <dd className="min-w-0 break-words text-ink-2">
            <code className="font-mono text-xs">{typeOf(field)}</code>{' '}
            {typeof field.description === 'string' ? field.description : null}
          </dd>
        </div>
      ))}
    </dl>
  )
}
