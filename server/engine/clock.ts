/** The database's clock, read now and then and carried on by the monotonic one: a jump of this machine's clock changes nothing. */
export type DatabaseClock = { now(): number; set(databaseMs: number, askedAt: number): void }

export const makeDatabaseClock = (): DatabaseClock => {
  let offset = Date.now() - performance.now()
  let bestTrip = Number.POSITIVE_INFINITY
  return {
    now: () => Math.round(offset + performance.now()),
    set: (databaseMs, askedAt) => {
      const answeredAt = performance.now()
      const trip = answeredAt - askedAt
      // A slow answer says less about the time than a fast one did; forget slowly how fast it once was.
      if (trip > bestTrip * 2) {
        bestTrip *= 1.1
        return
      }
      bestTrip = Math.min(bestTrip, trip)
      offset = databaseMs - (askedAt + answeredAt) / 2
    },
  }
}
