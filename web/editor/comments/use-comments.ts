import type { Workflow, WorkflowComment } from '#sdk/types.generated'
import { useList } from '#web/api.ts'

const LOOK_EVERY_MS = 30_000

/** Returns the unresolved comments, newest first. */
export function useOpenComments({ workflow_id, kind }: Workflow): WorkflowComment[] {
  const { data } = useList(
    'listComments',
    { workflow_id, resolved: 'false', limit: 100 },
    { enabled: kind === 'user', refetchInterval: LOOK_EVERY_MS },
  )
  return data ?? []
}
