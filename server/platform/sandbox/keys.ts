// The sandbox processes also use this file, and they can read only this folder and a few others.

const MAX_KEYS = 20_000
const MAX_WIDE_KEYS = 100_000
/** Objects with at most this number of keys, such as records, repeat the same names and cost almost nothing. */
const WIDE = 50

/**
 * Checks whether JSON text contains objects that are expensive to create: 300,000 names in one object take 0.5 s to
 * parse and scan. Counts on the text, before it is parsed.
 */
export function hasTooManyKeys(text: string): boolean {
  const open: number[] = []
  let keys = 0
  let wide = 0
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index]
    if (letter === '"') index = endOfString(text, index)
    else if (letter === ':') {
      keys += 1
      if (keys > MAX_KEYS) return true
    } else if (letter === '{') {
      open.push(keys)
      keys = 0
    } else if (letter === '}') {
      if (keys > WIDE) wide += keys
      if (wide > MAX_WIDE_KEYS) return true
      keys = open.pop() ?? 0
    }
  }
  return false
}

function endOfString(text: string, from: number): number {
  let index = from + 1
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1
  return index
}
