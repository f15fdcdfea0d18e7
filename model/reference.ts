// The path language of `{"$ref": "nodes.fetch.output.items[0].id"}`. A closed grammar, parsed by hand: segments are
// names after a dot, numbers in brackets, or quoted keys in brackets. A path cannot call, compute or reach a prototype.

import { isForbiddenKey } from './json.ts'

export type Segment = string | number
export type ParsedReference = { ok: true; segments: readonly Segment[] } | { ok: false; message: string }

const MAX_REFERENCE_LENGTH = 1024

const NAME = /[A-Za-z0-9_$-]+/y
const INDEX = /\[(0|[1-9][0-9]{0,8})\]/y
const QUOTED = /\[("(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")\]/uy

export function parseReference(text: string): ParsedReference {
  if (text.length > MAX_REFERENCE_LENGTH) {
    return { ok: false, message: `a reference has at most ${MAX_REFERENCE_LENGTH} characters` }
  }
  const segments: Segment[] = []
  let position = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position
    const match = pattern.exec(text)
    if (!match) return undefined
    position = pattern.lastIndex
    return match[1] ?? match[0]
  }
  const first = take(NAME)
  if (first === undefined) return { ok: false, message: 'a reference starts with a name, such as input or nodes' }
  segments.push(first)
  while (position < text.length) {
    if (text[position] === '.') {
      position += 1
      const name = take(NAME)
      if (name === undefined) return { ok: false, message: `a name is expected at character ${position + 1}` }
      segments.push(name)
      continue
    }
    const index = take(INDEX)
    if (index !== undefined) {
      segments.push(Number(index))
      continue
    }
    const quoted = take(QUOTED)
    if (quoted === undefined) {
      return { ok: false, message: `unexpected text at character ${position + 1}; use .name, [0] or ["key"]` }
    }
    segments.push(String(JSON.parse(quoted)))
  }
  const forbidden = segments.find((segment) => typeof segment === 'string' && isForbiddenKey(segment))
  if (forbidden !== undefined) return { ok: false, message: `"${forbidden}" cannot be referred to` }
  return { ok: true, segments }
}
