import type { Tx } from '#platform/db/pool'
import { deliverEvent, settleNoticesAbout } from '#platform/events'
import { toWire } from '#platform/ids'
import { dueBody } from './due-text.ts'
import * as store from './store.ts'
import { gateIsSatisfiable, type VotingState } from './tally.ts'
import { readVotingState } from './voting-state.ts'

// Notifications about a gate.

export async function notifyVoters(tx: Tx, gate: store.Gate, kind: string, title: string): Promise<void> {
  const standing = await readVotingState(tx, gate)
  await notify(tx, standing, { kind, title, to: peopleLeft(standing) })
}

/** Returns the people who have not voted yet. */
const peopleLeft = ({ outstanding }: VotingState): string[] =>
  outstanding.filter(({ kind }) => kind === 'human').map(({ id }) => id)

/** Returns the people who may vote but were not notified, because they became voters after the gate was opened. */
export const lateVoters = (standing: VotingState): string[] => {
  const { notified } = standing.gate
  return notified === null ? [] : peopleLeft(standing).filter((id) => !notified.includes(id))
}

/** Sends them the notice that the others got when the gate was opened. */
export async function notifyLateVoters(tx: Tx, standing: VotingState): Promise<void> {
  const to = lateVoters(standing)
  if (to.length > 0) await notify(tx, standing, { kind: 'approval.requested', title: voteNeeded(standing.gate), to })
}

export const voteNeeded = ({ title }: Pick<store.Gate, 'title'>): string => `Your vote is needed: ${title}`

type Notice = { kind: string; title: string; to: string[] }

const idsOf = ({ voters }: VotingState): string[] => voters.map(({ user_id }) => user_id)

async function notify(tx: Tx, standing: VotingState, { kind, title, to }: Notice): Promise<void> {
  const { gate } = standing
  store.sendNotified(tx, gate, [...new Set([...(gate.notified ?? []), ...idsOf(standing)])])
  await deliverEvent(tx, {
    workspaceId: gate.workspace_id,
    kind,
    title,
    ...dueBody(gate.due_at),
    data: { request_id: toWire('apr', gate.request_id), execution_id: toWire('exe', gate.execution_id) },
    link: `/approvals/${toWire('apr', gate.request_id)}`,
    to,
  })
}

/** Updates the notifications of everyone who was asked with the outcome. */
export const settleNotices = (tx: Tx, workspaceId: string, requestIds: string[], outcome: string): Promise<void> =>
  settleNoticesAbout(
    tx,
    workspaceId,
    requestIds.map((id) => toWire('apr', id)),
    outcome,
  )

export const NO_LONGER_ASKED = 'Withdrawn: the execution no longer waits for it'

const isStuck = (standing: VotingState): boolean => !gateIsSatisfiable(standing)

/** Whether `reportIfStuck` has anything to do. */
export const isToReport = (standing: VotingState): boolean => isStuck(standing) !== standing.gate.unsatisfiable

/** Notifies the owners of the workspace and of the workflow if no remaining person can open the gate. */
export async function reportIfStuck(tx: Tx, standing: VotingState): Promise<void> {
  if (!isToReport(standing)) return
  const { gate } = standing
  const stuck = isStuck(standing)
  await tx.count('update approval_requests set unsatisfiable = $3 where workspace_id = $1 and request_id = $2', [
    gate.workspace_id,
    gate.request_id,
    stuck,
  ])
  if (!stuck) return
  // Those who come back are asked again: the gate waits for them alone.
  if (gate.notified !== null) store.sendNotified(tx, gate, idsOf(standing))
  const owners = await tx.rows<{ user_id: string }>(
    `select user_id from memberships where workspace_id = $1 and role = 'owner'
     union select owner_id from workflows where workspace_id = $1 and workflow_id = $2`,
    [gate.workspace_id, gate.workflow_id],
  )
  await deliverEvent(tx, {
    workspaceId: gate.workspace_id,
    kind: 'approval.unsatisfiable',
    title: `Nobody can approve "${gate.title}" any more`,
    body: 'The approvers of its policy have left or have already voted. Add one of them again, or cancel the execution.',
    data: { request_id: toWire('apr', gate.request_id), execution_id: toWire('exe', gate.execution_id) },
    link: `/approvals/${toWire('apr', gate.request_id)}`,
    to: owners.map(({ user_id }) => user_id),
  })
}
