import { MAX_SLUG_LENGTH } from './schema.ts'

/** Removes letters of other scripts. A name without any remaining characters becomes "team". */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.filter(Boolean).join('-').slice(0, MAX_SLUG_LENGTH).replace(/-$/, '') || 'team'
}

/** Returns the slug, with the lowest free number from 2 if the slug is taken. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  let free = slug
  for (let number = 2; taken.has(free); number++) free = numbered(slug, `-${number}`)
  return free
}

const numbered = (slug: string, suffix: string): string =>
  slug.slice(0, MAX_SLUG_LENGTH - suffix.length).replace(/-$/, '') + suffix
