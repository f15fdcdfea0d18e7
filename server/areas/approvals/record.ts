import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import * as store from './store.ts'
import { voteJson } from './view.ts'
import { listVotes } from './voting-store.ts'

/**
 * Returns the gates of an execution for the receipt: what the voters saw, under which policy, and how each of them
 * voted.
 */
export async function readGateRecords(tx: Tx, workspaceId: string, executionId: string): Promise<JsonObject[]> {
  const gates = await store.listAllGatesOfExecution(tx, workspaceId, executionId)
  const votes = await listVotes(
    tx,
    workspaceId,
    gates.map(({ request_id }) => request_id),
  )
  return gates.map((gate) => ({
    request_id: toWire('apr', gate.request_id),
    node_id: gate.node_id,
    node_path: gate.node_path,
    title: gate.title,
    payload: gate.payload,
    payload_sha256: gate.payload_sha256,
    policy: gate.policy as unknown as JsonObject,
    status: gate.status,
    outcome: gate.outcome,
    opened_at: gate.opened_at.toISOString(),
    resolved_at: gate.resolved_at?.toISOString() ?? null,
    ...(gate.replaced_by !== null && { replaced_by: toWire('apr', gate.replaced_by) }),
    ...(gate.replaces !== null &&
      gate.edited_by !== null && {
        replaces: toWire('apr', gate.replaces),
        edited_by: { id: toWire('usr', gate.edited_by), name: gate.edited_by_name },
        edit_comment: gate.edit_comment,
      }),
    votes: votes.filter(({ request_id }) => request_id === gate.request_id).map(voteJson),
  }))
}
