// How many connections to the database a process opens, and for what. PostgreSQL allows 100 by default and reserves
// three for its superuser. Two API processes, two workers and the two successors during an upgrade must fit.

export type Role = 'all' | 'api' | 'worker'
export type Shares = { app: number; engine: number; operator: number }

/**
 * Additional connections of a process: one to send hints, one to listen for hints of other processes, and one for the
 * heartbeat of its worker.
 */
const ALWAYS: Record<Role, number> = { all: 3, api: 2, worker: 3 }
/** For operators' pages and plans. They are rare, and one request never needs two. */
const OPERATOR = 1

export const MIN_CONNECTIONS = 8
export const DEFAULT_CONNECTIONS: Record<Role, number> = { all: 24, api: 16, worker: 16 }

/** The share of the engine. An API process uses it only to write starts. */
const ENGINE: Record<Role, number> = { all: 0.4, api: 0.25, worker: 0.4 }
/** The journal and the start queue each send two statements at once. */
const MIN_ENGINE = 2

/**
 * Returns the default number of connections of one process among several: all of them together, and the successor of
 * one of them, fit into PostgreSQL's 100.
 */
export const connectionsOfOne = (role: Role, processes: number): number =>
  Math.max(MIN_CONNECTIONS, Math.min(DEFAULT_CONNECTIONS[role], Math.floor(ALL_TOGETHER / (processes + 1))))

/** PostgreSQL's 100 minus those reserved for its superuser. */
const ALL_TOGETHER = 96

export function shareConnections(role: Role, total = DEFAULT_CONNECTIONS[role]): Shares {
  const rest = total - ALWAYS[role] - OPERATOR
  const engine = Math.max(MIN_ENGINE, Math.round(rest * ENGINE[role]))
  return { app: rest - engine, engine, operator: OPERATOR }
}
