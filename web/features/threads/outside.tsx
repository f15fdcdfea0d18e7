import { Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import type { ChatThread } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

export function ThreadSections() {
  const { isGuest } = useRole()
  if (isGuest) return null
  return (
    <TabLinks
      label="Conversations"
      tabs={[
        { to: '/threads', label: 'Colleagues', exact: true },
        { to: '/threads/outside', label: 'Visitors and channels' },
      ]}
    />
  )
}

const channels: Record<string, string> = {
  slack: 'Slack',
  telegram: 'Telegram',
  whatsapp: 'WhatsApp',
  discord: 'Discord',
  email: 'E-mail',
  webhook: 'Webhook',
}

const placeOf = ({ kind, channel }: ChatThread): string => {
  if (kind === 'channel') return channels[channel ?? ''] ?? 'A channel'
  return kind === 'gather' ? 'Workflow widget' : 'Chat widget'
}

/** Read by those who answer for them; the service shows each person theirs. */
export function OutsidePage() {
  const search = useSearchText()
  const threads = useList(
    'listThreads',
    { with: 'outside', sort: '-updated_at', limit: 100, ...search.query },
    { refetchInterval: 15_000 },
  )
  return (
    <Page
      title="Visitors and channels"
      heading="Threads"
      description="Conversations with visitors and channels. Open one to answer it yourself."
    >
      <ThreadSections />
      <SearchBar search={search} rows={threads.data} />
      <Loaded of={threads} what="the conversations">
        {(rows) => (
          <Table
            label="Conversations with visitors and channels"
            rows={rows}
            rowKey={(row) => row.thread_id}
            rowTo={(row) => `/threads/${row.thread_id}`}
            more={threads.more}
            empty={emptyWith(
              search,
              <Empty icon={MessagesSquare} title="No conversations yet">
                Conversations from your templates, channels and workflow widgets appear here.
              </Empty>,
            )}
            columns={[
              {
                header: 'With',
                cell: (row) => (
                  <Link to={`/threads/${row.thread_id}`} className="font-medium hover:underline">
                    {row.title}
                  </Link>
                ),
              },
              {
                header: 'Answered by',
                cell: (row) => row.taken_over_by?.name ?? (row.handover_at ? 'Asks for a person' : 'Assistant'),
                width: '11rem',
                secondary: true,
              },
              { header: 'Channel', cell: (row) => <Badge>{placeOf(row)}</Badge>, width: '12rem' },
              {
                header: 'Started',
                cell: (row) => <RelativeTime at={row.created_at} />,
                width: '9rem',
                secondary: true,
              },
              { header: 'Last message', cell: (row) => <RelativeTime at={row.updated_at} />, width: '9rem' },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
