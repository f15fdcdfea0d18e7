import type pg from 'pg'
import { connectionOf } from './socket.ts'

/** One byte says what a message is, four how long it is, themselves included. */
const HEADER = 5
const lengthAt = (bytes: Buffer, at: number): number => 1 + bytes.readUInt32BE(at + 1)

/**
 * Hands on whole messages of the server alone. A message that comes in pieces is collected in a buffer of its length. The driver
 * itself doubles its buffer piece by piece and begins anew with each message: a row of one megabyte cost four megabytes of
 * fresh memory and as many copies, which was half of the processor time while a tenant had such rows read.
 */
export function wholeMessages(handOn: (bytes: Buffer) => void): (chunk: Buffer) => void {
  /** The beginning of a message, its length in full once its header is there. */
  let begun: Buffer | undefined
  let filled = 0

  const begin = (chunk: Buffer, at: number): void => {
    const rest = chunk.length - at
    begun = Buffer.allocUnsafe(rest < HEADER ? HEADER : lengthAt(chunk, at))
    filled = chunk.copy(begun, 0, at)
  }
  /** How many bytes of the chunk were needed. */
  const fill = (message: Buffer, chunk: Buffer, at: number): number => {
    const taken = chunk.copy(message, filled, at)
    filled += taken
    return taken
  }

  return (chunk) => {
    let at = 0
    if (begun && filled < HEADER) {
      const header = Buffer.allocUnsafe(HEADER)
      begun.copy(header, 0, 0, filled)
      at += fill(header, chunk, at)
      begun = header
      if (filled < HEADER) return
      begun = Buffer.allocUnsafe(lengthAt(header, 0))
      header.copy(begun)
    }
    if (begun) {
      at += fill(begun, chunk, at)
      if (filled < begun.length) return
      const message = begun
      begun = undefined
      handOn(message)
    }
    let end = at
    while (end + HEADER <= chunk.length && end + lengthAt(chunk, end) <= chunk.length) end += lengthAt(chunk, end)
    if (end < chunk.length) begin(chunk, end)
    if (end > at) handOn(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end))
  }
}

/** For a client that is connected. */
export function readWholeMessages(client: pg.ClientBase): void {
  const { stream } = connectionOf(client)
  for (const listener of stream.listeners('data') as ((bytes: Buffer) => void)[]) {
    stream.off('data', listener)
    stream.on('data', wholeMessages(listener))
  }
}
