import type { ConnectionUse } from '#areas/connections/using'
import type { Json, JsonObject } from '#model/definition'
import { own } from '#model/json'
import { MINUTE } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'

/** One more than a dataset holds: more than that is refused, never cut off without a word. */
const MAX_READ = 1_000_001
const WITHIN = 15 * MINUTE

/** Where a run goes on: `of` is what was done to the rows before it, since rows that are done otherwise are all read again. */
export type SourceCursor = { of: string; value?: Json }

export type SourceRows = {
  pages: AsyncIterable<JsonObject[]>
  /** The highest value that came, once all pages were read; undefined without a cursor or rows. */
  reached(): Json | undefined
}

/** The rows of a source as they are now; with a cursor, from where it stands on. */
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
        // In the order of the column: the last row has the highest value. Rows without one come first or last, as the vendor likes.
        last = page.findLast((row) => own(row, column!) != null)?.[column!] ?? last
        yield page
      }
    }
    return { pages: noting(), reached: () => last }
  }
