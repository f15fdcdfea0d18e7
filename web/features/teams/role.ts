import { useMe, useRole } from '#web/session.tsx'

/** Who changes a team: the person who made it, and owners of its workspace. */
export function useMayChange(): (team: { owner_id: string; workspace_id: string }) => boolean {
  const { userId } = useRole()
  const { workspaces } = useMe()
  return ({ owner_id, workspace_id }) =>
    owner_id === userId || workspaces.find((one) => one.workspace_id === workspace_id)?.role === 'owner'
}
