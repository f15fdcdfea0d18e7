// Suggests the intended name for a mistyped name.

const MAX_LENGTH = 64

/** Returns the candidate at most two letters away (one letter for short words), or undefined. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const allowed = word.length < 2 ? 0 : word.length < 4 ? 1 : 2
  let best: { name: string; distance: number } | undefined
  for (const name of candidates) {
    if (Math.abs(name.length - word.length) > allowed) continue
    const distance = lettersApart(word.toLowerCase(), name.toLowerCase())
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance }
  }
  return best?.name
}

/** Returns `; did you mean "set"?`, or an empty text. */
export function suggestion(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates)
  return found === undefined ? '' : `; did you mean "${found}"?`
}

/** Suggests a node type. A single part of its name is enough: `http` suggests `http.request`. */
export function suggestType(word: string, types: readonly string[]): string {
  const near = suggestion(word, types)
  if (near !== '') return near
  const [first] = types.filter((type) => type.split('.').includes(word.toLowerCase())).sort()
  return first === undefined ? '' : `; did you mean "${first}"?`
}

/** Counts the letters to insert, delete, replace or swap with their neighbour. */
function lettersApart(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      next.push(cost)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
