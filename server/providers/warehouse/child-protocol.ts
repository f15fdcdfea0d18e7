import type { Changed, Query, ResultColumn, Statement, Step, Target, WarehouseKind } from './index.ts'

// What the service and the process that talks to a warehouse say to each other, as frames over its pipes. The secrets of one
// connection go this way and no other: a process's arguments and environment can be read by others on the machine.

export type ChildTask = {
  do: 'probe' | 'query' | 'execute'
  kind: WarehouseKind
  target: Target
  query: Pick<Query, 'text' | 'params' | 'limit' | 'timeoutMs'>
  /** Of an execution. */
  statements: Statement[]
  /** Bytes it may receive from outside for this task. */
  maxReceived: number
  /** Private addresses that the installation allows. */
  allowTargets: readonly string[]
  /** Certificate authorities that the service trusts beyond those that Node brings along. */
  ca: readonly string[]
  /** Where the DuckDB files of all workspaces stand. */
  directory: string
}
export type ToChild = ChildTask | { do: 'taken' } | { do: 'warm'; kind: 'duckdb' }

/** `rows` comes with the rows themselves as the frame's body. */
export type FromChild =
  | { columns: ResultColumn[] }
  | { rows: number }
  /** What follows cannot be taken back. */
  | { beyond: true }
  | { affected: (number | null)[] }
  /** `spent`: it holds what it should not keep, and takes no further task. */
  | { done: true; spent: boolean }
  | { failed: string; step: Step; changed: Changed; spent: boolean }

export const MAX_PAGES_AHEAD = 4
export const MAX_PAGE_CHARS = 1024 * 1024
export const MAX_ROW_CHARS = 4 * 1024 * 1024
/** A page and one row more, each letter up to four bytes. */
export const MAX_FRAME_BYTES = 4 * (MAX_PAGE_CHARS + MAX_ROW_CHARS)
/** Config, secrets, the statement and its parameters. */
export const MAX_TASK_BYTES = 16 * 1024 * 1024
