import type { JsonObject } from '#model/definition'
import { limited } from './common.ts'
import { type Executed, type Query, type QueryResult, WarehouseFailure, type Work } from './index.ts'
import { closeWhenOver, type GuardedProxy } from './proxy.ts'

// Runs one statement with a vendor's client that opens its own connections, through the guarded proxy. In every case
// the client is closed first, then the proxy.

export type Session<T> = {
  /** Closes the client, in any state. */
  end(): Promise<unknown>
  run(): Promise<T>
  /** Converts an error of the vendor's client. */
  toFailure(error: unknown): WarehouseFailure
}

const failureOf = (error: unknown, toFailure: (error: unknown) => WarehouseFailure): WarehouseFailure =>
  error instanceof WarehouseFailure ? error : toFailure(error)

/** Runs a query. The client is closed after the last page was read or the reader stopped. */
export async function queryOverProxy(
  proxy: GuardedProxy,
  query: Pick<Query, 'limit' | 'signal' | 'timeoutMs'>,
  { end, run, toFailure }: Session<QueryResult>,
): Promise<QueryResult> {
  const close = closeWhenOver(proxy, query, end)
  async function* pagesOf({ pages }: QueryResult): AsyncGenerator<JsonObject[]> {
    try {
      yield* pages
    } catch (error) {
      throw failureOf(error, toFailure)
    } finally {
      await close()
    }
  }
  try {
    const result = await run()
    return { columns: result.columns, pages: limited(pagesOf(result), query.limit) }
  } catch (error) {
    await close()
    throw failureOf(error, toFailure)
  }
}

/** Runs statements that write. `run` itself reports failures, because it knows what they changed. */
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
