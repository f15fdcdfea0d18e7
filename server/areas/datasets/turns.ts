/** Runs work with the same name one after the other within this process, in the order of arrival. */
export function makeTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const mine = (last.get(name) ?? Promise.resolve()).then(work)
    const over = mine.catch(() => {})
    last.set(name, over)
    try {
      return await mine
    } finally {
      if (last.get(name) === over) last.delete(name)
    }
  }
}
