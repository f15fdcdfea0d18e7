import { reviewByAgent } from '#engine/agents/review'
import { modelCredentialFields } from '#engine/credentials'
import { NodeFailure, type NodeKind } from '#engine/node'
import type { JsonObject } from '#model/definition'
import { checked, fields } from './kind.ts'
import { type LanguageDeps, modelField, modelOf, usageSchema } from './language-fields.ts'

/** The same review as in a gate, but as a separate node. It casts no vote. */
export const makeAgentReview = (deps: LanguageDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'agent.review',
      kind: 'agent',
      group: 'agents',
      title: 'Review by an agent',
      description:
        'A language model judges a payload according to instructions and explains its decision. Agents that are approvers of a gate vote in the same way.',
      icon: 'scale',
      colour: '#be185d',
      keywords: ['ai', 'agent', 'review', 'approve', 'reject', 'vote', 'judge', 'policy'],
      args_schema: fields(
        {
          title: { type: 'string', title: 'Title', maxLength: 1_000 },
          payload: { title: 'Payload' },
          instructions: { type: 'string', title: 'Policy', minLength: 1, maxLength: 32_000, 'x-editor': 'text' },
          name: { type: 'string', title: 'Agent name', maxLength: 200 },
          model: modelField,
          ...modelCredentialFields,
        },
        ['payload', 'instructions'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          decision: { enum: ['approve', 'reject', 'abstain'] },
          rationale: { type: 'string' },
          confidence: { type: ['number', 'null'] },
          evidence: { type: 'array', items: { type: 'string' } },
          usage: { anyOf: [usageSchema, { type: 'null' }] },
        },
      },
      ports: ['out'],
      effect: 'idempotent',
      metered: true,
      defaults: { payload: {}, instructions: '' },
    },
    unavailableByDefault: () => deps.llm.available(),
    async run(call) {
      const { args, signal, nodePath } = call
      const model = await modelOf(deps, call)
      const absent = model.available()
      if (absent !== null) throw new NodeFailure('provider_not_configured', absent, { retryable: false })
      const name = typeof args.name === 'string' ? args.name : nodePath
      const review = await reviewByAgent({
        llm: model,
        agent: {
          id: nodePath,
          name,
          instructions: String(args.instructions),
          model: typeof args.model === 'string' ? args.model : null,
        },
        title: typeof args.title === 'string' ? args.title : name,
        payload: args.payload ?? null,
        signal,
      })
      await call.say?.(`review:${call.attempt}`, [
        { level: 'info', message: `${review.decision}: ${review.rationale}` },
      ])
      const usage: JsonObject | null = review.usage
      return { output: { ...review, usage }, ...(usage && { usage }) }
    },
  })
