import type { Tx } from '#platform/db/pool'
import type { Thread } from '../types.ts'

// What an assistant remembers about a person between conversations: a summary, and the time up to which the summary
// covers messages.

export type Place = Pick<Thread, 'kind' | 'workspace_id' | 'template_id' | 'visitor_id' | 'config_id' | 'external_id'>

/** The person that a memory is about. Null if the conversation has no person from outside. */
export const subjectOf = ({ kind, template_id, visitor_id, config_id, external_id }: Place): string | null => {
  if (template_id === null) return null
  if (kind === 'embed') return `visitor:${visitor_id}`
  return kind === 'channel' ? `channel:${config_id}:${external_id}` : null
}

export type Memory = { summary: string; covered_until: Date }

export const findMemory = (tx: Tx, thread: Place): Promise<Memory | undefined> =>
  tx.maybe<Memory>(
    'select summary, covered_until from assistant_memories where workspace_id = $1 and template_id = $2 and subject = $3',
    [thread.workspace_id, thread.template_id, subjectOf(thread)],
  )

export type Remembered = { role: string; text: string; created_at: Date; thread_id: string }

/** Returns the newest messages of all conversations with the same person that no summary covers, oldest first. */
export const listUncovered = async (tx: Tx, thread: Place, limit: number): Promise<Remembered[]> => {
  const rows = await tx.rows<Remembered>(
    `select m.role, m.text, m.created_at, m.thread_id from messages m
     join threads t on t.workspace_id = m.workspace_id and t.thread_id = m.thread_id
     where m.workspace_id = $1 and t.template_id = $2 and t.kind = $3
       and ($3 = 'embed' and t.visitor_id = $4 or $3 = 'channel' and t.config_id = $5 and t.external_id = $6)
       and m.role in ('visitor', 'assistant') and m.created_at > coalesce((select covered_until from assistant_memories k
         where k.workspace_id = $1 and k.template_id = $2 and k.subject = $7), '-infinity')
     order by m.created_at desc limit $8`,
    [
      thread.workspace_id,
      thread.template_id,
      thread.kind,
      thread.visitor_id,
      thread.config_id,
      thread.external_id,
      subjectOf(thread),
      limit,
    ],
  )
  return rows.reverse()
}

/**
 * Returns 0 if the memory has changed in the meantime: the person asked to be forgotten, or another process was
 * faster.
 */
export const saveMemory = (tx: Tx, thread: Place, memory: Memory, before: Memory | undefined): Promise<number> =>
  tx.count(
    `insert into assistant_memories as k (workspace_id, template_id, subject, summary, covered_until) values ($1, $2, $3, $4, $5)
     on conflict (workspace_id, template_id, subject) do update
       set summary = excluded.summary, covered_until = excluded.covered_until, updated_at = now()
       where k.covered_until = $6`,
    [
      thread.workspace_id,
      thread.template_id,
      subjectOf(thread),
      memory.summary,
      memory.covered_until,
      before?.covered_until ?? null,
    ],
  )

/** Deletes the summary and marks all messages so far as covered. */
export const forgetMemory = (tx: Tx, thread: Place): Promise<number> =>
  tx.count(
    `insert into assistant_memories (workspace_id, template_id, subject, covered_until) values ($1, $2, $3, date_trunc('milliseconds', clock_timestamp()))
     on conflict (workspace_id, template_id, subject) do update
       set summary = '', covered_until = excluded.covered_until, updated_at = now()`,
    [thread.workspace_id, thread.template_id, subjectOf(thread)],
  )
