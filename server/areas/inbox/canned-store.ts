import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type CannedAnswer, cannedList } from './schema.ts'

const columns = 'answer_id, name, text, created_by, created_at, updated_at'

export const listAnswers = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<CannedAnswer>(tx, cannedList, asked, {
    sql: `select ${columns} from canned_answers where workspace_id = $1`,
    values: [workspaceId],
  })

export const findAnswer = (tx: Tx, workspaceId: string, answerId: string): Promise<CannedAnswer | undefined> =>
  tx.maybe<CannedAnswer>(`select ${columns} from canned_answers where workspace_id = $1 and answer_id = $2`, [
    workspaceId,
    answerId,
  ])

/**
 * Held until the end of the transaction, so that two simultaneous requests can neither exceed the limit nor use the
 * same name.
 */
export const lockAnswers = (tx: Tx, workspaceId: string): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 1341))', [workspaceId])

export const countAnswers = async (tx: Tx, workspaceId: string): Promise<number> =>
  (
    await tx.row<{ count: number }>('select count(*)::integer as count from canned_answers where workspace_id = $1', [
      workspaceId,
    ])
  ).count

export const isTaken = async (tx: Tx, workspaceId: string, name: string, without: string | null): Promise<boolean> =>
  (await tx.maybe(
    `select from canned_answers where workspace_id = $1 and lower(name) = lower($2) and answer_id is distinct from $3`,
    [workspaceId, name, without],
  )) !== undefined

export const insertAnswer = (
  tx: Tx,
  workspaceId: string,
  row: { answerId: string; name: string; text: string; userId: string },
): Promise<CannedAnswer> =>
  tx.row<CannedAnswer>(
    `insert into canned_answers (workspace_id, answer_id, name, text, created_by) values ($1, $2, $3, $4, $5) returning ${columns}`,
    [workspaceId, row.answerId, row.name, row.text, row.userId],
  )

export const updateAnswer = (
  tx: Tx,
  workspaceId: string,
  answerId: string,
  { name, text }: { name: string | null; text: string | null },
): Promise<CannedAnswer> =>
  tx.row<CannedAnswer>(
    `update canned_answers set name = coalesce($3, name), text = coalesce($4, text), updated_at = now()
     where workspace_id = $1 and answer_id = $2 returning ${columns}`,
    [workspaceId, answerId, name, text],
  )

export const deleteAnswer = (tx: Tx, workspaceId: string, answerId: string): Promise<number> =>
  tx.count('delete from canned_answers where workspace_id = $1 and answer_id = $2', [workspaceId, answerId])
