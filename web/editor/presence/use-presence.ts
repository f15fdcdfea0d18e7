import { isObject } from '#model/json'
import { useApi } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { useOpenWorkflowPresence } from '#web/shell/presence.ts'

const LOOK_EVERY_MS = 8_000
/** The poll interval while another person is present, whose pointer is shown. */
const LOOK_CLOSELY_EVERY_MS = 1_500

/** `pointer`: the position on the canvas, and the graph in it. */
export type PresentUser = { user_id: string; name: string; pointer: { x: number; y: number; path: string } | null }

/** Reports that this user has the workflow open, and returns who else has. */
export function usePresence(workflowId: string): PresentUser[] {
  const { workspace, user } = useMe()
  useOpenWorkflowPresence(workflowId)
  const isHere = ({ context, user_id, status }: { context: unknown; user_id: string; status: string }): boolean =>
    user_id !== user.user_id && status !== 'offline' && isObject(context) && context.workflow_id === workflowId
  const { data } = useApi(
    'listColleagues',
    { workspace_id: workspace!.workspace_id, limit: 100 },
    { refetchInterval: ({ state }) => (state.data?.items.some(isHere) ? LOOK_CLOSELY_EVERY_MS : LOOK_EVERY_MS) },
  )
  return (data?.items ?? [])
    .filter(isHere)
    .map(({ user_id, name, context }) => ({ user_id, name, pointer: pointerIn(context) }))
}

function pointerIn(context: unknown): PresentUser['pointer'] {
  const pointer = isObject(context) ? context.pointer : null
  if (!isObject(pointer)) return null
  const { x, y, path } = pointer
  return typeof x === 'number' && typeof y === 'number' ? { x, y, path: typeof path === 'string' ? path : '' } : null
}
