import type { Workflow } from '#sdk/types.generated'

export type WorkflowRole = 'owner' | 'editor' | 'member' | 'viewer' | 'none'

/** Who makes versions and activates them. */
export const mayChange = (role: WorkflowRole): boolean => role === 'owner' || role === 'editor'

/** Who runs it and steers its runs. */
export const mayUse = (role: WorkflowRole): boolean => mayChange(role) || role === 'member'

/** What is built in is another matter. */
export const mayRun = (workflow: Workflow, userId: string): boolean => mayUse(roleIn(workflow, userId))

export function roleIn(workflow: Workflow, userId: string): WorkflowRole {
  if (workflow.owner_id === userId) return 'owner'
  return workflow.role ?? 'none'
}
