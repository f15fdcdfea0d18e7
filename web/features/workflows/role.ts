import type { Workflow } from '#sdk/types.generated'

export type WorkflowRole = 'owner' | 'editor' | 'member' | 'viewer' | 'none'

/** Checks for a role that may save and activate versions. */
export const mayChange = (role: WorkflowRole): boolean => role === 'owner' || role === 'editor'

/** Checks for a role that may run the workflow and control its executions. */
export const mayUse = (role: WorkflowRole): boolean => mayChange(role) || role === 'member'

/** Checks whether the user may run a workflow; not for built-in workflows, which have other rules. */
export const mayRun = (workflow: Workflow, userId: string): boolean => mayUse(roleIn(workflow, userId))

export function roleIn(workflow: Workflow, userId: string): WorkflowRole {
  if (workflow.owner_id === userId) return 'owner'
  return workflow.role ?? 'none'
}
