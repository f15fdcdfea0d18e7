// The pages of single resources that this user opened last, stored on this device.

export type Recent = { to: string; title: string }

const MAX_RECENT = 8
/** Pages with an id in the address are remembered; lists are in the navigation. */
const OF_ONE_THING = /\/[a-z]+_[0-9a-z]{10,}/

const keyOf = (userId: string, workspaceId: string): string => `heddle.recent.${userId}.${workspaceId}`

export function readRecent(userId: string, workspaceId: string): Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(userId, workspaceId)) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isRecent) : []
  } catch {
    return []
  }
}

const isRecent = (value: unknown): value is Recent =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Recent).to === 'string' &&
  typeof (value as Recent).title === 'string'

/** Adds a page, newest first; a page that is opened again moves up. */
export function withRecent(before: readonly Recent[], opened: Recent): Recent[] {
  if (!OF_ONE_THING.test(opened.to)) return [...before]
  return [opened, ...before.filter(({ to }) => to !== opened.to)].slice(0, MAX_RECENT)
}

export function remember(userId: string, workspaceId: string, opened: Recent): void {
  try {
    const next = withRecent(readRecent(userId, workspaceId), opened)
    localStorage.setItem(keyOf(userId, workspaceId), JSON.stringify(next))
  } catch {
    // The page is not remembered then.
  }
}
