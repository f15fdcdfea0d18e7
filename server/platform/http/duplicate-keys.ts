import { at } from '#model/json'

// JSON.parse silently keeps the last of two equal keys, and other parsers keep the first: a proxy that checked the text
// before us may have seen another value. A value with fewer keys than its text has colons has lost a key.

/** Counts the keys of all objects of a parsed value. The depth was limited before. */
export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let keys = 0
  if (Array.isArray(value)) {
    for (const inner of value) if (typeof inner === 'object') keys += countKeys(inner)
    return keys
  }
  for (const key in value) {
    keys += 1
    const inner = (value as Record<string, unknown>)[key]
    if (typeof inner === 'object') keys += countKeys(inner)
  }
  return keys
}

/** Returns the JSON Pointer of the first key that occurs twice in its object. Only for text that JSON.parse accepts. */
export function findDuplicate(text: string): string | undefined {
  let position = 0
  const isSpace = (letter: number): boolean => letter === 32 || letter === 10 || letter === 13 || letter === 9
  const skip = (): number => {
    while (isSpace(text.charCodeAt(position))) position += 1
    return text.charCodeAt(position)
  }
  const readString = (): string => {
    const from = position
    for (position += 1; text.charCodeAt(position) !== 34; position += 1)
      if (text.charCodeAt(position) === 92) position += 1
    position += 1
    return JSON.parse(text.slice(from, position)) as string
  }
  const visit = (path: string): string | undefined => {
    const first = skip()
    if (first === 34) {
      readString()
      return undefined
    }
    if (first !== 123 && first !== 91) {
      while (position < text.length && !',]} \n\r\t'.includes(text[position]!)) position += 1
      return undefined
    }
    position += 1
    return first === 123 ? visitObject(path) : visitArray(path)
  }
  const visitObject = (path: string): string | undefined => {
    const seen = new Set<string>()
    while (skip() !== 125) {
      if (text.charCodeAt(position) === 44) position += 1
      skip()
      const key = readString()
      if (seen.has(key)) return at(path, key)
      seen.add(key)
      skip()
      position += 1
      const found = visit(at(path, key))
      if (found !== undefined) return found
    }
    position += 1
    return undefined
  }
  const visitArray = (path: string): string | undefined => {
    for (let index = 0; skip() !== 93; index += 1) {
      if (text.charCodeAt(position) === 44) position += 1
      const found = visit(at(path, String(index)))
      if (found !== undefined) return found
    }
    position += 1
    return undefined
  }
  return visit('')
}
