import type { Tx } from '#platform/db/pool'
import type { Address, ChannelName } from '#providers/channels/index'

export type ConfigRow = {
  config_id: string
  channel: ChannelName
  external_id: string
  template_id: string | null
  name: string | null
  enabled: boolean
  credentials_set: string[]
  problem: string | null
  created_at: Date
  updated_at: Date
}
export type UsableConfig = Pick<ConfigRow, 'config_id' | 'channel' | 'external_id' | 'template_id' | 'enabled'> & {
  workspace_id: string
  credentials: Buffer | null
}

/** Without a template there is nobody to answer. */
const columns = `config_id, channel, external_id, template_id, name, enabled and template_id is not null as enabled, credentials_set, problem, created_at, updated_at`
const usable = `workspace_id, config_id, channel, external_id, template_id, enabled and template_id is not null as enabled, credentials`

export const findConfig = (tx: Tx, workspaceId: string, configId: string): Promise<ConfigRow | undefined> =>
  tx.maybe<ConfigRow>(`select ${columns} from gateway_channels where workspace_id = $1 and config_id = $2`, [
    workspaceId,
    configId,
  ])

export const listConfigs = (
  tx: Tx,
  workspaceId: string,
  templateId: string | null,
  before: string | null,
  limit: number,
): Promise<ConfigRow[]> =>
  tx.rows<ConfigRow>(
    `select ${columns} from gateway_channels where workspace_id = $1 and ($2::uuid is null or template_id = $2)
       and ($3::uuid is null or config_id < $3) order by config_id desc limit $4`,
    [workspaceId, templateId, before, limit + 1],
  )

export const templateExists = async (tx: Tx, workspaceId: string, templateId: string): Promise<boolean> =>
  (await tx.maybe('select from templates where workspace_id = $1 and template_id = $2', [workspaceId, templateId])) !==
  undefined

/** Those who set up the same account of the same vendor do so one after the other. */
export const lockAccount = (tx: Tx, workspaceId: string, channel: string, externalId: string): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 5101))', [`${workspaceId}\n${channel}\n${externalId}`])

export const findByAccount = (
  tx: Tx,
  workspaceId: string,
  channel: string,
  externalId: string,
): Promise<UsableConfig | undefined> =>
  tx.maybe<UsableConfig>(
    `select ${usable} from gateway_channels where workspace_id = $1 and channel = $2 and external_id = $3`,
    [workspaceId, channel, externalId],
  )

export const findUsable = (tx: Tx, workspaceId: string, configId: string): Promise<UsableConfig | undefined> =>
  tx.maybe<UsableConfig>(`select ${usable} from gateway_channels where workspace_id = $1 and config_id = $2`, [
    workspaceId,
    configId,
  ])

export type ConfigChange = {
  external_id: string
  template_id: string | null
  name: string | null
  enabled: boolean
  credentials: Buffer | null
  credentials_set: string[]
}

export const insertConfig = (
  tx: Tx,
  workspaceId: string,
  config: ConfigChange & { config_id: string; channel: ChannelName; created_by: string },
): Promise<ConfigRow> =>
  tx.row<ConfigRow>(
    `insert into gateway_channels (workspace_id, config_id, channel, external_id, template_id, name, enabled, credentials, credentials_set, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${columns}`,
    [
      workspaceId,
      config.config_id,
      config.channel,
      config.external_id,
      config.template_id,
      config.name,
      config.enabled,
      config.credentials,
      config.credentials_set,
      config.created_by,
    ],
  )

export const updateConfig = (tx: Tx, workspaceId: string, configId: string, config: ConfigChange): Promise<ConfigRow> =>
  tx.row<ConfigRow>(
    `update gateway_channels set external_id = $3, template_id = $4, name = $5, enabled = $6, credentials = $7, credentials_set = $8,
       problem = null, updated_at = now() where workspace_id = $1 and config_id = $2 returning ${columns}`,
    [
      workspaceId,
      configId,
      config.external_id,
      config.template_id,
      config.name,
      config.enabled,
      config.credentials,
      config.credentials_set,
    ],
  )

/** Shown with the config; it is not a change that somebody made. */
export const noteProblem = (tx: Tx, workspaceId: string, configId: string, problem: string | null): Promise<number> =>
  tx.count(
    'update gateway_channels set problem = $3 where workspace_id = $1 and config_id = $2 and problem is distinct from $3',
    [workspaceId, configId, problem],
  )

/** Conversations that are under way go on with the new template. */
export const moveThreads = (tx: Tx, workspaceId: string, configId: string, templateId: string): Promise<number> =>
  tx.count(
    `update threads set template_id = $3 where workspace_id = $1 and config_id = $2 and kind = 'channel' and template_id is distinct from $3`,
    [workspaceId, configId, templateId],
  )

export const deleteConfig = (tx: Tx, workspaceId: string, configId: string): Promise<number> =>
  tx.count('delete from gateway_channels where workspace_id = $1 and config_id = $2', [workspaceId, configId])

