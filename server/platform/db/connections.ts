// How many connections to the database a process opens, and for what. PostgreSQL allows 100 unless told otherwise and keeps
// three of them for its superuser: two API processes and two workers, and two successors beside them, must fit.

export type Role = 'all' | 'api' | 'worker'
export type Shares = { app: number; engine: number; operator: number }

/** What a process takes besides: one for hints, one that listens for those of others, and one for its worker's sign of life. */
const ALWAYS: Record<Role, number> = { all: 3, api: 2, worker: 3 }
/** Operators' pages and plans: seldom, and never two at once for one request. */
const OPERATOR = 1

export const MIN_CONNECTIONS = 8
export const DEFAULT_CONNECTIONS: Record<Role, number> = { all: 24, api: 16, worker: 16 }

/** The part of the engine: an API process only writes starts with it. */
const ENGINE: Record<Role, number> = { all: 0.4, api: 0.25, worker: 0.4 }
/** The journal and the queue of starts each send two statements at once. */
const MIN_ENGINE = 2

/** What one of several processes opens unless it is told: all of them together fit into the 100 of PostgreSQL. */
export const connectionsOfOne = (role: Role, processes: number): number =>
  Math.max(MIN_CONNECTIONS, Math.min(DEFAULT_CONNECTIONS[role], Math.floor(ALL_TOGETHER / processes)))

/** PostgreSQL's 100 less those for its superuser. */
const ALL_TOGETHER = 96

export function shareConnections(role: Role, total = DEFAULT_CONNECTIONS[role]): Shares {
  const rest = total - ALWAYS[role] - OPERATOR
  const engine = Math.max(MIN_ENGINE, Math.round(rest * ENGINE[role]))
  return { app: rest - engine, engine, operator: OPERATOR }
}
