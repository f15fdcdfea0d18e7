import type { JsonObject } from '#model/definition'
import type { MessageSource } from '../conversation-actions.ts'
import type { AssistantSettings, Offer } from '../offer-store.ts'
import type { LockedThread } from '../thread-store.ts'
import type { Journal } from './journal.ts'
import type { AgentTurn } from './turn-store.ts'
import type { TemplateTool } from './types.ts'

/** The context in which one message is answered. */
export type TurnContext = {
  turn: AgentTurn
  journal: Journal
  /** The thread when the turn started. It is locked before it is changed. */
  thread: LockedThread
  voice: AssistantSettings & { owner_id: string }
  /** Workflows that may be started: the workflows of the template and the workflows among its tools. */
  offers: Offer[]
  by: MessageSource
}

export const fixedOf = (tool: TemplateTool | undefined): JsonObject =>
  (tool && 'arguments' in tool && tool.arguments?.fixed) || {}

export const allowedOf = (tool: TemplateTool | undefined) =>
  (tool && 'arguments' in tool && tool.arguments?.allowed) || {}
