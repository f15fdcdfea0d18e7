import { type Files, fileSchema, type OpenFile } from '#engine/files'
import { type NodeCall, NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import {
  type Conversion,
  ConversionFailure,
  type Converted,
  type ConvertOptions,
  FORMATS,
  type Format,
  TARGETS,
  type Target,
} from '#providers/conversion/index'
import { checked, fields } from './kind.ts'

const BY_TYPE: readonly [RegExp, Format][] = [
  [/^text\/csv$|^text\/tab-separated-values$/, 'csv'],
  [/spreadsheetml/, 'xlsx'],
  [/[/+]json$/, 'json'],
  [/[/+]xml$/, 'xml'],
  [/^text\/html$/, 'html'],
  [/^application\/pdf$/, 'pdf'],
  [/zip/, 'zip'],
]
const BY_NAME: Readonly<Record<string, Format>> = {
  csv: 'csv',
  tsv: 'csv',
  xlsx: 'xlsx',
  json: 'json',
  xml: 'xml',
  htm: 'html',
  html: 'html',
  pdf: 'pdf',
  zip: 'zip',
  txt: 'text',
  md: 'text',
}

/** Returns the format by file name first, because senders declare most files as application/octet-stream. */
export const formatOf = ({ name, media_type }: { name: string; media_type: string }): Format => {
  const ending = name.split('.').at(-1)?.toLowerCase() ?? ''
  if (Object.hasOwn(BY_NAME, ending)) return BY_NAME[ending] as Format
  return BY_TYPE.find(([pattern]) => pattern.test(media_type))?.[1] ?? 'text'
}

const one = (name: string, ...others: string[]): JsonObject => ({
  required: [name],
  not: { anyOf: others.map((other) => ({ required: [other] })) },
})

export type FileConvertDeps = { files: Files; conversion: Pick<Conversion, 'convert'> }

export const makeFileConvert = (deps: FileConvertDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'file.convert',
      kind: 'tool',
      group: 'data',
      title: 'Convert a file',
      description:
        'Reads CSV, XLSX, JSON, XML, HTML, PDF, text and ZIP files of at most 64 MiB into rows, JSON or text, unpacks archives, and writes rows as CSV, XLSX or JSON and files as a ZIP archive.',
      icon: 'file-cog',
      colour: '#0f766e',
      keywords: ['file', 'csv', 'excel', 'xlsx', 'json', 'xml', 'html', 'markdown', 'pdf', 'zip', 'parse'],
      args_schema: fields(
        {
          file: fileSchema,
          rows: {
            type: 'array',
            title: 'Rows',
            description: 'The objects to write to the file',
            items: { type: 'object' },
          },
          files: {
            type: 'array',
            title: 'Files',
            description: 'Packed into an archive',
            items: fileSchema,
            maxItems: 500,
          },
          from: {
            enum: [...FORMATS],
            title: 'From',
            description: 'Default: detected from the name and the media type',
          },
          to: {
            enum: [...TARGETS],
            title: 'To',
            description:
              'rows: from CSV, XLSX or JSON. json: also from JSON or XML. text: HTML as Markdown, or the text of a PDF. files: from a ZIP. csv, xlsx, json, zip: writes a file',
          },
          name: { type: 'string', title: 'Name of the new file', maxLength: 200 },
          delimiter: { type: 'string', title: 'Delimiter', maxLength: 1 },
          header: { type: 'boolean', title: 'First row contains the column names', default: true },
          sheet: { type: 'string', title: 'Sheet', maxLength: 100 },
          encoding: { type: 'string', title: 'Encoding', maxLength: 40 },
        },
        ['to'],
        { oneOf: [one('file', 'rows', 'files'), one('rows', 'file', 'files'), one('files', 'file', 'rows')] },
      ),
      output_schema: {
        type: 'object',
        properties: {
          rows: { type: 'array', items: { type: 'object' } },
          json: {},
          text: { type: 'string' },
          file: { type: 'object', description: 'The new file' },
          files: { type: 'array', description: 'The files of an archive' },
        },
      },
      ports: ['out'],
      effect: 'idempotent',
      defaults: { to: 'rows' },
    },
    run: (call) => convertFile(deps, call),
  })

async function convertFile({ files, conversion }: FileConvertDeps, call: NodeCall): Promise<{ output: Json }> {
  const { args, workspaceId, signal } = call
  const opened: OpenFile[] = []
  for (const value of args.files === undefined ? [args.file] : (args.files as Json[])) {
    if (value !== undefined) opened.push(await files.open(call, value))
  }
  const [first] = opened
  const from =
    args.rows !== undefined ? 'value' : args.files !== undefined ? 'files' : sourceOf(args, first as OpenFile)
  const to = args.to as Target
  if (from === 'files' && to !== 'zip') throw unsupported('files become a zip')
  const converted = await conversion
    .convert({
      workspaceId,
      from,
      to,
      options: optionsOf(args),
      value: args.rows,
      inputs: opened.map((file) => ({ ...file, chunks: () => file.chunks() })),
      signal,
    })
    .catch((error: unknown) => {
      if (!(error instanceof ConversionFailure)) throw error
      throw new NodeFailure(error.code, error.message, { retryable: false })
    })
  return { output: await outputOf(files, call, to, from, converted) }
}

const unsupported = (message: string): NodeFailure =>
  new NodeFailure('conversion_unsupported', message, { retryable: false })

const sourceOf = (args: JsonObject, file: OpenFile): Format =>
  typeof args.from === 'string' ? (args.from as Format) : formatOf(file)

function optionsOf(args: JsonObject): ConvertOptions {
  const { delimiter, header, sheet, encoding } = args
  return {
    ...(typeof delimiter === 'string' && delimiter !== '' && { delimiter }),
    ...(typeof header === 'boolean' && { header }),
    ...(typeof sheet === 'string' && { sheet }),
    ...(typeof encoding === 'string' && { encoding }),
  }
}

async function outputOf(
  files: Files,
  call: NodeCall,
  to: Target,
  from: string,
  { value, files: made }: Converted,
): Promise<Json> {
  if (value !== undefined) return { [to]: value as Json }
  const saved: Json[] = []
  for (const [index, { name, media_type, bytes }] of made.entries()) {
    const given = typeof call.args.name === 'string' && to !== 'files' ? call.args.name : name
    async function* chunks(): AsyncGenerator<Buffer> {
      yield bytes
    }
    const key = `${call.effectKey}:${index}`
    const file = await files.save(call, { key, name: given, media_type }, chunks())
    saved.push(to === 'files' && isObject(file) ? ({ path: name, file } as unknown as Json) : (file as unknown as Json))
  }
  return from === 'zip' && to === 'files' ? { files: saved } : { file: saved[0] ?? null }
}
