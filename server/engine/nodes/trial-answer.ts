import type { NodeKind } from '#engine/node'
import type { Json } from '#model/definition'

/**
 * Stands in for a node that is not to run: it gives an answer that was pinned or mocked. Definitions that people save cannot
 * name it; only the definition of a trial holds it. The answer is JSON text, so that no expression in it is ever evaluated.
 */
export const TRIAL_ANSWER = 'trial.answer'

export const trialAnswer: NodeKind = {
  descriptor: {
    type: TRIAL_ANSWER,
    kind: 'capability',
    group: 'control',
    title: 'Answer of a trial',
    description: 'Gives a pinned or mocked answer in place of another node.',
    icon: 'flask-conical',
    colour: '#64748b',
    keywords: [],
    args_schema: { type: 'object' },
    output_schema: {},
    ports: ['out'],
    effect: 'pure',
    defaults: {},
  },
  async run({ args }) {
    const output = JSON.parse(String(args.answer)) as Json
    return { output, ...(typeof args.port === 'string' && { port: args.port }) }
  },
}
