/**
 * The clock of the database, read at intervals and advanced by the monotonic clock between two reads. A jump of this
 * machine's clock has no effect.
 */
export type DatabaseClock = { now(): number; set(databaseMs: number, askedAt: number): void }

export const makeDatabaseClock = (): DatabaseClock => {
  let offset = Date.now() - performance.now()
  let bestTrip = Number.POSITIVE_INFINITY
  return {
    now: () => Math.round(offset + performance.now()),
    set: (databaseMs, askedAt) => {
      const answeredAt = performance.now()
      const trip = answeredAt - askedAt
      // A slow answer is less exact than an earlier fast one, so it is ignored. The best trip time grows slowly with
      // each slow answer.
      if (trip > bestTrip * 2) {
        bestTrip *= 1.1
        return
      }
      bestTrip = Math.min(bestTrip, trip)
      offset = databaseMs - (askedAt + answeredAt) / 2
    },
  }
}
