// Tracks how much CPU time each workspace used recently, and how much of its minute is left.

const MINUTE_MS = 60_000
/** CPU time used half a minute ago counts half when turns are assigned. */
const HALF_LIFE_MS = 30_000
const MAX_KEYS = 10_000

type Account = { at: number; left: number; perMinute: number; recent: number; running: number[] }

export type Budgets = {
  /** Sets the CPU time that a key may use per minute (Infinity: no limit). */
  allow(key: string, msPerMinute: number): void
  begin(key: string): void
  /** Records the end of a call and its CPU time. */
  end(key: string, usedMs: number): void
  running(key: string): number
  /** Returns the recent use, with decreasing weight, including running calls. */
  recent(key: string): number
  /** Returns the milliseconds until the key has time left again, or 0 if it has some now. */
  delay(key: string): number
}

/**
 * A bucket per workspace that contains one minute's CPU time and refills steadily. A call may start while something is
 * left, so that one call can overdraw the bucket by its own time limit. The next call waits until that is refilled.
 */
export function makeBudgets(now: () => number = () => performance.now()): Budgets {
  const accounts = new Map<string, Account>()

  const accountOf = (key: string): Account => {
    const at = now()
    let account = accounts.get(key)
    if (account === undefined) {
      account = { at, left: Number.POSITIVE_INFINITY, perMinute: Number.POSITIVE_INFINITY, recent: 0, running: [] }
      accounts.set(key, account)
      if (accounts.size > MAX_KEYS) forgetIdle()
    }
    const passed = at - account.at
    if (passed > 0) {
      account.left = Math.min(account.perMinute, account.left + (passed * account.perMinute) / MINUTE_MS)
      account.recent *= 2 ** (-passed / HALF_LIFE_MS)
      account.at = at
    }
    return account
  }

  /** Removes only accounts that are full and idle, which changes nothing. */
  const forgetIdle = (): void => {
    for (const [key, { running, left, perMinute }] of accounts)
      if (running.length === 0 && left >= perMinute) accounts.delete(key)
  }

  const inFlight = ({ running, at }: Account): number => running.reduce((sum, since) => sum + (at - since), 0)

  return {
    allow(key, msPerMinute) {
      const account = accountOf(key)
      if (account.perMinute === msPerMinute) return
      account.left = Math.min(account.left, msPerMinute)
      account.perMinute = msPerMinute
    },
    begin(key) {
      const account = accountOf(key)
      account.running.push(account.at)
    },
    end(key, usedMs) {
      const account = accountOf(key)
      account.running.shift()
      account.recent += usedMs
      account.left -= usedMs
    },
    running: (key) => accounts.get(key)?.running.length ?? 0,
    recent: (key) => {
      const account = accountOf(key)
      return account.recent + inFlight(account)
    },
    delay: (key) => {
      const account = accountOf(key)
      const left = account.left - inFlight(account)
      return left > 0 ? 0 : Math.ceil(((1 - left) * MINUTE_MS) / account.perMinute)
    },
  }
}
