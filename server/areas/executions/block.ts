import { setImmediate } from 'node:timers/promises'

// A block of the index: some executions in the order of their ids, and for each term (a hash) the executions that
// contain it. Terms are sorted and stored in pages of about a thousand entries, so a search reads one page per term. A
// page is a sequence of entries: the difference to the previous term, the number of executions, and the executions. The
// executions are a list of differences, or one bit for each execution of the block if there are many.

export const MAX_RUNS = 16_384
const ID_BYTES = 16
export const SAMPLE_EVERY = 256
const PAIRS_A_PAGE = 1_024
const MAX_PAGE_BITS = 10
/** The number of pages that are encoded before yielding to the event loop. */
const PAGES_AT_ONCE = 16

export type Run = { id: string; terms: ReadonlySet<number> }
export type Block = {
  firstId: string
  lastId: string
  runs: number
  pairs: number
  ids: Buffer
  samples: Buffer
  dir: Buffer
  data: Buffer
}

export function idAt(ids: Buffer, at: number): string {
  const hex = ids.toString('hex', at * ID_BYTES, (at + 1) * ID_BYTES)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const pageBits = (pairs: number): number =>
  Math.min(MAX_PAGE_BITS, Math.max(0, Math.ceil(Math.log2(pairs / PAIRS_A_PAGE))))
const pageOf = (term: number, bits: number): number => (bits === 0 ? 0 : term >>> (32 - bits))

class Bytes {
  private buffer = Buffer.alloc(64 * 1024)
  length = 0
  private grow(more: number): void {
    if (this.length + more <= this.buffer.length) return
    const larger = Buffer.alloc(Math.max(this.buffer.length * 2, this.length + more))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
  }
  /** Writes an unsigned 32-bit number with variable length. */
  number(value: number): void {
    if (this.length + 5 > this.buffer.length) this.grow(5)
    let left = value >>> 0
    while (left > 0x7f) {
      this.buffer[this.length++] = (left & 0x7f) | 0x80
      left >>>= 7
    }
    this.buffer[this.length++] = left
  }
  /** Writes one bit for each of `size` executions. The set bits are the keys from `at` up to `end`. */
  bits(size: number, keys: Float64Array, base: number, at: number, end: number): void {
    const bytes = (size + 7) >>> 3
    this.grow(bytes)
    this.buffer.fill(0, this.length, this.length + bytes)
    for (let one = at; one < end; one += 1) {
      const run = keys[one]! - base
      const byte = this.length + (run >>> 3)
      this.buffer[byte] = this.buffer[byte]! | (1 << (run & 7))
    }
    this.length += bytes
  }
  done(): Buffer {
    return Buffer.from(this.buffer.subarray(0, this.length))
  }
}

/** Pairs of a term and an execution of the block, each encoded as one number and grouped by page. */
type Pairs = { keys: Float64Array; ends: Uint32Array; bits: number }
const RUN_SPACE = 65_536

function sortIntoPages(terms: Uint32Array, runs: Uint16Array): Pairs {
  const total = terms.length
  const bits = pageBits(total)
  const shift = 32 - bits
  const pages = 2 ** bits
  const ends = new Uint32Array(pages)
  if (bits > 0) {
    for (let at = 0; at < total; at += 1) ends[terms[at]! >>> shift]! += 1
    for (let page = 0, begin = 0; page < pages; page += 1) {
      const count = ends[page]!
      ends[page] = begin
      begin += count
    }
  }
  const keys = new Float64Array(total)
  for (let at = 0; at < total; at += 1) {
    const term = terms[at]!
    keys[ends[bits === 0 ? 0 : term >>> shift]!++] = term * RUN_SPACE + runs[at]!
  }
  return { keys, ends, bits }
}

async function encode({ keys, ends, bits }: Pairs, runs: number): Promise<{ dir: Buffer; data: Buffer }> {
  const bytes = new Bytes()
  const pages = 2 ** bits
  const dir = Buffer.alloc(4 * (pages + 1))
  let begin = 0
  for (let page = 0; page < pages; page += 1) {
    if (page > 0 && page % PAGES_AT_ONCE === 0) await setImmediate()
    const end = ends[page]!
    encodePage(bytes, keys.subarray(begin, end).sort(), runs)
    dir.writeUInt32LE(bytes.length, 4 * (page + 1))
    begin = end
  }
  return { dir, data: bytes.done() }
}

function encodePage(bytes: Bytes, keys: Float64Array, runs: number): void {
  let before = 0
  for (let at = 0; at < keys.length; ) {
    const term = (keys[at]! / RUN_SPACE) >>> 0
    const base = term * RUN_SPACE
    const beyond = base + RUN_SPACE
    let end = at + 1
    while (end < keys.length && keys[end]! < beyond) end += 1
    const count = end - at
    const isBits = count * 8 > runs
    bytes.number(term - before)
    bytes.number(count * 2 + (isBits ? 1 : 0))
    if (isBits) bytes.bits(runs, keys, base, at, end)
    else {
      let last = base
      for (let one = at; one < end; one += 1) {
        bytes.number(keys[one]! - last)
        last = keys[one]!
      }
    }
    before = term
    at = end
  }
}

async function finish(ids: Buffer, pairs: Pairs): Promise<Block> {
  const runs = ids.length / ID_BYTES
  const samples: Buffer[] = []
  for (let at = 0; at < runs; at += SAMPLE_EVERY) samples.push(ids.subarray(at * ID_BYTES, (at + 1) * ID_BYTES))
  return {
    firstId: idAt(ids, 0),
    lastId: idAt(ids, runs - 1),
    runs,
    pairs: pairs.keys.length,
    ids,
    samples: Buffer.concat(samples),
    ...(await encode(pairs, runs)),
  }
}

/** Builds a block of 1 to MAX_RUNS executions. */
export async function makeBlock(unsorted: readonly Run[]): Promise<Block> {
  const sorted = unsorted.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const total = sorted.reduce((sum, { terms }) => sum + terms.size, 0)
  const terms = new Uint32Array(total)
  const runs = new Uint16Array(total)
  const ids = Buffer.alloc(sorted.length * ID_BYTES)
  let filled = 0
  for (let run = 0; run < sorted.length; run += 1) {
    const { id, terms: its } = sorted[run]!
    ids.write(id.replaceAll('-', ''), run * ID_BYTES, 'hex')
    for (const term of its) {
      terms[filled] = term
      runs[filled++] = run
    }
  }
  return finish(ids, sortIntoPages(terms, runs))
}

/** Merges several blocks into one. An execution that is in two of them is in the result twice. */
export async function mergeBlocks(blocks: readonly Pick<Block, 'ids' | 'dir' | 'data' | 'pairs'>[]): Promise<Block> {
  const all = Buffer.concat(blocks.map(({ ids }) => ids))
  const count = all.length / ID_BYTES
  const order = Array.from({ length: count }, (_, at) => at).sort((a, b) =>
    all.compare(all, b * ID_BYTES, (b + 1) * ID_BYTES, a * ID_BYTES, (a + 1) * ID_BYTES),
  )
  const placeOf = new Uint16Array(count)
  const ids = Buffer.alloc(all.length)
  for (const [place, from] of order.entries()) {
    placeOf[from] = place
    all.copy(ids, place * ID_BYTES, from * ID_BYTES, (from + 1) * ID_BYTES)
  }
  const total = blocks.reduce((sum, { pairs }) => sum + pairs, 0)
  const terms = new Uint32Array(total)
  const runs = new Uint16Array(total)
  let filled = 0
  let before = 0
  for (const { dir, data, ids: its } of blocks) {
    const begin = filled
    for (let page = 0; page < dir.length / 4 - 1; page += 1) {
      const [at, end] = [dir.readUInt32LE(4 * page), dir.readUInt32LE(4 * page + 4)]
      filled = readPage(data.subarray(at, end), its.length / ID_BYTES, { terms, runs, filled })
    }
    for (let at = begin; at < filled; at += 1) runs[at] = placeOf[before + runs[at]!]!
    before += its.length / ID_BYTES
    await setImmediate()
  }
  return finish(ids, sortIntoPages(terms.subarray(0, filled), runs.subarray(0, filled)))
}

type Filled = { terms: Uint32Array; runs: Uint16Array; filled: number }

/** Decodes the output of `Bytes`. */
class Reader {
  at = 0
  private readonly page: Buffer
  private readonly size: number
  constructor(page: Buffer, size: number) {
    this.page = page
    this.size = size
  }
  get isAtEnd(): boolean {
    return this.at >= this.page.length
  }
  number(): number {
    let byte = this.page[this.at++]!
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let shift = 7; ; shift += 7) {
      byte = this.page[this.at++]!
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
  }
  /** Appends the executions of the term with this head to `runs`, and returns the new length. */
  runs(head: number, runs: Uint16Array, filled: number): number {
    let to = filled
    if (isBits(head)) {
      for (let run = 0; run < this.size; run += 1) if (hasBit(this.page, this.at, run)) runs[to++] = run
      this.at += (this.size + 7) >>> 3
    } else {
      let run = 0
      for (let left = head >>> 1; left > 0; left -= 1) runs[to++] = run += this.number()
    }
    return to
  }
  skip(head: number): void {
    if (isBits(head)) this.at += (this.size + 7) >>> 3
    else for (let left = head >>> 1; left > 0; left -= 1) this.number()
  }
}

const isBits = (head: number): boolean => (head & 1) === 1
const hasBit = (page: Buffer, at: number, run: number): boolean => ((page[at + (run >>> 3)]! >>> (run & 7)) & 1) === 1

/** Appends the pairs of a page and returns the new length. */
function readPage(page: Buffer, size: number, { terms, runs, filled }: Filled): number {
  const reader = new Reader(page, size)
  let to = filled
  for (let term = 0; !reader.isAtEnd; ) {
    term += reader.number()
    const begin = to
    to = reader.runs(reader.number(), runs, to)
    terms.fill(term, begin, to)
  }
  return to
}

/** Finds the executions of one term in a page. */
function find(page: Buffer, size: number, wanted: number): { head: number; reader: Reader } | undefined {
  const reader = new Reader(page, size)
  for (let term = 0; !reader.isAtEnd; ) {
    term += reader.number()
    if (term > wanted) return undefined
    const head = reader.number()
    if (term === wanted) return { head, reader }
    reader.skip(head)
  }
  return undefined
}

/** Returns the position of a term's page in `data`. */
export function pageAt(dir: Buffer, term: number): { at: number; length: number } {
  const page = pageOf(term, Math.log2(dir.length / 4 - 1))
  const at = dir.readUInt32LE(4 * page)
  return { at, length: dir.readUInt32LE(4 * page + 4) - at }
}

/**
 * Returns the executions that contain all of these terms, in order. Each term comes with its page. The rarest term is
 * read first.
 */
export function runsWith(size: number, wanted: readonly { term: number; page: Buffer }[]): number[] {
  const held: { head: number; reader: Reader; page: Buffer }[] = []
  for (const { term, page } of wanted) {
    const found = find(page, size, term)
    if (!found) return []
    held.push({ ...found, page })
  }
  const read = new Uint16Array(size)
  let runs: number[] | undefined
  for (const { head, reader, page } of held.sort((a, b) => a.head - b.head)) {
    if (runs && isBits(head)) runs = runs.filter((run) => hasBit(page, reader.at, run))
    else {
      const its = read.subarray(0, reader.runs(head, read, 0))
      const known: ReadonlySet<number> | undefined = runs && new Set(its)
      runs = known ? runs!.filter((run) => known.has(run)) : [...its]
    }
  }
  return runs ?? []
}

/** Returns the positions of the executions whose id can be at least `from` and less than `to`. `end` is exclusive. */
export function runsBetween(runs: number, samples: Buffer, from: string, to: string): [first: number, end: number] {
  let first = 0
  let end = runs
  for (let sample = 0; sample < samples.length / ID_BYTES; sample += 1) {
    const id = idAt(samples, sample)
    if (id <= from) first = sample * SAMPLE_EVERY
    if (id >= to) {
      end = Math.min(end, sample * SAMPLE_EVERY)
      break
    }
  }
  return [first, end]
}
