import type { OnMemberRemoved } from '#areas/workspaces/members'
import { deliverEvent } from '#platform/events'

/**
 * Workflows and templates of a person who leaves go to whoever removed them, or to an owner of the workspace: without an
 * owner nobody could change them or take back their tokens, and whoever left would own them again if they came back as a guest.
 */
export const passWorkflowsOn: OnMemberRemoved = async (tx, { workspaceId, userId, byUserId }) => {
  const heir = await tx.maybe<{ user_id: string }>(
    `select user_id from memberships where workspace_id = $1 and user_id <> $2 and role = 'owner'
     order by user_id = $3 desc, joined_at, user_id limit 1`,
    [workspaceId, userId, byUserId],
  )
  if (!heir) return
  const workflows = await tx.rows<{ name: string }>(
    `with passed as (
       update workflows set owner_id = $3, updated_at = now()
       where workspace_id = $1 and owner_id = $2 and deleted_at is null returning workflow_id, name),
     cleared as (
       delete from workflow_members m using passed p
       where m.workspace_id = $1 and m.workflow_id = p.workflow_id and m.user_id = $3)
     select name from passed order by name`,
    [workspaceId, userId, heir.user_id],
  )
  const templates = await tx.rows<{ name: string }>(
    `update templates set owner_id = $3, updated_at = now() where workspace_id = $1 and owner_id = $2 returning name`,
    [workspaceId, userId, heir.user_id],
  )
  const names = [...workflows, ...templates].map(({ name }) => name)
  if (names.length === 0) return
  await deliverEvent(tx, {
    workspaceId,
    kind: 'workflow.passed_on',
    title: names.length === 1 ? `"${names[0]}" is yours now` : `${names.length} workflows and templates are yours now`,
    body: `Their owner left the workspace: ${names.join(', ').slice(0, 500)}.`,
    link: '/workflows',
    to: [heir.user_id],
  })
}
