import { parse } from 'csv-parse/sync'
import { htmlToMarkdown } from './html.ts'
import {
  ConversionFailure,
  type ConvertedFile,
  type ConvertOptions,
  type Format,
  MAX_OUTPUT_BYTES,
  type Target,
} from './index.ts'
import { type Cell, readXlsx, writeXlsx } from './xlsx.ts'
import { encodingOfXml, xmlToValue } from './xml.ts'
import { readZip, writeZip } from './zip.ts'

// Converts files. Runs in the process that may be killed. All data is in memory, within the limits of that process.

type Input = { name: string; media_type: string; bytes: Buffer }
export type Task = {
  from: Format | 'value' | 'files'
  to: Target
  options: ConvertOptions
  value?: unknown
  inputs: Input[]
}
export type Result = { value?: unknown; files: ConvertedFile[] }

const unreadable = (message: string): ConversionFailure => new ConversionFailure('file_unreadable', message)

const MAX_ROWS = 200_000

export const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
}

export async function convert(task: Task): Promise<Result> {
  const { from, to, options, inputs } = task
  if (from === 'files') return { files: [packed(inputs)] }
  if (from === 'value') return { files: [written(task.value, to, options)] }
  const [input] = inputs
  if (!input) throw unreadable('there is no file')
  if (from === 'zip' && to === 'files') return { files: unpacked(input.bytes) }
  if (to === 'text') return { value: await textOf(input.bytes, from, options), files: [] }
  const value = parsed(input.bytes, from, options)
  if (to === 'rows') return { value: rowsIn(value), files: [] }
  if (to === 'json') return { value, files: [] }
  return { files: [written(rowsIn(value), to, options, stem(input.name))] }
}

const stem = (name: string): string => name.replace(/\.[A-Za-z0-9]{1,8}$/, '') || 'file'

function decoded(bytes: Buffer, encoding = 'utf-8'): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    throw error instanceof RangeError
      ? unreadable(`unknown encoding "${encoding.slice(0, 40)}"`)
      : unreadable(`the file is not text in ${encoding}; name its encoding`)
  }
}

async function textOf(bytes: Buffer, from: Format, options: ConvertOptions): Promise<string> {
  if (from === 'pdf') return pdfText(bytes)
  if (from === 'html') return htmlToMarkdown(decoded(bytes, options.encoding))
  if (from === 'xlsx' || from === 'zip')
    throw new ConversionFailure('conversion_unsupported', `${from} cannot be converted to text`)
  return decoded(bytes, options.encoding)
}

async function pdfText(bytes: Buffer): Promise<string> {
  if (!bytes.subarray(0, 1024).includes('%PDF-')) throw unreadable('the file is not a PDF')
  const { extractText, getDocumentProxy } = await import('unpdf')
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes), {
      stopAtErrors: true,
      verbosity: 0,
    })
    const { text } = await extractText(document, { mergePages: false })
    return text.join('\n\f\n')
  } catch (error) {
    throw unreadable(`the PDF could not be read: ${error instanceof Error ? error.message.slice(0, 200) : 'damaged'}`)
  }
}

function parsed(bytes: Buffer, from: Format, options: ConvertOptions): unknown {
  switch (from) {
    case 'csv':
      return named(csvRows(decoded(bytes, options.encoding), options), options)
    case 'xlsx':
      return named(readXlsx(bytes, options.sheet), options)
    case 'json':
      try {
        return JSON.parse(decoded(bytes, options.encoding))
      } catch (error) {
        throw error instanceof ConversionFailure ? error : unreadable('the file is not JSON')
      }
    case 'xml':
      return xmlToValue(decoded(bytes, options.encoding ?? encodingOfXml(bytes)))
    default:
      throw new ConversionFailure('conversion_unsupported', `${from} cannot be converted to rows or JSON`)
  }
}

function csvRows(text: string, { delimiter }: ConvertOptions): Cell[][] {
  try {
    return parse(text, {
      bom: true,
      delimiter: delimiter ?? sniffed(text),
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: 1024 * 1024,
      to: MAX_ROWS + 1,
    }) as string[][]
  } catch (error) {
    throw unreadable(`the CSV could not be read: ${error instanceof Error ? error.message.slice(0, 200) : 'damaged'}`)
  }
}

