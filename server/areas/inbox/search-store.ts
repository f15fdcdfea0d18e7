import type { Tx } from '#platform/db/pool'

// Finds the conversations that contain a text. A trigram index covers all messages. A text that is too short for the
// index, or occurs in very many messages, is searched in the conversations that changed last. In both cases the number
// of rows that a search reads is limited.

/** The maximum number of messages that one search reads. */
const MAX_LOOKED = 1_000
const MIN_INDEXED = 3
const MAX_RECENT = 200
const MAX_RECENT_MESSAGES = 10
const MAX_RECENT_CHARACTERS = 2_000

/** `templates` and `workflows`: conversations without a title are shown with these names. */
export type Containing = { threads: string[]; templates: string[]; workflows: string[] }

export async function findContaining(tx: Tx, workspaceId: string, text: string): Promise<Containing> {
  const named = await tx.row<{ templates: string[]; workflows: string[] }>(
    `select array(select template_id from templates where workspace_id = $1 and strpos(lower(name), lower($2)) > 0) as templates,
       array(select workflow_id from workflows where workspace_id = $1 and strpos(lower(name), lower($2)) > 0) as workflows`,
    [workspaceId, text],
  )
  if (Array.from(text).length < MIN_INDEXED) return { threads: await findAmongRecent(tx, workspaceId, text), ...named }
  const { thread_ids, is_cut } = await tx.row<{ thread_ids: string[]; is_cut: boolean }>(
    'select thread_ids, is_cut from find_in_conversations($1, $2)',
    [text, MAX_LOOKED],
  )
  const recent = is_cut ? await findAmongRecent(tx, workspaceId, text) : []
  return { threads: [...new Set([...thread_ids, ...recent])], ...named }
}

async function findAmongRecent(tx: Tx, workspaceId: string, text: string): Promise<string[]> {
  const rows = await tx.rows<{ thread_id: string }>(
    `select t.thread_id from (select thread_id, title from threads where workspace_id = $1 and kind <> 'thread'
         order by updated_at desc, thread_id desc limit ${MAX_RECENT}) t
     where strpos(lower(coalesce(t.title, '')), lower($2)) > 0 or exists (
       select from (select m.text from messages m where m.workspace_id = $1 and m.thread_id = t.thread_id
         order by m.seq desc limit ${MAX_RECENT_MESSAGES}) m
       where strpos(lower(left(m.text, ${MAX_RECENT_CHARACTERS})), lower($2)) > 0)`,
    [workspaceId, text],
  )
  return rows.map(({ thread_id }) => thread_id)
}
