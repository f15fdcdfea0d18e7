import { MINUTE, SECOND } from '../clock.ts'

// What every session is told, by kind of work. A backend whose client has vanished must not keep its locks: it ends when its
// transaction stands still, and when its machine no longer answers.

export type Kind = 'app' | 'engine' | 'operator'

/** Longer than any request should wait, and shorter than a lock is waited for: then the next one gets its turn. */
const IDLE_IN_TRANSACTION = 8 * SECOND
/** A request that waits longer for somebody else's lock is told to come back (503), rather than keep a connection from the rest. */
export const LOCK_TIMEOUT = 10 * SECOND
/** No statement of a request or of the engine takes longer; maintenance says so itself. */
export const STATEMENT_TIMEOUT = 30 * SECOND
export const MAINTENANCE_TIMEOUT = 10 * MINUTE

/** The server's side of the connection: it asks an idle client, and gives one up that takes nothing in. */
const PEERS = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: String(10 * SECOND),
}

/** The same, as statements. */
export const SET_PEERS = Object.entries(PEERS)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join('; ')

const COMMON = {
  ...PEERS,
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: String(STATEMENT_TIMEOUT),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION),
  lock_timeout: String(LOCK_TIMEOUT),
  // One request keeps one core busy at most: two searches of one tenant would otherwise take six processes of the database.
  max_parallel_workers_per_gather: '0',
}

// A generic plan made while the tables were small would scan them for ever after: measured 5 ms instead of 0.5 for a commit
// once 15,000 executions had ended. Every statement of the engine has an index to go by.
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

/** As a connection says it when it is opened. */
export const optionsFor = (kind: Kind, more: Record<string, string> = {}): string =>
  asOptions({ ...sessionSettings[kind], ...more })

export const ENGINE_PLANS = asOptions(INDEXES_ONLY)
