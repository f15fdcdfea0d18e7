import { useApi } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { t } from '#web/words/language.ts'

/** Returns a function that gives the name of a person in this workspace. */
export function usePeople(): (userId: string | null) => string {
  const { workspace, user } = useMe()
  const { data } = useApi('listWorkspaceMembers', { workspace_id: workspace!.workspace_id, limit: 100 })
  return (userId) => {
    if (userId === user.user_id) return t('You')
    return data?.items.find((member) => member.user_id === userId)?.name ?? t('Someone')
  }
}
