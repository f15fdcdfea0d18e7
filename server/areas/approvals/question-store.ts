import type { WaitRequest } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { newId } from '#platform/ids'
import { isFor, type Named, namedIn } from './answerers.ts'
import { type Question, questionList } from './schema.ts'
import { isAtPath } from './store.ts'

export type Row = {
  workspace_id: string
  clarification_id: string
  execution_id: string
  workflow_id: string | null
  node_path: string
  node_id: string
  question: string
  schema: Json
  who: Named[] | null
  status: Question['status']
  on_due: 'fail' | 'default' | 'escalate'
  default_answer: Json
  escalated: boolean
  reminded: boolean
  /** The people who were notified of the question; null if an older release asked it. */
  notified: string[] | null
  started_by: string | null
  answer: Json
  answered_by: string | null
  answered_by_name: string | null
  asked_at: Date
  due_at: Date | null
  reused_from: string | null
}

/** A question, and whether the answering person is one of the people who may answer it. */
export type Asked = Row & { named: boolean }

export type WhereAsked = Pick<WaitRequest, 'workspaceId' | 'executionId' | 'nodePath'>

type Key = Pick<Row, 'workspace_id' | 'clarification_id'>

export const insertQuestion = (tx: Tx, { args, ...wait }: WaitRequest, reuseKey: Buffer | null): Promise<Row> =>
  tx.row<Row>(
    `insert into questions (workspace_id, clarification_id, execution_id, workflow_id, node_path, node_id, question, schema, who, on_due, default_answer, started_by, due_at, reuse_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, date_trunc('milliseconds', now() + make_interval(secs => $13)), $14) returning *`,
    [
      wait.workspaceId,
      newId(),
      wait.executionId,
      wait.workflowId,
      wait.nodePath,
      wait.nodeId,
      String(args.question ?? ''),
      JSON.stringify(args.schema ?? {}),
      namedIn(args.who),
      args.on_due ?? 'fail',
      args.default === undefined ? null : JSON.stringify(args.default),
      wait.startedBy,
      typeof args.due_in_s === 'number' ? args.due_in_s : null,
      reuseKey,
    ],
  )

/** Locks the question that the node asks now or asked last. */
export const lockLatest = (tx: Tx, { workspaceId, executionId, nodePath }: WhereAsked): Promise<Row | undefined> =>
  tx.maybe<Row>(
    `select * from questions where workspace_id = $1 and execution_id = $2 and node_path = $3 and status <> 'cancelled'
     order by clarification_id desc limit 1 for update`,
    [workspaceId, executionId, nodePath],
  )

/** Locks the named question, or the open questions: at most two, which is enough to know that there are several. */
export const lockFor = (
  tx: Tx,
  userId: string | undefined,
  at: [workspaceId: string, executionId: string, id?: string],
): Promise<Asked[]> =>
  tx.rows<Asked>(
    `select q.*, ${isFor('$4::uuid')} as named from questions q
     where q.workspace_id = $1 and q.execution_id = $2 and case when $3::uuid is null then q.status = 'open' else q.clarification_id = $3 end
     order by q.clarification_id limit 2 for update`,
    [at[0], at[1], at[2] ?? null, userId ?? null],
  )

/** Returns a question without locking it, for callers that only read it. */
export const findAsked = (
  tx: Tx,
  workspaceId: string,
  clarificationId: string,
  userId: string,
): Promise<Asked | undefined> =>
  tx.maybe<Asked>(
    `select q.*, ${isFor('$3::uuid')} as named from questions q where q.workspace_id = $1 and q.clarification_id = $2`,
    [workspaceId, clarificationId, userId],
  )

export const findNewest = (tx: Tx, workspaceId: string, executionId: string): Promise<Row | undefined> =>
  tx.maybe<Row>(
    'select * from questions where workspace_id = $1 and execution_id = $2 order by clarification_id desc limit 1',
    [workspaceId, executionId],
  )

/** Returns everyone who may answer now. */
export async function listAnswerers(tx: Tx, { workspace_id, clarification_id }: Key): Promise<string[]> {
  const rows = await tx.rows<{ user_id: string }>('select user_id from question_answerers($1, $2)', [
    workspace_id,
    clarification_id,
  ])
  return rows.map(({ user_id }) => user_id)
}

/** Records the people who were notified of the question. */
export const sendNotified = (tx: Tx, { workspace_id, clarification_id }: Key, people: string[]): void =>
  tx.send('update questions set notified = $3 where workspace_id = $1 and clarification_id = $2', [
    workspace_id,
    clarification_id,
    people,
  ])

const idsOf = (rows: { clarification_id: string }[]): string[] => rows.map(({ clarification_id }) => clarification_id)

/**
 * Returns ids of open questions in order, without locking them. Only questions that name people, or that the owners of
 * the workspace may answer, get answerers when people join.
 */
export const listOpenIds = async (
  tx: Tx,
  workspaceId: string,
  after: string | null,
  limit: number,
): Promise<string[]> =>
  idsOf(
    await tx.rows(
      `select clarification_id from questions where workspace_id = $1 and status = 'open' and notified is not null
         and (who is not null or escalated) and ($2::uuid is null or clarification_id > $2)
       order by clarification_id limit $3`,
      [workspaceId, after, limit],
    ),
  )

/** Returns those of the questions that somebody may answer who was not notified, because they joined later. */
export const listWithLateAnswerers = async (tx: Tx, workspaceId: string, ids: string[]): Promise<string[]> =>
  idsOf(
    await tx.rows(
      `select clarification_id from questions q where workspace_id = $1 and clarification_id = any ($2)
         and exists (select from question_answerers($1, q.clarification_id) a where a.user_id <> all (q.notified))
       order by clarification_id`,
      [workspaceId, ids],
    ),
  )

