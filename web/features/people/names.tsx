import type { WorkspaceMember } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'

/** The workspace this tab shows; pages inside it have one. */
export const useWorkspaceId = (): string => useMe().workspace?.workspace_id ?? ''

/** The people of the workspace, for names and choices. Guests do not see them. */
export function usePeople(): WorkspaceMember[] {
  const { isGuest } = useRole()
  const workspace_id = useWorkspaceId()
  const members = useApi(
    'listWorkspaceMembers',
    { workspace_id, limit: 200 },
    { enabled: !isGuest && workspace_id !== '', staleTime: 60_000 },
  )
  return members.data?.items ?? []
}

export function PersonName({ id, none = 'nobody' }: { id: string | null; none?: string }) {
  const people = usePeople()
  const { user } = useMe()
  if (id === null) return <span className="text-ink-3">{none}</span>
  if (id === user.user_id) return <>{user.name} (you)</>
  const person = people.find(({ user_id }) => user_id === id)
  return person ? (
    <span title={person.email}>{person.name}</span>
  ) : (
    <span className="text-ink-2" title={id}>
      somebody who left
    </span>
  )
}
