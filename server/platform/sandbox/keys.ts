// Read in the sandbox processes too, which can read nothing but this folder.

const MAX_KEYS = 20_000
const MAX_WIDE_KEYS = 100_000
/** Narrow objects, as records are, have the same names again and again and cost next to nothing. */
const WIDE = 50

/**
 * Whether JSON text holds objects that are dear to have: 300,000 names in one take 0.5 s to read and look through. Counted
 * on the text, before anything is made of it.
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
