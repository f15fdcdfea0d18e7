import type { Fault } from './code-props.ts'

/** Finds the place of a problem in its message: a character position or a quoted name; otherwise the whole text. */
export function faultFor(text: string, message: string, level: Fault['level'] = 'error'): Fault {
  const end = Math.max(text.length, 0)
  // The pattern matches a message in any language: "(at character 4)".
  const at = /\([^\d()]+ (\d+)\)/.exec(message)?.[1]
  if (at !== undefined) {
    const from = Math.min(Number(at) - 1, Math.max(0, end - 1))
    const word = /^[\w$]+/.exec(text.slice(from))?.[0] ?? ''
    return { from, to: Math.min(end, from + Math.max(1, word.length)), message, level }
  }
  for (const [, name] of message.matchAll(/"([^"]+)"/g)) {
    const from = text.search(new RegExp(`(?<![\\w$])${name!.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w$])`))
    if (from !== -1) return { from, to: from + name!.length, message, level }
  }
  return { from: 0, to: end, message, level }
}
