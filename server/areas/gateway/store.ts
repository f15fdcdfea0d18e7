import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { ChannelName } from '#providers/channels/index'
import { channelList } from './schema.ts'

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
/** `switched_on`: the user's setting. The channel is enabled only if it also has a template. */
export type StoredConfig = UsableConfig & { switched_on: boolean }

/** A channel without a template is not enabled, because no assistant could answer. */
const columns = `config_id, channel, external_id, template_id, name, enabled and template_id is not null as enabled, credentials_set, problem, created_at, updated_at`
const usable = `workspace_id, config_id, channel, external_id, template_id, enabled and template_id is not null as enabled, enabled as switched_on, credentials`

export const findConfig = (tx: Tx, workspaceId: string, configId: string): Promise<ConfigRow | undefined> =>
  tx.maybe<ConfigRow>(`select ${columns} from gateway_channels where workspace_id = $1 and config_id = $2`, [
    workspaceId,
    configId,
  ])

export const listConfigs = (tx: Tx, workspaceId: string, templateId: string | null, asked: ListInput) =>
  readList<ConfigRow>(tx, channelList, asked, {
    sql: `select ${columns} from gateway_channels where workspace_id = $1 and ($2::uuid is null or template_id = $2)`,
    values: [workspaceId, templateId],
  })

export const templateExists = async (tx: Tx, workspaceId: string, templateId: string): Promise<boolean> =>
  (await tx.maybe('select from templates where workspace_id = $1 and template_id = $2', [workspaceId, templateId])) !==
  undefined

/** Serializes requests that configure the same account of the same vendor. */
export const lockAccount = (tx: Tx, workspaceId: string, channel: string, externalId: string): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 5101))', [`${workspaceId}\n${channel}\n${externalId}`])

export const findByAccount = (
  tx: Tx,
  workspaceId: string,
  channel: string,
  externalId: string,
): Promise<StoredConfig | undefined> =>
  tx.maybe<StoredConfig>(
    `select ${usable} from gateway_channels where workspace_id = $1 and channel = $2 and external_id = $3`,
    [workspaceId, channel, externalId],
  )

/** The language of the template, for people whose language the vendor does not provide. */
export type WithLanguage = { locale: string | null }

export const findUsable = (
  tx: Tx,
  workspaceId: string,
  configId: string,
): Promise<(StoredConfig & WithLanguage) | undefined> =>
  tx.maybe<StoredConfig & WithLanguage>(
    `select ${usable}, (select p.locale from templates p where p.workspace_id = g.workspace_id and p.template_id = g.template_id) as locale
     from gateway_channels g where workspace_id = $1 and config_id = $2`,
    [workspaceId, configId],
  )

/**
 * Locks the config until the end of the transaction, so that the channel is not enabled or disabled in the meantime.
 */
export const holdUsable = (tx: Tx, workspaceId: string, configId: string): Promise<StoredConfig | undefined> =>
  tx.maybe<StoredConfig>(
    `select ${usable} from gateway_channels where workspace_id = $1 and config_id = $2 for share`,
    [workspaceId, configId],
  )

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

export const updateConfig = (
  tx: Tx,
  workspaceId: string,
  configId: string,
  config: ConfigChange & { changed_by: string },
): Promise<ConfigRow> =>
  tx.row<ConfigRow>(
    `update gateway_channels set external_id = $3, template_id = $4, name = $5, enabled = $6, credentials = $7, credentials_set = $8,
       problem = null, changed_by = $9, updated_at = now() where workspace_id = $1 and config_id = $2 returning ${columns}`,
    [
      workspaceId,
      configId,
      config.external_id,
      config.template_id,
      config.name,
      config.enabled,
      config.credentials,
      config.credentials_set,
      config.changed_by,
    ],
  )

/** Sets the problem that is shown with the config. Does not count as a change by a user. */
export const noteProblem = (tx: Tx, workspaceId: string, configId: string, problem: string | null): Promise<number> =>
  tx.count(
    'update gateway_channels set problem = $3 where workspace_id = $1 and config_id = $2 and problem is distinct from $3',
    [workspaceId, configId, problem],
  )

/** Existing conversations continue with the new template. */
export const moveThreads = (tx: Tx, workspaceId: string, configId: string, templateId: string): Promise<number> =>
  tx.count(
    `update threads set template_id = $3 where workspace_id = $1 and config_id = $2 and kind = 'channel' and template_id is distinct from $3`,
    [workspaceId, configId, templateId],
  )

export const deleteConfig = (tx: Tx, workspaceId: string, configId: string): Promise<number> =>
  tx.count('delete from gateway_channels where workspace_id = $1 and config_id = $2', [workspaceId, configId])
