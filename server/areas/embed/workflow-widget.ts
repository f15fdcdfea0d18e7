import type { z } from 'zod'
import type { ConversationService } from '#areas/conversations/service'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { fromWire, NOWHERE, newId } from '#platform/ids'
import type { Gather, Gathered } from './schema.ts'
import { credentialOf, originOf, ownerOf, requestKeyOf, type Visiting } from './visiting.ts'
import type { Visitors } from './visitors.ts'

// The widget of one workflow: its inputs are gathered in a guided conversation, then it is started.

type OfWorkflow = { workflow_id: string }

export function makeWorkflowWidget(options: {
  conversations: ConversationService
  visiting: Visiting
  visitors: Visitors
}) {
  const { conversations, visiting, visitors } = options

  return {
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
        features: { speech: false, transcribe: false },
        voice: null,
        suggestions: [],
        visitor_token: visitors.mint(ownerOf(credential), credential.visitor_id ?? newId()),
      }
    },

    async gather(
      ctx: Context,
      { workflow_id, conversation_id, message, time_zone }: OfWorkflow & z.output<typeof Gather>,
      exchange: Exchange,
    ): Promise<z.input<typeof Gathered>> {
      const workspaceId = ctx.workspace.workspace_id
      const key = requestKeyOf(ctx, exchange)
      const { minted, visitorId, ...where } =
        conversation_id === undefined
          ? await visiting.begin(ctx, key, { kind: 'gather', workflowId: workflow_id })
          : visiting.named(ctx, fromWire('conv', conversation_id) ?? NOWHERE)
      const { threadId } = where
      const said =
        message === undefined
          ? undefined
          : await conversations.takeMessage({
              workspaceId,
              ...where,
              author: { kind: 'visitor', visitorId },
              origin: originOf(ctx),
              text: message,
              ...key,
              ...(time_zone !== undefined && { timeZone: time_zone }),
              signal: ctx.signal,
            })
      const standing = await ctx.db.tenant(scopeOf(ctx), (tx) =>
        conversations.standing(tx, workspaceId, threadId, where.isTheirs),
      )
      const { gathered } = said ?? standing
      const executionId = said?.execution_id ?? standing.execution_id
      return {
        conversation_id: threadId,
        reply: said ? said.messages.map(({ text }) => text).join('\n') : standing.reply,
        ...gathered,
        ...(executionId !== null && { execution_id: executionId }),
        ...minted,
      }
    },
  }
}

export type WorkflowWidget = ReturnType<typeof makeWorkflowWidget>
