import type { Json } from '#model/definition'
import { jsonSize } from '#model/size'

/** About what is written in one slice: 2 to 5 ms. */
const SLICE_SIZE = 512 * 1024
/** Each level is looked through for its parts, so that something large in many levels would be looked through as often. */
const MAX_LEVELS = 4

/**
 * Writes a value of an execution down as JSON.stringify does, part by part. Before each slice but the first it waits for `next`.
 * `check` sees each part, so that it can refuse before the rest is written.
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

/** Reads what JSON.stringify wrote, part by part. Before each slice but the first it waits for `next`. */
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

/** Also a member named `__proto__` is a member. */
const define = (object: Record<string, Json>, name: string, value: Json): void => {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  else object[name] = value
}

type Group = { key?: string; from: number; to: number }

/** Members next to each other that are read together, or the value of one that is larger than a slice. */
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

/** Where the text that begins at a quote ends. */
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
