import { hintChange } from '#areas/conversations/changes'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId } from '#platform/ids'
import * as store from './notes-store.ts'
import type { Note } from './schema.ts'
import { getConversation } from './service.ts'

// Notes of colleagues about a conversation. Neither the person outside nor a model can read them.

const MAX_NOTES = 500

type OfThread = { thread_id: string }
type One = OfThread & { note_id: string }

export async function listNotes(ctx: Context, { thread_id, ...asked }: OfThread & ListInput) {
  await getConversation(ctx, { thread_id })
  return store.listNotes(ctx.tx, ctx.workspace.workspace_id, thread_id, asked)
}

export async function getNote(ctx: Context, { thread_id, note_id }: One): Promise<Note> {
  const note = await store.findNote(ctx.tx, ctx.workspace.workspace_id, thread_id, note_id)
  if (!note) throw problem('not_found')
  return note
}

export async function createNote(ctx: Context, { thread_id, text }: OfThread & { text: string }): Promise<Note> {
  const { workspace_id } = ctx.workspace
  await getConversation(ctx, { thread_id })
  await store.lockNotes(ctx.tx, workspace_id, thread_id)
  if ((await store.countNotes(ctx.tx, workspace_id, thread_id)) >= MAX_NOTES)
    throw problem('conflict', `A conversation has at most ${MAX_NOTES} notes. Delete old ones first.`)
  hintChange(ctx.tx, workspace_id)
  const row = { noteId: newId(), threadId: thread_id, text, userId: ctx.person.user_id }
  return store.insertNote(ctx.tx, workspace_id, row)
}

export async function mayChangeNote(ctx: Context, input: One): Promise<void> {
  const { author_id } = await getNote(ctx, input)
  if (author_id !== ctx.person.user_id) throw problem('forbidden', 'Only the author may change a note.')
}

export async function updateNote(ctx: Context, input: One & { text: string }): Promise<Note> {
  await mayChangeNote(ctx, input)
  hintChange(ctx.tx, ctx.workspace.workspace_id)
  return store.updateNote(ctx.tx, ctx.workspace.workspace_id, input.note_id, input.text)
}

export async function mayDeleteNote(ctx: Context, input: One): Promise<void> {
  const { author_id } = await getNote(ctx, input)
  if (author_id !== ctx.person.user_id && ctx.workspace.role !== 'owner')
    throw problem('forbidden', 'Only the author and the owners of the workspace may delete a note.')
}

export async function deleteNote(ctx: Context, input: One): Promise<void> {
  await mayDeleteNote(ctx, input)
  hintChange(ctx.tx, ctx.workspace.workspace_id)
  await store.deleteNote(ctx.tx, ctx.workspace.workspace_id, input.note_id)
}
