import { createHash } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import { CHUNK_BYTES, MAX_RECORDS } from './limits.ts'
import { refuse } from './refused.ts'

/** A stored piece of a dataset: canonical JSON, one record a line, compressed. */
export type Chunk = { n: number; first_record: number; record_count: number; body: Uint8Array }

export type Packed = { sha256: string; record_count: number; size_bytes: number }

// Level 1: 1 MiB in about 3 ms, a fifth to a tenth of the size.
const settings = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/**
 * Gathers canonical records into chunks and takes the fingerprint on the way: sha256 of `[`, the records joined by `,`,
 * and `]`, never of more than one chunk at a time.
 */
export function makePacker(onChunk: (chunk: Chunk) => void, before?: { chunks: number; record_count: number }) {
  const hash = createHash('sha256').update('[')
  let lines: string[] = []
  let length = 0
  let n = before?.chunks ?? 0
  let records = before?.record_count ?? 0
  let hashed = false
  let size = 0

  const hashText = (text: string | Uint8Array): void => {
    if (hashed) hash.update(',')
    hash.update(text)
    hashed = true
  }

  const flush = (): void => {
    if (lines.length === 0) return
    hashText(lines.join(','))
    const text = Buffer.from(lines.join('\n'))
    size += text.length + 1
    onChunk({
      n: n++,
      first_record: records - lines.length,
      record_count: lines.length,
      body: zstdCompressSync(text, settings),
    })
    lines = []
    length = 0
  }

  return {
    add(text: string): void {
      if (records >= MAX_RECORDS) {
        throw refuse('large', `A dataset holds at most ${MAX_RECORDS.toLocaleString('en')} records.`)
      }
      lines.push(text)
      length += text.length + 1
      records += 1
      if (length >= CHUNK_BYTES) flush()
    },
    /** Records that are stored already and stay: their canonical text, joined by commas. */
    keep(text: Uint8Array): void {
      hashText(text)
      size += text.length + 1
    },
    count: (): number => records,
    finish(): Packed {
      flush()
      return { sha256: hash.update(']').digest('hex'), record_count: records, size_bytes: size }
    },
  }
}

export type Packer = ReturnType<typeof makePacker>
