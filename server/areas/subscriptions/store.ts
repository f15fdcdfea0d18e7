import type { Tx } from '#platform/db/pool'
import type { WorkspaceRole } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { type ListedSubscription, type Subscription, subscriptionList } from './schema.ts'

// Finds subscriptions in all workspaces of the caller. For a key that is bound to one workspace, row security limits
// this to it.

const columns =
  'subscription_id, workspace_id, name, status, quantity, starts_at, ends_at, metadata, created_at, updated_at'

export const findRoleFor = async (tx: Tx, userId: string, subscriptionId: string): Promise<WorkspaceRole | undefined> =>
  (
    await tx.maybe<{ role: WorkspaceRole }>(
      `select m.role from subscriptions s join memberships m on m.workspace_id = s.workspace_id and m.user_id = $1
       where s.subscription_id = $2`,
      [userId, subscriptionId],
    )
  )?.role

/** Row security limits the result to the caller's workspaces. */
export const findSubscription = (tx: Tx, subscriptionId: string): Promise<Subscription | undefined> =>
  tx.maybe<Subscription>(`select ${columns} from subscriptions where subscription_id = $1`, [subscriptionId])

/** Reads one page from each workspace, and merges them into one page. */
export const listSubscriptions = (tx: Tx, userId: string, asked: ListInput) =>
  readList<Subscription>(tx, subscriptionList, asked, {
    each: `select workspace_id from memberships where user_id = $1 and role <> 'guest'`,
    sql: `select ${columns} from subscriptions s where s.workspace_id = each.workspace_id`,
    values: [userId],
  })

export const listAllSubscriptions = (tx: Tx, asked: ListInput) =>
  readList<ListedSubscription>(tx, subscriptionList, asked, {
    sql: `select ${columns}, (select w.name from workspaces w where w.workspace_id = s.workspace_id) as workspace_name
      from subscriptions s`,
    values: [],
  })

export type NewRow = {
  subscription_id: string
  name: string
  status: string
  quantity: number
  starts_at?: Date | undefined
  ends_at?: Date | null | undefined
  metadata?: Record<string, unknown> | undefined
}

export const insertSubscription = (tx: Tx, workspaceId: string, row: NewRow): Promise<Subscription> =>
  tx.row<Subscription>(
    `insert into subscriptions (workspace_id, subscription_id, name, status, quantity, starts_at, ends_at, metadata)
     values ($1, $2, $3, $4, $5, coalesce($6, now()), $7, $8) returning ${columns}`,
    [
      workspaceId,
      row.subscription_id,
      row.name,
      row.status,
      row.quantity,
      row.starts_at ?? null,
      row.ends_at ?? null,
      row.metadata ?? {},
    ],
  )

export type Patch = Partial<Omit<NewRow, 'subscription_id' | 'metadata'>> & {
  metadata?: Record<string, unknown> | null | undefined
}

export const updateSubscription = (tx: Tx, subscriptionId: string, patch: Patch): Promise<Subscription> =>
  tx.row<Subscription>(
    `update subscriptions set name = coalesce($2, name), status = coalesce($3, status), quantity = coalesce($4, quantity),
       starts_at = coalesce($5, starts_at), ends_at = case when $6::boolean then $7 else ends_at end,
       metadata = case when $8::boolean then coalesce($9::jsonb, '{}') else metadata end, updated_at = now()
     where subscription_id = $1 returning ${columns}`,
    [
      subscriptionId,
      patch.name ?? null,
      patch.status ?? null,
      patch.quantity ?? null,
      patch.starts_at ?? null,
      patch.ends_at !== undefined,
      patch.ends_at ?? null,
      patch.metadata !== undefined,
      patch.metadata ?? null,
    ],
  )

export const deleteSubscription = (tx: Tx, subscriptionId: string): Promise<number> =>
  tx.count('delete from subscriptions where subscription_id = $1', [subscriptionId])
