import { type ChooseModel, modelFor } from '#engine/credentials'
import type { NodeCall } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Image, LanguageModel } from '#providers/llm/index'

// Fields that all nodes with a language model share.

export const modelField: JsonObject = {
  type: 'string',
  title: 'Model',
  description: 'Overrides the configured model of the provider, if the operator allows it (LLM_MODELS)',
  minLength: 1,
  maxLength: 128,
}

export const maxTokensField: JsonObject = { type: 'integer', title: 'Max tokens', minimum: 1, maximum: 1_000_000 }

export const usageSchema: JsonObject = {
  type: 'object',
  properties: {
    input_tokens: { type: 'integer' },
    output_tokens: { type: 'integer' },
    cost: {
      type: 'number',
      description: 'In US dollars: as the provider reports it, else by the price table; absent if neither knows',
    },
    estimated: { type: 'boolean', description: 'The provider reported no usage; this is an estimate' },
  },
  required: ['input_tokens', 'output_tokens'],
}

/** `llm` is the model of the installation. `chooseModel` returns the model that answers; without it, `llm` answers. */
export type LanguageDeps = { llm: LanguageModel; chooseModel?: ChooseModel }

export const modelOf = ({ llm, chooseModel = async () => llm }: LanguageDeps, call: NodeCall): Promise<LanguageModel> =>
  modelFor(chooseModel, call)

export const temperatureField: JsonObject = {
  type: 'number',
  title: 'Temperature',
  description: 'For models that support it: 0 gives similar answers each time, higher values give more varied answers',
  minimum: 0,
  maximum: 2,
}

export const imagesField: JsonObject = {
  type: 'array',
  title: 'Images',
  description: 'For models that support images: base64 and media type, as http.request returns them',
  maxItems: 10,
  items: {
    type: 'object',
    properties: {
      base64: { type: 'string', minLength: 1, maxLength: 7_000_000 },
      content_type: { type: 'string', pattern: '^image/[a-z0-9.+-]+$', maxLength: 100 },
    },
    required: ['base64', 'content_type'],
    additionalProperties: false,
  },
}

export const imagesOf = (value: Json | undefined): { images?: Image[] } => {
  if (!Array.isArray(value) || value.length === 0) return {}
  return {
    images: value
      .filter(isObject)
      .map(({ base64, content_type }) => ({ base64: String(base64), media_type: String(content_type) })),
  }
}
