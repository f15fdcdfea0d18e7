import type { z } from 'zod'
import { orgBaseUrl } from '#areas/identity/links'
import type { FindAccessLevel } from '#platform/access/check'
import { recordAudit } from '#platform/audit'
import { isUniqueViolation } from '#platform/db/pool'
import { type FieldError, invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import type { Channels } from '#providers/channels/channels'
import type { Channel } from '#providers/channels/index'
import type { CredentialBox, Credentials } from './credentials.ts'
import * as outboxStore from './outbox-store.ts'
import type { ChannelConfig, ChannelConfigPatch, NewChannelConfig } from './schema.ts'
import * as store from './store.ts'

type ById = { config_id: string }
type Given = {
  external_id?: string | undefined
  template_id?: string | null | undefined
  name?: string | null | undefined
  enabled?: boolean | undefined
  credentials?: Record<string, string | null> | undefined
}

/** The whole workspace except guests may read a channel. Owners and members may change it. */
export const accessLevelInChannel: FindAccessLevel = async (ctx, configId) => {
  if (ctx.maybeWorkspace === null || ctx.workspace.role === 'guest') return undefined
  const config = await store.findConfig(ctx.tx, ctx.workspace.workspace_id, configId)
  return config && ctx.workspace.role
}

export function makeGateway({ channels, box }: { channels: Channels; box: CredentialBox }) {
  const shown = async (ctx: Context, rows: store.ConfigRow[]): Promise<ChannelConfig[]> => {
    const base = await orgBaseUrl(ctx, ctx.tx)
    return rows.map((row) => ({
      ...row,
      inbound_url: `${base}/gateway/${row.channel}/${toWire('chan', row.config_id)}`,
    }))
  }
  const showOne = async (ctx: Context, row: store.ConfigRow): Promise<ChannelConfig> => (await shown(ctx, [row]))[0]!

  /** Returns the changed config, or throws all reasons why the change is invalid. */
  async function change(
    ctx: Context,
    channel: Channel,
    before: { config_id: string; row?: store.ConfigRow & { switched_on: boolean }; credentials: Credentials },
    given: Given,
  ): Promise<store.ConfigChange> {
    const { workspace_id } = ctx.workspace
    const errors: FieldError[] = []
    const external_id = given.external_id ?? before.row!.external_id
    const wrongId = given.external_id === undefined ? null : channel.checkExternalId(external_id)
    if (wrongId !== null) errors.push({ path: '/external_id', message: wrongId })
    for (const name of Object.keys(given.credentials ?? {}))
      if (!channel.credentials.includes(name))
        errors.push({ path: `/credentials/${name}`, message: `is not a credential of ${channel.title}` })
    const credentials = merge(before.credentials, given.credentials)
    const missing = channel.credentials.filter((name) => credentials[name] === undefined)
    const template_id = given.template_id === undefined ? (before.row?.template_id ?? null) : given.template_id
    // Without all credentials the channel could not be enabled, so its previous setting does not count.
    const wasWhole = channel.credentials.every((name) => before.credentials[name] !== undefined)
    const enabled = given.enabled ?? (before.row && wasWhole ? before.row.switched_on : missing.length === 0)
    if (enabled)
      for (const name of missing)
        errors.push({ path: `/credentials/${name}`, message: 'is required while the channel is enabled' })
    if (given.enabled && template_id === null)
      errors.push({ path: '/template_id', message: 'is required while the channel is enabled' })
    if (errors.length > 0) throw invalid(errors)
    if (typeof given.template_id === 'string' && !(await store.templateExists(ctx.tx, workspace_id, given.template_id)))
      throw unknownReference('/template_id')
    return {
      external_id,
      template_id,
      name: given.name === undefined ? (before.row?.name ?? null) : given.name,
      enabled,
      credentials: box.seal(workspace_id, before.config_id, credentials),
      credentials_set: channel.credentials.filter((name) => credentials[name] !== undefined),
    }
  }

  async function update(ctx: Context, configId: string, given: Given): Promise<ChannelConfig> {
    const { workspace_id } = ctx.workspace
    const row = await store.findConfig(ctx.tx, workspace_id, configId)
    const sealed = await store.findUsable(ctx.tx, workspace_id, configId)
    if (!row || !sealed) throw problem('not_found')
    const { switched_on } = sealed
    const before = { config_id: configId, row: { ...row, switched_on }, credentials: box.open(sealed) }
    const next = await change(ctx, channels[row.channel], before, given)
    const changed = { ...next, changed_by: ctx.person.user_id }
    const updated = await store.updateConfig(ctx.tx, workspace_id, configId, changed).catch((error: unknown) => {
      throw isUniqueViolation(error)
        ? problem('already_exists', `Another config of ${row.channel} has this external_id; change that one.`)
        : error
    })
    if (next.template_id !== null && next.template_id !== row.template_id)
      await store.moveThreads(ctx.tx, workspace_id, configId, next.template_id)
    if (updated.enabled && !row.enabled) await outboxStore.wakeSends(ctx.tx, workspace_id, configId)
    await audit(ctx, 'channel.updated', updated, given)
    return showOne(ctx, updated)
  }

  const audit = (ctx: Context, action: string, row: store.ConfigRow, given: Given): Promise<void> =>
    recordAudit(ctx, ctx.tx, {
      action,
      subject: toWire('chan', row.config_id),
      data: {
        channel: row.channel,
        enabled: row.enabled,
        ...(given.credentials && { credentials: Object.keys(given.credentials) }),
      },
    })

  const getConfig = async (ctx: Context, { config_id }: ById): Promise<ChannelConfig> => {
    const row = await store.findConfig(ctx.tx, ctx.workspace.workspace_id, config_id)
    if (!row) throw problem('not_found')
    return showOne(ctx, row)
  }

  const list = async (ctx: Context, templateId: string | null, asked: ListInput) => {
    const { workspace_id } = ctx.workspace
    const { items, next_cursor } = await store.listConfigs(ctx.tx, workspace_id, templateId, asked)
    return { items: await shown(ctx, items), next_cursor }
  }

  return {
    getConfig,

    listConfigs: (ctx: Context, query: ListInput) => list(ctx, null, query),

    async listConfigsOfTemplate(ctx: Context, { template_id, ...query }: ListInput & { template_id: string }) {
      if (!(await store.templateExists(ctx.tx, ctx.workspace.workspace_id, template_id))) throw problem('not_found')
      return list(ctx, template_id, query)
    },

    /** Creates or updates a config. There is one config per account at a vendor. */
    async putConfig(ctx: Context, input: z.output<typeof NewChannelConfig>): Promise<ChannelConfig> {
      const { channel: name, ...given } = input
      const { workspace_id } = ctx.workspace
      await store.lockAccount(ctx.tx, workspace_id, name, input.external_id)
      const present = await store.findByAccount(ctx.tx, workspace_id, name, input.external_id)
      if (present) {
        ctx.status(200)
        return update(ctx, present.config_id, given)
      }
      const config_id = newId()
      const config = await change(ctx, channels[name], { config_id, credentials: {} }, given)
      const row = await store.insertConfig(ctx.tx, workspace_id, {
        ...config,
        config_id,
        channel: name,
        created_by: ctx.person.user_id,
      })
      await audit(ctx, 'channel.created', row, given)
      return showOne(ctx, row)
    },

    updateConfig: (ctx: Context, { config_id, ...given }: ById & z.output<typeof ChannelConfigPatch>) =>
      update(ctx, config_id, given),

    async deleteConfig(ctx: Context, { config_id }: ById): Promise<void> {
      const row = await store.findConfig(ctx.tx, ctx.workspace.workspace_id, config_id)
      if (!row) throw problem('not_found')
      await store.deleteConfig(ctx.tx, ctx.workspace.workspace_id, config_id)
      await audit(ctx, 'channel.deleted', row, {})
    },
  }
}

export type Gateway = ReturnType<typeof makeGateway>

/** An absent value stays unchanged, and null clears it. */
function merge(before: Credentials, given: Record<string, string | null> = {}): Credentials {
  const merged = { ...before }
  for (const [name, value] of Object.entries(given)) {
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return merged
}
