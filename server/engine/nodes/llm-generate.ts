import { asNode } from '#engine/agents/failures'
import { modelCredentialFields } from '#engine/credentials'
import type { NodeCall, NodeKind } from '#engine/node'
import type { TextPiece } from '#providers/llm/index'
import { checked, fields } from './kind.ts'
import {
  imagesField,
  imagesOf,
  type LanguageDeps,
  maxTokensField,
  modelField,
  modelOf,
  temperatureField,
  usageSchema,
} from './language-fields.ts'

const DEFAULT_TOKENS = 4_096

export const makeLlmGenerate = (deps: LanguageDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'llm.generate',
      kind: 'capability',
      group: 'language',
      title: 'Generate text',
      description: 'Sends a prompt to a language model and returns its answer as text.',
      icon: 'sparkles',
      colour: '#7c3aed',
      keywords: ['ai', 'llm', 'model', 'gpt', 'prompt', 'write', 'summarise', 'translate'],
      args_schema: fields(
        {
          prompt: { type: 'string', title: 'Prompt', minLength: 1, maxLength: 1_000_000, 'x-editor': 'text' },
          system: { type: 'string', title: 'Instructions', maxLength: 100_000, 'x-editor': 'text' },
          model: modelField,
          ...modelCredentialFields,
          images: imagesField,
          temperature: temperatureField,
          max_tokens: {
            ...maxTokensField,
            default: DEFAULT_TOKENS,
            description: 'Maximum number of tokens in the answer',
          },
          stream: {
            type: 'boolean',
            title: 'Stream the text',
            description: 'Streams the text as progress of the run while the model writes it',
            default: false,
          },
        },
        ['prompt'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          truncated: { type: 'boolean', description: 'The answer was cut off at max_tokens' },
          usage: usageSchema,
        },
      },
      ports: ['out'],
      effect: 'idempotent',
      metered: true,
      defaults: { prompt: '' },
    },
    unavailableByDefault: () => deps.llm.available(),
    run: (call) =>
      asNode(call.signal, async () => {
        const { args, signal } = call
        const model = await modelOf(deps, call)
        const { text, finish, usage } = await model.generate({
          messages: [{ role: 'user', text: String(args.prompt), ...imagesOf(args.images) }],
          maxTokens: Number(args.max_tokens ?? DEFAULT_TOKENS),
          signal,
          ...(typeof args.system === 'string' && args.system !== '' && { system: args.system }),
          ...(typeof args.model === 'string' && { model: args.model }),
          ...(typeof args.temperature === 'number' && { temperature: args.temperature }),
          ...(args.stream === true && { onText: showing(call) }),
        })
        return { output: { text, truncated: finish === 'length', usage }, usage }
      }),
  })

/** The maximum number of characters shown as progress: the end of the text so far. Progress may be lost. */
const SHOWN = 2_000

function showing({ progress }: Pick<NodeCall, 'progress'>): (piece: TextPiece) => void {
  let shown = ''
  return ({ from, text }) => {
    shown = (from === 0 ? text : shown + text).slice(-SHOWN)
    progress({ text: shown.toWellFormed() })
  }
}
