import { personInitiator } from '#engine/initiators'
import type { Initiator } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { Gate, GateInitiator } from './store.ts'

// People who may not vote because they led to the execution. `allow_self: false` requires that another person approves.

const REASONS: Record<GateInitiator['kind'], string> = {
  person: 'started the execution',
  webhook_token: 'created the webhook token that started it',
  embed_token: 'created the embed token that started it',
  template: 'added the workflow to the template that started it',
  channel: 'set up the channel that started it',
  schedule: 'created the schedule that started it',
  job: 'owned the job that started it',
  suite: 'created the suite that started it',
  execution: 'activated the workflow that started it as a sub-workflow',
  error_workflow: 'activated the workflow whose failure started it',
  retry: 'retried the execution',
  event: 'sent the event that started it',
  editor: 'edited the arguments',
  service_account: 'created the service account that started it, or one of its keys',
}

/** Returns the initiators. A gate that an older release opened knows only who started the execution. */
const initiatorsOfGate = ({ initiators, started_by }: Pick<Gate, 'initiators' | 'started_by'>): GateInitiator[] => {
  const known = initiators ?? []
  return started_by === null || known.some(({ user_id }) => user_id === started_by)
    ? known
    : [...known, personInitiator(started_by)]
}

/**
 * Returns the reason why this person may not vote, as a text. Null if the person did not lead to the execution or the
 * policy allows it.
 */
export function reasonToExclude(
  gate: Pick<Gate, 'initiators' | 'started_by' | 'policy'>,
  userId: string,
): string | null {
  if (gate.policy.allow_self) return null
  const reasons = initiatorsOfGate(gate)
    .filter(({ user_id }) => user_id === userId)
    .map(({ kind }) => REASONS[kind])
  return reasons.length === 0 ? null : [...new Set(reasons)].join(' and also ')
}

/**
 * Returns the chain of initiators and the people who hold keys of the service accounts in it. With such a key they
 * can start everything that the account can start, so they count as initiators.
 */
export async function withKeyHolders(tx: Tx, chain: Initiator[], startedBy: string | null): Promise<Initiator[]> {
  const ids = [...chain.map(({ user_id }) => user_id), startedBy].filter((id) => id !== null)
  if (ids.length === 0) return chain
  const accounts = await tx.rows<{ user_id: string; held_by: string[] }>(
    `select user_id, held_by from users where user_id = any ($1) and kind = 'service_account'`,
    [ids],
  )
  const holders = accounts.flatMap(({ user_id, held_by }) =>
    held_by.map((holder): Initiator => ({ kind: 'service_account', id: toWire('usr', user_id), user_id: holder })),
  )
  return [...chain, ...holders]
}
