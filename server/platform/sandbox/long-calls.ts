import { createHash } from 'node:crypto'

const MAX_REMEMBERED = 2_000

/**
 * Remembers which sources ran long the last time. Their next call starts at the level of long calls, which saves the
 * time until it would be stopped.
 */
export function makeLongCalls() {
  const levels = new Map<string, number>()
  return {
    nameOf: (workspaceId: string, source: string): string =>
      createHash('sha1').update(workspaceId).update('\0').update(source).digest('base64'),
    levelOf: (name: string): number => levels.get(name) ?? 0,
    /** Stores the level that the last run of the source showed. */
    ran(name: string, level: number): void {
      levels.delete(name)
      if (level === 0) return
      levels.set(name, level)
      if (levels.size > MAX_REMEMBERED) levels.delete(levels.keys().next().value as string)
    },
  }
}
