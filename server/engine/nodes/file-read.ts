import { type Files, fileSchema, readWhole } from '#engine/files'
import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json } from '#model/definition'
import { measureJson } from '#model/json'
import { checked, fields } from './kind.ts'

const MAX_BYTES = 4 * 1024 * 1024
const JSON_LIMITS = { depth: 64, nodes: 1_000_000 }

const unreadable = (message: string): NodeFailure => new NodeFailure('file_unreadable', message, { retryable: false })

export const makeFileRead = ({ files }: { files: Files }): NodeKind =>
  checked({
    descriptor: {
      type: 'file.read',
      kind: 'tool',
      group: 'data',
      title: 'Read a file',
      description: 'Reads the content of a file of at most 4 MiB as text, JSON or Base64.',
      icon: 'file-text',
      colour: '#0f766e',
      keywords: ['file', 'text', 'json', 'base64', 'content', 'open'],
      args_schema: fields(
        {
          file: fileSchema,
          as: { enum: ['text', 'json', 'base64'], title: 'As', default: 'text' },
          encoding: {
            type: 'string',
            title: 'Encoding',
            description: 'The encoding of the text. Default: utf-8',
            maxLength: 40,
          },
        },
        ['file'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          media_type: { type: 'string' },
          bytes: { type: 'integer' },
          content: { description: 'The text, the JSON value, or Base64' },
        },
      },
      ports: ['out'],
      effect: 'pure',
      defaults: { as: 'text' },
    },
    async run(call) {
      const { args } = call
      const file = await files.open(call, args.file)
      const bytes = await readWhole(file, MAX_BYTES)
      const { name, media_type } = file
      return { output: { name, media_type, bytes: bytes.length, content: contentOf(bytes, args.as, args.encoding) } }
    },
  })

function contentOf(bytes: Buffer, as: Json | undefined, encoding: Json | undefined): Json {
  if (as === 'base64') return bytes.toString('base64')
  const text = decoded(bytes, typeof encoding === 'string' ? encoding : 'utf-8')
  if (as !== 'json') return text
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    throw unreadable('the file is not JSON')
  }
  if (measureJson(value, JSON_LIMITS) !== 'ok') throw unreadable('the JSON is nested too deeply or too large')
  return value
}

function decoded(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    throw unreadable(
      error instanceof RangeError ? `unknown encoding "${encoding}"` : `the file is not text in ${encoding}`,
    )
  }
}
