import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import type { NewMessage } from './message-store.ts'
import type { Surroundings } from './offer-store.ts'
import { emptyState } from './state.ts'
import * as texts from './texts.ts'
import { nextStep } from './think.ts'
import type { Held } from './thread-store.ts'
import type { NewThread } from './types.ts'

// How a conversation begins: who it belongs to, and what is said before anybody has said anything.

export const threadOf = (wanted: NewThread): Held => ({
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
  state: emptyState,
  turn: 0,
  last_seq: 0,
})

/** In a channel nobody waits for a greeting: they wrote first. */
export function greet(held: Held, around: Surroundings): NewMessage[] {
  if (held.kind === 'channel') return []
  const said = held.kind === 'gather' ? beginGathering(held, around) : greetingOf(held, around)
  return said.map((text) => ({ role: 'assistant', text, turn: 0 }))
}

function greetingOf(held: Held, { voice }: Surroundings): string[] {
  // Its token is known for a second longer than the template.
  if (!voice && held.kind === 'embed') throw problem('not_found')
  return voice ? [voice.greeting ?? texts.GREETING] : []
}

function beginGathering(held: Held, { offers: [offer] }: Surroundings): string[] {
  if (!offer) throw problem('no_active_version', 'The owner of the workflow must activate a version.')
  const step = nextStep(offer, {}, [], false)
  if (step.kind !== 'gather') return []
  held.state = { ...held.state, gathering: { workflow_id: offer.workflow_id, values: {}, asked: step.asked } }
  return step.texts
}
