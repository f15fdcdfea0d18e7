import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Note, noteList } from './schema.ts'

const columns = 'note_id, thread_id, author_id, text, created_at, updated_at'

export const listNotes = (tx: Tx, workspaceId: string, threadId: string, asked: ListInput) =>
  readList<Note>(tx, noteList, asked, {
    sql: `select ${columns} from conversation_notes where workspace_id = $1 and thread_id = $2`,
    values: [workspaceId, threadId],
  })

export const findNote = (tx: Tx, workspaceId: string, threadId: string, noteId: string): Promise<Note | undefined> =>
  tx.maybe<Note>(
    `select ${columns} from conversation_notes where workspace_id = $1 and thread_id = $2 and note_id = $3`,
    [workspaceId, threadId, noteId],
  )

/** Held until the end of the transaction, so that two simultaneous requests cannot exceed the limit. */
export const lockNotes = (tx: Tx, workspaceId: string, threadId: string): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 1340))', [`${workspaceId}/${threadId}`])

export const countNotes = async (tx: Tx, workspaceId: string, threadId: string): Promise<number> =>
  (
    await tx.row<{ count: number }>(
      'select count(*)::integer as count from conversation_notes where workspace_id = $1 and thread_id = $2',
      [workspaceId, threadId],
    )
  ).count

export const insertNote = (
  tx: Tx,
  workspaceId: string,
  row: { noteId: string; threadId: string; text: string; userId: string },
): Promise<Note> =>
  tx.row<Note>(
    `insert into conversation_notes (workspace_id, note_id, thread_id, text, author_id) values ($1, $2, $3, $4, $5)
     returning ${columns}`,
    [workspaceId, row.noteId, row.threadId, row.text, row.userId],
  )

export const updateNote = (tx: Tx, workspaceId: string, noteId: string, text: string): Promise<Note> =>
  tx.row<Note>(
    `update conversation_notes set text = $3, updated_at = now() where workspace_id = $1 and note_id = $2 returning ${columns}`,
    [workspaceId, noteId, text],
  )

export const deleteNote = (tx: Tx, workspaceId: string, noteId: string): Promise<number> =>
  tx.count('delete from conversation_notes where workspace_id = $1 and note_id = $2', [workspaceId, noteId])
