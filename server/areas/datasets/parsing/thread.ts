import { Worker } from 'node:worker_threads'
import { problem } from '#platform/errors'
import type { Chunk } from '../records/packer.ts'
import { RecordsRefused } from '../records/refused.ts'
import { type Parsed, type ParseTask, parseRecords } from './parse.ts'
import type { FromWorker, ToWorker } from './worker.ts'

/**
 * The maximum sizes for parsing in the main thread. Below them a thread costs more than it saves: 1 MiB of JSON takes
 * about 20 ms, 128 KiB of CSV about 8 ms.
 */
const INLINE_BYTES = { body: 1 << 20, file: 128 << 10 }
const BLOCK_BYTES = 256 << 10
const MAX_BYTES_AHEAD = 1 << 20
const memory = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 32 }

export type StoreChunk = (chunk: Chunk) => Promise<void>

export type ParseOptions = {
  workspaceId: string
  task: ParseTask
  blocks: AsyncIterable<Buffer>
  store: StoreChunk
  signal: AbortSignal
}

/**
 * Reads records without blocking the main thread: small input is parsed here, larger input in its own thread. A
 * workspace has at most two threads and the process eight; later uploads wait.
 */
export function makeParserThreads({ most = 8, mostPerWorkspace = 2, mostWaiting = 64 } = {}) {
  const running = new Map<string, number>()
  const waiting: { workspaceId: string; go: () => void }[] = []
  let total = 0

  const enter = (workspaceId: string): boolean => {
    const own = running.get(workspaceId) ?? 0
    if (total >= most || own >= mostPerWorkspace) return false
    total += 1
    running.set(workspaceId, own + 1)
    return true
  }
  const acquire = async (workspaceId: string): Promise<void> => {
    if (enter(workspaceId)) return
    if (waiting.length >= mostWaiting)
      throw problem('overloaded', 'Too many imports are waiting. Try again in a minute.', { retryAfterS: 30 })
    await new Promise<void>((resolve) => waiting.push({ workspaceId, go: resolve }))
  }
  const release = (workspaceId: string): void => {
    total -= 1
    const own = running.get(workspaceId)! - 1
    if (own === 0) running.delete(workspaceId)
    else running.set(workspaceId, own)
    const next = waiting.findIndex((waiter) => enter(waiter.workspaceId))
    if (next !== -1) waiting.splice(next, 1)[0]!.go()
  }

  return {
    async parse(options: ParseOptions): Promise<Parsed> {
      const { task, workspaceId } = options
      const { first, bytes, rest } = await readAhead(options.blocks, INLINE_BYTES[task.of])
      const compressed = first[0]?.[0] === 0x1f
      if (rest === undefined && bytes <= INLINE_BYTES[task.of] && !compressed)
        return parseHere({ ...options, blocks: listed(first) })
      await acquire(workspaceId)
      try {
        return await parseInThread({ ...options, blocks: rest === undefined ? listed(first) : followed(first, rest) })
      } finally {
        release(workspaceId)
      }
    },
  }
}

export type ParserThreads = ReturnType<typeof makeParserThreads>

async function parseHere({ task, blocks, store }: ParseOptions): Promise<Parsed> {
  const chunks: Chunk[] = []
  const parsed = await parseRecords(task, blocks, (chunk) => chunks.push(chunk))
  for (const chunk of chunks) await store(chunk)
  return parsed
}

async function parseInThread({ task, blocks, store, signal }: ParseOptions): Promise<Parsed> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: memory,
    env: {},
  })
  const tell = (message: ToWorker, transfer: ArrayBuffer[] = []): void => worker.postMessage(message, transfer)
  let ahead = 0
  let wake: () => void = () => {}
  let over = false
  let answered = false
  let storing: Promise<void> = Promise.resolve()

  const outcome = new Promise<Parsed>((resolve, reject) => {
    const fail = (error: unknown): void => {
      over = true
      wake()
      reject(error)
    }
    worker.on('message', (message: FromWorker) => {
      if ('taken' in message) {
        ahead -= message.taken
        wake()
      } else if ('chunk' in message) {
        storing = storing.then(() => store(message.chunk)).then(() => tell({ stored: true }))
        storing.catch(fail)
      } else if ('parsed' in message) {
        answered = true
        storing.then(() => resolve(message.parsed), fail)
      } else if ('refused' in message) fail(new RecordsRefused(message.refused))
      else fail(new Error(`reading records failed: ${message.failed}`))
    })
    worker.on('error', (error: Error & { code?: string }) =>
      fail(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? new RecordsRefused({ kind: 'large', message: 'The records need too much memory to be read.' })
          : error,
      ),
    )
    // The thread exits as soon as it has sent its result, while its last chunks are still being stored.
    worker.on('exit', () => {
      if (!answered) fail(new Error('the thread that reads records ended early'))
    })
    signal.addEventListener('abort', () => fail(problem('malformed', 'The upload was cancelled.')), { once: true })
  })
  outcome.catch(() => {})

  const feed = async (): Promise<void> => {
    for await (const block of regrouped(blocks)) {
      while (!over && ahead >= MAX_BYTES_AHEAD) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (over) return
      ahead += block.length
      tell({ block }, [block.buffer])
    }
    if (!over) tell({ end: true })
  }

  try {
    const feeding = feed()
    feeding.catch(() => {})
    // The first failure decides. A refusal does not wait for the rest of the upload.
    await Promise.race([outcome, feeding.then(() => outcome)])
    return await outcome
  } finally {
    over = true
    wake()
    await storing.catch(() => {})
    await worker.terminate()
  }
}

/** Reads until more than `most` bytes are read or the input ends. `rest` is the remaining input. */
async function readAhead(blocks: AsyncIterable<Buffer>, most: number) {
  const iterator = blocks[Symbol.asyncIterator]()
  const first: Buffer[] = []
  let bytes = 0
  for (;;) {
    const next = await iterator.next()
    if (next.done) return { first, bytes, rest: undefined }
    first.push(next.value)
    bytes += next.value.length
    if (bytes > most) return { first, bytes, rest: iterator }
  }
}

async function* listed(blocks: Buffer[]): AsyncGenerator<Buffer> {
  yield* blocks
}

async function* followed(first: Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  while (first.length > 0) yield first.shift()!
  for (;;) {
    const next = await rest.next()
    if (next.done) return
    yield next.value
  }
}

/** Copies small blocks into larger blocks that can be transferred to another thread. */
async function* regrouped(blocks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let group = new Uint8Array(BLOCK_BYTES)
  let filled = 0
  for await (const block of blocks) {
    let from = 0
    while (from < block.length) {
      const taken = Math.min(block.length - from, BLOCK_BYTES - filled)
      group.set(block.subarray(from, from + taken), filled)
      filled += taken
      from += taken
      if (filled === BLOCK_BYTES) {
        yield group
        group = new Uint8Array(BLOCK_BYTES)
        filled = 0
      }
    }
  }
  if (filled > 0) yield group.slice(0, filled)
}
