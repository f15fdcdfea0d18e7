import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { RecordsRefused, refuse } from '../records/refused.ts'

/** The maximum compression ratio. A bomb reaches 1000:1; real tables, even repetitive ones, stay far below this. */
const MAX_RATIO = 200
const RATIO_FROM_BYTES = 16 << 20

/** Unpacks the stream, and stops at the limit or as soon as the file turns out to be a bomb. */
export async function* gunzip(blocks: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<Buffer> {
  let packed = 0
  let unpacked = 0
  let sourceFailed: unknown
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for await (const block of blocks) {
        packed += block.length
        yield block
      }
    } catch (error) {
      sourceFailed = error
      throw error
    }
  }
  const stream = createGunzip({ chunkSize: 256 << 10 })
  pipeline(Readable.from(counted(), { objectMode: true, highWaterMark: 2 }), stream, () => {})
  try {
    for await (const block of stream as AsyncIterable<Buffer>) {
      unpacked += block.length
      if (unpacked > mostBytes) throw refuse('large', 'The file is larger than the limit after decompression.')
      if (unpacked > RATIO_FROM_BYTES && unpacked > packed * MAX_RATIO)
        throw refuse('large', `The file unpacks to more than ${MAX_RATIO} times its size.`)
      yield block
    }
  } catch (error) {
    if (error instanceof RecordsRefused || sourceFailed !== undefined) throw sourceFailed ?? error
    throw refuse('syntax', 'The gzip data is damaged or cut off.')
  }
}
