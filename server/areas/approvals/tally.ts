import { type Ballot, decide, isSatisfiable, type Voter } from '#model/approval'
import type * as store from './store.ts'
import type * as voting from './voting-store.ts'

/** A gate with everything that decides it, as read in this transaction. */
export type VotingState = {
  gate: store.Gate
  votes: voting.VoteRow[]
  voters: voting.VoterRow[]
  /** People whom the policy names but who led to the execution. */
  excluded: voting.VoterRow[]
  agents: voting.AgentRow[]
  outstanding: (Voter & { name: string })[]
}

/** Returns who has voted on a gate, who may still vote, and who may not. */
export function votingStateOf(
  gate: store.Gate,
  votes: voting.VoteRow[],
  candidates: voting.CandidateRow[],
  agents: voting.AgentRow[],
): VotingState {
  const voters = candidates.filter(({ excluded }) => !excluded)
  const excluded = candidates.filter((candidate) => candidate.excluded)
  const voted = new Set(votes.map((vote) => `${vote.voter_kind}:${vote.voter_id}`))
  const outstanding =
    gate.status === 'open'
      ? [
          ...voters
            .filter(({ user_id }) => !voted.has(`human:${user_id}`))
            .map(({ user_id, name }) => ({ kind: 'human' as const, id: user_id, name })),
          ...agents
            .filter(({ agent }) => !voted.has(`agent:${agent}`))
            .map(({ agent, agent_name }) => ({ kind: 'agent' as const, id: agent, name: agent_name ?? agent })),
        ]
      : []
  return { gate, votes, voters, excluded, agents, outstanding }
}

const ballots = (votes: voting.VoteRow[]): Ballot[] =>
  votes.map((vote) => ({
    kind: vote.voter_kind,
    id: vote.voter_id,
    decision: vote.decision,
    role: vote.voter_role,
    confidence: vote.confidence,
  }))

export const decideGate = ({ gate, votes, outstanding }: VotingState): 'approved' | 'rejected' | 'open' =>
  decide(gate.policy, ballots(votes), outstanding)

export const gateIsSatisfiable = ({ gate, votes, outstanding }: VotingState): boolean =>
  isSatisfiable(gate.policy, ballots(votes), outstanding)

/**
 * Checks whether no person can open the gate, but a person could if those who led to the execution were allowed to
 * vote.
 */
export const isStuckByExclusion = ({ gate, votes, outstanding, excluded }: VotingState): boolean =>
  !isSatisfiable(gate.policy, ballots(votes), outstanding) &&
  isSatisfiable(gate.policy, ballots(votes), [
    ...outstanding,
    ...excluded.map(({ user_id }): Voter => ({ kind: 'human', id: user_id })),
  ])
