import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { newId } from '#platform/ids'
import type { Address, ChannelName } from '#providers/channels/index'
import { type ChannelIdentity, identityList } from './identity-schema.ts'

const columns = 'i.identity_id, i.config_id, g.channel, g.name as channel_name, i.sender_name, i.created_at'
const tables =
  'channel_identities i join gateway_channels g on g.workspace_id = i.workspace_id and g.config_id = i.config_id'

export const listIdentities = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<ChannelIdentity>(tx, identityList, asked, {
    sql: `select ${columns} from ${tables} where i.workspace_id = $1 and i.user_id = $2`,
    values: [workspaceId, userId],
  })

export const findOwn = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  identityId: string,
): Promise<ChannelIdentity | undefined> =>
  tx.maybe<ChannelIdentity>(
    `select ${columns} from ${tables} where i.workspace_id = $1 and i.user_id = $2 and i.identity_id = $3`,
    [workspaceId, userId, identityId],
  )

export const deleteIdentity = (tx: Tx, workspaceId: string, identityId: string): Promise<number> =>
  tx.count('delete from channel_identities where workspace_id = $1 and identity_id = $2', [workspaceId, identityId])

const usable = 'enabled and template_id is not null'

export const isReachable = async (
  tx: Tx,
  workspaceId: string,
  configId: string,
  channels: readonly string[],
): Promise<boolean> =>
  (await tx.maybe(
    `select from gateway_channels where workspace_id = $1 and config_id = $2 and channel = any ($3) and ${usable}`,
    [workspaceId, configId, channels],
  )) !== undefined

export const listReachable = (tx: Tx, workspaceId: string, channels: readonly string[]) =>
  tx.rows<{ config_id: string; channel: ChannelIdentity['channel']; name: string | null }>(
    `select config_id, channel, name from gateway_channels where workspace_id = $1 and channel = any ($2) and ${usable}
     order by config_id limit 100`,
    [workspaceId, channels],
  )

export const putCode = (
  tx: Tx,
  workspaceId: string,
  code: { userId: string; configId: string; codeHash: Buffer; lifetimeS: number },
): Promise<number> =>
  tx.count(
    `insert into channel_link_codes (workspace_id, user_id, config_id, code_hash, expires_at)
     values ($1, $2, $3, $4, now() + make_interval(secs => $5))
     on conflict (workspace_id, user_id) do update
       set config_id = excluded.config_id, code_hash = excluded.code_hash, expires_at = excluded.expires_at`,
    [workspaceId, code.userId, code.configId, code.codeHash, code.lifetimeS],
  )

/** Deletes the code, and returns the person who requested it. */
export const takeCode = (
  tx: Tx,
  workspaceId: string,
  configId: string,
  codeHash: Buffer,
): Promise<{ user_id: string } | undefined> =>
  tx.maybe<{ user_id: string }>(
    `delete from channel_link_codes where workspace_id = $1 and config_id = $2 and code_hash = $3 and expires_at > now()
     returning user_id`,
    [workspaceId, configId, codeHash],
  )

/**
 * Links an account to a person. Each account has one person, and each person has one account per channel: the last link
 * replaces others.
 */
export async function bind(
  tx: Tx,
  workspaceId: string,
  link: {
    userId: string
    configId: string
    sender: { id: string; name: string }
    address: Address
  },
): Promise<{ name: string; language: string | null }> {
  await tx.count(
    'delete from channel_identities where workspace_id = $1 and config_id = $2 and (user_id = $3 or sender_id = $4)',
    [workspaceId, link.configId, link.userId, link.sender.id],
  )
  await tx.count(
    `insert into channel_identities (workspace_id, identity_id, config_id, user_id, sender_id, sender_name, address)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [workspaceId, newId(), link.configId, link.userId, link.sender.id, link.sender.name, link.address],
  )
  return tx.row<{ name: string; language: string | null }>('select name, language from users where user_id = $1', [
    link.userId,
  ])
}

/** The channel address of a person, with the settings for sending to it. */
export type ChannelAddress = {
  identity_id: string
  config_id: string
  workspace_id: string
  channel: ChannelName
  external_id: string
  credentials: Buffer | null
  enabled: boolean
  sender_id: string
  address: Address
}

export const findChannelAddress = (
  tx: Tx,
  workspaceId: string,
  identityId: string,
): Promise<ChannelAddress | undefined> =>
  tx.maybe<ChannelAddress>(
    `select i.identity_id, i.workspace_id, i.config_id, g.channel, g.external_id, g.credentials, i.sender_id, i.address,
       g.enabled and g.template_id is not null as enabled
     from ${tables} where i.workspace_id = $1 and i.identity_id = $2`,
    [workspaceId, identityId],
  )
