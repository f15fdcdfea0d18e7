import type { Workflow } from '#sdk/types.generated'

export type WorkflowRole = 'owner' | 'member' | 'viewer' | 'none'

export function roleIn(workflow: Workflow, userId: string): WorkflowRole {
  if (workflow.owner_id === userId) return 'owner'
  return workflow.members.find((member) => member.user_id === userId)?.role ?? 'none'
}
