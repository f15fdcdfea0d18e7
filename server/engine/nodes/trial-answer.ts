import { type NodeCall, NodeFailure, type NodeKind, type NodeResult } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'

/**
 * Stands in for a node that is not to run: it gives an answer that was pinned, recorded or mocked. Definitions that people save cannot
 * name it; only the definition of a trial or of a suite's run holds it. The answer is JSON text, so that no expression in it is ever evaluated.
 */
export const TRIAL_ANSWER = 'trial.answer'

/** What a node gave in a live run of a suite. */
export type RecordedAnswer = { output: Json; port: string | null } | { error: { code: string; message: string } }

/**
 * In the run of a suite: the answer that is recorded for this node and these arguments. Where there is none: what the node gave to other
 * arguments, unless `exactly`.
 */
export type FindRecorded = (
  call: Pick<NodeCall, 'workspaceId' | 'executionId' | 'nodePath' | 'triggerId'>,
  asked: { type: string; args: JsonObject; exactly: boolean },
) => Promise<RecordedAnswer | undefined>

/** How the run of a suite answers: from the record, else with the mocked answer (`mock`) or not at all (`pinned`). */
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
