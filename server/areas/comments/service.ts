import { maySee } from '#areas/workflows/rights'
import { problem, unknownReference } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import type { Comment, CommentPatch, NewComment } from './schema.ts'
import * as store from './store.ts'

// Comments on a workflow. Everyone who may see its versions can read and write comments; only the author changes the
// text.

const MAX_COMMENTS = 2_000
const SHOWN = 200

type OfWorkflow = { workflow_id: string }
type One = OfWorkflow & { comment_id: string }

export const listComments = (ctx: Context, { workflow_id, ...asked }: OfWorkflow & ListInput) =>
  store.listComments(ctx.tx, ctx.workspace.workspace_id, workflow_id, asked)

export async function getComment(ctx: Context, { workflow_id, comment_id }: One): Promise<Comment> {
  const comment = await store.findComment(ctx.tx, ctx.workspace.workspace_id, workflow_id, comment_id)
  if (!comment) throw problem('not_found')
  return comment
}

export async function createComment(
  ctx: Context,
  { workflow_id, ...input }: OfWorkflow & NewComment,
): Promise<Comment> {
  const { tx } = ctx
  const { workspace_id } = ctx.workspace
  const mentions = [...new Set(input.mentions ?? [])]
  await requireSeeing(ctx, workflow_id, mentions)
  await store.lockComments(tx, workspace_id, workflow_id)
  if ((await store.countComments(tx, workspace_id, workflow_id)) >= MAX_COMMENTS)
    throw problem('conflict', `A workflow has at most ${MAX_COMMENTS} comments. Delete old ones first.`)
  const comment = await store.insertComment(tx, workspace_id, {
    commentId: newId(),
    workflowId: workflow_id,
    nodeId: input.node_id ?? null,
    body: input.body,
    mentions,
    userId: ctx.person.user_id,
  })
  await notifyMentioned(ctx, comment)
  return comment
}

/** Requires that every mentioned person can see the workflow. */
async function requireSeeing(ctx: Context, workflowId: string, mentions: string[]): Promise<void> {
  for (const [at, userId] of mentions.entries())
    if (!(await maySee(ctx.tx, ctx.workspace.workspace_id, workflowId, userId)))
      throw unknownReference(`/mentions/${at}`)
}

/** Notifies the mentioned people and the owner of the workflow, but never the author. */
async function notifyMentioned(ctx: Context, comment: Comment): Promise<void> {
  const { workspace_id: workspaceId } = ctx.workspace
  const author = ctx.person.user_id
  const { name, owner_id } = await store.findWorkflow(ctx.tx, workspaceId, comment.workflow_id)
  const workflow = toWire('wf', comment.workflow_id)
  const link = `/workflows/${workflow}/editor?comments=${encodeURIComponent(comment.node_id ?? '')}`
  const event = {
    workspaceId,
    body: comment.body.slice(0, SHOWN),
    data: { workflow_id: workflow, comment_id: toWire('cmt', comment.comment_id), node_id: comment.node_id },
    link,
  }
  const mentioned = comment.mentions.filter((userId) => userId !== author)
  const title = `${ctx.person.name} mentioned you on ${name}`
  await deliverEvent(ctx.tx, { ...event, kind: 'comment.mentioned', title, to: mentioned })
  if (owner_id === null || owner_id === author || mentioned.includes(owner_id)) return
  await deliverEvent(ctx.tx, {
    ...event,
    kind: 'comment.added',
    title: `${ctx.person.name} commented on ${name}`,
    to: [owner_id],
  })
}

export async function mayChangeComment(ctx: Context, input: One): Promise<void> {
  const { author_id } = await getComment(ctx, input)
  if (author_id !== ctx.person.user_id) throw problem('forbidden', 'Only the author may change a comment.')
}

export async function updateComment(ctx: Context, input: One & CommentPatch): Promise<Comment> {
  await mayChangeComment(ctx, input)
  return store.updateComment(ctx.tx, ctx.workspace.workspace_id, input.comment_id, input.body)
}

export async function resolveComment(ctx: Context, input: One & { resolved: boolean }): Promise<Comment> {
  await getComment(ctx, input)
  const by = input.resolved ? ctx.person.user_id : null
  return store.resolveComment(ctx.tx, ctx.workspace.workspace_id, input.comment_id, by)
}

/** Allows only the author and the owner of the workflow. */
export async function mayDeleteComment(ctx: Context, input: One): Promise<void> {
  const { author_id } = await getComment(ctx, input)
  const { owner_id } = await store.findWorkflow(ctx.tx, ctx.workspace.workspace_id, input.workflow_id)
  if (author_id !== ctx.person.user_id && owner_id !== ctx.person.user_id)
    throw problem('forbidden', 'Only the author and the owner of the workflow may delete a comment.')
}

export async function deleteComment(ctx: Context, input: One): Promise<void> {
  await mayDeleteComment(ctx, input)
  await store.deleteComment(ctx.tx, ctx.workspace.workspace_id, input.comment_id)
}
