import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import { readBounds } from './edit-store.ts'
import { reasonToExclude } from './excluded.ts'
import type { Approval, Vote } from './schema.ts'
import type * as store from './store.ts'
import { gateIsSatisfiable, type VotingState } from './tally.ts'
import { readVotingStates } from './voting-state.ts'
import * as voting from './voting-store.ts'

export const voteView = (vote: voting.VoteRow): Vote => ({
  vote_id: vote.vote_id,
  voter: { kind: vote.voter_kind, id: voterId(vote.voter_kind, vote.voter_id), name: vote.voter_name },
  decision: vote.decision,
  comment: vote.comment,
  rationale: vote.rationale,
  confidence: vote.confidence,
  ...(vote.evidence !== null && { evidence: vote.evidence }),
  payload_sha256: vote.payload_sha256,
  voted_at: vote.voted_at,
})

const voterId = (kind: 'human' | 'agent', id: string): string => (kind === 'human' ? toWire('usr', id) : id)

/** Returns the vote as JSON, for the journal and the output of the node. */
export const voteJson = (vote: voting.VoteRow): JsonObject => ({
  ...(voteView(vote) as unknown as JsonObject),
  vote_id: toWire('vote', vote.vote_id),
  voted_at: vote.voted_at.toISOString(),
})

/** Returns the gate with the schema of its arguments if it is about a call. The schema is too large for lists. */
export async function viewWithBounds(tx: Tx, gate: store.Gate): Promise<Approval> {
  const view = await gateView(tx, gate)
  const bounds = gate.is_editable && gate.status === 'open' ? await readBounds(tx, gate) : null
  return bounds === null ? view : { ...view, arguments_schema: bounds.schema }
}

export const gateView = async (tx: Tx, gate: store.Gate): Promise<Approval> => (await gateViews(tx, [gate]))[0]!

/** Returns a page of gates of one workspace, in four queries. */
export async function gateViews(tx: Tx, gates: readonly store.Gate[]): Promise<Approval[]> {
  const states = await readVotingStates(tx, gates)
  const withAgents = states.filter(({ agents }) => agents.length > 0).map(({ gate }) => gate)
  const earned =
    withAgents.length === 0 ? [] : await voting.listAgreementAt(tx, withAgents[0]!.workspace_id, withAgents)
  return states.map((state) => viewOf(state, earned))
}

function viewOf(state: VotingState, earned: voting.AgreementRow[]): Approval {
  const { gate, votes, agents, outstanding, excluded } = state
  return {
    request_id: gate.request_id,
    execution_id: gate.execution_id,
    workflow_id: gate.workflow_id,
    version_id: gate.version_id,
    node_id: gate.node_id,
    node_path: gate.node_path,
    title: gate.title,
    payload: gate.payload,
    payload_sha256: gate.payload_sha256,
    policy: gate.policy as unknown as Record<string, Json>,
    status: gate.status,
    outcome: gate.outcome,
    votes: votes.map(voteView),
    outstanding: outstanding.map((voter) => ({
      kind: voter.kind,
      id: voterId(voter.kind, voter.id),
      name: voter.name,
    })),
    excluded: excluded.map(({ user_id, name }) => ({ user_id, name, reason: reasonToExclude(gate, user_id) ?? '' })),
    // Somebody who can vote may have been added since.
    unsatisfiable: gate.unsatisfiable && !gateIsSatisfiable(state),
    agents: agents.map(({ agent, agent_name }) => {
      const record = earned.find(
        (row) => row.agent === agent && row.workflow_id === gate.workflow_id && row.node_id === gate.node_id,
      )
      return { agent, name: agent_name ?? agent, votes: record?.votes ?? 0, agreed: record?.agreed ?? 0 }
    }),
    started_by: gate.started_by,
    due_at: gate.due_at,
    opened_at: gate.opened_at,
    resolved_at: gate.resolved_at,
    editable: gate.is_editable,
    edited_by: gate.edited_by === null ? null : { user_id: gate.edited_by, name: gate.edited_by_name ?? '' },
    edit_comment: gate.edit_comment,
    replaces: gate.replaces,
    replaced_by: gate.replaced_by,
  }
}
