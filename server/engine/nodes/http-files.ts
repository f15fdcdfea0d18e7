import { randomBytes } from 'node:crypto'
import { type Files, fileSchema, filesIn, isFileValue, type OpenFile } from '#engine/files'
import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { StreamedBody } from '#platform/outgoing/hops'
import { NotTaken, type OutgoingRequest } from '#platform/outgoing/outgoing'
import { nameInDisposition } from './disposition.ts'

// Files in requests and responses. They are streamed, regardless of their size.

const scalar = { type: ['string', 'number', 'boolean'] }
const part = { anyOf: [scalar, fileSchema] }

export const multipartSchema: JsonObject = {
  type: 'object',
  title: 'Form with files',
  description: 'Sent as multipart/form-data. Values are texts, numbers, booleans, files, or lists of them',
  maxProperties: 50,
  additionalProperties: { anyOf: [part, { type: 'array', items: part, maxItems: 50 }] },
}

type Part = { head: Buffer; bytes: number; chunks(): AsyncIterable<Buffer> }

/** Escapes line breaks and quotes in a name, which would end the header. */
const inHeader = (text: string): string =>
  text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22').toWellFormed()

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

function partFor(name: string, value: Json, file: OpenFile | undefined): Part {
  const disposition = `Content-Disposition: form-data; name="${inHeader(name)}"`
  if (file)
    return {
      head: Buffer.from(
        `${disposition}; filename="${inHeader(file.name)}"\r\nContent-Type: ${file.media_type}\r\n\r\n`,
      ),
      bytes: file.bytes,
      chunks: () => file.chunks(),
    }
  const text = Buffer.from(String(value))
  return { head: Buffer.from(`${disposition}\r\n\r\n`), bytes: text.length, chunks: () => once(text) }
}

export type Sent = { body: StreamedBody; contentType: string }
type Run = Pick<NodeCall, 'workspaceId' | 'executionId'>

/** Returns the body of a request with files, or undefined if it has no files. */
export async function streamedBody(files: Files, call: NodeCall): Promise<Sent | undefined> {
  const { multipart, body } = call.args
  if (isFileValue(body)) return fileBody(files, call, body)
  return isObject(multipart) ? formBody(files, call, multipart) : undefined
}

export async function fileBody(files: Files, run: Run, value: Json): Promise<Sent> {
  const file = await files.open(run, value)
  return { body: { bytes: file.bytes, chunks: () => file.chunks() }, contentType: file.media_type }
}

/** Returns a multipart form of texts and files. */
export async function formBody(files: Files, run: Run, fields: JsonObject): Promise<Sent> {
  if ([...filesIn(fields)].reduce((sum, { $file }) => sum + Number($file.bytes || 0), 0) > files.maxBytes) {
    throw new NodeFailure('file_too_large', `the files have more than ${files.maxBytes} bytes together`, {
      retryable: false,
    })
  }
  const parts: Part[] = []
  for (const [name, given] of Object.entries(fields)) {
    for (const value of Array.isArray(given) ? given : [given]) {
      parts.push(partFor(name, value, isFileValue(value) ? await files.open(run, value) : undefined))
    }
  }
  return inParts('form-data', parts)
}

/** Returns JSON and a file in one body, as `multipart/related`. */
export async function relatedBody(files: Files, run: Run, json: JsonObject, value: Json): Promise<Sent> {
  const file = await files.open(run, value)
  const text = Buffer.from(JSON.stringify(json))
  const head = (type: string): Buffer => Buffer.from(`Content-Type: ${type}\r\n\r\n`)
  return inParts('related', [
    { head: head('application/json; charset=UTF-8'), bytes: text.length, chunks: () => once(text) },
    { head: head(file.media_type), bytes: file.bytes, chunks: () => file.chunks() },
  ])
}

function inParts(kind: 'form-data' | 'related', parts: readonly Part[]): Sent {
  // The boundary must be unpredictable: a file that contains it could add parts to the form.
  const boundary = `heddle-${randomBytes(20).toString('hex')}`
  const opening = Buffer.from(`--${boundary}\r\n`)
  const between = Buffer.from('\r\n')
  const end = Buffer.from(`--${boundary}--\r\n`)
  const bytes = parts.reduce(
    (sum, { head, bytes: size }) => sum + opening.length + head.length + size + between.length,
    end.length,
  )
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const { head, chunks: content } of parts) {
      yield opening
      yield head
      yield* content()
      yield between
    }
    yield end
  }
  return { body: { bytes, chunks }, contentType: `multipart/${kind}; boundary=${boundary}` }
}

const nameIn = (headers: Record<string, string>, url: string): string =>
  nameInDisposition(headers['content-disposition']) ??
  (URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : '')

/**
 * Saves a response that is requested as a file. A response with a status that is not accepted is read as usual, for
 * its message.
 */
export const savingAnswer =
  (
    files: Files,
    call: Pick<NodeCall, 'workspaceId' | 'executionId' | 'effectKey'>,
    isOk: (status: number) => boolean,
    done: (file: Json) => void,
  ): OutgoingRequest['into'] =>
  ({ status, headers, url }) => {
    if (!isOk(status)) return undefined
    const name = nameIn(headers, url)
    const media_type = headers['content-type'] ?? ''
    return async (chunks) => {
      const saved = await files
        .save(call, { key: `${call.effectKey}:body`, name, media_type }, chunks)
        .catch((error: unknown) => {
          throw error instanceof NodeFailure ? new NotTaken(error) : error
        })
      done(saved as unknown as Json)
    }
  }
