import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId } from '#platform/ids'
import * as store from './canned-store.ts'
import type { CannedAnswer } from './schema.ts'

// Texts that a team sends repeatedly. Everyone except guests can read them. Members add texts and change their own;
// owners of the workspace change all.

const MAX_ANSWERS = 500

type ById = { answer_id: string }

export const listCannedAnswers = (ctx: Context, asked: ListInput) =>
  store.listAnswers(ctx.tx, ctx.workspace.workspace_id, asked)

export async function getCannedAnswer(ctx: Context, { answer_id }: ById): Promise<CannedAnswer> {
  const found = await store.findAnswer(ctx.tx, ctx.workspace.workspace_id, answer_id)
  if (!found) throw problem('not_found')
  return found
}

export async function createCannedAnswer(ctx: Context, { name, text }: { name: string; text: string }) {
  const { workspace_id } = ctx.workspace
  await store.lockAnswers(ctx.tx, workspace_id)
  if ((await store.countAnswers(ctx.tx, workspace_id)) >= MAX_ANSWERS)
    throw problem('conflict', `A workspace has at most ${MAX_ANSWERS} canned answers. Delete some first.`)
  await requireFree(ctx, name, null)
  const row = { answerId: newId(), name, text, userId: ctx.person.user_id }
  return store.insertAnswer(ctx.tx, workspace_id, row)
}

export async function mayChangeCannedAnswer(ctx: Context, { answer_id }: ById): Promise<void> {
  const { created_by } = await getCannedAnswer(ctx, { answer_id })
  if (ctx.workspace.role !== 'owner' && created_by !== ctx.person.user_id)
    throw problem('forbidden', 'Only the person who added it and the owners of the workspace may change it.')
}

export async function updateCannedAnswer(
  ctx: Context,
  { answer_id, name, text }: ById & { name?: string | undefined; text?: string | undefined },
): Promise<CannedAnswer> {
  const { workspace_id } = ctx.workspace
  await mayChangeCannedAnswer(ctx, { answer_id })
  await store.lockAnswers(ctx.tx, workspace_id)
  if (name !== undefined) await requireFree(ctx, name, answer_id)
  return store.updateAnswer(ctx.tx, workspace_id, answer_id, { name: name ?? null, text: text ?? null })
}

export async function deleteCannedAnswer(ctx: Context, { answer_id }: ById): Promise<void> {
  await mayChangeCannedAnswer(ctx, { answer_id })
  await store.deleteAnswer(ctx.tx, ctx.workspace.workspace_id, answer_id)
}

/** Two answers with the same name could not be distinguished in a menu. */
async function requireFree(ctx: Context, name: string, without: string | null): Promise<void> {
  if (await store.isTaken(ctx.tx, ctx.workspace.workspace_id, name, without))
    throw problem('conflict', `There is a canned answer named "${name}" already.`)
}
