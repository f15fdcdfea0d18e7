import type { JsonObject } from '#model/definition'

// Fields that the nodes with a language model share.

export const modelField: JsonObject = {
  type: 'string',
  title: 'Model',
  description: 'Another model of the same provider than the configured one',
  minLength: 1,
  maxLength: 128,
}

export const maxTokensField: JsonObject = { type: 'integer', title: 'Most tokens', minimum: 1, maximum: 1_000_000 }

export const usageSchema: JsonObject = {
  type: 'object',
  properties: {
    input_tokens: { type: 'integer' },
    output_tokens: { type: 'integer' },
    cost: { type: 'number', description: 'As the provider says it; absent where it says nothing' },
    estimated: { type: 'boolean', description: 'The provider did not count; this is an estimate' },
  },
  required: ['input_tokens', 'output_tokens'],
}
