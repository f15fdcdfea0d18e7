import { createHash } from 'node:crypto'
import type { JsonObject } from '#model/definition'
import { type Chunk, makePacker, type Packed } from '../records/packer.ts'
import { makeProfiler, type Profile } from '../records/profile.ts'
import { makeCsvReader } from './csv.ts'
import { gunzip } from './gunzip.ts'
import { makeJsonReader, makeLinesReader, type Sink } from './json.ts'
import { hasByteOrderMark, isGzip, SAMPLE_BYTES, sniff } from './sniff.ts'

/** `body`: `{"name": …, "records": […]}` of the API. `file`: an imported file of any supported format. */
export type ParseTask = { of: 'body' } | { of: 'file'; infer: boolean; mostBytes: number }

export type Parsed = Packed & {
  profile: Profile
  /** The fields of the body except its records. */
  fields: JsonObject
  hasRecords: boolean
  /** The hash of the bytes as received. */
  input_sha256: string
}

type Reader = { push(block: Buffer): void | Promise<void>; end(): unknown }

/** Reads blocks of bytes into chunks of records, in the thread of the caller. Memory does not grow with the input. */
export async function parseRecords(
  task: ParseTask,
  blocks: AsyncIterable<Buffer>,
  onChunk: (chunk: Chunk) => void,
): Promise<Parsed> {
  const input = createHash('sha256')
  const packer = makePacker(onChunk)
  const profiler = makeProfiler()
  const sink = { packer, profiler }
  const hashed = hashing(blocks, input)
  let fields: JsonObject = {}
  let hasRecords = true
  if (task.of === 'body') {
    const reader = makeJsonReader('body', sink)
    for await (const block of hashed) reader.push(block)
    ;({ fields, hasRecords } = reader.end())
  } else await readFile(task, hashed, sink)
  const packed = packer.finish()
  return {
    ...packed,
    profile: profiler.finish(packed.record_count),
    fields,
    hasRecords,
    input_sha256: input.digest('hex'),
  }
}

async function readFile(
  task: Extract<ParseTask, { of: 'file' }>,
  blocks: AsyncIterable<Buffer>,
  sink: Sink,
): Promise<void> {
  const { sample, rest } = await peek(blocks)
  if (isGzip(sample)) {
    const unpacked = await peek(gunzip(rest, task.mostBytes))
    return readPlain(task, unpacked.sample, unpacked.rest, sink)
  }
  return readPlain(task, sample, rest, sink)
}

async function readPlain(
  task: Extract<ParseTask, { of: 'file' }>,
  sample: Buffer,
  blocks: AsyncIterable<Buffer>,
  sink: Sink,
): Promise<void> {
  const found = sniff(sample)
  const reader: Reader =
    found.format === 'csv'
      ? makeCsvReader({ delimiter: found.delimiter, infer: task.infer }, sink)
      : found.format === 'json'
        ? makeJsonReader('array', sink)
        : makeLinesReader(sink)
  let skip = found.format !== 'csv' && hasByteOrderMark(sample) ? 3 : 0
  for await (const block of blocks) {
    await reader.push(skip > 0 ? block.subarray(skip) : block)
    skip = 0
  }
  await reader.end()
}

async function* hashing(blocks: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    hash.update(block)
    yield block
  }
}

/** Returns the start of a stream, and the whole stream including that start. */
async function peek(blocks: AsyncIterable<Buffer>): Promise<{ sample: Buffer; rest: AsyncIterable<Buffer> }> {
  const iterator = blocks[Symbol.asyncIterator]()
  const first: Buffer[] = []
  let bytes = 0
  while (bytes < SAMPLE_BYTES) {
    const next = await iterator.next()
    if (next.done) break
    first.push(next.value)
    bytes += next.value.length
  }
  const sample = Buffer.concat(first)
  async function* rest(): AsyncGenerator<Buffer> {
    yield sample
    for (;;) {
      const next = await iterator.next()
      if (next.done) return
      yield next.value
    }
  }
  return { sample, rest: rest() }
}
