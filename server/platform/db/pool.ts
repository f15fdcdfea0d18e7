import pg from 'pg'
import { problem } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Shares, shareConnections } from './connections.ts'
import { type Hint, type Hints, makeHints } from './hints.ts'
import type { OnHint } from './listener.ts'
import { makePools } from './pools.ts'
import { LOCK_TIMEOUT, MAINTENANCE_TIMEOUT } from './session.ts'
import { isConnectionLost } from './unavailable.ts'

export type Values = readonly unknown[]

export type Tx = {
  rows<Row>(sql: string, values?: Values): Promise<Row[]>
  row<Row>(sql: string, values?: Values): Promise<Row>
  maybe<Row>(sql: string, values?: Values): Promise<Row | undefined>
  /** Returns the number of rows that the statement affected. */
  count(sql: string, values?: Values): Promise<number>
  /**
   * Sends a statement whose result is not needed before the end: the commit is sent along with it. If the statement
   * fails, the transaction fails. `found` is called with its rows, before the work registered with `after`.
   */
  send<Row>(sql: string, values?: Values, found?: (rows: Row[]) => void): void
  /** Wakes the listeners of this and other processes after the commit. A hint is lost if the process ends first. */
  hint(channel: string, payload: string): void
  /**
   * Registers work to call after the commit. It is not called if the process ends first, or cannot know whether the
   * commit succeeded.
   */
  after(work: () => void): void
  /**
   * Lets the work after the commit start before the commit is on disk, because its own writes reach the disk later or
   * not at all. The caller's statement must have turned `synchronous_commit` off. The caller's promise resolves only
   * when the commit is on disk.
   */
  settleBehind(): void
}

/** `boundTo`: the only workspace that the caller's credential gives access to, if the credential is bound to one. */
export type Scope = { workspaceId: string | null; userId: string | null; boundTo?: string | null }

export type DatabaseUrls = {
  owner: string
  app: string
  engine: string
  operator: string
  /** The address for sessions of heddle_app, if the other addresses go through a pooler. */
  session?: string
  /** Set if a pooler is in use: whether the pooler supports named statements. */
  pooler?: 'named' | 'unnamed'
}

export type Database = {
  /** As heddle_app: row security shows the rows of the scope's workspace, and the rows that belong to its person. */
  tenant<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>
  /** As heddle_engine: engine tables only. */
  engine<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** As heddle_operator: reads every tenant, writes only plans and the audit log. */
  operator<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** As heddle_app without a workspace: background work that no request waits for and that may take minutes. */
  maintain<Row>(sql: string, values?: Values): Promise<Row[]>
  /**
   * Calls `onHint` for hints on the channel. A hint can be lost and proves nothing. After a lost connection, one hint
   * without a payload is delivered.
   */
  listen(channel: string, onHint: OnHint): Promise<() => Promise<void>>
  /** Like `tx.hint`, for changes that are already committed. */
  hint(channel: string, payload: string): void
  /** Whether a pooler may give each transaction of a connection another session. */
  readonly isPooled: boolean
  readonly appPool: pg.Pool
  readonly enginePool: pg.Pool
  /** As heddle_engine: one connection for the heartbeat of a worker, which must not wait behind other statements. */
  readonly beatPool: pg.Pool
  close(): Promise<void>
}

const { builtins } = pg.types
pg.types.setTypeParser(builtins.INT8, (text) => Number(text))

export const isUniqueViolation = (error: unknown, constraint?: string): boolean => {
  const { code, constraint: name } = error as { code?: string; constraint?: string }
  return code === '23505' && (constraint === undefined || constraint === name)
}

export const isForeignKeyViolation = (error: unknown): boolean => (error as { code?: string }).code === '23503'

/** A statement that must return a row returned none. */
class MissingRow extends Error {
  constructor() {
    super('a statement that must return a row returned none')
  }
}

/** Row-level security refused a row: its writer has no access to the workspace. */
const isAccessViolation = (error: unknown): boolean => (error as { code?: string }).code === '42501'

/** Checks whether a transaction failed because another one deleted a row that it had read before. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof MissingRow || isForeignKeyViolation(error) || isAccessViolation(error)

/** The prepared name of each statement text, so that PostgreSQL parses and plans a statement once per connection. */
const names = new Map<string, string>()
function nameOf(sql: string): string {
  let name = names.get(sql)
  if (name === undefined) {
    name = `s${names.size}`
    names.set(sql, name)
  }
  return name
}

export function txOf(
  client: pg.ClientBase,
  hints: Hint[] = [],
  sent: Promise<unknown>[] = [],
  after: (() => void)[] = [],
  settle: { behind: boolean } = { behind: false },
): Tx {
  const run = <Row>(sql: string, values: Values = []): Promise<pg.QueryResult<Row & pg.QueryResultRow>> =>
    client.query<Row & pg.QueryResultRow>({ name: nameOf(sql), text: sql, values: values as unknown[] })
  const maybe = async <Row>(sql: string, values?: Values): Promise<Row | undefined> =>
    (await run<Row>(sql, values)).rows[0]
  return {
    rows: async (sql, values) => (await run(sql, values)).rows as never,
    maybe,
    row: async <Row>(sql: string, values?: Values): Promise<Row> => {
      const row = await maybe<Row>(sql, values)
      if (row === undefined) throw new MissingRow()
      return row
    },
    count: async (sql, values) => (await run(sql, values)).rowCount ?? 0,
    send: (sql, values, found) => {
      const statement = run(sql, values).then(({ rows }) => found?.(rows as never))
      statement.catch(ignored)
      sent.push(statement)
    },
    hint: (channel, payload) => void hints.push([channel, payload]),
    after: (work) => void after.push(work),
    settleBehind: () => {
      settle.behind = true
    },
  }
}

