// Parses form bodies and query strings as Stripe does: `items[0][price]=…` becomes nested objects and lists.

export type Value = string | { [key: string]: Value } | Value[]
export type Params = { [key: string]: Value }

export function parseForm(text: string): Params {
  const root: Params = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [...name.matchAll(/[^[\]]+|\[\]/g)].map(([part]) => part)
    let place: Record<string, Value> = root
    path.forEach((part, at) => {
      const key = part === '[]' ? String(Object.keys(place).length) : part
      if (at === path.length - 1) place[key] = value
      else {
        place[key] ??= {}
        place = place[key] as Record<string, Value>
      }
    })
  }
  return lists(root) as Params
}

/** Turns objects whose keys are 0, 1, 2 … into lists. */
function lists(value: Value): Value {
  if (typeof value === 'string') return value
  const entries = Object.entries(value).map(([key, inner]) => [key, lists(inner)] as const)
  const isList = entries.length > 0 && entries.every(([key], at) => key === String(at))
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}
