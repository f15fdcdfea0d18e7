import { z } from 'zod'
import { jsonObject } from '#platform/http/schema'

const Requirement = z.strictObject({
  name: z.string().min(1).max(200),
  description: z.string().max(2000).optional(),
  schema: jsonObject().optional().describe('JSON Schema of the value'),
  required: z.boolean().optional(),
})

export const isTimeZone = (text: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}
/** The language of a person or of an assistant. Texts that no language model writes are in this language. */
export const languageTag = z
  .string()
  .regex(/^[A-Za-z0-9-]{2,35}$/, 'is not a language tag')
  .meta({ examples: ['de-CH'] })

export const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'is not a time zone; give a name such as Europe/Berlin')
  .describe('Time zone of the person who wrote the message, such as Europe/Berlin; default UTC')

export const ExtractRequirements = z.strictObject({
  message: z.string().max(10_000),
  requirements: z
    .array(
      z.union([z.string().min(1).max(200), Requirement], {
        error: 'must be a name, or an object with a name and optionally description, schema and required',
      }),
    )
    .max(100)
    .optional(),
  workflow_id: z.string().max(200).optional().describe('Instead of requirements: the inputs of this workflow'),
  known: jsonObject().optional().describe('Values from earlier in the conversation'),
  time_zone: timeZone.optional(),
  credential_id: z
    .string()
    .max(200)
    .optional()
    .describe('A credential of kind llm; default: the model of the workspace'),
  model: z.string().min(1).max(128).optional().describe('Another model of the same provider'),
})
export type ExtractRequirements = z.output<typeof ExtractRequirements>

export const Extracted = z
  .object({
    values: jsonObject(),
    missing: z.array(z.string()).describe('Names of required values that the message does not give'),
    confidence: z.record(z.string(), z.number()),
    extracted_by: z.string().describe('`rules`, or `model:` and its name'),
  })
  .meta({ id: 'ExtractedRequirements' })
