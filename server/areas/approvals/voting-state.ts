import type { Tx } from '#platform/db/pool'
import type * as store from './store.ts'
import { type VotingState, votingStateOf } from './tally.ts'
import * as voting from './voting-store.ts'

export const readVotingState = async (tx: Tx, gate: store.Gate): Promise<VotingState> =>
  (await readVotingStates(tx, [gate]))[0]!

/** Reads the voting states of gates of one workspace, in three queries for any number of gates. */
export async function readVotingStates(tx: Tx, gates: readonly store.Gate[]): Promise<VotingState[]> {
  if (gates.length === 0) return []
  const { workspace_id } = gates[0]!
  const ids = gates.map(({ request_id }) => request_id)
  const votes = Map.groupBy(await voting.listVotes(tx, workspace_id, ids), ({ request_id }) => request_id)
  const candidates = Map.groupBy(await voting.listCandidates(tx, workspace_id, ids), ({ request_id }) => request_id)
  const agents = Map.groupBy(await voting.listAgents(tx, workspace_id, ids), ({ request_id }) => request_id)
  return gates.map((gate) =>
    votingStateOf(
      gate,
      votes.get(gate.request_id) ?? [],
      candidates.get(gate.request_id) ?? [],
      agents.get(gate.request_id) ?? [],
    ),
  )
}
