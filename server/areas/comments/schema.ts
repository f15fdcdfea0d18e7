import { z } from 'zod'
import { anyText, defineList, flag } from '#platform/http/list'
import { id, reference, timestamp } from '#platform/http/schema'

const MAX_BODY = 4_000
const MAX_MENTIONED = 20
const body = () => z.string().trim().min(1).max(MAX_BODY).describe('The text of the message, as plain text')
const mentions = () =>
  z
    .array(reference('usr'))
    .max(MAX_MENTIONED)
    .describe('People who are notified; they must be able to see the workflow')

export const Comment = z
  .object({
    comment_id: id('cmt'),
    workflow_id: id('wf'),
    node_id: z.string().nullable().describe('The node it is about; null for the whole workflow'),
    body: body(),
    mentions: z.array(id('usr')).describe('The people it names'),
    author_id: id('usr').nullable().describe('Null if the account of the person was deleted'),
    resolved_at: timestamp().nullable().describe('When it was marked as done'),
    resolved_by: id('usr').nullable().describe('The person who marked it as done'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'WorkflowComment' })
export type Comment = z.input<typeof Comment>

export const NewComment = z
  .strictObject({
    body: body(),
    node_id: z.string().min(1).max(200).nullable().optional().describe('The node it is about'),
    mentions: mentions().optional(),
  })
  .meta({ id: 'NewWorkflowComment' })
export type NewComment = z.output<typeof NewComment>

export const CommentPatch = z.strictObject({ body: body() }).meta({ id: 'WorkflowCommentPatch' })
export type CommentPatch = z.output<typeof CommentPatch>

export const Resolution = z.strictObject({ resolved: z.boolean().describe('false reopens the comment') })

export const commentList = defineList({
  id: 'comment_id',
  search: ['body'],
  sort: { created_at: 'id', updated_at: 'time' },
  order: '-created_at',
  filters: {
    node_id: anyText('Only those about this node, or one of several, separated by commas'),
    resolved: flag('Only those that are done, or only those that are open'),
  },
})
