import type { Workflow } from '#sdk/types.generated'

export type WorkflowRole = 'owner' | 'member' | 'viewer' | 'none'

/** As owner or member; what is built in is another matter. */
export const mayRun = (workflow: Workflow, userId: string): boolean =>
  ['owner', 'member'].includes(roleIn(workflow, userId))

export function roleIn(workflow: Workflow, userId: string): WorkflowRole {
  if (workflow.owner_id === userId) return 'owner'
  return workflow.members.find((member) => member.user_id === userId)?.role ?? 'none'
}