// What came in

export type Delivery = {
  receipt_id: string
  config_id: string
  delivery_sha256: Buffer
  conversation: string
  sender: { id: string; name: string }
  address: Address
  text: string
  attempts: number
}

export const insertDelivery = (tx: Tx, workspaceId: string, delivery: Omit<Delivery, 'attempts'>): Promise<number> =>
  tx.count(
    `insert into channel_deliveries (workspace_id, config_id, receipt_id, delivery_sha256, conversation, sender, address, text)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (workspace_id, config_id, delivery_sha256) do nothing`,
    [
      workspaceId,
      delivery.config_id,
      delivery.receipt_id,
      delivery.delivery_sha256,
      delivery.conversation,
      delivery.sender,
      delivery.address,
      delivery.text,
    ],
  )

/** Leased: whoever dies with it leaves it to another. */
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
     returning receipt_id, config_id, delivery_sha256, conversation, sender, address, text, attempts`,
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

/** Given back untried. */
export const releaseDelivery = (tx: Tx, workspaceId: string, receiptId: string): Promise<number> =>
  tx.count(
    `update channel_deliveries set not_before = now(), attempts = attempts - 1 where workspace_id = $1 and receipt_id = $2 and state = 'waiting'`,
    [workspaceId, receiptId],
  )

/** Nobody takes it for so long: while somebody is at it, or before it is tried again. */
export const delayDelivery = (tx: Tx, workspaceId: string, receiptId: string, seconds: number): Promise<number> =>
  tx.count(
    `update channel_deliveries set not_before = now() + make_interval(secs => $3) where workspace_id = $1 and receipt_id = $2 and state = 'waiting'`,
    [workspaceId, receiptId, seconds],
  )

// Where answers go

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

// What goes out

export type Send = {
  send_id: string
  config_id: string
  lane: string
  dedupe_key: string
  address: Address
  text: string
}

export const insertSend = (tx: Tx, workspaceId: string, send: Send): Promise<number> =>
  tx.count(
    `insert into channel_sends (workspace_id, send_id, config_id, lane, dedupe_key, address, text) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (workspace_id, config_id, dedupe_key) do nothing`,
    [workspaceId, send.send_id, send.config_id, send.lane, send.dedupe_key, send.address, send.text],
  )

export const findSend = (
  tx: Tx,
  workspaceId: string,
  configId: string,
  dedupeKey: string,
): Promise<{ send_id: string; state: string } | undefined> =>
  tx.maybe('select send_id, state from channel_sends where workspace_id = $1 and config_id = $2 and dedupe_key = $3', [
    workspaceId,
    configId,
    dedupeKey,
  ])

export const takeSend = (
  tx: Tx,
  workspaceId: string,
  sendId: string,
  leaseS: number,
): Promise<(Send & { attempts: number; old: boolean; created_at: Date }) | undefined> =>
  tx.maybe(
    `update channel_sends set attempts = attempts + 1, not_before = now() + make_interval(secs => $3)
     where (workspace_id, send_id) in (select workspace_id, send_id from channel_sends
       where workspace_id = $1 and send_id = $2 and state = 'waiting' and not_before <= now() for update skip locked)
     returning send_id, config_id, lane, dedupe_key, address, text, attempts, created_at, created_at < now() - interval '1 day' as old`,
    [workspaceId, sendId, leaseS],
  )

/** What was sent is not kept: the thread has it. */
export const settleSend = (
  tx: Tx,
  workspaceId: string,
  sendId: string,
  settled: { state: 'sent' } | { state: 'parked'; problem: string },
): Promise<number> =>
  tx.count(
    `update channel_sends set state = $3, problem = $4, settled_at = now(), text = case when $3 = 'sent' then '' else text end
     where workspace_id = $1 and send_id = $2`,
    [workspaceId, sendId, settled.state, 'problem' in settled ? settled.problem : null],
  )

export const delaySend = (
  tx: Tx,
  workspaceId: string,
  sendId: string,
  seconds: number,
  reason: string,
): Promise<number> =>
  tx.count(
    `update channel_sends set not_before = now() + make_interval(secs => $3), problem = $4 where workspace_id = $1 and send_id = $2 and state = 'waiting'`,
    [workspaceId, sendId, seconds, reason],
  )

/** The vendor asked for fewer messages: everything that goes through this config waits. A wait is no failed attempt. */
export const slowDown = (
  tx: Tx,
  workspaceId: string,
  send: { send_id: string; config_id: string },
  seconds: number,
): Promise<number> =>
  tx.count(
    `update channel_sends set not_before = greatest(case when send_id = $3 then now() else not_before end, now() + make_interval(secs => $4)),
       attempts = case when send_id = $3 then attempts - 1 else attempts end
     where workspace_id = $1 and config_id = $2 and state = 'waiting'`,
    [workspaceId, send.config_id, send.send_id, seconds],
  )