/** Locks the question if it is open and not locked by another transaction. */
export const lockFree = (tx: Tx, workspaceId: string, clarificationId: string): Promise<Row | undefined> =>
  tx.maybe<Row>(
    `select * from questions where workspace_id = $1 and clarification_id = $2 and status = 'open' for update skip locked`,
    [workspaceId, clarificationId],
  )

export const sendAnswer = (
  tx: Tx,
  { workspace_id, clarification_id }: Key,
  answer: Json,
  by: { id: string; name: string },
): void =>
  tx.send(
    `update questions set status = 'answered', answer = $3, answered_by = $4, answered_by_name = $5, answered_at = now() where workspace_id = $1 and clarification_id = $2`,
    [workspace_id, clarification_id, JSON.stringify(answer), by.id, by.name],
  )

/** Answers a question with an earlier answer. */
export const answerFromEarlier = (
  tx: Tx,
  { workspace_id, clarification_id }: Key,
  earlier: Pick<Row, 'clarification_id' | 'answer' | 'answered_by' | 'answered_by_name'>,
): Promise<Row> =>
  tx.row<Row>(
    `update questions set status = 'answered', answer = $3, answered_by = $4, answered_by_name = $5, reused_from = $6, answered_at = now()
     where workspace_id = $1 and clarification_id = $2 returning *`,
    [
      workspace_id,
      clarification_id,
      JSON.stringify(earlier.answer),
      earlier.answered_by,
      earlier.answered_by_name,
      earlier.clarification_id,
    ],
  )

/** Lets the owners of the workspace answer as well. */
export const markEscalated = (tx: Tx, { workspace_id, clarification_id }: Key): Promise<number> =>
  tx.count('update questions set escalated = true where workspace_id = $1 and clarification_id = $2', [
    workspace_id,
    clarification_id,
  ])

/** Lets the owners of the workspace answer as well, and grants the original time to answer once more. */
export const escalate = (tx: Tx, { workspace_id, clarification_id }: Key): Promise<Row> =>
  tx.row<Row>(
    `update questions set escalated = true, reminded = true, due_at = date_trunc('milliseconds', now() + (due_at - asked_at)) where workspace_id = $1 and clarification_id = $2 returning *`,
    [workspace_id, clarification_id],
  )

export const markExpired = (tx: Tx, { workspace_id, clarification_id }: Key): Promise<number> =>
  tx.count(
    `update questions set status = 'expired', answered_at = now() where workspace_id = $1 and clarification_id = $2`,
    [workspace_id, clarification_id],
  )

export const markReminded = (tx: Tx, { workspace_id, clarification_id }: Key): Promise<number> =>
  tx.count('update questions set reminded = true where workspace_id = $1 and clarification_id = $2', [
    workspace_id,
    clarification_id,
  ])

export const cancelOpen = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  path?: string,
): Promise<{ clarification_id: string }[]> =>
  tx.rows<{ clarification_id: string }>(
    `update questions set status = 'cancelled', answered_at = now()
     where workspace_id = $1 and execution_id = $2 and status = 'open' and ${isAtPath} returning clarification_id`,
    [workspaceId, executionId, path ?? null],
  )

/** Returns which of these questions are still open. */
export async function listStillOpen(tx: Tx, workspaceId: string, clarificationIds: string[]): Promise<Set<string>> {
  const rows = await tx.rows<{ clarification_id: string }>(
    `select clarification_id from questions where workspace_id = $1 and clarification_id = any ($2) and status = 'open'`,
    [workspaceId, clarificationIds],
  )
  return new Set(rows.map(({ clarification_id }) => clarification_id))
}

/** Checks whether the person may answer the question. */
export const isForPerson = async (
  tx: Tx,
  workspaceId: string,
  userId: string,
  clarificationId: string,
): Promise<boolean> =>
  (await tx.maybe(
    `select from questions q where q.workspace_id = $1 and q.clarification_id = $3 and ${isFor('$2::uuid')}`,
    [workspaceId, userId, clarificationId],
  )) !== undefined

/** Checks whether a question of the execution names the person. */
export const isNamedIn = async (tx: Tx, workspaceId: string, userId: string, executionId: string): Promise<boolean> =>
  (await tx.maybe(
    `select from questions q where q.workspace_id = $1 and q.execution_id = $3 and (q.who is not null or q.escalated) and ${isFor('$2::uuid')} limit 1`,
    [workspaceId, userId, executionId],
  )) !== undefined

/** Checks whether questions are open but none of them is for this person. */
export const areForOthers = async (
  tx: Tx,
  workspaceId: string,
  userId: string,
  executionId: string,
): Promise<boolean> =>
  (
    await tx.row<{ others: boolean }>(
      `select coalesce(not bool_or(${isFor('$2::uuid')}), false) as others from questions q
       where q.workspace_id = $1 and q.execution_id = $3 and q.status = 'open'`,
      [workspaceId, userId, executionId],
    )
  ).others

/** Lists the open questions that the person may answer, soonest due first, of all executions or of one. */
export const listInbox = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<Question>(tx, questionList, asked, {
    sql: `select q.clarification_id, q.execution_id, q.workflow_id, q.node_id, q.node_path, q.question, q.schema, q.status, q.asked_at, q.due_at
      from questions q where q.workspace_id = $1 and q.status = 'open' and ${isFor('$2::uuid')}`,
    values: [workspaceId, userId],
  })
