import type { CallBounds } from '#engine/agents/call-bounds'
import type { Policy } from '#model/approval'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { columns, type Gate, type GateInitiator } from './store.ts'

// A gate for an edited call replaces the gate for the previous call: the same people may vote, with the same due time.

export const readBounds = async (tx: Tx, gate: Gate): Promise<CallBounds | null> =>
  (
    await tx.row<{ editable: CallBounds | null }>(
      'select editable from approval_requests where workspace_id = $1 and request_id = $2',
      [gate.workspace_id, gate.request_id],
    )
  ).editable

export type Successor = {
  request_id: string
  payload: Json
  payload_sha256: string
  policy: Policy
  initiators: GateInitiator[]
  editor: { user_id: string; name: string }
  comment: string | null
}

/** The gate `before` must be closed. */
export async function insertSuccessor(tx: Tx, before: Gate, next: Successor): Promise<Gate> {
  const at = [before.workspace_id, before.request_id, next.request_id]
  const gate = await tx.row<Gate>(
    `insert into approval_requests (workspace_id, request_id, execution_id, workflow_id, version_id, node_path, node_id, title, started_by, due_at,
       escalated, reminded, editable, asked_sha256, edits, replaces, payload, payload_sha256, policy, initiators, edited_by, edited_by_name, edit_comment)
     select workspace_id, $3::uuid, execution_id, workflow_id, version_id, node_path, node_id, title, started_by, due_at,
       escalated, reminded, editable, coalesce(asked_sha256, payload_sha256), edits + 1, request_id, $4::json, $5, $6::jsonb, $7::jsonb, $8::uuid, $9, $10
     from approval_requests where workspace_id = $1 and request_id = $2
     returning ${columns}`,
    [
      ...at,
      JSON.stringify(next.payload),
      next.payload_sha256,
      JSON.stringify(next.policy),
      JSON.stringify(next.initiators),
      next.editor.user_id,
      next.editor.name,
      next.comment,
    ],
  )
  await tx.count('update approval_requests set replaced_by = $3 where workspace_id = $1 and request_id = $2', at)
  await tx.count(
    `insert into approval_approvers (workspace_id, request_id, position, kind, ref_id, role, agent, agent_name, instructions, model)
     select workspace_id, $3::uuid, position, kind, ref_id, role, agent, agent_name, instructions, model
     from approval_approvers where workspace_id = $1 and request_id = $2`,
    at,
  )
  await tx.count(
    `insert into approval_delegations (workspace_id, request_id, from_user, to_user)
     select workspace_id, $3::uuid, from_user, to_user from approval_delegations where workspace_id = $1 and request_id = $2`,
    at,
  )
  return gate
}

/** Requests a review of the edited call from every agent of the policy. Returns whether the policy has an agent. */
export const askAgents = async (tx: Tx, { workspace_id, request_id }: Gate): Promise<boolean> =>
  (await tx.count(
    `insert into agent_reviews (workspace_id, request_id, agent)
     select distinct workspace_id, request_id, agent from approval_approvers where workspace_id = $1 and request_id = $2 and kind = 'agent'`,
    [workspace_id, request_id],
  )) > 0
