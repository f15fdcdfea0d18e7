import { Link, useParams } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { useState } from 'react'
import type { Conversation } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Field, Select } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchField, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Duration, RelativeTime } from '#web/ui/time.tsx'
import { useLiveConversations } from '../threads/live.ts'
import { ConversationPane } from './conversation.tsx'
import { placeOf } from './places.ts'
import { InboxSections } from './sections.tsx'

const LOOK_EVERY = 10_000

type Shown = 'open' | 'waiting' | 'unread' | 'closed' | 'all'
const queries: Record<Shown, { state?: string; waiting?: 'true'; unread?: 'true'; sort?: 'waiting_since' }> = {
  open: { state: 'open' },
  waiting: { waiting: 'true', sort: 'waiting_since' },
  unread: { unread: 'true' },
  closed: { state: 'closed' },
  all: {},
}

/** The conversations of the team, with the selected conversation beside them. A phone shows only one of the two. */
export function ConversationsPage() {
  const { thread_id: chosen } = useParams({ strict: false }) as { thread_id?: string }
  const [shown, setShown] = useState<Shown>('open')
  const [whose, setWhose] = useState('')
  const search = useSearchText()
  const { userId } = useRole()
  const { list: people } = usePeople()
  const every = useLiveConversations(LOOK_EVERY)
  const conversations = useList(
    'listConversations',
    { limit: 50, ...queries[shown], ...assigneeOf(whose, userId), ...search.query },
    { refetchInterval: every },
  )
  return (
    <Page
      wide
      title="Conversations"
      description="Visitors and people in channels. The assistant answers until somebody takes over."
    >
      <InboxSections />
      <div className="grid gap-6 lg:grid-cols-[22rem_1fr]">
        <nav
          aria-label="Conversations with visitors and channels"
          className={cx('min-w-0', chosen !== undefined && 'max-lg:hidden')}
        >
          <div className="mb-3 grid grid-cols-2 gap-2">
            <div className="col-span-2 flex">
              <SearchField search={search} placeholder="Search messages" />
            </div>
            <Field label="Show" hideLabel>
              <Select
                value={shown}
                onChange={(event) => setShown(event.target.value as Shown)}
                options={[
                  { value: 'open', label: 'Not closed' },
                  { value: 'waiting', label: 'Waiting' },
                  { value: 'unread', label: 'Unread' },
                  { value: 'closed', label: 'Closed' },
                  { value: 'all', label: 'All' },
                ]}
              />
            </Field>
            <Field label="Assigned to" hideLabel>
              <Select
                value={whose}
                onChange={(event) => setWhose(event.target.value)}
                options={[
                  { value: '', label: 'Any assignee' },
                  { value: 'me', label: 'Assigned to me' },
                  { value: 'nobody', label: 'Assigned to nobody' },
                  ...people
                    .filter(({ user_id }) => user_id !== userId)
                    .map(({ user_id, name }) => ({ value: user_id, label: name })),
                ]}
              />
            </Field>
          </div>
          <Loaded of={conversations} what="the conversations">
            {(rows) =>
              rows.length === 0 ? (
                emptyWith(
                  search,
                  <Empty icon={MessagesSquare} title="No conversations here">
                    Conversations from your templates, channels and workflow widgets appear here.
                  </Empty>,
                )
              ) : (
                <ul className="flex flex-col gap-1">
                  {rows.map((row) => (
                    <li key={row.thread_id}>
                      <Entry row={row} selected={row.thread_id === chosen} />
                    </li>
                  ))}
                </ul>
              )
            }
          </Loaded>
          {conversations.more.hasMore && (
            <Button className="mt-2 w-full" pending={conversations.more.loading} onClick={conversations.more.load}>
              Show more
            </Button>
          )}
        </nav>
        {chosen === undefined ? (
          <Empty icon={MessagesSquare} title="No conversation selected" className="max-lg:hidden">
            Select one on the left to read and answer it.
          </Empty>
        ) : (
          <ConversationPane key={chosen} threadId={chosen} every={every} />
        )}
      </div>
    </Page>
  )
}

function assigneeOf(whose: string, userId: string): { assignee_id?: string; assigned?: 'false' } {
  if (whose === '') return {}
  if (whose === 'nobody') return { assigned: 'false' }
  return { assignee_id: whose === 'me' ? userId : whose }
}

const Entry = ({ row, selected }: { row: Conversation; selected: boolean }) => (
  <Link
    to={`/conversations/${row.thread_id}`}
    aria-current={selected ? 'true' : undefined}
    className={cx(
      'block rounded-md border px-3 py-2',
      selected ? 'border-accent bg-accent-soft' : 'border-line bg-surface hover:bg-hover',
    )}
  >
    <span className="flex items-baseline gap-2">
      <span className={cx('min-w-0 flex-1 truncate', row.unread_count > 0 ? 'font-semibold' : 'font-medium')}>
        {row.title}
      </span>
      <span className="shrink-0 text-xs text-ink-2">
        <RelativeTime at={row.last_message?.created_at ?? row.updated_at} />
      </span>
    </span>
    <span className="block truncate text-xs text-ink-2">{row.last_message?.text ?? ''}</span>
    <span className="mt-1 flex flex-wrap items-center gap-1">
      {row.unread_count > 0 && <Badge tone="accent">{`${row.unread_count} new`}</Badge>}
      {row.waiting_since && (
        <Badge tone="waiting">
          Waiting <Duration from={row.waiting_since} to={null} />
        </Badge>
      )}
      {row.state === 'closed' && <Badge>Closed</Badge>}
      <Badge>{placeOf(row)}</Badge>
      {row.assignee && <span className="min-w-0 truncate text-xs text-ink-2">{row.assignee.name}</span>}
    </span>
  </Link>
)
