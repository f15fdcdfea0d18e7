import { isObject } from './json.ts'

// JSON Merge Patch (RFC 7396).

type Fields = Record<string, unknown>

/** Returns the object with the patch applied: null removes a key, objects are merged, other values replace. */
export function mergePatch(present: Fields, patch: Fields): Fields {
  const merged = new Map(Object.entries(present))
  for (const [key, value] of Object.entries(patch)) {
    const old = merged.get(key)
    if (value === null) merged.delete(key)
    else merged.set(key, isObject(value) ? mergePatch(isObject(old) ? old : {}, value) : value)
  }
  return Object.fromEntries(merged)
}

/** Returns the patch that turns `before` into `after`. A patch cannot set null: a key that becomes null is removed. */
export function patchBetween(before: Fields, after: Fields): Fields {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const patch: Fields = Object.fromEntries(removed.map((key) => [key, null]))
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    if (value !== old) patch[key] = isObject(value) && isObject(old) ? patchBetween(old, value) : value
  }
  return patch
}
