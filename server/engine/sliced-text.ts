import type { Json } from '#model/definition'
import { jsonSize } from '#model/size'

/** The approximate size of one slice, which takes 2 to 5 ms. */
const SLICE_SIZE = 512 * 1024
/**
 * The maximum depth of splitting. Each level is scanned for its parts, so a large value at many levels would be
 * scanned that many times.
 */
const MAX_LEVELS = 4

/**
 * Serializes a value like JSON.stringify, part by part. Before each slice except the first, it waits for `next`.
 * `check` receives each part, so that it can throw before the rest is written.
 */
export async function writeInSlices(
  value: unknown,
  next: () => Promise<void>,
  check: (part: string, written: number) => void,
): Promise<string> {
  const parts: string[] = []
  let written = 0
  let inSlice = 0

  const add = (part: string): void => {
    parts.push(part)
    written += part.length
  }
  const put = async (part: unknown, level: number): Promise<void> => {
    const size = jsonSize(part, SLICE_SIZE)
    if (size > SLICE_SIZE && level < MAX_LEVELS && typeof part === 'object' && part !== null)
      return Array.isArray(part) ? putList(part, level + 1) : putObject(part, level + 1)
    if (inSlice > 0 && inSlice + size > SLICE_SIZE) {
      await next()
      inSlice = 0
    }
    inSlice += size
    const text = JSON.stringify(part) ?? 'null'
    add(text)
    check(text, written)
  }
  const putList = async (list: unknown[], level: number): Promise<void> => {
    let lead = '['
    for (const part of list) {
      add(lead)
      await put(part, level)
      lead = ','
    }
    add(']')
  }
  const putObject = async (object: object, level: number): Promise<void> => {
    let lead = '{'
    for (const [key, part] of Object.entries(object)) {
      if (part === undefined) continue
      const name = JSON.stringify(key)
      add(`${lead}${name}:`)
      check(name, written)
      await put(part, level)
      lead = ','
    }
    add('}')
  }

  await put(value ?? null, 0)
  return parts.join('')
}

/** Parses text of JSON.stringify, part by part. Before each slice except the first, it waits for `next`. */
export async function readInSlices(text: string, next: () => Promise<void>): Promise<Json> {
  let inSlice = 0
  const parse = async (part: string): Promise<Json> => {
    if (inSlice > 0 && inSlice + part.length > SLICE_SIZE) {
      await next()
      inSlice = 0
    }
    inSlice += part.length
    return JSON.parse(part) as Json
  }
  const read = async (part: string, level: number): Promise<Json> => {
    const isList = part[0] === '['
    if (part.length <= SLICE_SIZE || level === MAX_LEVELS || !(isList || part[0] === '{')) return parse(part)
    if (level > 0) await next()
    const list: Json[] = []
    const object: Record<string, Json> = {}
    for (const { key, from, to } of groupsOf(part, isList)) {
      const inner = part.slice(from, to)
      if (to - from > SLICE_SIZE) {
        const value = await read(inner, level + 1)
        if (key === undefined) list.push(value)
        else define(object, key, value)
      } else if (isList) for (const item of (await parse(`[${inner}]`)) as Json[]) list.push(item)
      else
        for (const [name, value] of Object.entries((await parse(`{${inner}}`)) as object)) define(object, name, value)
    }
    return isList ? list : object
  }
  return read(text, 0)
}

/** Sets a member, even one named `__proto__`. */
const define = (object: Record<string, Json>, name: string, value: Json): void => {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  else object[name] = value
}

type Group = { key?: string; from: number; to: number }

/** Yields adjacent members that are parsed together, or a single value that is larger than a slice. */
function* groupsOf(text: string, isList: boolean): Generator<Group> {
  let begun = 1
  let at = 1
  while (at < text.length - 1) {
    const member = at
    const value = isList ? at : endOfText(text, at) + 1
    const end = endOfValue(text, value)
    if (end - value > SLICE_SIZE) {
      if (member > begun) yield { from: begun, to: member - 1 }
      yield { ...(!isList && { key: JSON.parse(text.slice(member, value - 1)) as string }), from: value, to: end }
      begun = end + 1
    } else if (end - begun > SLICE_SIZE) {
      if (member > begun) yield { from: begun, to: member - 1 }
      begun = member
    }
    at = end + 1
  }
  if (begun < text.length - 1) yield { from: begun, to: text.length - 1 }
}

const QUOTE = '"'
const BACKSLASH = 92

/** Returns the end of the string that starts at a quote. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf(QUOTE, from + 1); ; end = text.indexOf(QUOTE, end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end + 1
  }
}

function endOfValue(text: string, from: number): number {
  const first = text[from]
  if (first === QUOTE) return endOfText(text, from)
  if (first !== '{' && first !== '[') return nextOf(/[,\]}]/g, text, from)
  const structural = /["[\]{}]/g
  let depth = 0
  let at = from
  do {
    at = nextOf(structural, text, at)
    const mark = text[at]
    if (mark === QUOTE) at = endOfText(text, at)
    else {
      depth += mark === '{' || mark === '[' ? 1 : -1
      at += 1
    }
  } while (depth > 0)
  return at
}

function nextOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}
