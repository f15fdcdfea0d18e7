import { type GateOrQuestion, readGateForPerson, readQuestionForPerson } from '#areas/approvals/gate-or-question'
import type { Questions } from '#areas/approvals/questions'
import type { Approvals } from '#areas/approvals/service'
import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import { fromWire, toWire } from '#platform/ids'
import * as store from './store.ts'

export type AnswerParts = { approvals: () => Pick<Approvals, 'castVoteOf'>; questions: () => Pick<Questions, 'answer'> }

/** Reads the gate or question of a message. Returns undefined if the message has none, or if it was deleted. */
export async function readGateOrQuestion(
  tx: Tx,
  { workspace_id, user_id, matter }: Pick<store.Message, 'workspace_id' | 'user_id' | 'matter'>,
): Promise<GateOrQuestion | undefined> {
  if (matter === null) return undefined
  const gate = fromWire('apr', matter)
  if (gate !== undefined) return readGateForPerson(tx, workspace_id, gate, user_id)
  const question = fromWire('clr', matter)
  return question === undefined ? undefined : readQuestionForPerson(tx, workspace_id, question, user_id)
}

export type GivenAnswer = {
  decision?: 'approve' | 'reject' | 'abstain' | undefined
  comment?: string | null | undefined
  response?: unknown
}

/**
 * Records the answer of the person to whom the message was sent. The caller has verified who the person is. Rights,
 * four eyes and the payload are checked as for a signed-in user, at the time of the answer and not when the message was
 * sent.
 */
export async function answerGateOrQuestion(
  parts: AnswerParts,
  tx: Tx,
  message: store.Addressed,
  matter: GateOrQuestion,
  given: GivenAnswer,
  sha256: string,
  evidence: JsonObject = { via: 'mail', reached_at: maskedAddress(message) },
): Promise<void> {
  const { workspace_id: workspaceId, user_id, name } = message
  if (sha256 !== matter.sha256 || (message.payload_sha256 ?? sha256) !== sha256)
    throw problem('payload_changed', 'It has changed since this message was sent. Look at it in the console.')
  if (matter.kind === 'approval') {
    if (given.decision === undefined) throw invalid([{ path: '/decision', message: 'is needed for a gate' }])
    await parts.approvals().castVoteOf(
      tx,
      { user_id, name },
      {
        workspaceId,
        requestId: fromWire('apr', message.matter!)!,
        decision: given.decision,
        comment: given.comment ?? null,
        payload_sha256: sha256,
        evidence,
      },
    )
  } else {
    if (given.response === undefined) throw invalid([{ path: '/response', message: 'is needed for a question' }])
    await parts
      .questions()
      .answer(
        tx,
        workspaceId,
        matter.executionId,
        { response: given.response as Json, clarificationId: fromWire('clr', message.matter!)! },
        { id: toWire('usr', user_id), name, userId: user_id },
        ({ named }) => named,
      )
  }
  await store.markUsed(tx, message)
}

/** Shortens an address so that its owner recognises it but other people do not learn it. */
export function maskedAddress({ email }: Pick<store.Addressed, 'email'>): string {
  const [local = '', host = ''] = email.split('@')
  return `${local.slice(0, 1)}…@${host}`
}
