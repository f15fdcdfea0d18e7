import type { Ballot } from '#model/approval'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Gate } from './store.ts'

// The voters of a gate, their votes, and the track record of the agents among them.

export type VoteRow = {
  vote_id: string
  request_id: string
  voter_kind: 'human' | 'agent'
  voter_id: string
  voter_name: string
  voter_role: string | null
  decision: Ballot['decision']
  comment: string | null
  rationale: string | null
  confidence: number | null
  evidence: Json | null
  payload_sha256: string
  voted_at: Date
}

/** `excluded` is true for people whom the policy names but who led to the execution. */
export type CandidateRow = { request_id: string; user_id: string; name: string; role: string; excluded: boolean }
export type VoterRow = Omit<CandidateRow, 'excluded'>
export type AgentRow = {
  request_id: string
  agent: string
  agent_name: string | null
  instructions: string | null
  model: string | null
}

export type ApproverRow = {
  kind: 'user' | 'team' | 'role' | 'agent'
  ref_id: string | null
  role: string | null
} & AgentRowOrNone
type AgentRowOrNone = {
  agent: string | null
  agent_name: string | null
  instructions: string | null
  model: string | null
}

export async function insertApprovers(
  tx: Tx,
  workspaceId: string,
  requestId: string,
  approvers: ApproverRow[],
): Promise<void> {
  await tx.count(
    `insert into approval_approvers (workspace_id, request_id, position, kind, ref_id, role, agent, agent_name, instructions, model)
     select $1, $2, (select count(*) from approval_approvers where workspace_id = $1 and request_id = $2) + position, kind, ref_id, role, agent, agent_name, instructions, model
     from jsonb_to_recordset($3::jsonb) as line (position integer, kind text, ref_id uuid, role text, agent text, agent_name text, instructions text, model text)`,
    [workspaceId, requestId, JSON.stringify(approvers.map((approver, position) => ({ position, ...approver })))],
  )
}

export const listVoters = (tx: Tx, workspaceId: string, requestIds: string[]): Promise<VoterRow[]> =>
  tx.rows<VoterRow>(
    'select request_id, user_id, name, role from voters_of_gates($1, $2) order by request_id, name, user_id',
    [workspaceId, requestIds],
  )

export const listCandidates = (tx: Tx, workspaceId: string, requestIds: string[]): Promise<CandidateRow[]> =>
  tx.rows<CandidateRow>(
    'select request_id, user_id, name, role, excluded from candidates_of_gates($1, $2) order by request_id, name, user_id',
    [workspaceId, requestIds],
  )

/** Returns each agent once, with the settings from the first entry of the policy that names it. */
export const listAgents = (tx: Tx, workspaceId: string, requestIds: string[]): Promise<AgentRow[]> =>
  tx.rows<AgentRow>(
    `select request_id, agent, agent_name, instructions, model from (
       select distinct on (request_id, agent) request_id, agent, agent_name, instructions, model, position from approval_approvers
       where workspace_id = $1 and request_id = any ($2) and kind = 'agent' order by request_id, agent, position) each
     order by request_id, position`,
    [workspaceId, requestIds],
  )

export const listVotes = (tx: Tx, workspaceId: string, requestIds: string[]): Promise<VoteRow[]> =>
  tx.rows<VoteRow>(
    `select vote_id, request_id, voter_kind, voter_id, voter_name, voter_role, decision, comment, rationale, confidence, evidence, payload_sha256, voted_at
     from approval_votes where workspace_id = $1 and request_id = any ($2) order by vote_id`,
    [workspaceId, requestIds],
  )

export const insertVote = (
  tx: Tx,
  workspaceId: string,
  vote: Omit<VoteRow, 'voted_at'> & { usage?: Json },
): Promise<VoteRow> =>
  tx.row<VoteRow>(
    `insert into approval_votes (workspace_id, vote_id, request_id, voter_kind, voter_id, voter_name, voter_role, decision, comment, rationale, confidence,
       evidence, usage, payload_sha256)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     returning vote_id, request_id, voter_kind, voter_id, voter_name, voter_role, decision, comment, rationale, confidence, evidence, payload_sha256, voted_at`,
    [
      workspaceId,
      vote.vote_id,
      vote.request_id,
      vote.voter_kind,
      vote.voter_id,
      vote.voter_name,
      vote.voter_role,
      vote.decision,
      vote.comment,
      vote.rationale,
      vote.confidence,
      vote.evidence === null ? null : JSON.stringify(vote.evidence),
      vote.usage === undefined ? null : JSON.stringify(vote.usage),
      vote.payload_sha256,
    ],
  )

/** Compares each agent's vote with the decision of the people. Abstentions do not count. */
export const recordAgreement = (tx: Tx, gate: Gate, outcome: 'approved' | 'rejected'): Promise<number> =>
  tx.count(
    `insert into agent_agreement (workspace_id, agent, workflow_id, node_id, votes, agreed)
     select $1, voter_id, $3, $4, 1, case when decision = $5 then 1 else 0 end from approval_votes
     where workspace_id = $1 and request_id = $2 and voter_kind = 'agent' and decision <> 'abstain'
     on conflict (workspace_id, agent, workflow_id, node_id) do update set votes = agent_agreement.votes + 1, agreed = agent_agreement.agreed + excluded.agreed`,
    [gate.workspace_id, gate.request_id, gate.workflow_id, gate.node_id, outcome === 'approved' ? 'approve' : 'reject'],
  )

export type AgreementRow = { agent: string; workflow_id: string; node_id: string; votes: number; agreed: number }

export const listAgreement = (
  tx: Tx,
  workspaceId: string,
  workflowId: string | null,
  after: readonly [agent: string, workflowId: string, nodeId: string] | null,
  limit: number,
): Promise<AgreementRow[]> =>
  tx.rows<AgreementRow>(
    `select agent, workflow_id, node_id, votes, agreed from agent_agreement
     where workspace_id = $1 and ($2::uuid is null or workflow_id = $2) and ($3::text is null or (agent, workflow_id, node_id) > ($3, $4::uuid, $5))
     order by agent, workflow_id, node_id limit $6`,
    [workspaceId, workflowId, after?.[0] ?? null, after?.[1] ?? null, after?.[2] ?? null, limit + 1],
  )

/** Returns how often the agents agreed with people at these gates so far. */
export const listAgreementAt = (tx: Tx, workspaceId: string, gates: readonly Gate[]): Promise<AgreementRow[]> =>
  tx.rows<AgreementRow>(
    `select agent, workflow_id, node_id, votes, agreed from agent_agreement
     where workspace_id = $1 and (workflow_id, node_id) in (select * from unnest($2::uuid[], $3::text[]))`,
    [workspaceId, gates.map(({ workflow_id }) => workflow_id), gates.map(({ node_id }) => node_id)],
  )
