import { isUtf8 } from 'node:buffer'
import type { Json } from '#model/definition'
import { MAX_DEPTH } from '../records/limits.ts'
import { refuse } from '../records/refused.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NEWLINE = 0x0a

export const isSpace = (byte: number): boolean => byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09
const endsScalar = (byte: number): boolean => byte === 0x2c || byte === 0x5d || byte === 0x7d || isSpace(byte)

export type Cut = { value: Json; colons: number; lines: number; bytes: number }

/**
 * Finds the end of one JSON value in a stream of blocks, then lets JSON.parse read exactly these bytes. Depth and
 * size are counted on the bytes, before any recursive or unbounded code sees them. Colons outside strings are counted
 * because JSON.parse drops a duplicate key: then the value has fewer keys than its text has colons.
 */
export function makeCutter(mostBytes: number, mostDepth = MAX_DEPTH) {
  let parts: Buffer[] = []
  let bytes = 0
  let depth = 0
  let inString = false
  let escaped = false
  let started = false
  let scalar = false
  let colons = 0
  let lines = 0

  const reset = (): void => {
    parts = []
    bytes = depth = colons = lines = 0
    inString = escaped = started = scalar = false
  }

  const keep = (part: Buffer): void => {
    bytes += part.length
    if (bytes > mostBytes) throw refuse('large', `is larger than ${mostBytes >> 20} MiB`)
    parts.push(part)
  }

  const finish = (): Cut => {
    const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    if (!isUtf8(whole)) throw refuse('syntax', 'is not UTF-8')
    let value: Json
    try {
      value = JSON.parse(whole.toString()) as Json
    } catch (error) {
      throw refuse('syntax', `is not JSON: ${(error as Error).message.slice(0, 200)}`)
    }
    const cut = { value, colons, lines, bytes: whole.length }
    reset()
    return cut
  }

  return {
    /** Continues at `from`. Returns the value and its end, or undefined if the value does not end in this block. */
    feed(block: Buffer, from: number): { cut: Cut; end: number } | undefined {
      let at = from
      if (!started) {
        started = true
        const first = block[at]!
        scalar = first !== 0x7b && first !== 0x5b && first !== QUOTE
      }
      for (; at < block.length; at++) {
        const byte = block[at]!
        if (inString) {
          if (escaped) escaped = false
          else if (byte === BACKSLASH) escaped = true
          else if (byte === QUOTE) {
            inString = false
            if (depth === 0) {
              at += 1
              break
            }
          }
        } else if (byte === QUOTE) inString = true
        else if (scalar) {
          if (endsScalar(byte)) break
        } else if (byte === 0x3a) colons += 1
        else if (byte === 0x7b || byte === 0x5b) {
          if (++depth > mostDepth) throw refuse('deep', `is nested more than ${mostDepth} levels deep`)
        } else if (byte === 0x7d || byte === 0x5d) {
          if (--depth === 0) {
            at += 1
            break
          }
        } else if (byte === NEWLINE) lines += 1
      }
      // If the loop ended without `break`, the value is incomplete, unless it ended exactly with the block.
      keep(block.subarray(from, at))
      const complete = scalar ? at < block.length : depth === 0 && !inString && bytes > 1
      return complete ? { cut: finish(), end: at } : undefined
    },
  }
}
