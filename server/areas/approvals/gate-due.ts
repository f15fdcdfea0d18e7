import { type GateDependencies, inWorkspace } from './gate-dependencies.ts'
import { notifyVoters, reportIfStuck } from './gate-notices.ts'
import { addApprovers } from './gate-opening.ts'
import { resolve } from './gate-resolving.ts'
import * as store from './store.ts'
import { readVotingState } from './voting-state.ts'

/** Handles the engine's timer: sends a reminder halfway to the due time, and applies `on_due` at the due time. */
export async function gateDue(
  deps: GateDependencies,
  wait: { workspaceId: string; executionId: string; nodePath: string },
): Promise<{ dueAt: Date | null }> {
  return deps.db.tenant(inWorkspace(wait.workspaceId), async (tx) => {
    const gate = await store.lockLatestGate(tx, wait.workspaceId, wait.executionId, wait.nodePath)
    if (gate?.status !== 'open' || gate.due_at === null) return { dueAt: null }
    const { passed } = await tx.row<{ passed: boolean }>('select $1::timestamptz <= now() as passed', [gate.due_at])
    if (!passed) {
      if (!gate.reminded) {
        await tx.count('update approval_requests set reminded = true where workspace_id = $1 and request_id = $2', [
          gate.workspace_id,
          gate.request_id,
        ])
        await notifyVoters(tx, gate, 'approval.reminder', `Still waiting for your vote: ${gate.title}`)
      }
      return { dueAt: gate.due_at }
    }
    const { on_due, escalate_to, due_in_s } = gate.policy
    if (on_due === 'escalate' && !gate.escalated && escalate_to.length > 0) {
      const escalated = await tx.row<store.Gate>(
        `update approval_requests set escalated = true, reminded = true, due_at = date_trunc('milliseconds', now() + make_interval(secs => $3)) where workspace_id = $1 and request_id = $2 returning ${store.columns}`,
        [gate.workspace_id, gate.request_id, due_in_s],
      )
      await addApprovers(tx, escalated, escalate_to)
      await notifyVoters(tx, escalated, 'approval.escalated', `Escalated to you: ${gate.title}`)
      await reportIfStuck(tx, await readVotingState(tx, escalated))
      return { dueAt: escalated.due_at }
    }
    await resolve(deps, tx, gate, 'expired', on_due === 'approve' ? 'approved' : 'rejected')
    return { dueAt: null }
  })
}
