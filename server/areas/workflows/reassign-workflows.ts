import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { Definition } from '#model/definition'
import type { Kinds } from '#model/graph'
import type { Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import { findUnusable } from './authority.ts'
import type { Principal } from './rights.ts'
import type { SystemWorkflow } from './system.ts'

export type ReassignParts = { kinds: () => Kinds; system: ReadonlyMap<string, SystemWorkflow> }

/** A workflow whose executions acted for the person who left, and now act for its owner. */
type Inherited = { workflow_id: string; name: string; owner_id: string; definition: Definition | null }

/**
 * Transfers the workflows and templates of a person who leaves to the person who removed them, or to an owner of the
 * workspace. Without an owner, no user could change them or revoke their tokens, and the person would own them again
 * after returning as a guest. Executions of versions that the person activated then act for the owner of the workflow.
 * Owners are notified immediately of what they may not use.
 */
export const makeReassignWorkflows =
  ({ kinds, system }: ReassignParts): OnMemberRemoved =>
  async (tx, { workspaceId, userId, byUserId }) => {
    const heir = await tx.maybe<{ user_id: string }>(
      `select user_id from memberships where workspace_id = $1 and user_id <> $2 and role = 'owner'
       order by user_id = $3 desc, joined_at, user_id limit 1`,
      [workspaceId, userId, byUserId],
    )
    if (heir) await assignTo(tx, workspaceId, userId, heir.user_id)
    await tx.count('delete from workflow_transfers where workspace_id = $1 and (from_user = $2 or to_user = $2)', [
      workspaceId,
      userId,
    ])
    const inherited = await inheritRuns(tx, workspaceId, userId)
    for (const [ownerId, workflows] of Map.groupBy(inherited, ({ owner_id }) => owner_id))
      await notifyUnusable(tx, workspaceId, ownerId, workflows, { kinds: kinds(), system })
  }

async function assignTo(tx: Tx, workspaceId: string, userId: string, heirId: string): Promise<void> {
  const workflows = await tx.rows<{ name: string }>(
    `with passed as (
       update workflows set owner_id = $3, updated_at = now()
       where workspace_id = $1 and owner_id = $2 and deleted_at is null returning workflow_id, name),
     cleared as (
       delete from workflow_members m using passed p
       where m.workspace_id = $1 and m.workflow_id = p.workflow_id and m.user_id = $3)
     select name from passed order by name`,
    [workspaceId, userId, heirId],
  )
  const templates = await tx.rows<{ name: string }>(
    `update templates set owner_id = $3, updated_at = now() where workspace_id = $1 and owner_id = $2 returning name`,
    [workspaceId, userId, heirId],
  )
  const names = [...workflows, ...templates].map(({ name }) => name)
  if (names.length === 0) return
  await deliverEvent(tx, {
    workspaceId,
    kind: 'workflow.passed_on',
    title: names.length === 1 ? `"${names[0]}" is yours now` : `${names.length} workflows and templates are yours now`,
    body: `Their owner left the workspace: ${names.join(', ').slice(0, 500)}. Their runs now use your rights.`,
    link: '/workflows',
    to: [heirId],
  })
}

/** Makes the workflow's owner the principal of every version that acted for the person. Returns the active versions. */
async function inheritRuns(tx: Tx, workspaceId: string, userId: string): Promise<Inherited[]> {
  return tx.rows<Inherited>(
    `with moved as (
       update workflow_versions v set activated_by = w.owner_id from workflows w
       where w.workspace_id = v.workspace_id and w.workflow_id = v.workflow_id and v.workspace_id = $1
         and coalesce(v.activated_by, v.created_by) = $2
       returning v.workflow_id, v.active, v.definition)
     select w.workflow_id, w.name, w.owner_id, m.definition from moved m
     join workflows w on w.workspace_id = $1 and w.workflow_id = m.workflow_id and w.deleted_at is null
     where m.active order by w.name`,
    [workspaceId, userId],
  )
}

const MAX_NAMED = 20

/** Notifies the owner now and not at the next execution, which may be weeks away. */
async function notifyUnusable(
  tx: Tx,
  workspaceId: string,
  ownerId: string,
  workflows: Inherited[],
  known: { kinds: Kinds; system: ReadonlyMap<string, SystemWorkflow> },
): Promise<void> {
  const owner = await tx.maybe<Principal>(
    'select user_id, role from memberships where workspace_id = $1 and user_id = $2',
    [workspaceId, ownerId],
  )
  if (!owner) return
  for (const { workflow_id, name, definition } of workflows) {
    const unusable = definition === null ? [] : await findUnusable(tx, workspaceId, owner, definition, known)
    if (unusable.length === 0) continue
    await deliverEvent(tx, {
      workspaceId,
      kind: 'workflow.not_allowed',
      title: `"${name}" uses resources that you may not use`,
      body: `The person it acted for left the workspace, and it acts for you now. It fails where it uses: ${unusable.slice(0, MAX_NAMED).join(', ')}. Ask for access, or change the workflow.`,
      data: { workflow_id: toWire('wf', workflow_id), not_allowed: unusable.slice(0, MAX_NAMED) },
      link: `/workflows/${toWire('wf', workflow_id)}`,
      to: [ownerId],
    })
  }
}
