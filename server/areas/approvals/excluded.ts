import { personInitiator } from '#engine/initiators'
import type { Initiator } from '#engine/ports'
import type { Gate } from './store.ts'

// Who does not vote because they led to the execution. `allow_self: false` means that somebody else looks at it.

const REASONS: Record<Initiator['kind'], string> = {
  person: 'started the execution',
  webhook_token: 'created the webhook token that started it',
  embed_token: 'created the embed token that started it',
  template: 'added the workflow to the template that started it',
  channel: 'set up the channel that started it',
  schedule: 'made the schedule that started it',
  job: 'owns the job that started it',
  suite: 'made the suite that started it',
  execution: 'activated the workflow that started it as a sub-workflow',
  error_workflow: 'activated the workflow whose failure started it',
  retry: 'retried the execution',
  event: 'sent the event that started it',
}

/** A gate that an older release opened knows only who started the execution. */
const initiatorsOfGate = ({ initiators, started_by }: Pick<Gate, 'initiators' | 'started_by'>): Initiator[] => {
  const known = initiators ?? []
  return started_by === null || known.some(({ user_id }) => user_id === started_by)
    ? known
    : [...known, personInitiator(started_by)]
}

/** Why this person may not vote, in words; null where nothing of the kind stands against it. */
export function reasonToExclude(
  gate: Pick<Gate, 'initiators' | 'started_by' | 'policy'>,
  userId: string,
): string | null {
  if (gate.policy.allow_self) return null
  const reasons = initiatorsOfGate(gate)
    .filter(({ user_id }) => user_id === userId)
    .map(({ kind }) => REASONS[kind])
  return reasons.length === 0 ? null : [...new Set(reasons)].join(' and ')
}
