import { Link } from '@tanstack/react-router'
import { Bot, type LucideIcon, MessagesSquare, Workflow as WorkflowIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useApi, useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty, Loading } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { roleIn } from '../workflows/role.ts'

const MAX_SHOWN = 6

/** For a user with whom nothing is shared yet: what the workspace contains, and whom to ask. */
export function InThisWorkspace() {
  const { userId } = useRole()
  const { nameOf } = usePeople()
  const workflows = useApi('listWorkflows', { scope: 'workspace', limit: 200 })
  const there = (workflows.data?.items ?? []).filter(({ kind }) => kind === 'user')
  if (there.length === 0 || there.some((workflow) => roleIn(workflow, userId) !== 'none')) return null
  return (
    <Section
      title="In this workspace"
      description="Nothing is shared with you yet. Ask the owner of a workflow to add you or one of your teams under Access."
    >
      <Things>
        {there.slice(0, MAX_SHOWN).map(({ workflow_id, name, owner_id }) => (
          <Thing
            key={workflow_id}
            to={`/workflows/${workflow_id}`}
            icon={WorkflowIcon}
            name={name}
            about={`Owner: ${nameOf(owner_id)}`}
          />
        ))}
      </Things>
      {there.length > MAX_SHOWN && (
        <p className="mt-2">
          <Link to="/workflows" search={{ scope: 'workspace' } as never} className="text-accent hover:underline">
            Show all {there.length}
          </Link>
        </p>
      )}
    </Section>
  )
}

/** The home page of a guest, who sees only what they were invited to. */
export function GuestHome() {
  const workflows = useList('listWorkflows', { limit: 50 })
  const jobs = useList('listJobs', { limit: 50 })
  const threads = useList('listThreads', { limit: 20 })
  const lists = [workflows, jobs, threads]
  if (lists.some(({ isPending }) => isPending)) return <Loading rows={4} />
  const mine = (workflows.data ?? []).filter(({ kind }) => kind === 'user')
  const nothing = mine.length === 0 && jobs.data?.length === 0 && threads.data?.length === 0
  if (nothing || lists.every(({ data }) => data === undefined))
    return (
      <Empty title="You are a guest here">
        You can see what you were invited to. Nothing is shared with you at the moment.
      </Empty>
    )
  return (
    <Section title="Shared with you" description="You are a guest: you see what you were invited to.">
      <Things>
        {mine.map(({ workflow_id, name, description }) => (
          <Thing
            key={workflow_id}
            to={`/workflows/${workflow_id}`}
            icon={WorkflowIcon}
            name={name}
            about={description ?? t('Workflow')}
          />
        ))}
        {jobs.data?.map(({ job_id, name }) => (
          <Thing key={job_id} to={`/jobs/${job_id}`} icon={Bot} name={name} about={t('Job')} />
        ))}
        {threads.data?.map(({ thread_id, title }) => (
          <Thing
            key={thread_id}
            to={`/threads/${thread_id}`}
            icon={MessagesSquare}
            name={title ?? t('Conversation')}
            about={t('Conversation')}
          />
        ))}
      </Things>
    </Section>
  )
}

const Things = ({ children }: { children: ReactNode }) => <ul className="grid gap-3 sm:grid-cols-2">{children}</ul>

const Thing = ({ to, icon: Icon, name, about }: { to: string; icon: LucideIcon; name: string; about: string }) => (
  <li>
    <Link
      to={to}
      className="flex h-full items-start gap-3 rounded-lg border border-line bg-surface p-4 hover:border-accent hover:bg-hover"
    >
      <span className="grid size-9 shrink-0 place-items-center rounded-md bg-accent-soft text-accent-strong">
        <Icon aria-hidden className="size-5" />
      </span>
      <span className="min-w-0">
        <span className="block truncate font-medium">{name}</span>
        <span className="mt-0.5 line-clamp-2 text-ink-2">{about}</span>
      </span>
    </Link>
  </li>
)
