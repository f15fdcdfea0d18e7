import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ChatThread } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'

export const useThreadId = (): string => (useParams({ strict: false }) as { thread_id: string }).thread_id

/** Checks for a thread with a visitor or through a channel: it is read-only here, and has no members. */
const isOutside = (thread: ChatThread | undefined): boolean => thread !== undefined && thread.kind !== 'thread'

export function ThreadShell({ section, children }: { section: string; children(thread: ChatThread): ReactNode }) {
  const thread_id = useThreadId()
  const thread = useApi('getThread', { thread_id })
  return (
    <Page
      title={thread.data ? `${thread.data.title} · ${section}` : section}
      heading={thread.data?.title ?? 'Thread'}
      crumbs={[
        isOutside(thread.data)
          ? { label: 'Conversations', to: '/conversations' }
          : { label: 'Threads', to: '/threads' },
      ]}
    >
      <Loaded of={thread} what="the thread">
        {(found) => (
          <>
            {isOutside(found) ? null : (
              <TabLinks
                label="Sections of the thread"
                tabs={[
                  { to: `/threads/${thread_id}`, label: 'Conversation', exact: true },
                  { to: `/threads/${thread_id}/members`, label: 'People' },
                ]}
              />
            )}
            {children(found)}
          </>
        )}
      </Loaded>
    </Page>
  )
}
