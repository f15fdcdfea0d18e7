import { hintChange } from '#areas/conversations/changes'
import type { Conversations } from '#areas/conversations/types'
import type { Reader } from '#areas/threads/outside'
import { problem, unknownReference } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { toWire } from '#platform/ids'
import { type IssuedTicket, issueTicket } from '#platform/realtime/tickets'
import type { Conversation, ConversationPatch } from './schema.ts'
import * as store from './store.ts'

// Conversations with people outside, as a team sees them. The template, channel or workflow of a conversation
// determines who may read it (threads/outside.ts).

type ById = { thread_id: string }

const readerOf = (ctx: Context): Reader => ({ user_id: ctx.person.user_id, role: ctx.workspace.role })

/** Issues a ticket for the socket that reports changes of the workspace's conversations. */
export const createConversationTicket = (ctx: Context): Promise<IssuedTicket> =>
  issueTicket(ctx, { kind: 'conversations', resource: ctx.workspace.workspace_id, path: '/ws/conversations' })

export const listConversations = (ctx: Context, asked: ListInput) =>
  store.listConversations(ctx.tx, ctx.workspace.workspace_id, readerOf(ctx), asked)

/** Returns a conversation of the inbox. Threads between colleagues are not found. */
export async function getConversation(ctx: Context, { thread_id }: ById): Promise<Conversation> {
  const found = await store.findConversation(ctx.tx, ctx.workspace.workspace_id, readerOf(ctx), thread_id)
  if (!found) throw problem('not_found')
  return found
}

export const makeInbox = ({ conversations }: { conversations: Pick<Conversations, 'handBack'> }) => ({
  async updateConversation(ctx: Context, { thread_id, state, assignee_id }: ById & ConversationPatch) {
    const { workspace_id } = ctx.workspace
    await store.lockConversation(ctx.tx, workspace_id, thread_id)
    const before = await getConversation(ctx, { thread_id })
    if (assignee_id !== undefined && assignee_id !== (before.assignee?.user_id ?? null))
      await assign(ctx, before, assignee_id)
    if (state === 'closed' && before.taken_over_by !== null)
      await conversations.handBack(ctx.tx, { workspaceId: workspace_id, threadId: thread_id, closes: true })
    hintChange(ctx.tx, workspace_id)
    if (state !== undefined) await store.setClosed(ctx.tx, workspace_id, thread_id, state === 'closed')
    return getConversation(ctx, { thread_id })
  },
})
export type Inbox = ReturnType<typeof makeInbox>

/**
 * Assigns a person, who must be allowed to read the conversation. The person is notified, unless the assignment is
 * their own.
 */
async function assign(ctx: Context, { thread_id, title, last_message }: Conversation, userId: string | null) {
  const { workspace_id: workspaceId } = ctx.workspace
  if (userId !== null) {
    const role = await store.findRole(ctx.tx, workspaceId, userId)
    const reads =
      role !== undefined && (await store.isReader(ctx.tx, workspaceId, { user_id: userId, role }, thread_id))
    if (!reads) throw unknownReference('/assignee_id')
  }
  await store.assign(ctx.tx, workspaceId, thread_id, userId)
  if (userId === null || userId === ctx.person.user_id) return
  const wireId = toWire('thr', thread_id)
  await deliverEvent(ctx.tx, {
    workspaceId,
    kind: 'thread.assigned',
    title: `${ctx.person.name} assigned a conversation to you: ${title}`,
    body: last_message?.text ?? '',
    data: { thread_id: wireId },
    link: `/conversations/${wireId}`,
    to: [userId],
  })
}

export async function markConversationRead(
  ctx: Context,
  { thread_id, message_id }: ById & { message_id?: string | undefined },
) {
  const { workspace_id } = ctx.workspace
  await getConversation(ctx, { thread_id })
  const seq = await store.findSeq(ctx.tx, workspace_id, thread_id, message_id)
  if (seq === undefined) throw unknownReference('/message_id')
  await store.markRead(ctx.tx, workspace_id, thread_id, ctx.person.user_id, seq)
  return getConversation(ctx, { thread_id })
}
