import { asNode } from '#engine/agents/failures'
import { modelCredentialFields } from '#engine/credentials'
import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { checkSchema } from '#model/json-schema-check'
import { extractObject } from '#providers/llm/extract'
import { checked, fields } from './kind.ts'
import {
  type LanguageDeps,
  maxTokensField,
  modelField,
  modelOf,
  temperatureField,
  usageSchema,
} from './language-fields.ts'

export const makeLlmExtract = (deps: LanguageDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'llm.extract',
      kind: 'capability',
      group: 'language',
      title: 'Extract values',
      description:
        'Extracts values from a text into the fields of a JSON Schema. Fields that the text does not contain are omitted and listed in "missing".',
      icon: 'scan-text',
      colour: '#7c3aed',
      keywords: ['ai', 'llm', 'parse', 'structured', 'fields', 'json', 'read', 'invoice'],
      args_schema: fields(
        {
          text: { type: 'string', title: 'Text', maxLength: 1_000_000, 'x-editor': 'text' },
          schema: { type: 'object', title: 'Fields', description: 'A JSON Schema of an object', 'x-editor': 'schema' },
          instructions: { type: 'string', title: 'Instructions', maxLength: 100_000, 'x-editor': 'text' },
          model: modelField,
          ...modelCredentialFields,
          temperature: temperatureField,
          max_tokens: { ...maxTokensField, description: 'Maximum number of tokens in the answer' },
        },
        ['text', 'schema'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          value: { type: 'object' },
          missing: {
            type: 'array',
            items: { type: 'string' },
            description: 'Required fields that the text does not contain',
          },
          usage: usageSchema,
        },
      },
      ports: ['out'],
      effect: 'idempotent',
      metered: true,
      defaults: {
        text: '',
        schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
    },
    unavailableByDefault: () => deps.llm.available(),
    run: (call) =>
      asNode(call.signal, async () => {
        const { args, signal } = call
        const model = await modelOf(deps, call)
        const { value, missing, usage } = await extractObject(model, {
          text: String(args.text),
          schema: usableSchema(args.schema as JsonObject),
          signal,
          ...(typeof args.instructions === 'string' && { instructions: args.instructions }),
          ...(typeof args.model === 'string' && { model: args.model }),
          ...(typeof args.temperature === 'number' && { temperature: args.temperature }),
          ...(typeof args.max_tokens === 'number' && { maxTokens: args.max_tokens }),
        })
        return { output: { value, missing, usage }, usage }
      }),
  })

const usableSchema = (schema: JsonObject): JsonObject => {
  const issues = checkSchema(schema, '/schema')
  if (schema.type !== undefined && schema.type !== 'object')
    issues.push({ path: '/schema/type', message: 'must be object' })
  const [first] = issues
  if (first === undefined) return schema
  throw new NodeFailure('args_invalid', `Extract values: ${first.path.slice(1)} ${first.message}`, {
    details: { errors: issues as unknown as Json[] },
    retryable: false,
  })
}
