import type { FileValue } from '#engine/files'
import type { Tx } from '#platform/db/pool'
import type { Address, ChannelName } from '#providers/channels/index'

// Inbound messages, and the addresses for their answers.

/** A file that is stored, that the vendor stores, or that was refused for lack of space. */
export type DeliveredFile =
  | FileValue
  | { name: string; media_type: string; ref: string }
  | { name: string; media_type: string; refused: true }

export type Delivery = {
  receipt_id: string
  config_id: string
  delivery_sha256: Buffer
  conversation: string
  sender: { id: string; name: string; locale?: string }
  address: Address
  text: string
  files: DeliveredFile[]
  attempts: number
}

export const insertDelivery = (tx: Tx, workspaceId: string, delivery: Omit<Delivery, 'attempts'>): Promise<number> =>
  tx.count(
    `insert into channel_deliveries (workspace_id, config_id, receipt_id, delivery_sha256, conversation, sender, address, text, files)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (workspace_id, config_id, delivery_sha256) do nothing`,
    [
      workspaceId,
      delivery.config_id,
      delivery.receipt_id,
      delivery.delivery_sha256,
      delivery.conversation,
      delivery.sender,
      delivery.address,
      delivery.text,
      JSON.stringify(delivery.files),
    ],
  )

/** Leases a delivery. If the process crashes, another one takes the delivery after the lease expires. */
export const takeDelivery = (
  tx: Tx,
  workspaceId: string,
  receiptId: string,
  leaseS: number,
): Promise<Delivery | undefined> =>
  tx.maybe<Delivery>(
    `update channel_deliveries set attempts = attempts + 1, not_before = now() + make_interval(secs => $3)
     where (workspace_id, receipt_id) in (select workspace_id, receipt_id from channel_deliveries
       where workspace_id = $1 and receipt_id = $2 and state = 'waiting' and not_before <= now() for update skip locked)
     returning receipt_id, config_id, delivery_sha256, conversation, sender, address, text, files, attempts`,
    [workspaceId, receiptId, leaseS],
  )

export const settleDelivery = (
  tx: Tx,
  workspaceId: string,
  receiptId: string,
  state: 'taken' | 'parked',
): Promise<number> =>
  tx.count(
    `update channel_deliveries set state = $3, text = case when $3 = 'taken' then null else text end where workspace_id = $1 and receipt_id = $2`,
    [workspaceId, receiptId, state],
  )

/** Returns a delivery to the queue without counting the attempt. */
export const releaseDelivery = (tx: Tx, workspaceId: string, receiptId: string): Promise<number> =>
  tx.count(
    `update channel_deliveries set not_before = now(), attempts = attempts - 1 where workspace_id = $1 and receipt_id = $2 and state = 'waiting'`,
    [workspaceId, receiptId],
  )

/** Blocks a delivery for some seconds: while a process works on it, or before it is retried. */
export const delayDelivery = (tx: Tx, workspaceId: string, receiptId: string, seconds: number): Promise<number> =>
  tx.count(
    `update channel_deliveries set not_before = now() + make_interval(secs => $3) where workspace_id = $1 and receipt_id = $2 and state = 'waiting'`,
    [workspaceId, receiptId, seconds],
  )

export const saveAddress = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  configId: string,
  address: Address,
): Promise<number> =>
  tx.count(
    `insert into channel_addresses (workspace_id, thread_id, config_id, address) values ($1, $2, $3, $4)
     on conflict (workspace_id, thread_id) do update set address = excluded.address, config_id = excluded.config_id`,
    [workspaceId, threadId, configId, address],
  )

export const findAddress = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
): Promise<{ config_id: string; address: Address; channel: ChannelName; external_id: string } | undefined> =>
  tx.maybe(
    `select a.config_id, a.address, g.channel, g.external_id from channel_addresses a
     join gateway_channels g on g.workspace_id = a.workspace_id and g.config_id = a.config_id
     where a.workspace_id = $1 and a.thread_id = $2`,
    [workspaceId, threadId],
  )
