import { createHash } from 'node:crypto'

const MAX_REMEMBERED = 2_000

/** Which sources ran long the last time: they begin where long calls run, and save the time of being stopped first. */
export function makeLengths() {
  const levels = new Map<string, number>()
  return {
    nameOf: (workspaceId: string, source: string): string =>
      createHash('sha1').update(workspaceId).update('\0').update(source).digest('base64'),
    levelOf: (name: string): number => levels.get(name) ?? 0,
    /** The level it belongs to, as its last run showed. */
    ran(name: string, level: number): void {
      levels.delete(name)
      if (level === 0) return
      levels.set(name, level)
      if (levels.size > MAX_REMEMBERED) levels.delete(levels.keys().next().value as string)
    },
  }
}
