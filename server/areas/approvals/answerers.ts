import type { Json } from '#model/definition'
import { fromWire } from '#platform/ids'

// Who may answer a question.

/** One line of `who`, with the uuid of its person or team. */
export type Named = { kind: 'user' | 'team' | 'role'; id: string; ref: string | null }

// Whether a person may answer question q of workspace $1 now: the same rule as `question_answerers`, which names them all,
// asked of one by look-ups alone. As a function it is planned anew with every call (0.4 ms of the way from answer to resumed).
export const isFor = (
  person: string,
): string => `exists (select from memberships asks where asks.workspace_id = $1 and asks.user_id = ${person} and (
    (q.escalated and asks.role = 'owner')
    or (q.who is null and (q.started_by = ${person}
      or exists (select from workflows w where w.workspace_id = $1 and w.workflow_id = q.workflow_id and w.owner_id = ${person})
      or exists (select from workflow_people m where m.workspace_id = $1 and m.workflow_id = q.workflow_id and m.user_id = ${person} and m.role in ('editor', 'member'))))
    or (q.who is not null and exists (select from jsonb_array_elements(q.who) as line where
      (line ->> 'kind' = 'user' and (line ->> 'ref')::uuid = ${person})
      or (line ->> 'kind' = 'role' and line ->> 'id' = asks.role)
      or (line ->> 'kind' = 'team' and exists (select from team_members t
        where t.workspace_id = $1 and t.team_id = (line ->> 'ref')::uuid and t.user_id = ${person}))))))`

/** The people and teams that may answer, each with a kind: an id alone is a person's. An id of another workspace finds nobody in this one. */
export const namedIn = (who: Json | undefined): string | null =>
  Array.isArray(who) ? JSON.stringify(who.map(toNamed)) : null

function toNamed(line: Json): Named {
  const { kind, id } = (typeof line === 'string' ? { kind: 'user', id: line } : line) as Omit<Named, 'ref'>
  return { kind, id, ref: kind === 'role' ? null : (fromWire(kind === 'user' ? 'usr' : 'team', id) ?? null) }
}
