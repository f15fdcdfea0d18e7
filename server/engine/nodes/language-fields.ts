import type { JsonObject } from '#model/definition'

// Fields that the nodes with a language model share.

export const modelField: JsonObject = {
  type: 'string',
  title: 'Model',
  description: 'Overrides the configured model of the provider',
  minLength: 1,
  maxLength: 128,
}

export const maxTokensField: JsonObject = { type: 'integer', title: 'Max tokens', minimum: 1, maximum: 1_000_000 }

export const usageSchema: JsonObject = {
  type: 'object',
  properties: {
    input_tokens: { type: 'integer' },
    output_tokens: { type: 'integer' },
    cost: { type: 'number', description: 'As reported by the provider; absent if it reports none' },
    estimated: { type: 'boolean', description: 'The provider reported no usage; this is an estimate' },
  },
  required: ['input_tokens', 'output_tokens'],
}
