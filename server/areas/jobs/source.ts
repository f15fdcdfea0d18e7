import type { ConnectionUse } from '#areas/connections/using'
import type { Json, JsonObject } from '#model/definition'
import { own } from '#model/json'
import { MINUTE } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'

/** One more than the maximum of a dataset, so that larger sources are refused and never truncated silently. */
const MAX_READ = 1_000_001
const WITHIN = 15 * MINUTE

/**
 * The position from which a run continues. `of` identifies how earlier rows were processed: if that changes, all rows
 * are read again.
 */
export type SourceCursor = { of: string; value?: Json }

export type SourceRows = {
  pages: AsyncIterable<JsonObject[]>
  /** The highest value, after all pages were read. Undefined without a cursor or rows. */
  reached(): Json | undefined
}

/** Reads the current rows of a source. With a cursor, starts at its position. */
export const makeReadSource =
  ({ db, connections }: { db: Database; connections: ConnectionUse }) =>
  async (
    workspaceId: string,
    sourceId: string,
    cursor: SourceCursor | null,
    signal: AbortSignal,
  ): Promise<SourceRows> => {
    const gone = () => problem('dataset_unbound', 'The source of the job is gone. Bind another one, or a dataset.')
    const source = await db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.maybe<{ connection_id: string; table: string | null; query: string | null; cursor_column: string | null }>(
        'select connection_id, "table", query, cursor_column from sources where workspace_id = $1 and source_id = $2',
        [workspaceId, sourceId],
      ),
    )
    if (!source) throw gone()
    const result = await connections.queryConnection(workspaceId, source.connection_id, {
      ...(source.query !== null ? { text: source.query } : { table: source.table! }),
      limit: MAX_READ,
      timeoutMs: WITHIN,
      signal,
      ...(source.cursor_column !== null && { from: { column: source.cursor_column, value: cursor?.value } }),
    })
    if (!result) throw gone()
    const { pages } = result
    const column = source.cursor_column
    if (column === null) return { pages, reached: () => undefined }
    let last: Json | undefined
    async function* noting(): AsyncGenerator<JsonObject[]> {
      for await (const page of pages) {
        // Rows are sorted by the column, so the last row has the highest value. Rows without a value come first or
        // last, depending on the vendor.
        last = page.findLast((row) => own(row, column!) != null)?.[column!] ?? last
        yield page
      }
    }
    return { pages: noting(), reached: () => last }
  }
