import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import { nextStep } from './decide.ts'
import { phrasesFor } from './languages/index.ts'
import type { NewMessage } from './message-store.ts'
import type { ThreadContext } from './offer-store.ts'
import { emptyState } from './state.ts'
import type { LockedThread } from './thread-store.ts'
import type { NewThread } from './types.ts'

// The start of a conversation: its owner and the messages before the first turn.

export const threadOf = (wanted: NewThread): LockedThread => ({
  workspace_id: wanted.workspaceId,
  thread_id: newId(),
  kind: wanted.kind,
  title: 'title' in wanted ? (wanted.title ?? null) : null,
  template_id: 'templateId' in wanted ? wanted.templateId : null,
  workflow_id: wanted.kind === 'gather' ? wanted.workflowId : null,
  visitor_id: 'visitorId' in wanted ? wanted.visitorId : null,
  config_id: wanted.kind === 'channel' ? wanted.configId : null,
  external_id: wanted.kind === 'channel' ? wanted.externalId : null,
  created_by: wanted.kind === 'thread' ? wanted.createdBy : null,
  taken_over_by: null,
  state: { ...emptyState, visit: ('visit' in wanted && wanted.visit) || null },
  turn: 0,
  last_seq: 0,
  last_visitor_seq: 0,
})

/** Returns the greeting. A channel has none, because the other side wrote first. */
export function greet(thread: LockedThread, around: ThreadContext): NewMessage[] {
  thread.state = { ...thread.state, house: around.voice?.locale ?? null }
  if (thread.kind === 'channel') return []
  const messages = thread.kind === 'gather' ? beginGathering(thread, around) : greetingOf(thread, around)
  return messages.map((text) => ({ role: 'assistant', text, turn: 0 }))
}

function greetingOf(thread: LockedThread, { voice }: ThreadContext): string[] {
  // A token stays valid for one second after its template was deleted.
  if (!voice && thread.kind === 'embed') throw problem('not_found')
  return voice ? [voice.greeting ?? phrasesFor(thread.state).greeting] : []
}

function beginGathering(thread: LockedThread, { offers: [offer] }: ThreadContext): string[] {
  if (!offer) throw problem('no_active_version', 'The owner of the workflow must activate a version.')
  const step = nextStep(phrasesFor(thread.state), offer, {}, [], false)
  if (step.kind !== 'gather') return []
  thread.state = { ...thread.state, gathering: { workflow_id: offer.workflow_id, values: {}, asked: step.asked } }
  return step.texts
}
