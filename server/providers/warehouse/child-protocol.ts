import type { Changed, Query, ResultColumn, Statement, Step, Target, WarehouseKind } from './index.ts'

// The messages between the service and a process that connects to a warehouse, sent as frames over its pipes. The
// secrets of a connection are sent only this way, because other users of the machine can read a process's arguments and
// environment.

export type ChildTask = {
  do: 'probe' | 'query' | 'execute'
  kind: WarehouseKind
  target: Target
  query: Pick<Query, 'text' | 'params' | 'limit' | 'timeoutMs'>
  /** The statements of an `execute` task. */
  statements: Statement[]
  /** The maximum number of bytes that the process may receive from outside for this task. */
  maxReceived: number
  /** Private addresses that the installation allows. */
  allowTargets: readonly string[]
  /** Certificate authorities that the service trusts in addition to those of Node.js. */
  ca: readonly string[]
  /** The directory of the DuckDB files of all workspaces. */
  directory: string
}
export type ToChild = ChildTask | { do: 'taken' } | { do: 'warm'; kind: 'duckdb' }

/** A frame with `rows` has the rows themselves as its body. */
export type FromChild =
  | { columns: ResultColumn[] }
  | { rows: number }
  /** The changes after this message cannot be rolled back. */
  | { beyond: true }
  | { affected: (number | null)[] }
  /** `spent`: the process has kept memory or data that it should not keep, and accepts no further task. */
  | { done: true; spent: boolean }
  | { failed: string; step: Step; changed: Changed; spent: boolean }

export const MAX_PAGES_AHEAD = 4
export const MAX_PAGE_CHARS = 1024 * 1024
export const MAX_ROW_CHARS = 4 * 1024 * 1024
/** One page and one more row, with up to four bytes per character. */
export const MAX_FRAME_BYTES = 4 * (MAX_PAGE_CHARS + MAX_ROW_CHARS)
/** The configuration, the secrets, the statement and its parameters. */
export const MAX_TASK_BYTES = 16 * 1024 * 1024
