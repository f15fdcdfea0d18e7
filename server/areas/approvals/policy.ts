import { NodeFailure } from '#engine/node'
import type { Approver, Policy } from '#model/approval'
import type { Json, JsonObject } from '#model/definition'
import { fromWire } from '#platform/ids'
import type { ApproverRow } from './store.ts'

/** A policy as its author wrote it, with every default filled in. The graph was validated when it was saved. */
export function readPolicy(given: Json | undefined): Policy {
  const source = (given ?? {}) as JsonObject
  const approvers = (source.approvers ?? []) as unknown as Approver[]
  if (approvers.length === 0)
    throw new NodeFailure('gate_without_approvers', 'the policy names nobody who may approve', { retryable: false })
  return {
    approvers,
    quorum: (source.quorum ?? 'any') as Policy['quorum'],
    veto: (source.veto ?? []) as string[],
    allow_self: source.allow_self === true,
    due_in_s: typeof source.due_in_s === 'number' ? source.due_in_s : null,
    on_due: (source.on_due ?? 'reject') as Policy['on_due'],
    escalate_to: (source.escalate_to ?? []) as unknown as Approver[],
  }
}

const none = { ref_id: null, role: null, agent: null, agent_name: null, instructions: null, model: null }

/** Approvers as rows. An id of another workspace finds nobody there: it is looked up among the members of this one. */
export const toRows = (approvers: Approver[]): ApproverRow[] => approvers.map(toRow)

function toRow(approver: Approver): ApproverRow {
  switch (approver.kind) {
    case 'user':
      return { ...none, kind: 'user', ref_id: fromWire('usr', approver.id) ?? null }
    case 'team':
      return { ...none, kind: 'team', ref_id: fromWire('team', approver.id) ?? null }
    case 'role':
      return { ...none, kind: 'role', role: approver.id }
    case 'agent':
      return {
        ...none,
        kind: 'agent',
        agent: approver.id,
        agent_name: approver.name ?? approver.id,
        instructions: approver.instructions ?? null,
        model: approver.model ?? null,
      }
  }
}
