// The size of a value as JSON. References share their target in memory, but JSON repeats it, so a value that costs
// nothing in memory can be gigabytes of text. The size is measured before the value is serialized, and every reference
// to a part counts.

/**
 * The maximum number of JSON characters of one value of an execution: an output, an input, or a value shown to people.
 */
export const MAX_VALUE_SIZE = 8 * 1024 * 1024

/** The limit for a value shown to people (a gate's payload, a question), because lists load such values. */
export const MAX_SHOWN_SIZE = 1024 * 1024

/**
 * The limit for all values that one execution shows at the same time: its row contains all its open gates and
 * questions.
 */
export const MAX_SHOWN_TOGETHER = 2 * MAX_SHOWN_SIZE

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the ones that JSON escapes
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/
/** Smaller parts are measured as fast as a stored size is looked up. */
const REMEMBER_FROM = 512

/** Sizes of values already measured. Values of an execution never change after their creation. */
const known = new WeakMap<object, number>()

/** Stores the size of a value for a caller that already has its text. */
export function rememberSize(value: unknown, size: number): void {
  if (typeof value === 'object' && value !== null && size >= REMEMBER_FROM) known.set(value, size)
}

/**
 * Returns the exact size up to `limit`; for a larger value, any number above `limit`. Stops as soon as the limit is
 * exceeded.
 */
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
