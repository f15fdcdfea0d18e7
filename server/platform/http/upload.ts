import { type Readable, Transform } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SECOND } from '../clock.ts'
import { invalid, problem } from '../errors.ts'
import { arrivals } from './arrivals.ts'
import type { Exchange } from './route.ts'
import { callerAddress } from './throttle.ts'

// Reads bodies as they arrive. Holds at most one block in memory.

const IDLE = 60 * SECOND
/** The maximum time that a refused upload may continue before the connection is closed. */
const LINGER = 2 * SECOND

const tooLarge = () => problem('too_large', 'Send less, or raise the limit in the settings.')

export function checkLength(request: FastifyRequest, most: number): void {
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge()
  const coding = request.headers['content-encoding']
  if (coding !== undefined && coding !== 'identity')
    throw problem(
      'unsupported_media_type',
      'Send the body without Content-Encoding; an imported file may be gzip itself.',
    )
}

/** The size of a piece. Parsing a form of only tiny parts took 40 ms per received block. */
const PIECE = 4 << 10

/** Splits a form into pieces, with a turn of the event loop between pieces for other requests. */
export function splitIntoPieces(): Transform {
  return new Transform({
    transform(block: Buffer, _encoding, done) {
      const next = (at: number): void => {
        this.push(block.subarray(at, at + PIECE))
        if (at + PIECE < block.length) setImmediate(next, at + PIECE)
        else done()
      }
      next(0)
    },
  })
}

/**
 * Yields the blocks of a stream. Refuses more than `most` bytes, and a sender that stops sending. Leaving early does
 * not close the stream.
 */
export async function* blocksOf(stream: Readable, most: number): AsyncGenerator<Buffer> {
  const iterator = stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  let bytes = 0
  for (;;) {
    const next = await withinIdle(iterator.next())
    if (next.done) return
    bytes += next.value.length
    if (bytes > most) throw tooLarge()
    yield next.value
  }
}

/** Reads a whole body into memory, for a caller who need not be known. */
export async function readWhole(request: FastifyRequest, most: number): Promise<Buffer> {
  arrivals.watch(request.raw, callerAddress(request.ip))
  const blocks: Buffer[] = []
  for await (const block of blocksOf(request.raw, most)) blocks.push(block)
  return Buffer.concat(blocks)
}

async function withinIdle<T>(next: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const idle = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(problem('malformed', 'No data arrived for a minute, so the upload was cancelled.')),
      IDLE,
    )
  })
  try {
    return await Promise.race([next, idle])
  } catch (error) {
    if (
      (error as { code?: string }).code === 'ECONNRESET' ||
      (error as { code?: string }).code === 'ERR_STREAM_PREMATURE_CLOSE'
    )
      throw problem('malformed', 'The body ended before all of it had arrived.')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Discards the rest of a refused upload, so that the sender sees the response, but only for a limited time. */
export function discardRest({ request, reply }: { request: FastifyRequest; reply: FastifyReply }): void {
  request.raw.unpipe()
  request.raw.on('error', () => {})
  request.raw.resume()
  reply.raw.once('finish', () => {
    setTimeout(() => {
      if (!request.raw.complete) request.raw.destroy()
    }, LINGER).unref()
  })
}

export function isJson(request: FastifyRequest): boolean {
  return /^application\/([\w.+-]+\+)?json\b/i.test(request.headers['content-type'] ?? '')
}

export const hasBody = (request: FastifyRequest): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0

export type UploadedFile = { blocks: AsyncIterable<Buffer>; fileName: string; mediaType: string }
export type Uploaded<T> = { fields: Record<string, string>; fileName: string; result: T }

/** Reads `multipart/form-data` with exactly one file, `file`, and its small text fields. */
export function readUpload<T>(
  { request }: Exchange,
  options: { fields: readonly string[]; mostBytes: number },
  work: (file: UploadedFile) => Promise<T>,
): Promise<Uploaded<T>> {
  if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? ''))
    throw problem('unsupported_media_type', 'Send the file as multipart/form-data, in the part "file".')
  return new Promise((resolve, reject) => {
    const fields: Record<string, string> = {}
    let file: { fileName: string; result: Promise<T> } | undefined
    let form: InstanceType<typeof Busboy>
    try {
      form = new Busboy({
        headers: request.headers as BusboyHeaders,
        limits: {
          fields: 10,
          files: 1,
          parts: 12,
          fieldNameSize: 100,
          fieldSize: 32 << 10,
          headerPairs: 20,
          headerSize: 8 << 10,
        },
      })
    } catch {
      reject(problem('malformed', 'The multipart body has no boundary.'))
      return
    }
    const refuse = (path: string, message: string): void => reject(invalid([{ path, message }]))
    form.on('field', (name, value, _nameTruncated, truncated) => {
      if (name === 'file') refuse('/file', 'has no file name; send it as a file, not as text')
      else if (!options.fields.includes(name)) refuse(`/${name}`, 'is not a known field')
      else if (truncated) refuse(`/${name}`, 'is too long')
      else if (Object.hasOwn(fields, name)) refuse(`/${name}`, 'is given twice')
      else fields[name] = value
    })
    form.on('file', (name, stream, fileName, _encoding, mediaType) => {
      if (name !== 'file' || file !== undefined) {
        stream.resume()
        refuse(`/${name}`, name === 'file' ? 'is given twice' : 'is not a known field; send the file as "file"')
        return
      }
      file = {
        fileName: fileName ?? '',
        result: work({ blocks: blocksOf(stream, options.mostBytes), fileName: fileName ?? '', mediaType }),
      }
      // A refusal in the middle of the file is the response. The rest is not awaited.
      file.result.catch(reject)
    })
    form.on('filesLimit', () => refuse('/file', 'is given twice'))
    form.on('partsLimit', () => refuse('', 'has too many parts'))
    form.on('fieldsLimit', () => refuse('', 'has too many fields'))
    form.on('error', () => reject(problem('malformed', 'The multipart body could not be read.')))
    form.on('finish', () => {
      if (file === undefined) refuse('/file', 'is missing')
      else {
        const { fileName, result } = file
        result.then((value) => resolve({ fields, fileName, result: value }), reject)
      }
    })
    request.raw.on('aborted', () => reject(problem('malformed', 'The upload was cancelled.')))
    request.raw.on('error', () => reject(problem('malformed', 'The upload was cancelled.')))
    request.raw.pipe(splitIntoPieces()).pipe(form)
  })
}
