import type { Notify } from '#engine/nodes/notify'
import type { Database } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'

/** Implements the `notify` node: notifies people of the workspace, once per key. */
export const makeNotifier =
  (db: Database): Notify =>
  (wanted) =>
    db.tenant({ workspaceId: wanted.workspaceId, userId: null }, async (tx) => {
      const before = await tx.maybe<{ user_ids: string[] }>(
        'select user_ids from notify_receipts where workspace_id = $1 and key = $2',
        [wanted.workspaceId, wanted.key],
      )
      if (before) return { userIds: before.user_ids }
      const people = await tx.rows<{ user_id: string }>(
        `select m.user_id from memberships m where m.workspace_id = $1 and m.user_id = any (coalesce($2::uuid[], array[coalesce($3,
           (select owner_id from workflows where workspace_id = $1 and workflow_id = $4))]))`,
        [wanted.workspaceId, wanted.userIds, wanted.startedBy, wanted.workflowId],
      )
      const userIds = people.map(({ user_id }) => user_id)
      await deliverEvent(tx, {
        workspaceId: wanted.workspaceId,
        kind: 'workflow.notify',
        title: wanted.title,
        body: wanted.body,
        data: { execution_id: toWire('exe', wanted.executionId) },
        link: wanted.link ?? `/runs/${toWire('exe', wanted.executionId)}`,
        to: userIds,
      })
      await tx.count('insert into notify_receipts (workspace_id, key, user_ids) values ($1, $2, $3)', [
        wanted.workspaceId,
        wanted.key,
        userIds,
      ])
      return { userIds }
    })
