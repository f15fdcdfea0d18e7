import type { Json } from '#model/definition'
import { toStorable } from '#model/storable'
import type { Tx } from '#platform/db/pool'
import { hintFlow } from './flow/decider.ts'
import { gateOf } from './flow/gate.ts'
import { initiatorsOf } from './initiators.ts'
import { labelFields } from './journal/encode.ts'
import { nudge } from './nudges.ts'
import type { Start } from './ports.ts'
import { askedOf } from './start.ts'
import { hasBadText } from './text.ts'

const storableInput = (input: Json): string => {
  const text = JSON.stringify(input)
  return hasBadText(text) ? JSON.stringify(toStorable(input)) : text
}

export type EnqueueOutcome = 'accepted' | 'duplicate' | 'queue_full' | 'unknown'

/**
 * Starts an execution in the transaction of the caller. A worker claims the execution after the commit. The input may
 * come from a service, which would send the same text again, so characters that cannot be stored are left out.
 */
export async function enqueue(
  tx: Tx,
  start: Omit<Start, 'executionId' | 'idempotency'> & { executionId: string },
): Promise<EnqueueOutcome> {
  const gate =
    start.flow && start.workflowId !== null ? gateOf(start.flow, askedOf(start, start.workflowId)) : undefined
  const { outcome } = await tx.row<{ outcome: EnqueueOutcome }>('select engine.start($1, $2, $3, $4) as outcome', [
    start.workspaceId,
    start.executionId,
    storableInput(start.input),
    JSON.stringify({
      definition_ref: start.definitionRef,
      workflow_id: start.workflowId,
      version_id: start.versionId,
      system_slug: start.systemSlug ?? null,
      timeout_s: start.timeoutS ?? null,
      trigger_kind: start.trigger.kind,
      trigger_id: start.trigger.id,
      started_by: start.startedBy,
      principal_id: start.principalId ?? null,
      initiated_by: initiatorsOf(start),
      tell_end: start.tellEnd ?? false,
      ...(start.labels && labelFields(start.labels)),
      ...(start.startAt && { start_at: start.startAt.getTime() }),
      ...(start.startInS !== undefined && { start_in: start.startInS }),
      ...gate,
    }),
  ])
  if (outcome === 'accepted' && gate && start.workflowId !== null) hintFlow(tx, start.workspaceId, start.workflowId)
  else if (outcome === 'accepted') nudge(tx, start.executionId)
  return outcome
}
