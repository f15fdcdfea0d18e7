import type { Json } from './definition.ts'
import { at, isObject } from './json.ts'

/** A place at which two values differ; `before` or `after` is absent if its value has nothing there. */
export type JsonChange = { path: string; before?: Json; after?: Json }

/** Returns the places where two values differ, in the order of the first value, at most `limit` places. */
export function diffJson(before: Json, after: Json, limit = 50): JsonChange[] {
  const changes: JsonChange[] = []
  const visit = (a: Json | undefined, b: Json | undefined, path: string): void => {
    if (changes.length >= limit || a === b) return
    if (Array.isArray(a) && Array.isArray(b)) {
      for (let index = 0; index < Math.max(a.length, b.length); index += 1) visit(a[index], b[index], at(path, index))
    } else if (isObject(a) && isObject(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
        visit(Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined, at(path, key))
    } else {
      changes.push({ path, ...(a !== undefined && { before: a }), ...(b !== undefined && { after: b }) })
    }
  }
  visit(before, after, '')
  return changes
}

export const isSameJson = (a: Json, b: Json): boolean => diffJson(a, b, 1).length === 0
