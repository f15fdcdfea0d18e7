import { NodeFailure } from '#engine/node'
import { approval } from '#engine/nodes/approval'
import { checkArgs } from '#engine/nodes/kind'
import type { Opened, WaitRequest } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import { newId, toWire } from '#platform/ids'
import { reasonToExclude, withKeyHolders } from './excluded.ts'
import { type GateDependencies, inWorkspace } from './gate-dependencies.ts'
import { payloadSha256 } from './gate-editing.ts'
import { NO_LONGER_ASKED, notifyVoters, reportIfStuck, settleNotices, voteNeeded } from './gate-notices.ts'
import { outcomeOf } from './gate-resolving.ts'
import { openedOnce } from './opened-once.ts'
import { given, readPolicy, toRows } from './policy.ts'
import * as store from './store.ts'
import { gateIsSatisfiable, isStuckByExclusion } from './tally.ts'
import { readVotingState } from './voting-state.ts'
import * as voting from './voting-store.ts'

/** The share of the time to the due time after which a reminder is sent. */
const REMIND_AT = 0.5

const remindAt = (gate: store.Gate): Date | null =>
  gate.due_at === null || gate.reminded
    ? null
    : new Date(gate.opened_at.getTime() + (gate.due_at.getTime() - gate.opened_at.getTime()) * REMIND_AT)

const opened = (gate: store.Gate): Opened => ({
  data: {
    request_id: toWire('apr', gate.request_id),
    title: gate.title,
    payload_sha256: gate.payload_sha256,
    ...(gate.due_at && { due_at: gate.due_at.toISOString() }),
  },
  dueAt: remindAt(gate) ?? gate.due_at,
})

/**
 * Opens a gate when an execution reaches an approval node. A repeated call after a crash returns the same gate. With
 * a different payload or version it opens a new gate.
 */
export async function openGate(deps: GateDependencies, wait: WaitRequest): Promise<Opened> {
  checkArgs(approval.descriptor, given(wait.args))
  const policy = readPolicy(wait.args.policy)
  const payload = wait.args.payload ?? null
  const sha256 = payloadSha256(payload)
  const open = () =>
    deps.db.tenant(inWorkspace(wait.workspaceId), async (tx) => {
      // Both queries are sent in one round trip.
      const [, present] = await Promise.all([
        store.beginOpening(tx, wait.workspaceId),
        store.lockLatestGate(tx, wait.workspaceId, wait.executionId, wait.nodePath),
      ])
      // After a crash the node may open a gate that was opened, or even resolved, before the journal event was written:
      // this is the same gate. If people have edited the call since, it is the gate for the edited call.
      if (
        present &&
        (present.asked_sha256 ?? present.payload_sha256) === sha256 &&
        present.version_id === wait.versionId
      )
        return present.outcome === null
          ? opened(present)
          : { ...opened(present), settled: await outcomeOf(tx, present) }
      if (present?.status === 'open') {
        await store.closeGate(tx, wait.workspaceId, present.request_id, 'cancelled', null)
        await settleNotices(tx, wait.workspaceId, [present.request_id], NO_LONGER_ASKED)
      }
      const inserted = await store.insertGate(tx, {
        workspace_id: wait.workspaceId,
        request_id: newId(),
        execution_id: wait.executionId,
        workflow_id: wait.workflowId,
        version_id: wait.versionId,
        node_path: wait.nodePath,
        node_id: wait.nodeId,
        title: String(wait.args.title ?? wait.nodeId),
        payload,
        payload_sha256: sha256,
        policy,
        started_by: wait.startedBy,
        initiators: await withKeyHolders(tx, wait.initiatedBy, wait.startedBy),
        editable: wait.editable ?? null,
      })
      await addApprovers(tx, inserted, policy.approvers)
      const gate = await escalateIfExcluded(tx, inserted)
      await notifyVoters(tx, gate, 'approval.requested', voteNeeded(gate))
      await reportIfStuck(tx, await readVotingState(tx, gate))
      await deps.onOpened?.(tx, gate)
      return opened(gate)
    })
  const result = await openedOnce('approval_requests_one_open', open)
  if (policy.approvers.some(({ kind }) => kind === 'agent')) deps.onAgentsAsked()
  return result
}

/**
 * If all approvers are excluded because they led to the execution, asks the people in `escalate_to` at once. If none
 * of them can vote either, the node fails with the reason, except for a gate that is approved at its due time.
 */
async function escalateIfExcluded(tx: Tx, gate: store.Gate): Promise<store.Gate> {
  const { policy } = gate
  let standing = await readVotingState(tx, gate)
  if (!isStuckByExclusion(standing)) return gate
  if (policy.on_due === 'escalate') {
    const escalated = await store.markEscalated(tx, gate)
    await addApprovers(tx, escalated, policy.escalate_to)
    standing = await readVotingState(tx, escalated)
    if (gateIsSatisfiable(standing)) return escalated
  }
  if (policy.on_due === 'approve' && policy.due_in_s !== null) return gate
  const people = standing.excluded.map(({ user_id, name }) => `${name} ${reasonToExclude(gate, user_id)}`)
  throw new NodeFailure(
    'approvers_excluded',
    `No person may approve "${gate.title}": ${people.join('; ')}. Add another approver, or set allow_self.`,
    {
      retryable: false,
      details: {
        excluded: standing.excluded.map(({ user_id, name }) => ({ user_id: toWire('usr', user_id), name })),
      },
    },
  )
}

export async function addApprovers(
  tx: Tx,
  gate: store.Gate,
  approvers: ReturnType<typeof readPolicy>['approvers'],
): Promise<void> {
  const rows = toRows(approvers)
  await voting.insertApprovers(tx, gate.workspace_id, gate.request_id, rows)
  const agents = rows.flatMap(({ agent }) => (agent === null ? [] : [agent]))
  if (agents.length === 0) return
  await tx.count(
    'insert into agent_reviews (workspace_id, request_id, agent) select $1, $2, unnest($3::text[]) on conflict do nothing',
    [gate.workspace_id, gate.request_id, agents],
  )
}
