import type { z } from 'zod'
import type { FindAccessLevel } from '#platform/access/check'
import { problem, readOnly } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId } from '#platform/ids'
import { listAsOperator } from '#platform/operator'
import type { Presence, RecordPresence } from './schema.ts'
import * as store from './store.ts'

type ById = { presence_id: string }

/** Finds only the caller's own presence. Even a colleague's presence is not found by its id. */
export const accessLevelInPresence: FindAccessLevel = async (ctx, presenceId) =>
  (await store.findPresence(ctx.tx, ctx.person.user_id, presenceId)) && 'owner'

export const listPresence = (ctx: Context, asked: ListInput) =>
  ctx.person.operator
    ? listAsOperator(ctx, 'presence', (tx) => store.listAllPresence(tx, asked))
    : store.listPresence(ctx.tx, ctx.person.user_id, asked)

/** Replaces the previous heartbeat: absent fields get their defaults. */
export async function recordPresence(ctx: Context, input: z.output<typeof RecordPresence>): Promise<Presence> {
  const { user_id } = ctx.person
  if (input.user_id !== undefined && input.user_id !== user_id) throw readOnly(['user_id'])
  const { made, ...presence } = await store.upsertPresence(ctx.tx, ctx.workspace.workspace_id, user_id, {
    presence_id: newId(),
    status: input.status,
    context: input.context ?? null,
  })
  ctx.status(made ? 201 : 200)
  return presence
}

export async function getPresence(ctx: Context, { presence_id }: ById): Promise<Presence> {
  const presence = await store.findPresence(ctx.tx, ctx.person.user_id, presence_id)
  if (!presence) throw problem('not_found')
  return presence
}

export async function deletePresence(ctx: Context, { presence_id }: ById): Promise<void> {
  await store.deletePresence(ctx.tx, ctx.person.user_id, presence_id)
}

export const listColleagues = (ctx: Context, { workspace_id, ...asked }: ListInput & { workspace_id: string }) =>
  store.listColleagues(ctx.tx, workspace_id, asked)
