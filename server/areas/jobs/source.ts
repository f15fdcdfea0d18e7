import type { ConnectionUse } from '#areas/connections/using'
import type { JsonObject } from '#model/definition'
import { MINUTE } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'

/** One more than a dataset holds: more than that is refused, never cut off without a word. */
const MAX_READ = 1_000_001
const WITHIN = 15 * MINUTE

/** The rows of a source as they are now. */
export const makeReadSource =
  ({ db, connections }: { db: Database; connections: ConnectionUse }) =>
  async (workspaceId: string, sourceId: string, signal: AbortSignal): Promise<AsyncIterable<JsonObject[]>> => {
    const gone = () => problem('dataset_unbound', 'The source of the job is gone. Bind another one, or a dataset.')
    const source = await db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.maybe<{ connection_id: string; table: string | null; query: string | null }>(
        'select connection_id, "table", query from sources where workspace_id = $1 and source_id = $2',
        [workspaceId, sourceId],
      ),
    )
    if (!source) throw gone()
    const result = await connections.queryConnection(workspaceId, source.connection_id, {
      ...(source.query !== null ? { text: source.query } : { table: source.table! }),
      limit: MAX_READ,
      timeoutMs: WITHIN,
      signal,
    })
    if (!result) throw gone()
    return result.pages as AsyncIterable<JsonObject[]>
  }
