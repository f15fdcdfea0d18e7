import { createHash } from 'node:crypto'
import { canonicalText } from '#model/canonical'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { whyNotVote } from './may-vote.ts'
import { editInWords, outcomeInWords } from './outcome-words.ts'
import { findAsked } from './question-store.ts'
import * as store from './store.ts'
import { readVotingState } from './voting-state.ts'
import type { VoteRow } from './voting-store.ts'

// A gate or question as shown to a person who opens it from a message instead of the console.

export type GateOrQuestion = {
  kind: 'approval' | 'clarification'
  title: string
  /** The content under review; null for a question. */
  payload: Json
  /** The schema of the answer; null for a gate. */
  schema: Json
  /** The hash of exactly the content that is shown. */
  sha256: string
  executionId: string
  status: 'open' | 'approved' | 'rejected' | 'expired' | 'cancelled' | 'answered'
  /** How the gate or question ended, and who decided it; null while it is open. */
  outcome: string | null
  /** The vote or answer that this person has already given. */
  own: string | null
  /** Why the person may not answer; null if they may. */
  refusal: string | null
  dueAt: Date | null
}

export async function readGateForPerson(
  tx: Tx,
  workspaceId: string,
  requestId: string,
  userId: string,
): Promise<GateOrQuestion | undefined> {
  const gate = await store.findGate(tx, workspaceId, requestId)
  if (!gate) return undefined
  const standing = await readVotingState(tx, gate)
  const vote = standing.votes.find(({ voter_kind, voter_id }) => voter_kind === 'human' && voter_id === userId)
  return {
    kind: 'approval',
    title: gate.title,
    payload: gate.payload,
    schema: null,
    sha256: gate.payload_sha256,
    executionId: gate.execution_id,
    status: gate.status,
    outcome: gate.status === 'open' ? null : await outcomeFor(tx, gate, standing.votes),
    own: vote?.decision ?? null,
    refusal: vote ? null : whyNotVote(standing, userId),
    dueAt: gate.due_at,
  }
}

async function outcomeFor(tx: Tx, gate: store.Gate, votes: VoteRow[]): Promise<string> {
  if (gate.replaced_by === null) return outcomeInWords(gate, votes)
  const next = await store.findGate(tx, gate.workspace_id, gate.replaced_by)
  return editInWords(next?.edited_by_name ?? 'Somebody')
}

export async function readQuestionForPerson(
  tx: Tx,
  workspaceId: string,
  clarificationId: string,
  userId: string,
): Promise<GateOrQuestion | undefined> {
  const row = await findAsked(tx, workspaceId, clarificationId, userId)
  if (!row) return undefined
  const outcomes = {
    open: null,
    answered: row.answered_by_name === null ? 'Answered by somebody else' : `Answered by ${row.answered_by_name}`,
    expired: 'The time to answer has passed',
    cancelled: 'Withdrawn: the execution no longer waits for it',
  }
  return {
    kind: 'clarification',
    title: row.question,
    payload: null,
    schema: row.schema,
    sha256: createHash('sha256')
      .update(canonicalText({ question: row.question, schema: row.schema }))
      .digest('hex'),
    executionId: row.execution_id,
    status: row.status,
    outcome: outcomes[row.status],
    own: null,
    refusal: row.named ? null : 'The question is addressed to somebody else.',
    dueAt: row.due_at,
  }
}
