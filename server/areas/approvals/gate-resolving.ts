import type { Settled } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import { type GateDependencies, inWorkspace } from './gate-dependencies.ts'
import { NO_LONGER_ASKED, reportIfStuck, settleNotices } from './gate-notices.ts'
import { outcomeInWords } from './outcome-words.ts'
import { readStanding, readStandings } from './standings.ts'
import * as store from './store.ts'
import { decideGate } from './tally.ts'
import { voteJson } from './view.ts'
import * as voting from './voting-store.ts'

// A gate is closed by votes, by its due time, or with its execution. The engine is told in the same transaction.

const RECHECKED_AT_ONCE = 50

/** Closes the gate with what it counts as, and lets the execution go on. */
export async function resolve(
  { engine, changedDatasets }: Pick<GateDependencies, 'engine' | 'changedDatasets'>,
  tx: Tx,
  gate: store.Gate,
  status: 'approved' | 'rejected' | 'expired',
  outcome: 'approved' | 'rejected',
): Promise<void> {
  const to = {
    workspaceId: gate.workspace_id,
    executionId: gate.execution_id,
    key: `gate:${gate.request_id}:resolved`,
  }
  const changed = await changedDatasets(tx, gate.workspace_id, gate.execution_id)
  if (changed) {
    await store.closeGate(tx, gate.workspace_id, gate.request_id, 'cancelled', null)
    await settleNotices(tx, gate.workspace_id, [gate.request_id], NO_LONGER_ASKED)
    engine().send(tx, to, {
      type: 'node.failed',
      nodePath: gate.node_path,
      error: { code: 'dataset_changed', ...changed },
    })
    return
  }
  const closed = await store.closeGate(tx, gate.workspace_id, gate.request_id, status, outcome)
  if (gate.workflow_id !== null && status !== 'expired') await voting.recordAgreement(tx, gate, outcome)
  const votes = await voting.listVotes(tx, gate.workspace_id, [gate.request_id])
  await settleNotices(tx, gate.workspace_id, [gate.request_id], outcomeInWords(closed, votes))
  engine().send(tx, to, outcomeWith(closed, votes))
}

/** What its execution is told of a gate that is resolved. */
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

/** After a vote: does the gate open, close, or stand? */
export async function settle(deps: GateDependencies, tx: Tx, gate: store.Gate): Promise<void> {
  const standing = await readStanding(tx, gate)
  const decision = decideGate(standing)
  if (decision !== 'open') return resolve(deps, tx, gate, decision, decision)
  return reportIfStuck(tx, standing)
}

/** The execution has ended, or the node at `path`: what it still asked is void. */
export async function cancelOpen(tx: Tx, workspaceId: string, executionId: string, path?: string): Promise<void> {
  const open = await store.lockOpenGates(tx, workspaceId, executionId, path)
  for (const { request_id } of open) await store.closeGate(tx, workspaceId, request_id, 'cancelled', null)
  const ids = open.map(({ request_id }) => request_id)
  await settleNotices(tx, workspaceId, ids, NO_LONGER_ASKED)
}

/**
 * Somebody left: gates that only waited for their vote open, those that nobody can open any more are reported. A few at a
 * time, so that no vote waits for the whole workspace. Gates that a vote has locked at this moment are left for the next look,
 * and the request for it stays until none is left.
 */
export async function recheckWorkspace(deps: GateDependencies, workspaceId: string): Promise<void> {
  const asked = await deps.db.tenant(inWorkspace(workspaceId), async (tx) => {
    const rows = await tx.rows<{ recheck_id: number }>('select recheck_id from gate_rechecks where workspace_id = $1', [
      workspaceId,
    ])
    // One that is being opened may have counted on those who left, and is not seen before its transaction ends.
    await store.awaitOpenings(tx, workspaceId)
    return rows
  })
  let lockedByOthers = false
  for (let after: string | null = null; ; ) {
    const batch = await deps.db.tenant(inWorkspace(workspaceId), async (tx) => {
      const ids = await store.listOpenGateIds(tx, workspaceId, after, RECHECKED_AT_ONCE)
      const locked = await store.lockFreeGates(tx, workspaceId, ids)
      for (const standing of await readStandings(tx, locked)) {
        if (decideGate(standing) === 'approved') await resolve(deps, tx, standing.gate, 'approved', 'approved')
        else await reportIfStuck(tx, standing)
      }
      return { ids, locked: locked.length }
    })
    // One that was closed meanwhile counts as locked, too: the next look finds it gone.
    if (batch.locked < batch.ids.length) lockedByOthers = true
    if (batch.ids.length < RECHECKED_AT_ONCE) break
    after = batch.ids.at(-1)!
  }
  if (lockedByOthers) return
  await deps.db.tenant(inWorkspace(workspaceId), (tx) =>
    tx.count('delete from gate_rechecks where workspace_id = $1 and recheck_id = any ($2)', [
      workspaceId,
      asked.map(({ recheck_id }) => recheck_id),
    ]),
  )
}
