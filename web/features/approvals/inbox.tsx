import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Stamp } from 'lucide-react'
import { useEffect } from 'react'
import type { Approval } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { isTyping } from '#web/shell/shortcuts.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Card, Page } from '#web/ui/page.tsx'
import { Empty, ErrorState, Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { useWorkflowNames } from '../runs/run-table.tsx'
import { Gate, waitsFor } from './gate.tsx'
import { useLiveGate } from './live-gate.ts'
import { ApprovalTabs } from './tabs.tsx'

/**
 * Gates that wait for the user's vote, soonest due first, and beside them the selected gate. The gate stays there after
 * the vote until the user moves on: a second click or a held key must never vote on a gate that the user has not looked
 * at.
 */
export function InboxPage() {
  const chosen = useParams({ strict: false }).request_id as unknown as string | undefined
  const inbox = useList('listInbox', {}, { refetchInterval: 15_000 })
  const gates = inbox.data ?? []
  const nameOf = useWorkflowNames()
  const { nameOf: personOf } = usePeople()
  const navigate = useNavigate()
  const first = gates[0]?.request_id
  const shown = chosen ?? first
  useEffect(() => {
    if (chosen === undefined && first) void navigate({ to: `/approvals/${first}`, replace: true })
  }, [chosen, first, navigate])
  useInboxKeys(gates, shown)
  return (
    <Page wide title="Approvals" description="Requests waiting for your vote, soonest due first." actions={<Keys />}>
      <ApprovalTabs />
      {inbox.error && !inbox.data ? (
        <ErrorState error={inbox.error} what="your approvals" onRetry={() => void inbox.refetch()} />
      ) : inbox.isPending ? (
        <Loading />
      ) : gates.length === 0 && !shown ? (
        <Empty icon={Stamp} title="Nothing to approve">
          When a run needs your approval, it appears here and in your notifications.
        </Empty>
      ) : (
        <div className="grid gap-6 lg:grid-cols-[20rem_1fr]">
          <nav aria-label="Open approvals" className="min-w-0">
            {gates.length === 0 ? (
              <p className="text-ink-2">Nothing else to approve.</p>
            ) : (
              <ul className="flex flex-col gap-1">
                {gates.map((gate) => (
                  <li key={gate.request_id}>
                    <Entry
                      gate={gate}
                      selected={gate.request_id === shown}
                      workflow={nameOf(gate.workflow_id)}
                      person={gate.started_by ? personOf(gate.started_by) : null}
                    />
                  </li>
                ))}
              </ul>
            )}
            {inbox.more.hasMore && (
              <button type="button" className="mt-2 w-full text-center text-accent underline" onClick={inbox.more.load}>
                Show more
              </button>
            )}
          </nav>
          {shown && (
            <Card className="min-w-0">
              <Shown
                key={shown}
                request_id={shown}
                next={gates.find(({ request_id }) => request_id !== shown)?.request_id}
              />
            </Card>
          )}
        </div>
      )}
    </Page>
  )
}

type EntryProps = { gate: Approval; selected: boolean; workflow: string; person: string | null }

const Entry = ({ gate, selected, workflow, person }: EntryProps) => (
  <Link
    to={`/approvals/${gate.request_id}`}
    aria-current={selected ? 'true' : undefined}
    className={cx(
      'block rounded-md border px-3 py-2',
      selected ? 'border-accent bg-accent-soft' : 'border-line bg-surface hover:bg-hover',
    )}
  >
    <span className="block truncate font-medium">{gate.title}</span>
    <span className="block truncate text-xs text-ink-2">
      {workflow}
      {person !== null && `, started by ${person}`}
    </span>
    <span className="block text-xs text-ink-2">
      {gate.node_path !== gate.node_id && `${gate.node_path}, `}
      {gate.due_at ? (
        <>
          due <RelativeTime at={gate.due_at} />
        </>
      ) : (
        <>
          no due date, opened <RelativeTime at={gate.opened_at} />
        </>
      )}
    </span>
  </Link>
)

function Shown({ request_id, next }: { request_id: string; next: string | undefined }) {
  const gate = useLiveGate(request_id)
  const { userId } = useRole()
  if (gate.data) {
    return (
      <>
        <Gate gate={gate.data} commentId="gate-comment" />
        {next && !waitsFor(gate.data, userId) && (
          <p className="mt-4 text-right">
            <ButtonLink to={`/approvals/${next}`} replace>
              Next
            </ButtonLink>
          </p>
        )}
      </>
    )
  }
  if (gate.error) return <ErrorState error={gate.error} what="the approval" onRetry={() => void gate.refetch()} />
  return <Loading />
}

const Keys = () => (
  <span className="text-xs text-ink-3 max-lg:hidden">
    <Key>j</Key> <Key>k</Key> next and previous, <Key>a</Key> approve, <Key>r</Key> reject, <Key>c</Key> comment.
  </span>
)
const Key = ({ children }: { children: string }) => (
  <kbd className="rounded border border-line bg-sunken px-1 font-mono text-xs">{children}</kbd>
)

/** Handles keys: j and k move, a and r click the vote buttons, c focuses the comment. */
function useInboxKeys(gates: Approval[], shown: string | undefined): void {
  const navigate = useNavigate()
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.repeat) return
      const at = gates.findIndex(({ request_id }) => request_id === shown)
      const press = (decision: string): void =>
        document.querySelector<HTMLButtonElement>(`[data-vote=${decision}]`)?.click()
      const go = (index: number): void => {
        const gate = gates[Math.max(0, Math.min(gates.length - 1, index))]
        if (gate) void navigate({ to: `/approvals/${gate.request_id}`, replace: true })
      }
      if (event.key === 'j') go(at + 1)
      else if (event.key === 'k') go(at - 1)
      else if (event.key === 'a') press('approve')
      else if (event.key === 'r') press('reject')
      else if (event.key === 'c') {
        event.preventDefault()
        document.getElementById('gate-comment')?.focus()
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [gates, shown, navigate])
}
