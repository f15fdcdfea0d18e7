import type { WorkspaceMember } from '#sdk/types.generated'
import { useApi } from './api.ts'
import { useMe } from './session.tsx'

/** The people of this workspace; guests see only themselves. */
export function usePeople(): { list: WorkspaceMember[]; nameOf(userId: string | null): string } {
  const { user, workspace } = useMe()
  const enabled = workspace !== null && workspace.role !== 'guest'
  const { data } = useApi(
    'listWorkspaceMembers',
    { workspace_id: workspace?.workspace_id ?? '', limit: 200 },
    { enabled, staleTime: 60_000 },
  )
  const list = data?.items ?? []
  return {
    list,
    nameOf: (userId) => {
      if (userId === null) return 'nobody'
      if (userId === user.user_id) return 'you'
      return list.find((member) => member.user_id === userId)?.name ?? 'somebody who left'
    },
  }
}
