import type { Case, Cast, Prepared } from './matrix.ts'

/** What cases need. Operations with the same preparation share it until a caller has changed it. */
export function makeFixtures(cast: Cast) {
  const unchanged = new Map<Case['prepare'], Prepared>()
  const make = async ({ prepare }: Case): Promise<Prepared> => (await prepare?.(cast)) ?? {}
  return {
    make,
    async give(one: Case): Promise<Prepared> {
      const found = unchanged.get(one.prepare) ?? (await make(one))
      unchanged.set(one.prepare, found)
      return found
    },
    /** A caller was let in and changed it: the next operation gets another. */
    drop: ({ prepare }: Case): void => void unchanged.delete(prepare),
  }
}

export type Fixtures = ReturnType<typeof makeFixtures>
