/**
 * Reads executions of a workflow in order, with those of its jobs. A job starts many executions, so they have an index
 * of their own, and each execution is in one of the two. `read` gets the condition that chooses the index. It must
 * have an order and a limit, so that neither index is read further than needed.
 */
export const fromBothIndexes = (read: (condition: string) => string): string =>
  `((${read("trigger_kind <> 'job'")}) union all (${read("trigger_kind = 'job'")}))`
