import { type Bench, chain, startTestEngine } from '#engine/testing'
import type { Json } from '#model/definition'
import type { DatabaseUrls } from '#platform/db/pool'
import { newId } from '#platform/ids'

/** Five nodes with effects: each is durable before the next one starts, as in the plain program. */
export const FIVE = chain(5, 'call')

export type BenchEngine = Bench & {
  /** Runs an execution and waits until its end is durable, without reading the database. */
  runToEnd(definition: string, input?: Json, more?: { workspaceId?: string }): Promise<void>
}

export async function startBenchEngine(
  urls: DatabaseUrls,
  options: Parameters<typeof startTestEngine>[1] = {},
): Promise<BenchEngine> {
  const ends = new Map<string, () => void>()
  const bench = await startTestEngine(urls, {
    level: 'warn',
    ...options,
    ports: {
      ...options.ports,
      finished: (run) => {
        options.ports?.finished?.(run)
        ends.get(run.executionId)?.()
      },
    },
  })
  return {
    ...bench,
    runToEnd: async (definition, input = { value: 7 }, more = {}) => {
      const executionId = newId()
      const ended = new Promise<void>((resolve) => void ends.set(executionId, resolve))
      try {
        await bench.run(definition, input, { executionId, ...more })
        await ended
      } finally {
        ends.delete(executionId)
      }
    },
  }
}

/** Does this `count` times, so many at once. */
export async function repeat(count: number, atOnce: number, once: () => Promise<void>): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await once()
    }),
  )
}
