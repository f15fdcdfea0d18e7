import { type NodeCall, NodeFailure, type NodeKind, type NodeResult } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'

/**
 * Replaces a node that must not run, and returns a pinned, recorded or mocked answer. Saved definitions of users
 * cannot name it; only the definition of a trial or of a suite run contains it. The answer is JSON text, so no
 * expression in it is ever evaluated.
 */
export const TRIAL_ANSWER = 'trial.answer'

/** The answer of a node in a live run of a suite. */
export type RecordedAnswer = { output: Json; port: string | null } | { error: { code: string; message: string } }

/**
 * In a suite run: returns the answer recorded for this node and these arguments. If there is none and `exactly` is
 * false, returns the answer of the node to other arguments.
 */
export type FindRecorded = (
  call: Pick<NodeCall, 'workspaceId' | 'executionId' | 'nodePath' | 'triggerId'>,
  asked: { type: string; args: JsonObject; exactly: boolean },
) => Promise<RecordedAnswer | undefined>

/** How a suite run answers: from the record, otherwise with the mocked answer (`mock`) or with a failure (`pinned`). */
export type FromRecord = 'mock' | 'pinned'

const NOT_RECORDED = 'nothing is recorded for this node with these arguments; run the suite once with effects "live"'

const resultOf = (answer: RecordedAnswer): NodeResult => {
  if ('error' in answer) throw new NodeFailure(answer.error.code, answer.error.message, { retryable: false })
  return { output: answer.output, ...(answer.port !== null && { port: answer.port }) }
}

export const makeTrialAnswer = (findRecorded: FindRecorded): NodeKind => ({
  descriptor: {
    type: TRIAL_ANSWER,
    kind: 'capability',
    group: 'control',
    title: 'Answer of a trial',
    description: 'Gives a pinned, recorded or mocked answer in place of another node.',
    icon: 'flask-conical',
    colour: '#64748b',
    keywords: [],
    args_schema: { type: 'object' },
    output_schema: {},
    ports: ['out'],
    effect: 'pure',
    defaults: {},
  },
  async run(call) {
    const { args } = call
    if (args.record !== undefined) {
      const exactly = args.record === 'pinned'
      const asked = { type: String(args.of), args: (args.would ?? {}) as JsonObject, exactly }
      const recorded = await findRecorded(call, asked)
      if (recorded) return resultOf(recorded)
      if (exactly) throw new NodeFailure('not_recorded', NOT_RECORDED, { retryable: false })
    }
    const output = JSON.parse(String(args.answer)) as Json
    return { output, ...(typeof args.port === 'string' && { port: args.port }) }
  },
})
