import type { Kind } from '../kinds.ts'

// Finding a kind by a few letters: its title first, then its keywords, then what it does.

export function searchKinds<K extends Kind>(kinds: readonly K[], text: string): K[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...kinds]
  return kinds
    .map((kind, order) => ({ kind, order, score: words.reduce((sum, word) => sum + rank(kind, word), 0) }))
    .filter(({ kind }) => words.every((word) => rank(kind, word) > 0))
    .sort((a, b) => b.score - a.score || a.order - b.order)
    .map(({ kind }) => kind)
}

const MAX_FOUND = 40

/** Actions of services: only what is searched for, since there are hundreds. */
export const foundServices = <K extends Kind>(kinds: readonly K[], text: string): K[] =>
  text.trim().length < 2 ? [] : searchKinds(kinds, text).slice(0, MAX_FOUND)

function rank(kind: Kind, word: string): number {
  const title = kind.title.toLowerCase()
  if (title.startsWith(word)) return 8
  if (title.split(/\s+/).some((part) => part.startsWith(word))) return 6
  if (kind.type.toLowerCase().includes(word)) return 5
  if (kind.keywords.some((keyword) => keyword.toLowerCase().startsWith(word))) return 4
  if (title.includes(word)) return 3
  return kind.description.toLowerCase().includes(word) ? 1 : 0
}
