import type { ReferenceCheck } from '#areas/workflows/definition-check'
import { fromWire } from '#platform/ids'

/** Returns a check that finds the row of an id. The statement gets the workspace and the uuid. */
export function exists(prefix: Parameters<typeof fromWire>[0], sql: string): ReferenceCheck {
  return async (tx, workspaceId, text) => {
    const uuid = fromWire(prefix, text)
    return uuid !== undefined && (await tx.maybe(sql, [workspaceId, uuid])) !== undefined
  }
}
