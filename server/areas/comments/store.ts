import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Comment, commentList } from './schema.ts'

const columns =
  'comment_id, workflow_id, node_id, body, mentions, author_id, resolved_at, resolved_by, created_at, updated_at'

export const listComments = (tx: Tx, workspaceId: string, workflowId: string, asked: ListInput) =>
  readList<Comment>(tx, commentList, asked, {
    sql: `select ${columns}, resolved_at is not null as resolved from workflow_comments
          where workspace_id = $1 and workflow_id = $2`,
    values: [workspaceId, workflowId],
  })

export const findComment = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  commentId: string,
): Promise<Comment | undefined> =>
  tx.maybe<Comment>(
    `select ${columns} from workflow_comments where workspace_id = $1 and workflow_id = $2 and comment_id = $3`,
    [workspaceId, workflowId, commentId],
  )

/**
 * Locks the comments of the workflow until the end of the transaction, so that two writers at the limit cannot both
 * add a comment.
 */
export const lockComments = (tx: Tx, workspaceId: string, workflowId: string): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 1312))', [`${workspaceId}/${workflowId}`])

export const countComments = async (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  (
    await tx.row<{ count: number }>(
      'select count(*)::integer as count from workflow_comments where workspace_id = $1 and workflow_id = $2',
      [workspaceId, workflowId],
    )
  ).count

export const insertComment = (
  tx: Tx,
  workspaceId: string,
  row: {
    commentId: string
    workflowId: string
    nodeId: string | null
    body: string
    mentions: string[]
    userId: string
  },
): Promise<Comment> =>
  tx.row<Comment>(
    `insert into workflow_comments (workspace_id, comment_id, workflow_id, node_id, body, mentions, author_id)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
    [workspaceId, row.commentId, row.workflowId, row.nodeId, row.body, row.mentions, row.userId],
  )

export const updateComment = (tx: Tx, workspaceId: string, commentId: string, body: string): Promise<Comment> =>
  tx.row<Comment>(
    `update workflow_comments set body = $3, updated_at = now() where workspace_id = $1 and comment_id = $2
     returning ${columns}`,
    [workspaceId, commentId, body],
  )

export const resolveComment = (
  tx: Tx,
  workspaceId: string,
  commentId: string,
  userId: string | null,
): Promise<Comment> =>
  tx.row<Comment>(
    `update workflow_comments set resolved_by = $3, resolved_at = case when $3::uuid is null then null else coalesce(resolved_at, now()) end,
       updated_at = now()
     where workspace_id = $1 and comment_id = $2 returning ${columns}`,
    [workspaceId, commentId, userId],
  )

export const deleteComment = (tx: Tx, workspaceId: string, commentId: string): Promise<number> =>
  tx.count('delete from workflow_comments where workspace_id = $1 and comment_id = $2', [workspaceId, commentId])

export const findWorkflow = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
): Promise<{ name: string; owner_id: string | null }> =>
  tx.row('select name, owner_id from workflows where workspace_id = $1 and workflow_id = $2', [workspaceId, workflowId])
