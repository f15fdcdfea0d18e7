import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import { MINUTE, SECOND } from '#platform/clock'
import { problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { hashSecret } from '#platform/ids'
import { type ChannelIdentity, type NewLink, reachableChannels } from './identity-schema.ts'
import * as store from './identity-store.ts'

// Links between a person and their account in a channel. The person proves that the account is theirs by sending a code
// from it, in a direct message to the channel. After that, the vendor identifies who presses a button.

const CODE_FOR_S = (15 * MINUTE) / SECOND
/** Excludes characters that are easily confused. */
const ALPHABET = 'abcdefghjkmnpqrstvwxyz23456789'
const CODE_LENGTH = 12

type ById = { identity_id: string }

export const listIdentities = (ctx: Context, asked: ListInput) =>
  store.listIdentities(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked)

export async function getIdentity(ctx: Context, { identity_id }: ById): Promise<ChannelIdentity> {
  const found = await store.findOwn(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, identity_id)
  if (!found) throw problem('not_found')
  return found
}

export async function deleteIdentity(ctx: Context, { identity_id }: ById): Promise<void> {
  await getIdentity(ctx, { identity_id })
  await store.deleteIdentity(ctx.tx, ctx.workspace.workspace_id, identity_id)
}

const newCode = (): string => Array.from(randomBytes(CODE_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

export async function createLink(ctx: Context, { config_id }: z.output<typeof NewLink>) {
  const { workspace_id } = ctx.workspace
  if (!(await store.isReachable(ctx.tx, workspace_id, config_id, reachableChannels)))
    throw unknownReference('/config_id')
  const code = newCode()
  await store.putCode(ctx.tx, workspace_id, {
    userId: ctx.person.user_id,
    configId: config_id,
    codeHash: hashSecret(`${workspace_id}:${code}`),
    lifetimeS: CODE_FOR_S,
  })
  return { text: `link heddle-${code}`, expires_in_s: CODE_FOR_S }
}

export const listReachable = async (ctx: Context) => ({
  channels: await store.listReachable(ctx.tx, ctx.workspace.workspace_id, reachableChannels),
})
