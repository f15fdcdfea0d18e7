import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { toWire } from '#platform/ids'
import { reasonToExclude } from './excluded.ts'
import * as store from './store.ts'
import type { VotingState } from './tally.ts'
import { readVotingState } from './voting-state.ts'
import type { VoteRow, VoterRow } from './voting-store.ts'

// Checks whether a person has a vote at a gate, and whether the gate still accepts votes.

export async function lockGate(tx: Tx, workspaceId: string, requestId: string): Promise<store.Gate> {
  const gate = await store.lockGate(tx, workspaceId, requestId)
  if (!gate) throw problem('not_found')
  return gate
}

/** Requires that this person has a vote at the locked gate, has not cast it, and that the gate is open. */
export async function requireVote(
  tx: Tx,
  gate: store.Gate,
  userId: string,
  hasVotedAlready: string,
): Promise<{ voter: VoterRow; standing: VotingState }> {
  const standing = await readVotingState(tx, gate)
  if (hasVoted(standing.votes, userId)) throw problem('already_voted', hasVotedAlready)
  const voter = standing.voters.find(({ user_id }) => user_id === userId)
  if (!voter) throw problem('forbidden', notAVoter(gate, userId))
  requireOpen(gate)
  return { voter, standing }
}

function requireOpen(gate: store.Gate): void {
  if (gate.status === 'open') return
  if (gate.replaced_by === null) throw problem('gate_closed', `The gate is ${gate.status} already.`)
  const request_id = toWire('apr', gate.replaced_by)
  throw problem('payload_changed', `The arguments were edited. Read the gate ${request_id} and vote on its content.`, {
    report: { request_id },
  })
}

/** Returns why this person has no vote at the gate. Null if they have one. */
export const whyNotVote = ({ gate, voters }: Pick<VotingState, 'gate' | 'voters'>, userId: string): string | null =>
  voters.some(({ user_id }) => user_id === userId) ? null : notAVoter(gate, userId)

export const hasVoted = (votes: VoteRow[], userId: string): boolean =>
  votes.some(({ voter_kind, voter_id }) => voter_kind === 'human' && voter_id === userId)

export const notAVoter = (gate: store.Gate, userId: string): string => {
  const reason = reasonToExclude(gate, userId)
  return reason === null
    ? 'The policy of this gate does not name you as an approver.'
    : `Somebody else must approve this: you ${reason}.`
}
