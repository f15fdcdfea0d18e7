import { z } from 'zod'
import { timestamp } from '#platform/http/schema'

export const Interaction = z
  .object({
    kind: z.enum(['approval', 'clarification']),
    title: z.string().describe('The title of the gate, or the question'),
    workspace: z.string().describe('The name of the workspace that asks'),
    payload: z.unknown().describe('What is decided on; null for a question'),
    payload_sha256: z.string().describe('Send it back with the answer: the answer counts for this content alone'),
    schema: z.unknown().describe('JSON Schema of the answer; null for a gate'),
    status: z.enum(['open', 'approved', 'rejected', 'expired', 'cancelled', 'answered']),
    outcome: z.string().nullable().describe('How it ended and who decided it; null while it is open'),
    own_answer: z.string().nullable().describe('What this person has decided already'),
    refusal: z.string().nullable().describe('Why this person may not answer now; null if they may'),
    person: z
      .object({ name: z.string(), reached_at: z.string().describe('The address, shortened') })
      .describe('Whom the message was sent to, and as whom the answer counts'),
    proof: z
      .enum(['given', 'code', 'sign_in'])
      .describe(
        '`given`: that person has used this browser before. `code`: `POST …/code` sends a code to the address of the message. `sign_in`: the workspace requires a second factor, so the answer must be given in the console',
      ),
    due_at: timestamp().nullable(),
    expires_at: timestamp().describe('Until when the link can be used'),
  })
  .meta({ id: 'Interaction' })
export type Interaction = z.input<typeof Interaction>

export const InteractionAnswer = z
  .strictObject({
    decision: z.enum(['approve', 'reject', 'abstain']).optional().describe('Of a gate'),
    comment: z.string().trim().max(10_000).nullable().optional(),
    response: z.unknown().optional().describe('The answer to a question, which fits its schema'),
    payload_sha256: z.string().max(100),
    code: z
      .string()
      .max(20)
      .optional()
      .describe('The six digits that `POST …/code` sent; only where `proof` is `code`'),
  })
  .refine(({ decision, response }) => (decision === undefined) !== (response === undefined), {
    path: ['decision'],
    message: 'give either decision, for a gate, or response, for a question',
  })
  .meta({ id: 'InteractionAnswer' })
export type InteractionAnswer = z.output<typeof InteractionAnswer>

export const CodeSent = z
  .object({ sent_to: z.string().describe('The address, shortened'), expires_in_s: z.number().int() })
  .meta({ id: 'InteractionCodeSent' })
