import { isUtf8 } from 'node:buffer'
import { refuse } from '../records/refused.ts'

/** Accepts only whole UTF-8 characters without NUL. The error names the line of the first bad byte. */
export function makeTextGate(lineNow: () => number) {
  let carried: Buffer = Buffer.alloc(0)

  const check = (text: Buffer): Buffer => {
    if (!isUtf8(text)) throw refuse('record', 'is not UTF-8', { line: lineOf(text, firstBadByte(text)) })
    const nul = text.indexOf(0)
    if (nul !== -1) throw refuse('record', 'contains a NUL byte', { line: lineOf(text, nul) })
    return text
  }
  const lineOf = (text: Buffer, at: number): number => {
    let line = lineNow()
    for (let one = 0; one < at; one++) if (text[one] === 10 || (text[one] === 13 && text[one + 1] !== 10)) line += 1
    return line
  }

  return {
    push(block: Buffer): Buffer {
      const whole = carried.length === 0 ? block : Buffer.concat([carried, block])
      const end = wholeCharacters(whole)
      carried = Buffer.from(whole.subarray(end))
      return check(whole.subarray(0, end))
    },
    end(): void {
      if (carried.length > 0) check(carried)
    },
  }
}

/** Returns the end of the last complete character. */
function wholeCharacters(text: Buffer): number {
  for (let back = 1; back <= 3 && back <= text.length; back++) {
    const byte = text[text.length - back]!
    if (byte < 0x80) return text.length
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return needs > back ? text.length - back : text.length
    }
  }
  return text.length
}

/**
 * Finds the first bad byte by binary search: a prefix that ends between two characters is valid if the bad byte comes
 * later.
 */
function firstBadByte(text: Buffer): number {
  let good = 0
  let bad = text.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    const prefix = text.subarray(0, middle)
    if (isUtf8(prefix.subarray(0, wholeCharacters(prefix)))) good = middle
    else bad = middle
  }
  return good
}
