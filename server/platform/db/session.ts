import { MINUTE, SECOND } from '../clock.ts'

// The settings of each session, by kind of work. A backend whose client has disappeared must not keep its locks: it
// ends when its transaction is idle too long, or when the client's machine no longer answers.

export type Kind = 'app' | 'engine' | 'operator'

/** Longer than any request should pause, and shorter than the lock timeout: the next request then gets the lock. */
const IDLE_IN_TRANSACTION = 8 * SECOND
/**
 * A request that waits longer for a lock is answered with 503, so that it does not keep a connection from other
 * requests.
 */
export const LOCK_TIMEOUT = 10 * SECOND
/** The maximum duration of a statement of a request or of the engine. Maintenance sets its own timeout. */
export const STATEMENT_TIMEOUT = 30 * SECOND
export const MAINTENANCE_TIMEOUT = 10 * MINUTE

/**
 * Settings for the server's side of the connection: it probes an idle client, and gives up a client that accepts no
 * data.
 */
const PEERS = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: String(10 * SECOND),
}

/** The same settings as SQL statements. */
export const SET_PEERS = Object.entries(PEERS)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join('; ')

const COMMON = {
  ...PEERS,
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: String(STATEMENT_TIMEOUT),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION),
  lock_timeout: String(LOCK_TIMEOUT),
  // One request uses at most one core. Otherwise two searches of one tenant would use six database processes.
  max_parallel_workers_per_gather: '0',
}

// A generic plan made while the tables were small would scan them forever: measured 5 ms instead of 0.5 ms for a commit
// after 15,000 executions had ended. Every statement of the engine can use an index.
const INDEXES_ONLY = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' }

export const sessionSettings: Record<Kind, Readonly<Record<string, string>>> = {
  app: COMMON,
  engine: { ...COMMON, ...INDEXES_ONLY },
  operator: COMMON,
}

const asOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')

/** Returns the settings as start options of a connection. */
export const optionsFor = (kind: Kind, more: Record<string, string> = {}): string =>
  asOptions({ ...sessionSettings[kind], ...more })

export const ENGINE_PLANS = asOptions(INDEXES_ONLY)
