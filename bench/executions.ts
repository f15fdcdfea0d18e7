import { chain, type startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'

/**
 * Runs five-node executions one by one. The end of an execution is detected by the notification after the commit: one
 * append for the start and one for each node.
 */
export function makeExecute(bench: Awaited<ReturnType<typeof startTestEngine>>): () => Promise<void> {
  const underWay = new Map<string, { left: number; done(): void }>()
  bench.engine.onAppended((ids) => {
    for (const id of ids) {
      const one = underWay.get(id)
      if (!one) continue
      one.left -= 1
      if (one.left > 0) continue
      underWay.delete(id)
      one.done()
    }
  })
  const five = bench.define(chain(5))
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const executionId = newId()
    underWay.set(executionId, { left: 6, done: resolve })
    await bench.run(five, { value: 7 }, { executionId })
    await promise
  }
}
