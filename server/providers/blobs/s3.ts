import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { SECOND } from '#platform/clock'
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

/** Larger than any blob we store. */
const BOUNDS: Bounds = { maxBytes: 128 * 1024 * 1024, timeoutMs: 120 * SECOND }
const CONNECT_WITHIN = 10 * SECOND

/** The library reads whatever comes, for as long as it comes. */
function boundAnswers({ config: { requestHandler } }: S3Client, bounds: Bounds): void {
  const handle = requestHandler.handle.bind(requestHandler)
  requestHandler.handle = async (...given) => {
    const { response } = await handle(...given)
    if (response.body instanceof Readable) response.body = boundStream(response.body, bounds)
    return { response }
  }
}

/** Blobs in a bucket. The library is loaded with the first use: most installations keep blobs on disk. */
export const makeS3Blobs = (options: S3Options): Blobs => {
  const { bucket: Bucket, bounds = BOUNDS } = options
  let opened: Promise<{ client: S3Client; sdk: typeof import('@aws-sdk/client-s3') }> | undefined
  const s3 = (): NonNullable<typeof opened> => {
    opened ??= import('@aws-sdk/client-s3').then((sdk) => {
      const client = new sdk.S3Client({
        region: options.region,
        // Services other than Amazon's know a bucket by its path, not by a host name.
        ...(options.endpoint !== null && { endpoint: options.endpoint, forcePathStyle: true }),
        ...(options.accessKeyId !== null &&
          options.secretAccessKey !== null && {
            credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
          }),
        maxAttempts: 4,
        requestHandler: {
          connectionTimeout: Math.min(CONNECT_WITHIN, bounds.timeoutMs),
          requestTimeout: bounds.timeoutMs,
          throwOnRequestTimeout: true,
        },
      })
      boundAnswers(client, bounds)
      return { client, sdk }
    })
    return opened
  }

  const find = async (Key: string) => {
    const { client, sdk } = await s3()
    try {
      return (await client.send(new sdk.GetObjectCommand({ Bucket, Key }))).Body
    } catch (error) {
      if (error instanceof sdk.NoSuchKey || (error as Error).name === 'NoSuchKey') return undefined
      throw error
    }
  }

  return {
    async put(Key, bytes) {
      const { client, sdk } = await s3()
      await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: bytes, ContentLength: bytes.length }))
    },
    async get(Key) {
      const body = await find(Key)
      return body && Buffer.from(await body.transformToByteArray())
    },
    async stream(Key) {
      return (await find(Key)) as Readable | undefined
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
