import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Destination, destinationList, type OffReason } from './schema.ts'

/** The columns that people may see, without sealed values. */
const columns = `d.destination_id, d.url, d.event_types, d.workflow_id, d.credential_id, d.owner_id, d.enabled, d.off_reason, d.off_at,
  d.pending, d.failures, d.last_success_at, d.last_failure_at,
  case when d.previous_secret_until > now() then d.previous_secret_until end as previous_secret_until, d.created_at, d.updated_at`

export type DestinationRow = Omit<Destination, 'off_message' | 'off_reason'> & { off_reason: OffReason | null }

export const findDestination = (
  tx: Tx,
  workspaceId: string,
  destinationId: string,
): Promise<DestinationRow | undefined> =>
  tx.maybe<DestinationRow>(
    `select ${columns} from event_destinations d where d.workspace_id = $1 and d.destination_id = $2`,
    [workspaceId, destinationId],
  )

/** Lists the destinations of an owner. If `ownerId` is null, lists all of the workspace. */
export const listDestinations = (tx: Tx, workspaceId: string, ownerId: string | null, asked: ListInput) =>
  readList<DestinationRow>(tx, destinationList, asked, {
    sql: `select ${columns} from event_destinations d where d.workspace_id = $1 and ($2::uuid is null or d.owner_id = $2)`,
    values: [workspaceId, ownerId],
  })

export const insertDestination = (
  tx: Tx,
  workspaceId: string,
  row: {
    destination_id: string
    url: string
    event_types: string[]
    workflow_id: string | null
    credential_id: string | null
    owner_id: string
    secret: Buffer
  },
): Promise<number> =>
  tx.count(
    `insert into event_destinations (workspace_id, destination_id, url, event_types, workflow_id, credential_id, owner_id, secret)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      workspaceId,
      row.destination_id,
      row.url,
      row.event_types,
      row.workflow_id,
      row.credential_id,
      row.owner_id,
      row.secret,
    ],
  )

/**
 * Updates the destination. The person who changes it becomes its owner. A destination that is enabled, or gets
 * another address, starts with no failures.
 */
export const updateDestination = (
  tx: Tx,
  workspaceId: string,
  destinationId: string,
  row: {
    url: string
    event_types: string[]
    workflow_id: string | null
    credential_id: string | null
    enabled: boolean
    owner_id: string
  },
): Promise<number> =>
  tx.count(
    `update event_destinations set url = $3, event_types = $4, workflow_id = $5, credential_id = $6, owner_id = $8, updated_at = now(),
       failures = case when $7 and not enabled or url <> $3 then 0 else failures end,
       blocked_until = case when $7 and not enabled or url <> $3 then null else blocked_until end,
       enabled = $7, off_reason = case when $7 then null else coalesce(off_reason, 'manual') end,
       off_at = case when $7 then null else coalesce(off_at, now()) end, told = true
     where workspace_id = $1 and destination_id = $2`,
    [
      workspaceId,
      destinationId,
      row.url,
      row.event_types,
      row.workflow_id,
      row.credential_id,
      row.enabled,
      row.owner_id,
    ],
  )

export const watchWorkspace = (tx: Tx, workspaceId: string, journal: boolean): Promise<unknown> =>
  tx.rows('select watch_workspace($1, $2)', [workspaceId, journal])

export const deleteDestination = (tx: Tx, workspaceId: string, destinationId: string): Promise<number> =>
  tx.count('delete from event_destinations where workspace_id = $1 and destination_id = $2', [
    workspaceId,
    destinationId,
  ])

export const lockSecret = (
  tx: Tx,
  workspaceId: string,
  destinationId: string,
): Promise<{ secret: Buffer } | undefined> =>
  tx.maybe('select secret from event_destinations where workspace_id = $1 and destination_id = $2 for no key update', [
    workspaceId,
    destinationId,
  ])

export const storeSecret = (
  tx: Tx,
  workspaceId: string,
  destinationId: string,
  { secret, previous, hours }: { secret: Buffer; previous: Buffer; hours: number },
): Promise<{ previous_secret_until: Date }> =>
  tx.row(
    `update event_destinations set secret = $3, previous_secret = $4, previous_secret_until = now() + make_interval(hours => $5),
       updated_at = now()
     where workspace_id = $1 and destination_id = $2 returning previous_secret_until`,
    [workspaceId, destinationId, secret, previous, hours],
  )

export const switchOff = (tx: Tx, workspaceId: string, destinationId: string, reason: OffReason): Promise<number> =>
  tx.count(
    `update event_destinations set enabled = false, off_reason = $3, off_at = now(), told = false, updated_at = now()
     where workspace_id = $1 and destination_id = $2 and enabled`,
    [workspaceId, destinationId, reason],
  )

export const switchOffOwnedBy = (tx: Tx, workspaceId: string, ownerId: string): Promise<number> =>
  tx.count(
    `update event_destinations set enabled = false, off_reason = 'owner_left', off_at = now(), told = false, updated_at = now()
     where workspace_id = $1 and owner_id = $2 and enabled`,
    [workspaceId, ownerId],
  )

/** Marks the owner as notified. Undefined if another process has done so. */
export const claimOffNotice = (
  tx: Tx,
  workspaceId: string,
  destinationId: string,
): Promise<{ url: string; off_reason: OffReason; owner_id: string | null } | undefined> =>
  tx.maybe(
    `update event_destinations set told = true where workspace_id = $1 and destination_id = $2 and not told and not enabled
     returning url, off_reason, owner_id`,
    [workspaceId, destinationId],
  )

/** Returns the owner if they are still a member, or otherwise the owners of the workspace. */
export const listRecipients = async (tx: Tx, workspaceId: string, ownerId: string | null): Promise<string[]> =>
  (
    await tx.rows<{ user_id: string }>(
      `select user_id from memberships m where m.workspace_id = $1 and case
         when exists (select from memberships o where o.workspace_id = $1 and o.user_id = $2 and o.role <> 'guest')
         then m.user_id = $2 else m.role = 'owner' end`,
      [workspaceId, ownerId],
    )
  ).map(({ user_id }) => user_id)
