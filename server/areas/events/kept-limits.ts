import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { measureKept } from './store.ts'

// Events that are kept for executions that have not reached their wait yet.

const MAX_KEPT = 10_000
/** The limit of the stored (compressed) size of all kept events of a workspace. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024

export async function requireKeptCapacity(tx: Tx, workspaceId: string): Promise<void> {
  const { kept, bytes } = await measureKept(tx, workspaceId, MAX_KEPT)
  if (kept >= MAX_KEPT)
    throw problem('quota_exceeded', `A workspace keeps at most ${MAX_KEPT} events. Keep them for a shorter time.`)
  if (bytes >= MAX_KEPT_BYTES)
    throw problem(
      'quota_exceeded',
      'The events that a workspace keeps have at most 64 MiB together. Keep smaller ones.',
    )
}
