import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { SECOND } from '#platform/clock'
import { StoreUnavailable } from '#platform/errors'
import { type Bounds, boundStream } from '#platform/outgoing/bounded'
import type { Blobs } from './index.ts'

export type S3Options = {
  bucket: string
  endpoint: string | null
  region: string
  accessKeyId: string | null
  secretAccessKey: string | null
  bounds?: Bounds
}

/** Limits for reading a whole blob. Every blob that is read as a whole is smaller. */
const BOUNDS: Bounds = { maxBytes: 128 * 1024 * 1024, timeoutMs: 120 * SECOND }
/**
 * Limits for a stream. The writer of a blob limits its size; an hour is enough for a slow reader of the largest file.
 */
const STREAM_BOUNDS: Bounds = { maxBytes: Number.POSITIVE_INFINITY, timeoutMs: 3_600 * SECOND }
/** The size of an upload part that is held in memory. */
const PART_BYTES = 8 * 1024 * 1024
const CONNECT_WITHIN = 10 * SECOND

/** Limits the size and duration of responses, because the library itself sets no such limits. */
function boundAnswers({ config: { requestHandler } }: S3Client, bounds: Bounds): void {
  const handle = requestHandler.handle.bind(requestHandler)
  requestHandler.handle = async (...given) => {
    const { response } = await handle(...given)
    if (response.body instanceof Readable) response.body = boundStream(response.body, bounds)
    return { response }
  }
}

/** Statuses of a store that cannot answer now. Errors without a status are those of the network. */
const BUSY = new Set([undefined, 500, 502, 503, 504])

/** Runs around all attempts of a request. */
function nameUnavailable({ middlewareStack }: S3Client): void {
  middlewareStack.add(
    (next) => async (given) => {
      try {
        return await next(given)
      } catch (error) {
        const { message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } }
        if (!$metadata || !BUSY.has($metadata.httpStatusCode)) throw error
        throw new StoreUnavailable(`the blob store does not answer: ${message}`, { cause: error })
      }
    },
    { step: 'initialize', priority: 'high' },
  )
}

type Opened = { client: S3Client; sdk: typeof import('@aws-sdk/client-s3') }

const makeOpener = (options: S3Options, bounds: Bounds): (() => Promise<Opened>) => {
  let opened: Promise<Opened> | undefined
  return () => {
    opened ??= import('@aws-sdk/client-s3').then((sdk) => {
      const client = new sdk.S3Client({
        region: options.region,
        // Services other than Amazon's address a bucket by path, not by host name.
        ...(options.endpoint !== null && { endpoint: options.endpoint, forcePathStyle: true }),
        ...(options.accessKeyId !== null &&
          options.secretAccessKey !== null && {
            credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
          }),
        maxAttempts: 4,
        requestHandler: {
          connectionTimeout: Math.min(CONNECT_WITHIN, bounds.timeoutMs),
          requestTimeout: Math.min(BOUNDS.timeoutMs, bounds.timeoutMs),
          throwOnRequestTimeout: true,
        },
      })
      boundAnswers(client, bounds)
      nameUnavailable(client)
      return { client, sdk }
    })
    return opened
  }
}

/** Stores blobs in a bucket. The library is loaded at first use, because most installations keep blobs on disk. */
export const makeS3Blobs = (options: S3Options): Blobs => {
  const { bucket: Bucket, bounds = BOUNDS } = options
  const s3 = makeOpener(options, bounds)
  const streaming = makeOpener(options, options.bounds ?? STREAM_BOUNDS)

  const find = async (open: typeof s3, Key: string, part?: { from: number; to: number }) => {
    const { client, sdk } = await open()
    try {
      const command = new sdk.GetObjectCommand({
        Bucket,
        Key,
        ...(part && { Range: `bytes=${part.from}-${part.to}` }),
      })
      return (await client.send(command)).Body
    } catch (error) {
      if (error instanceof sdk.NoSuchKey || (error as Error).name === 'NoSuchKey') return undefined
      throw error
    }
  }

  /**
   * Uploads in parts, because the length is unknown and at most one part is held in memory. A failed upload leaves
   * nothing.
   */
  const putParts = async (Key: string, first: Buffer, rest: AsyncIterable<Buffer>): Promise<void> => {
    const { client, sdk } = await s3()
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key }))
    try {
      const Parts: { ETag: string | undefined; PartNumber: number }[] = []
      const send = async (Body: Buffer): Promise<void> => {
        const PartNumber = Parts.length + 1
        const { ETag } = await client.send(
          new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ContentLength: Body.length }),
        )
        Parts.push({ ETag, PartNumber })
      }
      await send(first)
      for await (const part of rest) await send(part)
      await client.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
    } catch (error) {
      await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined)
      throw error
    }
  }

  return {
    async put(Key, bytes) {
      const { client, sdk } = await s3()
      await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: bytes, ContentLength: bytes.length }))
    },
    async putStream(Key, chunks) {
      const parts = partsOf(chunks)
      const { value: first = Buffer.alloc(0) } = await parts.next()
      if (first.length >= PART_BYTES) await putParts(Key, first, parts)
      else {
        const { client, sdk } = await s3()
        await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: first, ContentLength: first.length }))
      }
    },
    async get(Key) {
      const body = await find(s3, Key)
      return body && Buffer.from(await body.transformToByteArray())
    },
    async stream(Key, part) {
      return (await find(streaming, Key, part)) as Readable | undefined
    },
    async remove(Key) {
      const { client, sdk } = await s3()
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key }))
    },
    async removeUnder(Prefix) {
      const { client, sdk } = await s3()
      for (;;) {
        const { Contents = [], IsTruncated } = await client.send(
          new sdk.ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1000 }),
        )
        if (Contents.length > 0) {
          await client.send(
            new sdk.DeleteObjectsCommand({
              Bucket,
              Delete: { Objects: Contents.map(({ Key }) => ({ Key: Key! })), Quiet: true },
            }),
          )
        }
        if (!IsTruncated) return
      }
    },
  }
}

/** Groups chunks into buffers of `PART_BYTES`; the last buffer may be smaller. */
async function* partsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let held: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    let from = 0
    while (from < chunk.length) {
      const taken = Math.min(chunk.length - from, PART_BYTES - size)
      held.push(chunk.subarray(from, from + taken))
      size += taken
      from += taken
      if (size === PART_BYTES) {
        yield Buffer.concat(held)
        held = []
        size = 0
      }
    }
  }
  if (size > 0) yield Buffer.concat(held)
  return undefined
}
