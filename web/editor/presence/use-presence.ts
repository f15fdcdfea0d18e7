import { isObject } from '#model/json'
import { useApi } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { usePlace } from '#web/shell/presence.ts'

const LOOK_EVERY_MS = 8_000

/** Tells the workspace that we are at this workflow, and who else is. */
export function usePresence(workflowId: string): { user_id: string; name: string }[] {
  const { workspace, user } = useMe()
  usePlace(workflowId)
  const { data } = useApi(
    'listColleagues',
    { workspace_id: workspace!.workspace_id, limit: 100 },
    { refetchInterval: LOOK_EVERY_MS },
  )
  return (data?.items ?? []).filter(
    ({ context, user_id, status }) =>
      user_id !== user.user_id && status !== 'offline' && isObject(context) && context.workflow_id === workflowId,
  )
}
