// How large a value is when it is written down as JSON. References share what they name and JSON repeats it, so that a value
// which costs nothing in memory can be gigabytes as text: it is measured before anything writes it, and every place that
// names a part counts.

/** Characters of one value of an execution: what a node gives, takes, or shows. */
export const MAX_VALUE_SIZE = 8 * 1024 * 1024

/** What people are shown (a gate's payload, a question) is read in lists. */
export const MAX_SHOWN_SIZE = 1024 * 1024

/** What one execution shows people at the same time: all its open gates and questions stand in its row. */
export const MAX_SHOWN_TOGETHER = 2 * MAX_SHOWN_SIZE

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the ones that JSON escapes
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/
/** Smaller parts are measured as fast as their size is looked up. */
const REMEMBER_FROM = 512

/** Values of an execution never change once they are there. */
const known = new WeakMap<object, number>()

/** For anyone who has the text anyway. */
export function rememberSize(value: unknown, size: number): void {
  if (typeof value === 'object' && value !== null && size >= REMEMBER_FROM) known.set(value, size)
}

/** Exact up to `limit`; for a larger value any number above it. Looks at no more than it has to. */
export function jsonSize(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return scalarSize(value, limit)
  const before = known.get(value)
  if (before !== undefined) return before
  const size = Array.isArray(value) ? listSize(value, limit) : objectSize(value as Record<string, unknown>, limit)
  if (size <= limit) rememberSize(value, size)
  return size
}

function scalarSize(value: unknown, limit: number): number {
  if (typeof value === 'number') {
    if (value >= 0 && value < 10 && value === Math.trunc(value)) return 1
    return String(value).length
  }
  if (typeof value === 'string') return textSize(value, limit)
  if (value === false) return 5
  return value === null || value === true ? 4 : 0
}

const textSize = (text: string, limit: number): number => {
  if (text.length > limit) return text.length
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).length : text.length + 2
}

function listSize(items: readonly unknown[], limit: number): number {
  let size = items.length === 0 ? 2 : 1
  for (let at = 0; at < items.length && size <= limit; at += 1) size += 1 + jsonSize(items[at], limit - size)
  return size
}

function objectSize(value: Record<string, unknown>, limit: number): number {
  const keys = Object.keys(value)
  let size = keys.length === 0 ? 2 : 1
  for (let at = 0; at < keys.length && size <= limit; at += 1) {
    const key = keys[at] as string
    size += textSize(key, limit) + 2 + jsonSize(value[key], limit - size)
  }
  return size
}
