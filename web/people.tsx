import type { WorkspaceMember } from '#sdk/types.generated'
import { useAll } from './api.ts'
import { useMe } from './session.tsx'
import { t } from './words/language.ts'

/** Returns the people of this workspace; guests see only themselves. */
export function usePeople(): { list: WorkspaceMember[]; nameOf(userId: string | null): string } {
  const { user, workspace } = useMe()
  const enabled = workspace !== null && workspace.role !== 'guest'
  const { data, complete } = useAll(
    'listWorkspaceMembers',
    { workspace_id: workspace?.workspace_id ?? '', limit: 200 },
    { enabled, staleTime: 60_000 },
  )
  const list = data ?? []
  return {
    list,
    nameOf: (userId) => {
      if (userId === null) return t('nobody')
      if (userId === user.user_id) return t('you')
      return (
        list.find((member) => member.user_id === userId)?.name ?? (complete ? t('a former member') : t('a colleague'))
      )
    },
  }
}
