import { useEffect } from 'react'
import { isObject } from '#model/json'
import { api, useApi } from '#web/api.ts'
import { useMe } from '#web/session.tsx'

const SAY_EVERY_MS = 25_000
const LOOK_EVERY_MS = 8_000

/** Tells the workspace that we are at this workflow, and who else is. */
export function usePresence(workflowId: string): { user_id: string; name: string }[] {
  const { workspace, user } = useMe()
  useEffect(() => {
    const say = (): void =>
      void api.recordPresence({ status: 'online', context: { workflow_id: workflowId } }).catch(() => {})
    say()
    const timer = setInterval(say, SAY_EVERY_MS)
    return () => {
      clearInterval(timer)
      void api.recordPresence({ status: 'online', context: null }).catch(() => {})
    }
  }, [workflowId])
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
