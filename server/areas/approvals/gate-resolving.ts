import type { Settled } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { GateDependencies } from './gate-dependencies.ts'
import {
  isToReport,
  lateVoters,
  NO_LONGER_ASKED,
  notifyLateVoters,
  reportIfStuck,
  settleNotices,
} from './gate-notices.ts'
import { outcomeInWords } from './outcome-words.ts'
import type { Rechecked } from './recheck.ts'
import * as store from './store.ts'
import { decideGate, type VotingState } from './tally.ts'
import { voteJson } from './view.ts'
import { readVotingState, readVotingStates } from './voting-state.ts'
import * as voting from './voting-store.ts'

// Votes, the due time or the end of the execution close a gate. The engine is notified in the same transaction, before
// the gate is closed. Notices come last: they lock the feeds of people, for which transactions about all other
// executions wait.

const nothing = async (): Promise<void> => {}

/** Closes the gate with this outcome and resumes the execution. `beforeNotices` runs before the notices are settled. */
export async function resolve(
  { engine, changedDatasets }: Pick<GateDependencies, 'engine' | 'changedDatasets'>,
  tx: Tx,
  gate: store.Gate,
  status: 'approved' | 'rejected' | 'expired',
  outcome: 'approved' | 'rejected',
  beforeNotices = nothing,
): Promise<void> {
  const to = {
    workspaceId: gate.workspace_id,
    executionId: gate.execution_id,
    key: `gate:${gate.request_id}:resolved`,
  }
  const changed = await changedDatasets(tx, gate.workspace_id, gate.execution_id)
  if (changed) {
    engine().send(tx, to, {
      type: 'node.failed',
      nodePath: gate.node_path,
      error: { code: 'dataset_changed', ...changed },
    })
    await store.closeGate(tx, gate.workspace_id, gate.request_id, 'cancelled', null)
    await beforeNotices()
    return settleNotices(tx, gate.workspace_id, [gate.request_id], NO_LONGER_ASKED)
  }
  const [votes, resolved_at] = await Promise.all([
    voting.listVotes(tx, gate.workspace_id, [gate.request_id]),
    store.transactionTime(tx),
  ])
  const closed = { ...gate, status, outcome, resolved_at }
  engine().send(tx, to, outcomeWith(closed, votes))
  await store.closeGate(tx, gate.workspace_id, gate.request_id, status, outcome)
  if (gate.workflow_id !== null && status !== 'expired') await voting.recordAgreement(tx, gate, outcome)
  await beforeNotices()
  await settleNotices(tx, gate.workspace_id, [gate.request_id], outcomeInWords(closed, votes))
}

/** Returns the message to the execution about its resolved gate. */
export const outcomeOf = async (tx: Tx, gate: store.Gate): Promise<Settled> =>
  outcomeWith(gate, await voting.listVotes(tx, gate.workspace_id, [gate.request_id]))

function outcomeWith(gate: store.Gate, cast: voting.VoteRow[]): Settled {
  const { status, payload_sha256, edited_by, edited_by_name } = gate
  const outcome = gate.outcome!
  const request_id = toWire('apr', gate.request_id)
  const votes = cast.map(voteJson)
  return {
    type: 'approval.resolved',
    nodePath: gate.node_path,
    outcome,
    output: {
      status,
      outcome,
      request_id,
      payload_sha256,
      votes,
      ...(edited_by !== null && {
        payload: gate.payload,
        edited_by: { id: toWire('usr', edited_by), name: edited_by_name },
      }),
    },
    data: { node_id: gate.node_id, request_id, status, outcome, resolved_at: gate.resolved_at!.toISOString() },
  }
}

/**
 * Resolves the gate after a vote if the votes decide it. Otherwise reports a gate that can no longer open. `noticeOwn`
 * settles the notices of the voter, before those of the others if the gate is resolved.
 */
export async function settle(
  deps: GateDependencies,
  tx: Tx,
  gate: store.Gate,
  noticeOwn: () => Promise<void>,
): Promise<void> {
  const standing = await readVotingState(tx, gate)
  const decision = decideGate(standing)
  if (decision !== 'open') return resolve(deps, tx, gate, decision, decision, noticeOwn)
  await reportIfStuck(tx, standing)
  await noticeOwn()
}

/** Cancels the open gates of the execution, or of the node at `path`, after it has ended. */
export async function cancelOpen(tx: Tx, workspaceId: string, executionId: string, path?: string): Promise<void> {
  const open = await store.lockOpenGates(tx, workspaceId, executionId, path)
  for (const { request_id } of open) await store.closeGate(tx, workspaceId, request_id, 'cancelled', null)
  const ids = open.map(({ request_id }) => request_id)
  await settleNotices(tx, workspaceId, ids, NO_LONGER_ASKED)
}

const isToChange = (standing: VotingState): boolean =>
  decideGate(standing) === 'approved' || isToReport(standing) || lateVoters(standing).length > 0

/**
 * After a person has left or joined: opens gates that waited only for the vote of a person who left, notifies new
 * voters, and reports gates that no remaining person can open.
 */
export const recheckedGates = (deps: GateDependencies): Rechecked => ({
  listOpenIds: store.listOpenGateIds,
  async look(tx, workspaceId, ids) {
    // A vote that has not been committed may not know yet that the person has left: its gate is locked.
    const locked = await store.lockFreeGates(tx, workspaceId, ids)
    const changing = (await readVotingStates(tx, locked)).filter(isToChange)
    return {
      changing: changing.map(({ gate }) => gate.request_id),
      // A gate that was closed in the meantime also counts as locked. The next check will not find it.
      lockedByOthers: locked.length < ids.length,
    }
  },
  async change(tx, workspaceId, id) {
    const [gate] = await store.lockFreeGates(tx, workspaceId, [id])
    if (!gate) return false
    const standing = await readVotingState(tx, gate)
    if (decideGate(standing) === 'approved') await resolve(deps, tx, gate, 'approved', 'approved')
    else {
      await notifyLateVoters(tx, standing)
      await reportIfStuck(tx, standing)
    }
    return true
  },
})
