import type { JsonObject } from '#model/definition'
import { limited } from './common.ts'
import { type Executed, type Query, type QueryResult, WarehouseFailure, type Work } from './index.ts'
import { closeWhenOver, type GuardedProxy } from './proxy.ts'

// One statement through a vendor's client that dials by itself, over the guarded proxy. However it ends, the client is ended, and
// then the proxy.

export type Session<T> = {
  /** Ends the client; it may be in any state. */
  end(): Promise<unknown>
  run(): Promise<T>
  /** The failure as the vendor's client tells it. */
  told(error: unknown): WarehouseFailure
}

const failureOf = (error: unknown, told: (error: unknown) => WarehouseFailure): WarehouseFailure =>
  error instanceof WarehouseFailure ? error : told(error)

/** Ended when the last page was read, or nobody wants more. */
export async function queryOverProxy(
  proxy: GuardedProxy,
  query: Pick<Query, 'limit' | 'signal' | 'timeoutMs'>,
  { end, run, told }: Session<QueryResult>,
): Promise<QueryResult> {
  const close = closeWhenOver(proxy, query, end)
  async function* pagesOf({ pages }: QueryResult): AsyncGenerator<JsonObject[]> {
    try {
      yield* pages
    } catch (error) {
      throw failureOf(error, told)
    } finally {
      await close()
    }
  }
  try {
    const result = await run()
    return { columns: result.columns, pages: limited(pagesOf(result), query.limit) }
  } catch (error) {
    await close()
    throw failureOf(error, told)
  }
}

/** Statements that write. Failures are told by `run`, which knows what they changed. */
export async function executeOverProxy(
  proxy: GuardedProxy,
  work: Work,
  end: () => Promise<unknown>,
  run: () => Promise<Executed>,
): Promise<Executed> {
  const close = closeWhenOver(proxy, work, end)
  try {
    return await run()
  } finally {
    await close()
  }
}
