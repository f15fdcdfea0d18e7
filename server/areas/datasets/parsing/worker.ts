import { parentPort, workerData } from 'node:worker_threads'
import type { Chunk } from '../records/packer.ts'
import { RecordsRefused } from '../records/refused.ts'
import { type Parsed, type ParseTask, parseRecords } from './parse.ts'

// The worker side of thread.ts. It receives blocks and sends chunks. Neither side runs ahead of the other by more than
// a few.

export type ToWorker = { block: Uint8Array } | { end: true } | { stored: true }
export type FromWorker =
  | { taken: number }
  | { chunk: Chunk }
  | { parsed: Parsed }
  | { refused: RecordsRefused['refusal'] }
  | { failed: string }

const MAX_CHUNKS_AHEAD = 4

const port = parentPort!
const inbox: Uint8Array[] = []
let ended = false
let ahead = 0
let wake: () => void = () => {}

port.on('message', (message: ToWorker) => {
  if ('block' in message) inbox.push(message.block)
  else if ('stored' in message) ahead -= 1
  else ended = true
  wake()
})

const say = (message: FromWorker, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)

async function* blocks(): AsyncGenerator<Buffer> {
  for (;;) {
    if (ahead < MAX_CHUNKS_AHEAD) {
      const block = inbox.shift()
      if (block !== undefined) {
        yield Buffer.from(block.buffer, block.byteOffset, block.length)
        say({ taken: block.length })
        continue
      }
      if (ended) return
    }
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}

const onChunk = (chunk: Chunk): void => {
  ahead += 1
  const body = new Uint8Array(chunk.body)
  say({ chunk: { ...chunk, body } }, [body.buffer])
}

try {
  say({ parsed: await parseRecords(workerData as ParseTask, blocks(), onChunk) })
} catch (error) {
  if (error instanceof RecordsRefused) say({ refused: error.refusal })
  else say({ failed: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) })
} finally {
  port.close()
}
