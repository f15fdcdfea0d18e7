import { useNavigate } from '@tanstack/react-router'
import { api, invalidate, useList } from '#web/api.ts'
import { Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { SharedMembers } from '../people/members.tsx'
import { ThreadShell, useThreadId } from './thread-page.tsx'

export function ThreadMembersPage() {
  const thread_id = useThreadId()
  const navigate = useNavigate()
  const members = useList('listThreadMembers', { thread_id, limit: 200 })
  const changed = (): Promise<unknown> => invalidate('listThreadMembers', 'getThread', 'listThreads')
  return (
    <ThreadShell section="People">
      {(thread) => (
        <Loaded of={members} what="the people of the thread">
          {(rows) => (
            <SharedMembers
              what="this thread"
              members={rows}
              roles={{
                owner: t('reads, writes and manages members'),
                member: t('reads and writes'),
                viewer: t('reads'),
              }}
              mayManage={thread.role === 'owner'}
              onInvite={async (email, role) => {
                const made = await api.inviteThreadMember({ thread_id, email, role })
                await changed()
                return made
              }}
              onRole={async (user_id, role) => {
                await api.updateThreadMember({ thread_id, user_id, role })
                await changed()
              }}
              onRemove={async (user_id) => {
                await api.removeThreadMember({ thread_id, user_id })
                await changed()
              }}
              onLeft={() => void navigate({ to: '/threads' })}
            />
          )}
        </Loaded>
      )}
    </ThreadShell>
  )
}