/** Returns the delimiter that is most frequent in the first line, outside of quotes. */
function sniffed(text: string): string {
  const unquoted = text.slice(0, 10_000).replaceAll(/"[^"]*"/g, '')
  const line = unquoted.split(/\r?\n/, 1)[0] ?? ''
  const counted = [',', ';', '\t', '|'].map((sign) => [sign, line.split(sign).length] as const)
  return counted.reduce((best, one) => (one[1] > best[1] ? one : best))[0]
}

/** Uses the first row as the names of the columns, unless `header` is false. */
function named(rows: Cell[][], { header = true }: ConvertOptions): Record<string, Cell>[] {
  if (rows.length > MAX_ROWS + 1)
    throw new ConversionFailure('file_too_large', `a file may have at most ${MAX_ROWS} rows`)
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const names: string[] = []
  for (let column = 0; column < width; column += 1) {
    const given = header ? String(rows[0]?.[column] ?? '').trim() : ''
    const base = given === '' || given === '__proto__' ? `column_${column + 1}` : given
    let name = base
    for (let n = 2; names.includes(name); n += 1) name = `${base}_${n}`
    names.push(name)
  }
  return rows.slice(header ? 1 : 0).map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])))
}

function rowsIn(value: unknown): Record<string, unknown>[] {
  const isRow = (row: unknown): row is Record<string, unknown> =>
    typeof row === 'object' && row !== null && !Array.isArray(row)
  if (!Array.isArray(value) || !value.every(isRow)) throw unreadable('rows must be a list of objects')
  return value
}

function table(rows: Record<string, unknown>[]): Cell[][] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cell = (value: unknown): Cell =>
    value === undefined || value === null
      ? null
      : typeof value === 'object'
        ? JSON.stringify(value)
        : (value as string | number | boolean)
  return [names, ...rows.map((row) => names.map((name) => cell(row[name])))]
}

const quoted = (cell: Cell, delimiter: string): string => {
  const text = cell === null ? '' : String(cell)
  return /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text
}

function written(value: unknown, to: Target, options: ConvertOptions, name = 'file'): ConvertedFile {
  const made = (bytes: Buffer): ConvertedFile => ({ name: `${name}.${to}`, media_type: TYPES[to] as string, bytes })
  if (to === 'json') return made(Buffer.from(JSON.stringify(value)))
  if (to === 'xlsx') return made(writeXlsx(table(rowsIn(value)), options.sheet))
  if (to !== 'csv') throw new ConversionFailure('conversion_unsupported', `rows cannot be converted to ${to}`)
  const delimiter = options.delimiter ?? ','
  const rows = table(rowsIn(value)).slice(options.header === false ? 1 : 0)
  const lineOf = (row: Cell[]): string => row.map((cell) => quoted(cell, delimiter)).join(delimiter)
  // CSV readers skip empty lines, so a row with a single empty cell is written as `""`.
  const lines = rows.map((row) => `${lineOf(row) || (row.length === 1 ? '""' : '')}\r\n`)
  return made(Buffer.from(lines.join('')))
}

function packed(inputs: Input[]): ConvertedFile {
  const names = new Set<string>()
  const members = inputs.map(({ name, bytes }) => {
    let free = name
    for (let n = 2; names.has(free); n += 1) free = name.replace(/(\.[^.]*)?$/, (end) => `_${n}${end}`)
    names.add(free)
    return { name: free, bytes }
  })
  return { name: 'files.zip', media_type: 'application/zip', bytes: writeZip(members) }
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(TYPES)),
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  xml: 'application/xml',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
}

const unpacked = (bytes: Buffer): ConvertedFile[] =>
  readZip(bytes, MAX_OUTPUT_BYTES).map((member) => ({
    name: member.name,
    media_type: EXTENSIONS[member.name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream',
    bytes: member.bytes,
  }))
