import { createHash } from 'node:crypto'
import type { WaitRequest } from '#engine/ports'
import { canonicalText } from '#model/canonical'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Tx } from '#platform/db/pool'
import { fromWire, toWire } from '#platform/ids'
import { findAsked, type Row } from './question-store.ts'

// `reuse` of a question: an earlier answer to the same node with the same key is used or offered, as long as its author
// could still give it.

export type Reuse = { key: Buffer; forS: number; use: 'take' | 'offer' }

/** An earlier answer and its origin. */
export type Earlier = {
  clarification_id: string
  execution_id: string
  answer: Json
  answered_by: string
  answered_by_name: string
  answered_at: Date
}

/** Returns null if nothing can be reused. A trial has no version, so it neither uses nor leaves answers. */
export function reuseOf({
  args,
  versionId,
  workflowId,
}: Pick<WaitRequest, 'args' | 'versionId' | 'workflowId'>): Reuse | null {
  const { key, for_s, use = 'take' } = (args.reuse ?? {}) as { key?: Json; for_s?: number; use?: Reuse['use'] }
  if (key === undefined || key === null || for_s === undefined || versionId === null || workflowId === null) return null
  return { key: createHash('sha256').update(canonicalText(key)).digest(), forS: for_s, use }
}

/** The number of earlier answers to check, newest first. */
const MAX_CANDIDATES = 5

/**
 * Finds an earlier answer for `row`, the question that is asked now. Reused answers do not count, so that no answer
 * is passed on forever.
 */
export async function findEarlier(tx: Tx, row: Row, { key, forS }: Reuse): Promise<Earlier | undefined> {
  const candidates = await tx.rows<Earlier>(
    `select clarification_id, execution_id, answer, answered_by, answered_by_name, answered_at from questions
     where workspace_id = $1 and workflow_id = $2 and node_id = $3 and reuse_key = $4 and status = 'answered' and reused_from is null
       and withdrawn_at is null and answered_at > now() - make_interval(secs => $5) and answered_by like 'usr\\_%'
     order by answered_at desc limit $6`,
    [row.workspace_id, row.workflow_id, row.node_id, key, forS, MAX_CANDIDATES],
  )
  for (const candidate of candidates) if (await couldBeGivenNow(tx, row, candidate)) return candidate
  return undefined
}

async function couldBeGivenNow(tx: Tx, row: Row, { answered_by, answer }: Earlier): Promise<boolean> {
  const userId = fromWire('usr', answered_by)
  if (userId === undefined || validateJson(row.schema, answer).length > 0) return false
  const asked = await findAsked(tx, row.workspace_id, row.clarification_id, userId)
  return asked?.named === true
}

/** Returns what the journal and `waiting_for` show about an earlier answer. */
export const provenanceOf = (earlier: Earlier): JsonObject => ({
  clarification_id: toWire('clr', earlier.clarification_id),
  execution_id: toWire('exe', earlier.execution_id),
  answered_by: { id: earlier.answered_by, name: earlier.answered_by_name },
  answered_at: earlier.answered_at.toISOString(),
})
