/** Lets those who name the same thing go one after the other, in the order in which they came, within this process. */
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