/** The code that the database raises when a quota of a plan is exhausted (migration 0601). */
const QUOTA_EXCEEDED = 'HQ001'

const ignored = (): void => {}

/** The commit of this statement waits until everything before it is on disk, and on the synchronous standbys. */
const ON_DISK = `select pg_logical_emit_message(true, 'heddle', '')`

async function transaction<T>(
  pool: pg.Pool,
  begin: (client: pg.PoolClient) => Promise<unknown>[],
  work: (tx: Tx) => Promise<T>,
  hinting: Hints,
): Promise<T> {
  let client: pg.PoolClient
  try {
    client = await pool.connect()
  } catch (error) {
    throw problem('unavailable', 'The database does not answer. Try again in a moment.', {
      retryAfterS: 1,
      cause: error,
    })
  }
  let broken: Error | undefined
  let takenAlong = false
  const onError = (error: Error): void => {
    broken = error
  }
  client.on('error', onError)
  try {
    // Sent without waiting: BEGIN and the scope travel in the same packet as the first statement of `work`.
    const opening = Promise.all(begin(client))
    opening.catch(ignored)
    const hints: Hint[] = []
    const sent: Promise<unknown>[] = []
    const after: (() => void)[] = []
    const settle = { behind: false }
    const tx = txOf(client, hints, sent, after, settle)
    const result = await work(tx)
    takenAlong = hinting.takeAlong(tx, hints)
    const commit = client.query('commit')
    commit.catch(ignored)
    const onDisk = settle.behind ? client.query({ name: 'on-disk', text: ON_DISK }) : undefined
    onDisk?.catch(ignored)
    await Promise.all([opening, ...sent])
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK.
    if ((await commit).command === 'ROLLBACK') throw new Error('a statement failed and its transaction continued')
    for (const work of after) work()
    await onDisk
    hinting.give(hints, { othersKnow: takenAlong })
    return result
  } catch (error) {
    if (isConnectionLost(error)) {
      broken = error as Error
      throw problem('unavailable', 'The connection to the database was lost. Try again in a moment.', {
        retryAfterS: 1,
        cause: error,
      })
    }
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    if ((error as { code?: string }).code === QUOTA_EXCEEDED)
      throw problem('quota_exceeded', (error as Error).message, { cause: error })
    throw error
  } finally {
    if (takenAlong) hinting.arrived()
    client.off('error', onError)
    client.release(broken)
  }
}

const kept = (max: number): number => Math.min(3, max)

export function openDatabase(options: {
  urls: DatabaseUrls
  log: Logger
  /** The maximum number of open connections of each kind. */
  connections?: Shares
  lockTimeoutMs?: number
}): Database {
  const { urls, log, connections = shareConnections('all'), lockTimeoutMs = LOCK_TIMEOUT } = options
  const pools = makePools({ log, pooler: urls.pooler ?? 'none', onSilent: () => hints.reconnect() })
  const lockTimeout = { lock_timeout: String(lockTimeoutMs) }
  // A few connections stay open on an idle system: the first use of a statement on a connection took 11 to 12 ms, later
  // uses 1 ms.
  const appPool = pools.open('app', urls.app, {
    max: connections.app,
    min: kept(connections.app),
    settings: lockTimeout,
  })
  const enginePool = pools.open('engine', urls.engine, { max: connections.engine, min: kept(connections.engine) })
  const beatPool = pools.open('engine', urls.engine, { max: 1 })
  const operatorPool = pools.open('operator', urls.operator, { max: connections.operator })
  // Hints have their own connection, so that they do not queue behind requests that wait for a connection.
  const hintPool = pools.open('app', urls.app, { max: 1 })
  const hints = makeHints({ pool: hintPool, url: urls.session ?? urls.app, log })

  return {
    isPooled: urls.pooler !== undefined,
    appPool,
    enginePool,
    beatPool,
    tenant: (scope, work) =>
      transaction(
        appPool,
        (client) => [
          client.query('begin'),
          client.query({
            name: 'scope',
            text: "select set_config('app.ws', $1, true), set_config('app.user', $2, true), set_config('app.bound', $3, true)",
            values: [scope.workspaceId ?? '', scope.userId ?? '', scope.boundTo ?? ''],
          }),
        ],
        work,
        hints,
      ),
    engine: (work) => transaction(enginePool, (client) => [client.query('begin')], work, hints),
    operator: (work) => transaction(operatorPool, (client) => [client.query('begin')], work, hints),
    listen: hints.listen,
    hint: (channel, payload) => hints.give([[channel, payload]], { othersKnow: false }),
    maintain: <Row>(sql: string, values: Values = []) =>
      transaction(
        appPool,
        (client) => [client.query('begin'), client.query(`set local statement_timeout = ${MAINTENANCE_TIMEOUT}`)],
        (tx) => tx.rows<Row>(sql, values),
        hints,
      ),
    async close() {
      await hints.close()
      await pools.close()
    },
  }
}

/** Returns the same database for background work: statements of its engine transactions may take minutes. */
export const forMaintenance = (db: Database): Database => ({
  ...db,
  engine: (work) =>
    db.engine((tx) => {
      tx.send(`set local statement_timeout = ${MAINTENANCE_TIMEOUT}`)
      return work(tx)
    }),
})
