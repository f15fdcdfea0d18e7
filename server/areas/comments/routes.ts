import { viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { Comment, CommentPatch, commentList, NewComment, Resolution } from './schema.ts'
import {
  createComment,
  deleteComment,
  getComment,
  listComments,
  mayChangeComment,
  mayDeleteComment,
  resolveComment,
  updateComment,
} from './service.ts'

export const commentRoutes = (): AnyRoute[] =>
  routes(
    'Workflows',
    {
      listComments: ['GET', '/api/workflows/:workflow_id/comments', viewer('workflow')],
      createComment: ['POST', '/api/workflows/:workflow_id/comments', viewer('workflow')],
      getComment: ['GET', '/api/workflows/:workflow_id/comments/:comment_id', viewer('workflow')],
      updateComment: ['PATCH', '/api/workflows/:workflow_id/comments/:comment_id', viewer('workflow')],
      resolveComment: ['POST', '/api/workflows/:workflow_id/comments/:comment_id/resolve', viewer('workflow')],
      deleteComment: ['DELETE', '/api/workflows/:workflow_id/comments/:comment_id', viewer('workflow')],
    },
    {
      listComments: {
        summary: 'Comments on the workflow and its nodes, newest first',
        extension: true,
        query: commentList.query,
        answer: page(Comment),
        run: listComments,
      },
      createComment: {
        summary: 'Comment on a workflow or one of its nodes',
        description:
          'People in `mentions` get the notification `comment.mentioned`, the owner of the workflow `comment.added`.',
        extension: true,
        body: NewComment,
        answer: Comment,
        status: 201,
        location: ({ workflow_id, comment_id }) => `/api/workflows/${workflow_id}/comments/${comment_id}`,
        alsoRefuses: [409],
        examples: { body: { body: 'Does this wait long enough?', node_id: 'wait' } },
        run: createComment,
      },
      getComment: { summary: 'One comment', extension: true, answer: Comment, run: getComment },
      updateComment: {
        summary: 'Change the text of a comment (its author)',
        extension: true,
        body: CommentPatch,
        answer: Comment,
        allowed: mayChangeComment,
        current: getComment,
        run: updateComment,
      },
      resolveComment: {
        summary: 'Mark a comment as done, or reopen it',
        extension: true,
        body: Resolution,
        answer: Comment,
        allowed: getComment,
        examples: { body: { resolved: true } },
        run: resolveComment,
      },
      deleteComment: {
        summary: 'Delete a comment (its author, or the owner of the workflow)',
        extension: true,
        status: 204,
        allowed: mayDeleteComment,
        current: getComment,
        run: deleteComment,
      },
    },
  )
