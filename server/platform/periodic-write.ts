/**
 * Writes data collected in memory at an interval, one write at a time, and once more at the end. `write` reports its
 * failures itself and does not throw.
 */
export function writePeriodically(every: number, write: () => Promise<void>) {
  let writing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => {
    writing = writing.then(write)
    return writing
  }
  const timer = setInterval(() => void flush(), every).unref()
  return {
    flush,
    async stop(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}
