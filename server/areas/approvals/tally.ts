import { type Ballot, decide, isSatisfiable, type Voter } from '#model/approval'
import type { Tx } from '#platform/db/pool'
import * as store from './store.ts'

/** A gate with everything that decides it, as it stands in this transaction. */
export type Standing = {
  gate: store.Gate
  votes: store.VoteRow[]
  voters: store.VoterRow[]
  agents: store.AgentRow[]
  outstanding: (Voter & { name: string })[]
}

export async function readStanding(tx: Tx, gate: store.Gate): Promise<Standing> {
  const [votes, voters, agents] = [
    await store.listVotes(tx, gate.workspace_id, [gate.request_id]),
    await store.listVoters(tx, gate.workspace_id, gate.request_id),
    await store.listAgents(tx, gate.workspace_id, gate.request_id),
  ]
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
  return { gate, votes, voters, agents, outstanding }
}

const ballots = (votes: store.VoteRow[]): Ballot[] =>
  votes.map((vote) => ({
    kind: vote.voter_kind,
    id: vote.voter_id,
    decision: vote.decision,
    role: vote.voter_role,
    confidence: vote.confidence,
  }))

export const decideGate = ({ gate, votes, outstanding }: Standing): 'approved' | 'rejected' | 'open' =>
  decide(gate.policy, ballots(votes), outstanding)

export const gateIsSatisfiable = ({ gate, votes, outstanding }: Standing): boolean =>
  isSatisfiable(gate.policy, ballots(votes), outstanding)
