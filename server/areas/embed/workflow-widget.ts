import type { z } from 'zod'
import type { ConversationService } from '#areas/conversations/service'
import type { Visit } from '#areas/conversations/state'
import type { Thread, Turn } from '#areas/conversations/types'
import type { FileValue } from '#engine/files'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { fromWire, newId, UNKNOWN_ID } from '#platform/ids'
import type { Gather, Gathered } from './schema.ts'
import {
  credentialOf,
  messageOf,
  ownerOf,
  type SentFiles,
  takesAnyFiles,
  uploadOf,
  type VisitorConversations,
} from './visitor-conversations.ts'
import type { Visitors } from './visitors.ts'

// The widget of one workflow: a guided conversation gathers the inputs, then the workflow is started.

type OfWorkflow = { workflow_id: string }
type Stand = Pick<Turn, 'gathered' | 'last_execution_id'>

export function makeWorkflowWidget(options: {
  conversations: ConversationService
  visitorConversations: VisitorConversations
  visitors: Visitors
  files: SentFiles
}) {
  const { conversations, visitorConversations, visitors, files } = options

  /** Answers a request without a message: returns the state of the conversation, or opens a new one. */
  const lookAt = (
    ctx: Context,
    named: ReturnType<VisitorConversations['named']> | undefined,
    of: { kind: 'gather'; workflowId: string; visit?: Visit },
  ): Promise<z.input<typeof Gathered>> => {
    const look = async (tx: Tx) => {
      const { workspace_id } = ctx.workspace
      const thread = named ?? (await conversations.openThread(tx, visitorConversations.begin(ctx, of).open))
      const thread_id = 'threadId' in thread ? thread.threadId : thread.thread_id
      const standing = await conversations.standing(tx, workspace_id, thread_id, named?.isTheirs)
      const minted = 'threadId' in thread ? {} : visitorConversations.mintedFor(ctx, thread)
      return { ...answerOf({ thread_id }, standing), reply: standing.reply, ...minted }
    }
    return ctx.maybeTx === null ? ctx.db.tenant(scopeOf(ctx), look) : look(ctx.tx)
  }

  return {
    answersAtOnce: conversations.answersAtOnce,

    async getWorkflowConfig(ctx: Context, { workflow_id }: OfWorkflow) {
      const [offer] = await conversations.offersOfWorkflow(ctx.tx, ctx.workspace.workspace_id, workflow_id)
      if (!offer) throw problem('no_active_version', 'The owner of the workflow must activate a version.')
      const credential = credentialOf(ctx)
      return {
        workflow_id,
        name: offer.name,
        description: offer.description,
        greeting: offer.description ?? offer.name,
        theme: {},
        features: { speech: false, transcribe: false, names: false },
        voice: null,
        suggestions: [],
        takes_files: takesAnyFiles([offer]),
        visitor_token: visitors.mint(ownerOf(credential), credential.visitor_id ?? newId()),
      }
    },

    async upload(
      ctx: Context,
      { workflow_id, name }: OfWorkflow & { name?: string | undefined },
      exchange: Exchange,
    ): Promise<FileValue> {
      const offers = await ctx.db.tenant(scopeOf(ctx), (tx) =>
        conversations.offersOfWorkflow(tx, ctx.workspace.workspace_id, workflow_id),
      )
      return uploadOf(files, ctx, { name, offers }, exchange)
    },

    async gather(
      ctx: Context,
      {
        workflow_id,
        conversation_id,
        message,
        files: fileIds,
        time_zone,
        locale,
      }: OfWorkflow & z.output<typeof Gather>,
      exchange: Exchange,
    ): Promise<z.input<typeof Gathered>> {
      const spoken = locale === undefined ? {} : { visit: { locale } }
      const of = { kind: 'gather' as const, workflowId: workflow_id, ...spoken }
      const named =
        conversation_id === undefined
          ? undefined
          : visitorConversations.named(ctx, fromWire('conv', conversation_id) ?? UNKNOWN_ID)
      if (message === undefined && fileIds === undefined) return lookAt(ctx, named, of)
      const said = await messageOf(files, ctx, { text: message ?? '', fileIds, time_zone, ...spoken }, exchange)
      const turn = named
        ? await conversations.takeMessage({ ...said, ...named })
        : await conversations.takeFirst({ ...said, ...visitorConversations.begin(ctx, of) })
      return {
        ...answerOf(turn.thread, turn),
        reply: turn.messages.map(({ text }) => text).join('\n'),
        ...(named === undefined && visitorConversations.mintedFor(ctx, turn.thread)),
      }
    },
  }
}

const answerOf = ({ thread_id }: Pick<Thread, 'thread_id'>, { gathered, last_execution_id }: Stand) => ({
  conversation_id: thread_id,
  ...gathered,
  ...(last_execution_id !== null && { execution_id: last_execution_id }),
})

export type WorkflowWidget = ReturnType<typeof makeWorkflowWidget>
