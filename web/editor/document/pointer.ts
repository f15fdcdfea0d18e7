import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

/** Returns `value` with `next` at the place; undefined removes the field. */
export function setAt(
  value: Json | undefined,
  [key, ...rest]: readonly string[],
  next: Json | undefined,
): Json | undefined {
  if (key === undefined) return next
  if (Array.isArray(value)) {
    const index = Number(key)
    const item = setAt(value[index], rest, next)
    if (item === undefined) return value.filter((_, other) => other !== index)
    const copy = [...value]
    copy[index] = item
    return copy
  }
  const source: JsonObject = isObject(value) ? value : {}
  const item = setAt(Object.hasOwn(source, key) ? source[key] : undefined, rest, next)
  if (item === undefined) return Object.fromEntries(Object.entries(source).filter(([name]) => name !== key))
  return Object.fromEntries(
    Object.hasOwn(source, key)
      ? Object.entries(source).map(([name, old]) => [name, name === key ? item : old])
      : [...Object.entries(source), [key, item]],
  )
}
