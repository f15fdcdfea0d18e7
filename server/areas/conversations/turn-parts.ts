import { validateJson } from '#model/json-schema'
import { invalid } from '#platform/errors'
import { missingOf } from './decide.ts'
import type { FormRow } from './form-store.ts'
import type { Offer } from './offer-store.ts'
import type { OpenQuestion } from './state.ts'
import type { LockedThread } from './thread-store.ts'
import type { Incoming, Turn } from './types.ts'

// Helpers for the data that a turn reads from the conversation and the request.

/** Returns the question of a form, if it is still open. */
export const questionOf = ({ state }: LockedThread, { clarification_id }: FormRow): OpenQuestion | undefined =>
  state.questions.find((question) => question.clarification_id === clarification_id)

export function refuseWrong(
  schema: Parameters<typeof validateJson>[0],
  values: Parameters<typeof validateJson>[1],
): void {
  const issues = validateJson(schema, values, { path: '/values' })
  if (issues.length > 0) throw invalid(issues, 'Correct the fields of the form named in errors and submit it again.')
}

export function gatheredOf(thread: LockedThread, offers: Offer[]): Turn['gathered'] {
  const { gathering, started } = thread.state
  if (!gathering) return { values: started?.values ?? {}, missing: [], complete: started !== null }
  const offer = offers.find(({ workflow_id }) => workflow_id === gathering.workflow_id)
  const missing = offer ? missingOf(offer, gathering.values).map(({ name }) => name) : []
  return { values: gathering.values, missing, complete: false }
}

/** Returns the author of a message as stored. */
export function authorFields({
  author,
  requestKey,
  ...more
}: Pick<Incoming, 'author' | 'requestKey'> & { audioId?: string }) {
  const key = { request_key: requestKey ?? null, audio_id: more.audioId ?? null }
  switch (author.kind) {
    case 'person':
      return { role: 'user' as const, author_id: author.userId, author_name: author.name, ...key }
    case 'visitor':
      return { role: 'visitor' as const, ...key }
    case 'external':
      return { role: 'visitor' as const, author_name: author.name, external_author: author.id, ...key }
  }
}
