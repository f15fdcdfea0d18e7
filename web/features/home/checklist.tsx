import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck, X } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useMe, useRole } from '#web/session.tsx'
import { IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Card, Section } from '#web/ui/page.tsx'

type Step = { title: string; about: string; to: string; done: boolean }

const hiddenKey = (workspaceId: string): string => `heddle.checklist.${workspaceId}`

/**
 * The setup steps that a new workspace still lacks. Hidden when all are done, or when the user hides it on this device.
 */
export function Checklist() {
  const { workspace } = useMe()
  const key = hiddenKey(workspace?.workspace_id ?? '')
  const [hidden, setHidden] = useState(() => localStorage.getItem(key) !== null)
  if (hidden) return null
  const hide = (): void => {
    localStorage.setItem(key, 'hidden')
    setHidden(true)
  }
  return <Steps onHide={hide} />
}

function Steps({ onHide }: { onHide(): void }) {
  const steps = useSteps()
  if (steps === undefined || steps.every(({ done }) => done)) return null
  const left = steps.filter(({ done }) => !done).length
  return (
    <Section
      title="Getting started"
      description={`${steps.length - left} of ${steps.length} done`}
      actions={<IconButton icon={X} label="Hide getting started" onClick={onHide} />}
    >
      <Card className="p-2">
        <ol>
          {steps.map(({ title, about, to, done }) => (
            <li key={title}>
              <Link to={to} className="flex items-start gap-3 rounded-md px-3 py-2 hover:bg-hover">
                {done ? (
                  <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-success" />
                ) : (
                  <Circle aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
                )}
                <span className="min-w-0">
                  <span className={cx('block font-medium', done && 'text-ink-2 line-through')}>
                    {title}
                    <span className="sr-only">{done ? ' (done)' : ' (to do)'}</span>
                  </span>
                  {!done && <span className="block text-ink-2">{about}</span>}
                </span>
              </Link>
            </li>
          ))}
        </ol>
      </Card>
    </Section>
  )
}

function useSteps(): Step[] | undefined {
  const { isOwner } = useRole()
  const { list: people } = usePeople()
  const workflows = useApi('listWorkflows', { limit: 200, include: 'activity' })
  const credentials = useApi('listCredentials', { limit: 1 })
  const connections = useApi('listConnections')
  if (!workflows.data || !credentials.data || !connections.data || people.length === 0) return undefined
  const mine = workflows.data.items.filter(({ kind }) => kind === 'user')
  const first = mine[0] ? `/workflows/${mine[0].workflow_id}` : '/workflows/new'
  return [
    {
      title: 'Create a workflow',
      about: 'Start from one of 40 examples, or from an empty canvas.',
      to: '/workflows/new',
      done: mine.length > 0,
    },
    {
      title: 'Run it once',
      about: 'Every step shows what came in and what went out.',
      to: first,
      done: mine.some(({ activity }) => activity?.last_run != null),
    },
    {
      title: 'Connect a service or a database',
      about: 'Keys are stored encrypted; workflows use them by name.',
      to: '/credentials/new',
      done: credentials.data.items.length > 0 || connections.data.items.length > 0,
    },
    {
      title: 'Start it automatically',
      about: 'By a schedule, a webhook, an event or a widget on your site.',
      to: mine[0] ? `${first}/settings` : first,
      done: mine.some(({ activity }) => (activity?.starts.length ?? 0) > 0),
    },
    ...(isOwner
      ? [
          {
            title: 'Invite a colleague',
            about: 'Share workflows, approve together.',
            to: '/people',
            done: people.length > 1,
          },
        ]
      : []),
  ]
}
