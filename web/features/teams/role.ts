import { useMe, useRole } from '#web/session.tsx'

/**
 * Returns a function that checks whether the user may change a team: its creator and the owners of its workspace may.
 */
export function useMayChange(): (team: { owner_id: string; workspace_id: string }) => boolean {
  const { userId } = useRole()
  const { workspaces } = useMe()
  return ({ owner_id, workspace_id }) =>
    owner_id === userId || workspaces.find((one) => one.workspace_id === workspace_id)?.role === 'owner'
}
