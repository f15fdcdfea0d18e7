import { NodeFailure } from '#engine/node'
import type { Approver, Policy } from '#model/approval'
import type { Json, JsonObject } from '#model/definition'
import { fromWire } from '#platform/ids'
import type { ApproverRow } from './voting-store.ts'

/** Returns the arguments that are not null. A null argument counts as absent. */
export const given = (args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))

const owners: JsonObject = { kind: 'role', id: 'owner' }

/** Returns the author's policy with all defaults. The definition was validated when it was saved. */
export function readPolicy(given: Json | undefined): Policy {
  const source = (given ?? {}) as JsonObject
  const approvers = (source.approvers ?? []) as unknown as Approver[]
  if (approvers.length === 0)
    throw new NodeFailure('gate_without_approvers', 'the policy contains no person who may approve', {
      retryable: false,
    })
  return {
    approvers,
    quorum: (source.quorum ?? 'any') as Policy['quorum'],
    veto: (source.veto ?? []) as string[],
    allow_self: source.allow_self === true,
    due_in_s: typeof source.due_in_s === 'number' ? source.due_in_s : null,
    on_due: (source.on_due ?? 'reject') as Policy['on_due'],
    // A single approver needs no list. Without `escalate_to`, the owners of the workspace are asked, as for a question.
    escalate_to: [source.escalate_to ?? (source.on_due === 'escalate' ? owners : [])].flat() as unknown as Approver[],
  }
}

const none = { ref_id: null, role: null, agent: null, agent_name: null, instructions: null, model: null }

/**
 * Returns approvers as rows. Ids are looked up only among the members of this workspace, so an id of another
 * workspace matches no person.
 */
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

/** Returns the policy as a text, for voters who do not see it as a form. */
export function policyText({ quorum, veto, allow_self, due_in_s, on_due }: Policy): string {
  return [
    `It opens when ${quorumText(quorum)}.`,
    veto.length > 0 ? `A rejection by anybody with the role ${veto.join(' or ')} rejects it.` : '',
    allow_self ? '' : 'Nobody who led to the execution votes.',
    due_in_s === null ? '' : `If it is not decided within ${due_in_s} seconds, ${dueText[on_due]}.`,
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function quorumText(quorum: Policy['quorum']): string {
  if (quorum === 'any') return 'one person approves'
  if (quorum === 'all') return 'everybody has voted, nobody rejected and at least one person approved'
  if ('n_of' in quorum) return `there are ${quorum.n_of} approvals, at least one of them by a person`
  return `this holds over the votes: ${quorum.$cel}`
}

const dueText: Record<Policy['on_due'], string> = {
  reject: 'it counts as rejected',
  approve: 'it counts as approved',
  escalate: 'others are asked as well',
}
