// The messages between the service and the conversion process: a JSON header, then bytes. Lengths precede the content,
// so that nothing needs to be scanned.

import { MAX_INPUT_BYTES } from './index.ts'

const MAX_HEADER = 16 * 1024 * 1024
const MAX_BODY = 2 * MAX_INPUT_BYTES + 1024

export type Frame<Header> = { header: Header; body: Buffer }

export function encodeFrame(header: object, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32BE(text.length, 0)
  lengths.writeUInt32BE(body.length, 4)
  return Buffer.concat([lengths, text, body])
}

/** Throws if the other side sends a frame above the limit. */
export function makeFrameReader<Header>(onFrame: (frame: Frame<Header>) => void): (chunk: Buffer) => void {
  let held: Buffer[] = []
  let size = 0
  let needed = 8
  return (chunk) => {
    held.push(chunk)
    size += chunk.length
    while (size >= needed) {
      const all = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held)
      const [header, body] = [all.readUInt32BE(0), all.readUInt32BE(4)]
      if (header > MAX_HEADER || body > MAX_BODY) throw new Error('a frame is too large')
      const whole = 8 + header + body
      if (size < whole) {
        held = [all]
        needed = whole
        return
      }
      onFrame({
        header: JSON.parse(all.toString('utf8', 8, 8 + header)) as Header,
        body: all.subarray(8 + header, whole),
      })
      held = [all.subarray(whole)]
      size -= whole
      needed = 8
    }
  }
}
