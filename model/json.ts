import type { Json, JsonObject } from './definition.ts'

/** Names that reach a prototype instead of data. They are refused as a key or path segment in any notation. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

export const isForbiddenKey = (key: string): boolean => FORBIDDEN_KEYS.has(key)

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads an own property, never an inherited one. */
export const own = (value: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined

/** Appends a segment to a JSON Pointer (RFC 6901). */
export const at = (path: string, key: string | number): string =>
  typeof key === 'string' && (key.includes('~') || key.includes('/'))
    ? `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    : `${path}/${key}`

/** Checks the depth and approximate size of untrusted JSON; stops counting as soon as a limit is exceeded. */
export function measureJson(value: Json, limits: { depth: number; nodes: number }): 'ok' | 'too_deep' | 'too_large' {
  let nodes = 0
  const walk = (current: Json, depth: number): 'ok' | 'too_deep' | 'too_large' => {
    nodes += 1
    if (nodes > limits.nodes) return 'too_large'
    if (typeof current !== 'object' || current === null) return 'ok'
    if (depth >= limits.depth) return 'too_deep'
    for (const child of Array.isArray(current) ? current : Object.values(current)) {
      const verdict = walk(child, depth + 1)
      if (verdict !== 'ok') return verdict
    }
    return 'ok'
  }
  return walk(value, 0)
}
