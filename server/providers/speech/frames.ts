import { Buffer } from 'node:buffer'
import type { Readable, Writable } from 'node:stream'

// The messages between the server and its audio process: two lengths, a JSON head, raw bytes. Pipes split them into
// chunks, so 25 MiB of audio never block the server's event loop, as a single serialized message would.

export type Frame = { head: Record<string, unknown>; body: Buffer }

export const writeFrame = (stream: Writable, head: Record<string, unknown>, body: Uint8Array = Buffer.alloc(0)) => {
  const text = Buffer.from(JSON.stringify(head))
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32LE(text.length, 0)
  lengths.writeUInt32LE(body.length, 4)
  stream.write(Buffer.concat([lengths, text]))
  if (body.length > 0) stream.write(body)
}

export const readFrames = (stream: Readable, onFrame: (frame: Frame) => void) => {
  let chunks: Buffer[] = []
  let held = 0
  let wanted = 8
  const take = () => {
    const all = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)
    chunks = [all]
    return all
  }
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    held += chunk.length
    while (held >= wanted) {
      const all = take()
      const headLength = all.readUInt32LE(0)
      const end = 8 + headLength + all.readUInt32LE(4)
      if (held < end) {
        wanted = end
        return
      }
      const head = JSON.parse(all.toString('utf8', 8, 8 + headLength)) as Record<string, unknown>
      onFrame({ head, body: all.subarray(8 + headLength, end) })
      chunks = [all.subarray(end)]
      held -= end
      wanted = 8
    }
  })
}
