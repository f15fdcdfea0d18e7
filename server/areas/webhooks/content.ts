import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import type { FileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import { problem } from '#platform/errors'
import { requireStorable } from '#platform/http/body'
import { blocksOf, checkLength, readWhole, splitIntoPieces } from '#platform/http/upload'
import type { InboundToken } from './inbound-token.ts'
import { type Content, collect } from './request.ts'

// Calls whose body is a file or a form with files. They are stored while they arrive, and never held in memory as a
// whole.

export type KeepFile = (
  workspaceId: string,
  file: { name: string; media_type: string; execution_id: string },
  chunks: AsyncIterable<Buffer>,
) => Promise<FileValue>

const MAX_FILES = 100
const AROUND = 1 << 20

const typeOf = (request: FastifyRequest): string =>
  (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

const IS_TEXT = /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson|jsonl)$/

/**
 * Checks whether the body is stored as files. A signed body is not, since its signature covers the whole body and
 * nothing is stored before it is verified.
 */
export const isFiles = (token: InboundToken, request: FastifyRequest): boolean => {
  if (token.input !== 'request' || token.auth === 'hmac' || !token.methods.includes(request.method)) return false
  const type = typeOf(request)
  return type !== '' && (type === 'multipart/form-data' || !IS_TEXT.test(type))
}

type Streaming = {
  workspaceId: string
  executionId: string
  maxBytes: number
  /** Calls up to this size also include their files as Base64. */
  smallBytes: number
  keepFile: KeepFile
}

/** Reads the files, in the order of arrival. `bytes` is the total received. */
export async function readFiles(
  request: FastifyRequest,
  streaming: Streaming,
): Promise<{ content: Content; bytes: number }> {
  checkLength(request, streaming.maxBytes + AROUND)
  let bytes = 0
  const counted = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > streaming.maxBytes) throw problem('too_large', `A call may have at most ${streaming.maxBytes} bytes.`)
      yield chunk
    }
  }
  const keep = async (field: string | null, name: string | null, media_type: string, source: AsyncIterable<Buffer>) => {
    const { workspaceId, executionId } = streaming
    const file = { name: name ?? 'body', media_type, execution_id: executionId }
    const seen: Buffer[] = []
    const watched = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of counted(source)) {
        if (bytes <= streaming.smallBytes) seen.push(chunk)
        else seen.length = 0
        yield chunk
      }
    }
    const value = await streaming.keepFile(workspaceId, file, watched())
    const { file_id: _id, name: _name, ...facts } = value.$file
    const kept: JsonObject = { field, name, ...facts, file: value as unknown as Json }
    return { kept, content: Buffer.concat(seen) }
  }
  const told = ({ kept, content }: Kept): JsonObject =>
    bytes <= streaming.smallBytes ? { ...kept, content_base64: content.toString('base64') } : kept
  if (typeOf(request) !== 'multipart/form-data') {
    const file = await keep(null, null, typeOf(request), blocksOf(request.raw, streaming.maxBytes))
    const isEmpty = bytes === 0
    return { content: { body: null, raw_body: isEmpty ? '' : null, files: isEmpty ? [] : [told(file)] }, bytes }
  }
  const { texts, files } = await readForm(request, streaming.maxBytes, keep)
  const content = { body: collect(texts), raw_body: null, files: files.map(told) }
  requireStorable(content)
  return { content, bytes }
}

type Kept = { kept: JsonObject; content: Buffer }
type Keep = (field: string, name: string | null, type: string, source: AsyncIterable<Buffer>) => Promise<Kept>

function readForm(
  request: FastifyRequest,
  maxBytes: number,
  keep: Keep,
): Promise<{ texts: [string, string][]; files: Kept[] }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ texts: [string, string][]; files: Kept[] }>()
  const texts: [string, string][] = []
  const kept: Promise<Kept>[] = []
  const open = new Set<Readable>()
  /** Discards the rest unread: 14,000 parts beyond the limit would block the process for 100 ms. */
  const refuse = (refusal: unknown): void => {
    reject(refusal)
    request.raw.unpipe()
    request.raw.resume()
    for (const stream of open) stream.destroy(refusal as Error)
  }
  const unreadable = (): void => refuse(problem('malformed', 'The parts of the form could not be read.'))
  let form: InstanceType<typeof Busboy>
  try {
    form = new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { fields: 1_000, files: MAX_FILES, parts: 1_100, fieldSize: AROUND, fieldNameSize: 200, headerPairs: 20 },
    })
  } catch {
    unreadable()
    return promise
  }
  form.on('field', (name, value, _nameCut, cut) => {
    if (cut) refuse(problem('too_large', `The field ${name} is too long.`))
    else texts.push([name, value])
  })
  form.on('file', (field, stream, name, _encoding, type) => {
    open.add(stream)
    const one = keep(field, name ?? null, type, blocksOf(stream, maxBytes))
    kept.push(one)
    one.then(() => open.delete(stream), refuse)
  })
  for (const limit of ['filesLimit', 'partsLimit', 'fieldsLimit'] as const)
    form.on(limit, () => refuse(problem('too_large', `A form may have at most ${MAX_FILES} files and 1000 fields.`)))
  form.on('error', unreadable)
  form.on('finish', () => Promise.all(kept).then((files) => resolve({ texts, files }), reject))
  request.raw.on('aborted', unreadable)
  request.raw.on('error', unreadable)
  request.raw.pipe(splitIntoPieces()).pipe(form)
  return promise
}

/** Reads a body that is small enough to be held as a whole. */
export async function readSmall(request: FastifyRequest, maxBytes: number): Promise<Buffer> {
  if (request.method === 'GET') return Buffer.alloc(0)
  checkLength(request, maxBytes)
  return readWhole(request, maxBytes)
}
