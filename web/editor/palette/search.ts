import type { Kind } from '../kinds.ts'

// Finds a kind by a few letters: in its title first, then in its keywords, then in its description.

/**
 * Lower-case texts, computed once for each list: services have thousands of actions, and every typed letter searches
 * them.
 */
type Indexed = { title: string; parts: string[]; type: string; keywords: string[]; description: string }

const indexes = new WeakMap<readonly Kind[], Indexed[]>()

function indexOf(kinds: readonly Kind[]): Indexed[] {
  const known = indexes.get(kinds)
  if (known?.length === kinds.length) return known
  const made = kinds.map(({ title, type, keywords, description }) => {
    const lower = title.toLowerCase()
    return {
      title: lower,
      parts: lower.split(/\s+/),
      type: type.toLowerCase(),
      keywords: keywords.map((keyword) => keyword.toLowerCase()),
      description: description.toLowerCase(),
    }
  })
  indexes.set(kinds, made)
  return made
}

/** Returns zero if a word is not found. */
function scoreOf(indexed: Indexed, words: readonly string[]): number {
  let score = 0
  for (const word of words) {
    const rank = rankOf(indexed, word)
    if (rank === 0) return 0
    score += rank
  }
  return score
}

export function searchKinds<K extends Kind>(kinds: readonly K[], text: string): K[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...kinds]
  const found: { order: number; score: number }[] = []
  for (const [order, indexed] of indexOf(kinds).entries()) {
    const score = scoreOf(indexed, words)
    if (score > 0) found.push({ order, score })
  }
  return found.sort((a, b) => b.score - a.score || a.order - b.order).map(({ order }) => kinds[order]!)
}

const MAX_FOUND = 40

/** Returns actions of services only for a search, because there are hundreds of them. */
export const foundServices = <K extends Kind>(kinds: readonly K[], text: string): K[] =>
  text.trim().length < 2 ? [] : searchKinds(kinds, text).slice(0, MAX_FOUND)

function rankOf({ title, parts, type, keywords, description }: Indexed, word: string): number {
  if (title.startsWith(word)) return 8
  if (parts.some((part) => part.startsWith(word))) return 6
  if (type.includes(word)) return 5
  if (keywords.some((keyword) => keyword.startsWith(word))) return 4
  if (title.includes(word)) return 3
  return description.includes(word) ? 1 : 0
}

/** Returns the rank of a title for a search: 0 if it starts with the text, 1 if it contains all its words, otherwise 2. */
export function rankByTitle(search: string): (title: string) => number {
  const text = search.trim().toLowerCase()
  const words = text.split(/\s+/)
  return (title) => {
    const lower = title.toLowerCase()
    if (lower.startsWith(text)) return 0
    return words.every((word) => lower.includes(word)) ? 1 : 2
  }
}
