import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

/** The parts of a JSON Pointer. */
export const segmentsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** `value` with `next` at the place; nothing there (undefined) takes the field out. */
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

export function getAt(value: Json | undefined, segments: readonly string[]): Json | undefined {
  let current = value
  for (const key of segments) {
    if (Array.isArray(current)) current = current[Number(key)]
    else current = isObject(current) && Object.hasOwn(current, key) ? current[key] : undefined
  }
  return current
}
