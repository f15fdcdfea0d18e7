import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { toWire } from '#platform/ids'
import { type KeptAnswer, keptList } from './schema.ts'

// Answers that later questions may reuse. The person who gave an answer, the owner of the workflow and the owners of
// the workspace can see and withdraw it.

const OWN = `(q.answered_by = $3
    or exists (select from workflows w where w.workspace_id = q.workspace_id and w.workflow_id = q.workflow_id and w.owner_id = $2::uuid)
    or exists (select from memberships m where m.workspace_id = q.workspace_id and m.user_id = $2::uuid and m.role = 'owner'))`

const columns = `q.clarification_id, q.execution_id, q.workflow_id, q.node_id, q.question, q.asked_at, q.answer,
  jsonb_build_object('id', q.answered_by, 'name', q.answered_by_name) as answered_by, q.answered_at, q.withdrawn_at,
  (select count(*)::int from questions r where r.workspace_id = q.workspace_id and r.workflow_id = q.workflow_id
    and r.reused_from = q.clarification_id) as times_used`

const callerOf = (ctx: Context): unknown[] => [
  ctx.workspace.workspace_id,
  ctx.person.user_id,
  toWire('usr', ctx.person.user_id),
]

export const listKeptAnswers = (ctx: Context, asked: ListInput) =>
  readList<KeptAnswer>(ctx.tx, keptList, asked, {
    sql: `select ${columns} from questions q where q.workspace_id = $1 and q.reuse_key is not null and q.status = 'answered'
      and q.reused_from is null and ${OWN}`,
    values: callerOf(ctx),
  })

type ById = { clarification_id: string }

const find = (tx: Tx, ctx: Context, clarificationId: string): Promise<KeptAnswer | undefined> =>
  tx.maybe<KeptAnswer>(
    `select ${columns} from questions q where q.workspace_id = $1 and q.clarification_id = $4 and q.reuse_key is not null
       and q.status = 'answered' and q.reused_from is null and ${OWN}`,
    [...callerOf(ctx), clarificationId],
  )

export async function readKeptAnswer(ctx: Context, { clarification_id }: ById): Promise<KeptAnswer> {
  const found = await find(ctx.tx, ctx, clarification_id)
  if (!found) throw problem('not_found')
  return found
}

/** Withdraws an answer. Executions that have used the answer keep it. */
export async function withdrawAnswer(ctx: Context, input: ById): Promise<KeptAnswer> {
  await readKeptAnswer(ctx, input)
  await ctx.tx.count(
    'update questions set withdrawn_at = coalesce(withdrawn_at, now()) where workspace_id = $1 and clarification_id = $2',
    [ctx.workspace.workspace_id, input.clarification_id],
  )
  return readKeptAnswer(ctx, input)
}
