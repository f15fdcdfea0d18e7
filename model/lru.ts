/** Creates a bounded cache that evicts the least recently used entry first. */
export function makeLru<V>(capacity: number): {
  get(key: string): V | undefined
  set(key: string, value: V): void
  remove(key: string): void
} {
  const entries = new Map<string, V>()
  /** The key used last: its entry is already at the end of the map. */
  let newest: string | undefined
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined || key === newest) return value
      newest = key
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      newest = key
      entries.delete(key)
      entries.set(key, value)
      if (entries.size > capacity) entries.delete(entries.keys().next().value as string)
    },
    remove: (key) => void entries.delete(key),
  }
}
