import type { Files } from '#engine/files'
import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { checked, fields } from './kind.ts'

const only = (...names: string[]): JsonObject => ({
  required: [names[0] as string],
  not: { anyOf: names.slice(1).map((name) => ({ required: [name] })) },
})

export const makeFileWrite = ({ files }: { files: Files }): NodeKind =>
  checked({
    descriptor: {
      type: 'file.write',
      kind: 'tool',
      group: 'data',
      title: 'Write a file',
      description: 'Creates a file from a text, from a value as JSON, or from Base64. The output is the file.',
      icon: 'file-plus',
      colour: '#0f766e',
      keywords: ['file', 'text', 'json', 'base64', 'create', 'save'],
      args_schema: fields(
        {
          name: { type: 'string', title: 'Name', minLength: 1, maxLength: 200 },
          media_type: { type: 'string', title: 'Media type', maxLength: 160 },
          text: { type: 'string', title: 'Text', 'x-editor': 'text' },
          json: { title: 'JSON' },
          base64: { type: 'string', title: 'Base64' },
        },
        ['name'],
        { oneOf: [only('text', 'json', 'base64'), only('json', 'text', 'base64'), only('base64', 'text', 'json')] },
      ),
      output_schema: { type: 'object', properties: { $file: { type: 'object' } } },
      ports: ['out'],
      effect: 'idempotent',
      defaults: { name: 'notes.txt', text: '' },
    },
    async run(call) {
      const { args } = call
      const { bytes, type } = contentOf(args)
      const file = {
        key: `${call.effectKey}:file`,
        name: String(args.name),
        media_type: typeof args.media_type === 'string' ? args.media_type : type,
      }
      async function* chunks(): AsyncGenerator<Buffer> {
        yield bytes
      }
      return { output: (await files.save(call, file, chunks())) as unknown as Json }
    },
  })

function contentOf(args: JsonObject): { bytes: Buffer; type: string } {
  if (typeof args.text === 'string') return { bytes: Buffer.from(args.text), type: 'text/plain' }
  if (args.json !== undefined) return { bytes: Buffer.from(JSON.stringify(args.json)), type: 'application/json' }
  const source = String(args.base64)
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(source))
    throw new NodeFailure('args_invalid', 'base64 is not valid Base64', { retryable: false })
  return { bytes: Buffer.from(source, 'base64'), type: 'application/octet-stream' }
}
