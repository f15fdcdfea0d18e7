import type { FastifyReply, FastifyRequest } from 'fastify'
import { etagOf, matchingTag } from './answer.ts'
import { compressors, MIN_COMPRESSED } from './compression.ts'
import { addVary, chooseEncoding, type Encoding, etagFor } from './encoding.ts'

// Documents that are the same for all clients: compressed once, and answered with 304 to clients that have them.

export type Document = {
  type: string
  bytes: Buffer
  etag: string
  /** Compressed when a client first accepts the coding, or at build time. */
  encoded: Partial<Record<Encoding, Promise<Buffer>>>
}

export const makeDocument = (
  type: string,
  content: Buffer | string,
  encoded: Partial<Record<Encoding, Buffer>> = {},
): Document => {
  const bytes = Buffer.from(content)
  return {
    type,
    bytes,
    etag: etagOf(bytes),
    encoded: Object.fromEntries(Object.entries(encoded).map(([name, smaller]) => [name, Promise.resolve(smaller)])),
  }
}

function encodedAs(document: Document, encoding: Encoding): Promise<Buffer> {
  const { encoded, bytes } = document
  const kept = encoded[encoding] ?? compressors[encoding](bytes)
  encoded[encoding] = kept
  return kept
}

/** Sends the document, or 304 to a client that has it. The caller sets all other headers. */
export async function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
): Promise<FastifyReply> {
  const isText = document.bytes.length >= MIN_COMPRESSED && !/^(?:image\/(?!svg)|font\/)/.test(document.type)
  const encoding = isText ? chooseEncoding(request.headers['accept-encoding']) : undefined
  if (isText) reply.header('vary', addVary(reply.getHeader('vary'), 'Accept-Encoding'))
  const known = matchingTag(request.headers['if-none-match'], document.etag)
  if (known !== undefined) return reply.code(304).header('etag', known).send()
  reply.header('etag', encoding === undefined ? document.etag : etagFor(document.etag, encoding)).type(document.type)
  if (encoding === undefined) return reply.send(document.bytes)
  return reply.header('content-encoding', encoding).send(await encodedAs(document, encoding))
}
