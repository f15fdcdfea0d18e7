import type { WorkspaceMember } from '#sdk/types.generated'
import { usePeople as useEverybody } from '#web/people.tsx'
import { useMe } from '#web/session.tsx'

/** Returns the workspace that this tab shows; pages inside a workspace always have one. */
export const useWorkspaceId = (): string => useMe().workspace?.workspace_id ?? ''

export const usePeople = (): WorkspaceMember[] => useEverybody().list

export function PersonName({ id, none = 'nobody' }: { id: string | null; none?: string }) {
  const { list, nameOf } = useEverybody()
  const { user } = useMe()
  if (id === null) return <span className="text-ink-3">{none}</span>
  if (id === user.user_id) return <>{user.name} (you)</>
  return <span title={list.find(({ user_id }) => user_id === id)?.email ?? id}>{nameOf(id)}</span>
}
