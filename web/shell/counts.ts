import { useList } from '#web/api.ts'
import type { NavEntry } from '#web/features/feature.ts'
import { useRole } from '#web/session.tsx'

const MAX_COUNTED = 100

/**
 * Returns the counts of items that wait for this user, for the navigation. The notification feed refreshes them; the
 * interval covers what the feed misses.
 */
export function useCounts(): Record<NonNullable<NavEntry['count']>, number> {
  const gates = useList('listInbox', { limit: MAX_COUNTED }, { refetchInterval: 60_000, staleTime: 30_000 })
  const questions = useList('listQuestionInbox', { limit: MAX_COUNTED }, { refetchInterval: 60_000, staleTime: 30_000 })
  const { isGuest } = useRole()
  const waiting = useList(
    'listConversations',
    { limit: MAX_COUNTED, waiting: 'true', state: 'open' },
    { refetchInterval: 60_000, staleTime: 30_000, enabled: !isGuest },
  )
  return {
    approvals: gates.data?.length ?? 0,
    questions: questions.data?.length ?? 0,
    conversations: waiting.data?.length ?? 0,
  }
}

export const shownCount = (count: number): string => (count >= MAX_COUNTED ? `${MAX_COUNTED - 1}+` : String(count))
