import { createHash } from 'node:crypto'
import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import type { ServiceTrigger } from '#providers/services/manifest'
import { firstAt } from '#providers/services/paths'

// The key of an item in a list, and which items of a list are new.

const MAX_SEEN = 2_000
const MAX_KEY = 200
/** The number of characters of a long key that are stored before its hash. */
const KEPT_OF_LONG_KEY = 100

const textOf = ({ key }: Pick<ServiceTrigger, 'key'>, item: Json): string =>
  key.map((paths) => JSON.stringify(firstAt(item, paths.split('|')) ?? null)).join(' ')

/** Replaces the end of a long key with its hash, because the addresses of two items can have the same start. */
export function keyOf(trigger: Pick<ServiceTrigger, 'key'>, item: Json): string {
  const text = textOf(trigger, item)
  if (text.length < MAX_KEY) return text
  return `${text.slice(0, KEPT_OF_LONG_KEY)}… ${createHash('sha256').update(text).digest('base64url')}`
}

/** Returns the key as earlier releases stored it: a long key without its end. No other key has this length. */
const cutKeyOf = (trigger: Pick<ServiceTrigger, 'key'>, item: Json): string => textOf(trigger, item).slice(0, MAX_KEY)
const isCut = (key: string): boolean => key.length === MAX_KEY

/** Returns the list in the output of an action, in either of its forms. */
export const itemsOf = (output: Json): { items: Json[]; more: boolean } => {
  if (isObject(output) && Array.isArray(output.items)) return { items: output.items, more: output.more === true }
  return { items: Array.isArray(output) ? output : [], more: false }
}

export type Keyed = { key: string; item: Json }

/** Returns the new items, each once, oldest first. */
export function freshOf(trigger: ServiceTrigger, items: readonly Json[], seen: readonly string[]): Keyed[] {
  const known = new Set(seen)
  const hasCut = seen.some(isCut)
  const fresh: Keyed[] = []
  for (const item of items) {
    const key = keyOf(trigger, item)
    if (known.has(key) || (hasCut && known.has(cutKeyOf(trigger, item)))) continue
    known.add(key)
    fresh.push({ key, item })
  }
  return trigger.newest === 'last' ? fresh : fresh.reverse()
}

/**
 * Returns the keys to store: all listed keys, and previous keys up to the limit. A key that an earlier release cut is
 * replaced when its item is listed.
 */
export function seenAfter(
  trigger: ServiceTrigger,
  items: readonly Json[],
  seen: readonly string[],
  left: ReadonlySet<string>,
): string[] {
  const listed = items.map((item) => keyOf(trigger, item)).filter((key) => !left.has(key))
  const replaced = new Set(seen.some(isCut) ? items.map((item) => cutKeyOf(trigger, item)).filter(isCut) : [])
  const all = [...new Set([...listed, ...seen.filter((key) => !replaced.has(key))])]
  return all.slice(0, Math.max(MAX_SEEN, listed.length))
}
