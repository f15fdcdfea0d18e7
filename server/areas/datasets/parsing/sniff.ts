import { MAX_KEY_LENGTH, MAX_KEYS } from '../records/limits.ts'
import { refuse } from '../records/refused.ts'
import { isSpace } from './cutter.ts'

export type Format = { format: 'csv'; delimiter: string } | { format: 'json' } | { format: 'jsonl' }

/** The size of the sample from which the format is detected. */
export const SAMPLE_BYTES = 64 << 10

export const isGzip = (sample: Buffer): boolean => sample[0] === 0x1f && sample[1] === 0x8b
export const hasByteOrderMark = (sample: Buffer): boolean =>
  sample[0] === 0xef && sample[1] === 0xbb && sample[2] === 0xbf

const foreign: [magic: number[], what: string][] = [
  [[0xff, 0xfe], 'The file is UTF-16. Save it as UTF-8.'],
  [[0xfe, 0xff], 'The file is UTF-16. Save it as UTF-8.'],
  [[0x50, 0x4b, 0x03, 0x04], 'The file is a ZIP archive or a spreadsheet. Export it as CSV.'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'The file is a spreadsheet. Export it as CSV.'],
  [[0x1f, 0x8b], 'The file is compressed twice. Compress it once.'],
  [[0x25, 0x50, 0x44, 0x46], 'The file is a PDF. Export the table as CSV.'],
]

/** Detects the format from the content alone, because file names and content types are not reliable. */
export function sniff(sample: Buffer): Format {
  for (const [magic, what] of foreign) if (magic.every((byte, at) => sample[at] === byte)) throw refuse('type', what)
  let at = hasByteOrderMark(sample) ? 3 : 0
  while (at < sample.length && isSpace(sample[at]!)) at += 1
  if (at === sample.length) throw refuse('record', 'The file is empty.')
  if (sample[at] === 0x5b) return { format: 'json' }
  if (sample[at] === 0x7b) return { format: 'jsonl' }
  return { format: 'csv', delimiter: sniffDelimiter(sample.subarray(at)) }
}

const delimiters = [',', ';', '\t', '|']

/**
 * Returns the delimiter that occurs equally often outside quotes in the first lines. Returns the comma if no other
 * delimiter fits better.
 */
function sniffDelimiter(sample: Buffer): string {
  const lines = countPerLine(sample.toString('latin1'))
  let best = ','
  let bestScore = 0
  for (const [index, delimiter] of delimiters.entries()) {
    const header = lines[0]?.[index] ?? 0
    if (header === 0) continue
    if (header >= MAX_KEYS) throw refuse('record', `has more than ${MAX_KEYS} columns`, { line: 1 })
    const agreeing = lines.filter((counts) => counts[index] === header).length
    const score = (agreeing / lines.length) * 1000 + Math.min(header, MAX_KEY_LENGTH)
    if (score > bestScore) {
      best = delimiter
      bestScore = score
    }
  }
  return best
}

function countPerLine(text: string): number[][] {
  const lines: number[][] = []
  let counts = delimiters.map(() => 0)
  let quoted = false
  let empty = true
  for (const letter of text) {
    if (letter === '"') quoted = !quoted
    if (!quoted && letter === '\n') {
      if (!empty) lines.push(counts)
      if (lines.length === 20) return lines
      counts = delimiters.map(() => 0)
      empty = true
      continue
    }
    empty = false
    const index = quoted ? -1 : delimiters.indexOf(letter)
    if (index !== -1) counts[index]! += 1
  }
  // The last line of the sample may be incomplete, so it is used only if it is the only line.
  if (lines.length === 0) lines.push(counts)
  return lines
}
