const LOCKED = new Set(['55P03', '40P01'])
const TRIES = 20

const isLocked = (error: unknown): boolean => LOCKED.has((error as { code?: string }).code ?? '')

/**
 * Runs work that needs an exclusive table lock. A statement that waits for such a lock blocks all statements behind
 * it, so the database gives up after a tenth of a second (`lock_timeout` of the function) and the work is tried
 * again. Returns undefined if the table was never free.
 */
export async function retryWhileLocked<T>(work: () => Promise<T>): Promise<T | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isLocked(error)) throw error
      if (tries === TRIES) return undefined
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200))
    }
  }
}
