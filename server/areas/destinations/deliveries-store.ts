import type { JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Delivery, deliveryList } from './schema.ts'

/** The maximum size of event data. Larger data are omitted, and the receiver reads them at `url`. */
export const MAX_DATA_BYTES = 64 * 1024

const columns = `delivery_id, destination_id, type, event_at, execution_id, seq, status, attempts,
  case when status = 'pending' then next_at end as next_attempt_at, last_attempt_at, answer_status, answer_text, problem, duration_ms,
  created_at`

export const listDeliveries = (tx: Tx, workspaceId: string, destinationId: string, asked: ListInput) =>
  readList<Delivery>(tx, deliveryList, asked, {
    sql: `select ${columns} from event_deliveries where workspace_id = $1 and destination_id = $2`,
    values: [workspaceId, destinationId],
  })

export const hasDelivery = async (
  tx: Tx,
  workspaceId: string,
  destinationId: string,
  deliveryId: string,
): Promise<boolean> =>
  (await tx.maybe('select from event_deliveries where workspace_id = $1 and destination_id = $2 and delivery_id = $3', [
    workspaceId,
    destinationId,
    deliveryId,
  ])) !== undefined

/** Makes a delivery pending again. A delivery that is already pending is sent at once. */
export async function redeliver(
  tx: Tx,
  workspaceId: string,
  destinationId: string,
  deliveryId: string,
): Promise<Delivery | undefined> {
  const at = { workspace_id: workspaceId, destination_id: destinationId, delivery_id: deliveryId }
  // The delivery may be ending at this moment, or another request may redeliver it too.
  await lockDestination(tx, at)
  return tx.maybe<Delivery>(
    `with before as (select status from event_deliveries where workspace_id = $1 and destination_id = $2 and delivery_id = $3),
     counted as (update event_destinations set pending = pending + 1, blocked_until = null
       where workspace_id = $1 and destination_id = $2 and exists (select from before where status <> 'pending'))
     update event_deliveries set status = 'pending', next_at = now(), first_attempt_at = null, problem = null,
       head = head or status <> 'pending'
     where workspace_id = $1 and destination_id = $2 and delivery_id = $3 returning ${columns}`,
    [workspaceId, destinationId, deliveryId],
  )
}

export type Claimed = { workspace_id: string; destination_id: string; delivery_id: string }

export const takeDeliveries = async (
  db: Database,
  wanted: {
    after: string
    limit: number
    ofDestination: number
    ofWorkspace: number
    leaseS: number
    /** The destination of every running delivery, once per delivery. */
    underWay: string[]
  },
): Promise<Claimed[]> =>
  (
    await db.appPool.query<Claimed>({
      name: 'take_deliveries',
      text: 'select workspace_id, destination_id, delivery_id from take_deliveries($1, $2, $3, $4, $5, $6)',
      values: [wanted.after, wanted.limit, wanted.ofDestination, wanted.ofWorkspace, wanted.leaseS, wanted.underWay],
    })
  ).rows

/** A delivery with everything that is needed to send it. */
export type Loaded = {
  workspace_id: string
  destination_id: string
  delivery_id: string
  type: string
  event_at: Date
  execution_id: string | null
  seq: number | null
  data: JsonObject | null
  attempts: number
  /** Seconds since the first attempt; 0 if this is the first attempt. */
  tried_for_s: number
  url: string
  credential_id: string | null
  owner_id: string | null
  secret: Buffer
  previous_secret: Buffer | null
  visible: boolean
  workflow_id: string | null
  version_id: string | null
  trigger_kind: string | null
  trigger_id: string | null
  started_by: string | null
  created_at: Date | null
}

/** Undefined if the delivery has ended, or its destination is disabled or deleted. */
export const loadDelivery = (tx: Tx, workspaceId: string, deliveryId: string): Promise<Loaded | undefined> =>
  tx.maybe<Loaded>(
    `select v.workspace_id, v.destination_id, v.delivery_id, v.type, v.event_at, v.execution_id, v.seq,
       case when octet_length(coalesce(v.data, j.data)::text) <= ${MAX_DATA_BYTES} then coalesce(v.data, j.data) end as data, v.attempts,
       coalesce(extract(epoch from now() - v.first_attempt_at), 0)::float8 as tried_for_s,
       d.url, d.credential_id, d.owner_id, d.secret,
       case when d.previous_secret_until > now() then d.previous_secret end as previous_secret,
       event_visible(v.workspace_id, d.owner_id, v.type, v.execution_id, v.subject_id) as visible,
       e.workflow_id, e.version_id, e.trigger_kind, e.trigger_id, e.started_by, e.created_at
     from event_deliveries v
     join event_destinations d on d.workspace_id = v.workspace_id and d.destination_id = v.destination_id and d.enabled
     left join events j on j.execution_id = v.execution_id and j.seq = v.seq and j.workspace_id = v.workspace_id
     left join executions e on e.workspace_id = v.workspace_id and e.execution_id = v.execution_id
     where v.workspace_id = $1 and v.delivery_id = $2 and v.status = 'pending'`,
    [workspaceId, deliveryId],
  )

