import type { Case, Cast, Prepared } from './matrix.ts'

/** Makes the fixtures of cases. Operations with the same `prepare` share a fixture until a caller has changed it. */
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
    /** Discards a fixture that a caller has changed, so that the next operation gets a new one. */
    drop: ({ prepare }: Case): void => void unchanged.delete(prepare),
  }
}

export type Fixtures = ReturnType<typeof makeFixtures>
