import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import type { ServiceTrigger } from '#providers/services/manifest'
import { firstAt } from '#providers/services/paths'

// The key of an item in a list, and which items of a list are new.

const MAX_SEEN = 2_000
const MAX_KEY = 200

export function keyOf({ key }: Pick<ServiceTrigger, 'key'>, item: Json): string {
  const parts = key.map((paths) => JSON.stringify(firstAt(item, paths.split('|')) ?? null))
  return parts.join(' ').slice(0, MAX_KEY)
}

/** Returns the list in the output of an action, in either of its forms. */
export const itemsOf = (output: Json): { items: Json[]; more: boolean } => {
  if (isObject(output) && Array.isArray(output.items)) return { items: output.items, more: output.more === true }
  return { items: Array.isArray(output) ? output : [], more: false }
}

export type Keyed = { key: string; item: Json }

/** Returns the new items, each once, oldest first. */
export function freshOf(trigger: ServiceTrigger, items: readonly Json[], seen: readonly string[]): Keyed[] {
  const known = new Set(seen)
  const fresh: Keyed[] = []
  for (const item of items) {
    const key = keyOf(trigger, item)
    if (known.has(key)) continue
    known.add(key)
    fresh.push({ key, item })
  }
  return trigger.newest === 'last' ? fresh : fresh.reverse()
}

/** Returns the keys to store: all listed keys, and previous keys up to the limit. */
export function seenAfter(
  trigger: ServiceTrigger,
  items: readonly Json[],
  seen: readonly string[],
  left: ReadonlySet<string>,
): string[] {
  const listed = items.map((item) => keyOf(trigger, item)).filter((key) => !left.has(key))
  const all = [...new Set([...listed, ...seen])]
  return all.slice(0, Math.max(MAX_SEEN, listed.length))
}
