// The protocol between the pool and a sandbox process: length-prefixed frames over pipes, with a small JSON header and
// a body of JSON text. Only plain bytes and JSON, so that a compromised process can send nothing but data.

export type SandboxRequest = {
  kind: 'transform' | 'code' | 'check'
  /** The JSONata expression, or the JavaScript or TypeScript source. Sources to be checked are in the body instead. */
  source: string
  timeMs: number
  memoryMb: number
}

/** A source to check, and an error that running it would certainly cause. */
export type Source = { language: 'code' | 'transform'; source: string }
export type SourceProblem = { line: number | null; message: string }

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** `levels` has one entry for each entry of `logs`. */
type Logs = { logs: string[]; levels: LogLevel[] }
export type SandboxReply = ({ ok: true } | { ok: false; code: string; message: string }) & Logs

export type Frame<H> = { header: H; body: string }

const PREFIX_BYTES = 8

export function encodeFrame(header: object, body: string): Buffer {
  const head = Buffer.from(JSON.stringify(header))
  const tail = Buffer.from(body)
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(head.length, 0)
  prefix.writeUInt32BE(tail.length, 4)
  return Buffer.concat([prefix, head, tail])
}

/** Calls `onFrame` once per complete frame. Throws if a frame is larger than allowed. */
export function makeFrameReader<H>(maxBytes: number, onFrame: (frame: Frame<H>) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let size = 0
  return (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    while (size >= PREFIX_BYTES) {
      if ((chunks[0] as Buffer).length < PREFIX_BYTES) chunks = [Buffer.concat(chunks)]
      const first = chunks[0] as Buffer
      const head = first.readUInt32BE(0)
      const total = PREFIX_BYTES + head + first.readUInt32BE(4)
      if (total > maxBytes) throw new RangeError('frame too large')
      if (size < total) return
      const whole = Buffer.concat(chunks)
      chunks = whole.length > total ? [whole.subarray(total)] : []
      size = whole.length - total
      const header = JSON.parse(whole.toString('utf8', PREFIX_BYTES, PREFIX_BYTES + head)) as H
      onFrame({ header, body: whole.toString('utf8', PREFIX_BYTES + head, total) })
    }
  }
}