export type Attempt = {
  ok: boolean
  answer_status: number | null
  answer_text: string | null
  problem: string | null
  duration_ms: number
}

type At = { workspace_id: string; destination_id: string; delivery_id: string }

/**
 * Locks the row of the destination. Every transaction that adds or ends a delivery holds this lock, so that `head`
 * always marks the first pending delivery.
 */
const lockDestination = (tx: Tx, { workspace_id, destination_id }: At): Promise<{ failures: number } | undefined> =>
  tx.maybe(
    'select failures from event_destinations where workspace_id = $1 and destination_id = $2 for no key update',
    [workspace_id, destination_id],
  )

const WRITTEN = `attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, now()), last_attempt_at = now(),
  answer_status = $3, answer_text = $4, problem = $5, duration_ms = $6`

const valuesOf = (at: At, attempt: Attempt) => [
  at.workspace_id,
  at.delivery_id,
  attempt.answer_status,
  attempt.answer_text,
  attempt.problem,
  attempt.duration_ms,
]

/** Ends the delivery, and makes the next delivery of its execution or subject available. */
async function end(tx: Tx, at: At, status: 'delivered' | 'failed', attempt: Attempt): Promise<boolean> {
  const ended = await tx.maybe<{ about: string | null }>(
    `update event_deliveries set status = $7, ${WRITTEN} where workspace_id = $1 and delivery_id = $2 and status = 'pending'
     returning case when seq is not null then coalesce(execution_id, subject_id) end as about`,
    [...valuesOf(at, attempt), status],
  )
  if (!ended) return false
  if (ended.about !== null)
    await tx.count(
      `update event_deliveries set head = true where workspace_id = $1 and delivery_id = (
         select delivery_id from event_deliveries where destination_id = $2 and coalesce(execution_id, subject_id) = $3
           and status = 'pending' order by seq limit 1)`,
      [at.workspace_id, at.destination_id, ended.about],
    )
  return true
}

export async function noteDelivered(tx: Tx, at: At, attempt: Attempt): Promise<void> {
  const before = await lockDestination(tx, at)
  if (!before || !(await end(tx, at, 'delivered', attempt))) return
  await tx.count(
    `update event_destinations set pending = pending - 1, failures = 0, blocked_until = null, last_success_at = now()
     where workspace_id = $1 and destination_id = $2`,
    [at.workspace_id, at.destination_id],
  )
  // The destination works again, so deliveries that wait for a later attempt are sent now.
  if (before.failures > 0)
    await tx.count(
      `update event_deliveries set next_at = now() where destination_id = $1 and status = 'pending' and head and attempts > 0
         and next_at > now() + interval '2 minutes'`,
      [at.destination_id],
    )
}

/** Ends the delivery permanently as failed. */
export async function noteGivenUp(tx: Tx, at: At, attempt: Attempt): Promise<{ anySuccess: boolean } | undefined> {
  if (!(await lockDestination(tx, at)) || !(await end(tx, at, 'failed', attempt))) return undefined
  return tx.maybe<{ anySuccess: boolean }>(
    `update event_destinations d set pending = pending - 1, failures = failures + 1, last_failure_at = now()
     where workspace_id = $1 and destination_id = $2
     returning coalesce(d.last_success_at > (select v.first_attempt_at from event_deliveries v
       where v.workspace_id = $1 and v.delivery_id = $3), false) as "anySuccess"`,
    [at.workspace_id, at.destination_id, at.delivery_id],
  )
}

export async function noteFailed(
  tx: Tx,
  at: At,
  attempt: Attempt,
  { pauseS, blockS }: { pauseS: number; blockS(failures: number): number },
): Promise<void> {
  const before = await lockDestination(tx, at)
  if (!before) return
  const written = await tx.count(
    `update event_deliveries set next_at = now() + make_interval(secs => $7), ${WRITTEN}
     where workspace_id = $1 and delivery_id = $2 and status = 'pending'`,
    [...valuesOf(at, attempt), pauseS],
  )
  if (written === 0) return
  await tx.count(
    `update event_destinations set failures = failures + 1, last_failure_at = now(), blocked_until = now() + make_interval(secs => $3)
     where workspace_id = $1 and destination_id = $2`,
    [at.workspace_id, at.destination_id, blockS(before.failures + 1)],
  )
}
