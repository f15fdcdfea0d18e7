import { MAX_SLUG_LENGTH } from './schema.ts'

/** Letters of other scripts have no place in a slug; a name made of nothing else is simply called "team". */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.filter(Boolean).join('-').slice(0, MAX_SLUG_LENGTH).replace(/-$/, '') || 'team'
}

/** The slug itself, or with the lowest number from 2 that is not taken. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  let free = slug
  for (let number = 2; taken.has(free); number++) free = numbered(slug, `-${number}`)
  return free
}

const numbered = (slug: string, suffix: string): string =>
  slug.slice(0, MAX_SLUG_LENGTH - suffix.length).replace(/-$/, '') + suffix
