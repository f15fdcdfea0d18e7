import type { OpenFile } from '#engine/files'
import { formatOf } from '#engine/nodes/file-convert'
import type { JsonObject } from '#model/definition'
import { isProblem } from '#platform/errors'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { type Conversion, ConversionFailure, type Format } from '#providers/conversion/index'
import type { WorkRow } from './document-store.ts'
import { IndexFailure } from './failure.ts'

// Reads the text of a document from its source. Files and pages are parsed in a separate process.

export type ExtractParts = {
  outgoing: Pick<Outgoing, 'request'>
  conversion: Pick<Conversion, 'convert'>
  openUpload(wanted: { workspaceId: string; fileId: string; userId: string | null }): Promise<OpenFile | undefined>
  readRecords(workspaceId: string, datasetId: string): AsyncIterable<{ texts: string[] }>
  /** Throws `quota_exceeded` if the plan allows no more requests. */
  countRequest(workspaceId: string): Promise<void>
}

export type Extracted = { text: string; name?: string | undefined; url?: string | undefined }

export const MAX_CONTENT_BYTES = 4 * 1024 * 1024
const MAX_PAGE_BYTES = 5 * 1024 * 1024
const PAGE_WITHIN_MS = 20_000
const AGENT = 'heddle-knowledge'

export async function extractText(
  parts: ExtractParts,
  workspaceId: string,
  work: WorkRow,
  signal: AbortSignal,
): Promise<Extracted> {
  try {
    if (work.kind === 'file') return await textOfFile(parts, workspaceId, work, signal)
    if (work.kind === 'dataset') return await textOfDataset(parts, workspaceId, work.source)
    return await textOfPage(parts, workspaceId, work, signal)
  } catch (error) {
    throw asIndexFailure(error)
  }
}

function asIndexFailure(error: unknown): unknown {
  if (error instanceof ConversionFailure) return new IndexFailure(error.code, error.message)
  if (error instanceof OutgoingFailure)
    return new IndexFailure(error.code, error.message, { retryable: error.code !== 'target_refused' })
  if (isProblem(error, 'quota_exceeded')) return new IndexFailure('quota_exceeded', error.message, { retryable: true })
  if (isProblem(error)) return new IndexFailure(error.code, error.message)
  return error
}

async function textOfFile(
  parts: ExtractParts,
  workspaceId: string,
  { source, created_by }: WorkRow,
  signal: AbortSignal,
): Promise<Extracted> {
  const fileId = fromWire('file', String(source.file_id)) ?? UNKNOWN_ID
  const file = await parts.openUpload({ workspaceId, fileId, userId: created_by })
  if (!file) throw new IndexFailure('file_unavailable', 'the file is gone; upload it again')
  return { text: await convert(parts, workspaceId, formatOf(file), file, signal) }
}

type Input = { name: string; media_type: string; chunks: () => AsyncIterable<Buffer> }

async function convert(
  { conversion }: ExtractParts,
  workspaceId: string,
  from: Format,
  input: Input,
  signal: AbortSignal,
  encoding?: string,
): Promise<string> {
  if (from === 'zip') throw new IndexFailure('conversion_unsupported', 'archives have no text; unpack it first')
  const isTable = from === 'csv' || from === 'xlsx'
  const { value } = await conversion.convert({
    workspaceId,
    from,
    to: isTable ? 'rows' : 'text',
    options: { ...(encoding !== undefined && { encoding }) },
    inputs: [input],
    signal,
  })
  return isTable ? textOfRows(value as JsonObject[]) : String(value)
}

/** Returns a paragraph for each row, under its own heading if a column contains its title. */
export function textOfRows(rows: JsonObject[], columns?: string[], titleColumn?: string): string {
  const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return rows
    .map((row) => {
      const names = columns ?? Object.keys(row)
      const lines = names.flatMap((name) =>
        row[name] === undefined || row[name] === null || row[name] === '' ? [] : [`${name}: ${shown(row[name])}`],
      )
      const title = titleColumn === undefined ? undefined : row[titleColumn]
      const heading = title === undefined || title === null ? '' : `# ${shown(title).replaceAll(/\s+/g, ' ')}\n\n`
      return heading + lines.join('\n')
    })
    .filter((text) => text !== '')
    .join('\n\n')
}

async function textOfDataset(
  { readRecords }: ExtractParts,
  workspaceId: string,
  source: JsonObject,
): Promise<Extracted> {
  const datasetId = fromWire('ds', String(source.dataset_id)) ?? UNKNOWN_ID
  const texts: string[] = []
  let bytes = 0
  for await (const page of readRecords(workspaceId, datasetId)) {
    const rows = page.texts.map((text) => JSON.parse(text) as JsonObject)
    const text = textOfRows(rows, source.columns as string[], source.title_column as string | undefined)
    bytes += Buffer.byteLength(text)
    if (bytes > MAX_CONTENT_BYTES) throw tooLarge()
    texts.push(text)
  }
  return { text: texts.join('\n\n') }
}

export const tooLarge = (): IndexFailure =>
  new IndexFailure('too_large', `the text has more than ${MAX_CONTENT_BYTES} bytes; split it into several documents`)

const PAGE_FORMATS: readonly [RegExp, Format][] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^application\/pdf$/, 'pdf'],
  [/^text\/csv$/, 'csv'],
  [/^text\/|^application\/(?:json|xml)$|[+](?:json|xml)$/, 'text'],
]

async function textOfPage(
  parts: ExtractParts,
  workspaceId: string,
  { url, root_id }: WorkRow,
  signal: AbortSignal,
): Promise<Extracted> {
  await parts.countRequest(workspaceId)
  const answer = await parts.outgoing.request({
    url: url!,
    headers: { accept: 'text/html, text/*, application/pdf', 'user-agent': AGENT },
    timeoutMs: PAGE_WITHIN_MS,
    maxBytes: MAX_PAGE_BYTES,
    signal,
  })
  if (answer.status !== 200)
    throw new IndexFailure('page_refused', `the page answered with ${answer.status}`, {
      retryable: answer.status === 429 || answer.status >= 500,
    })
  if (root_id !== null && new URL(answer.url).origin !== new URL(url!).origin)
    throw new IndexFailure('other_host', 'the page leads to another host')
  const [type = '', ...more] = (answer.headers['content-type'] ?? 'text/html').split(';')
  const mediaType = type.trim().toLowerCase()
  const from = PAGE_FORMATS.find(([pattern]) => pattern.test(mediaType))?.[1]
  if (from === undefined)
    throw new IndexFailure('conversion_unsupported', `a page of the type ${mediaType} has no text`)
  const encoding = /charset="?([\w-]{1,40})/i.exec(more.join(';'))?.[1]
  async function* chunks(): AsyncGenerator<Buffer> {
    yield answer.body
  }
  const input = { name: 'page', media_type: mediaType, chunks }
  const text = await convert(parts, workspaceId, from, input, signal, encoding)
  return { text, name: /^# (.{1,200})/m.exec(text)?.[1]?.trim(), url: answer.url }
}
