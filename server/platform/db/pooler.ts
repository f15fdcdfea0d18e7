import type pg from 'pg'
import { SECOND } from '../clock.ts'
import { ServerClient } from './client.ts'
import type { DatabaseUrls } from './pool.ts'
import { StartRefused } from './refused.ts'

// A pooler between the program and the server may give each transaction another session. Session settings, LISTEN,
// locks and prepared statements are then lost. The start tests what the connection supports, before anything relies on
// it.

/** `transaction`: the session ends with each transaction. `session`: a pooler that keeps the session. */
export type Pooling = 'none' | 'session' | 'transaction'

const ROUNDS = 5
const PROBE = { connectionTimeoutMillis: 10 * SECOND, query_timeout: 10 * SECOND }

const backendOf = async (client: pg.Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid

async function withTwo<T>(address: string, work: (one: pg.Client, other: pg.Client) => Promise<T>): Promise<T> {
  const two = [1, 2].map(() => new ServerClient({ connectionString: address, ...PROBE }))
  try {
    for (const client of two) await client.connect()
    return await work(two[0]!, two[1]!)
  } finally {
    await Promise.all(two.map((client) => client.end().catch(() => {})))
  }
}

/** This is the first connection to an external server, so its failure is explained to the person who starts the program. */
const probe: typeof withTwo = (address, work) =>
  withTwo(address, work).catch((error: Error & { errors?: Error[] }) => {
    // If a name has several addresses, the error has no message of its own. No message contains the password.
    const reason = error.message || error.errors?.map(({ message }) => message).join(', ')
    throw new StartRefused(
      `The database of DATABASE_URL cannot be used: ${reason}. Check the address, the user and the password, and that the server is running.`,
      { cause: error },
    )
  })

/**
 * Detects a pooler. A pooler reports its own process id at sign-in instead of the backend's. If a pooler keeps no
 * sessions, another client that starts a transaction gets the same backend, or the first client gets another backend
 * afterwards.
 */
export const poolingOf = (address: string): Promise<Pooling> =>
  probe(address, async (one, other) => {
    const processId = (one as unknown as { processID: number }).processID
    let before = await backendOf(one)
    if (processId === before) return 'none'
    for (let round = 0; round < ROUNDS; round += 1) {
      await other.query('begin')
      const meanwhile = await backendOf(other)
      await other.query('rollback')
      const after = await backendOf(one)
      if (meanwhile === before || after !== before) return 'transaction'
      before = after
    }
    return 'session'
  })

/** Checks whether a named prepared statement is still known after another client used the backend. */
const keepsPrepared = (address: string): Promise<boolean> =>
  withTwo(address, async (one, other) => {
    const named = { name: 'heddle_probe', text: 'select 1 as n' }
    await one.query(named)
    await other.query('begin')
    await other.query('select 1')
    try {
      await one.query(named)
      return true
    } catch (error) {
      // The name is unknown on this backend, or already prepared by another client of the pooler.
      if (['26000', '42P05'].includes((error as { code?: string }).code ?? '')) return false
      throw error
    } finally {
      await other.query('rollback').catch(() => {})
    }
  })

export const refusePooler = (): StartRefused =>
  new StartRefused(
    'DATABASE_URL leads to a pooler that keeps no session between transactions (PgBouncer with pool_mode = transaction or statement). ' +
      'Set DATABASE_SESSION_URL to the address of the server itself, for migrations and LISTEN; or use pool_mode = session.',
  )

/** Returns the addresses with the pooler for everything except the owner's work and listening. */
export async function throughPooler(urls: DatabaseUrls, pooler: string, pooling: Pooling): Promise<DatabaseUrls> {
  const at = (url: string): string => {
    const [signIn, address] = [new URL(url), new URL(pooler)]
    if (signIn.searchParams.has('options'))
      throw new StartRefused(
        'Behind a pooler the user of DATABASE_SESSION_URL must be allowed to create roles: the settings of sessions are kept in them.',
      )
    address.username = signIn.username
    address.password = signIn.password
    return address.href
  }
  const through = { ...urls, app: at(urls.app), engine: at(urls.engine), operator: at(urls.operator) }
  let prepared: boolean
  try {
    prepared = await keepsPrepared(through.app)
  } catch (error) {
    throw new StartRefused(
      `The pooler of DATABASE_URL refuses heddle's own roles: ${(error as Error).message}. Heddle creates them when it starts (${new URL(urls.app).username} and others): let the pooler look users up (auth_query), see docs/operating.md.`,
      { cause: error },
    )
  }
  return { ...through, session: pooling === 'session' ? through.app : urls.app, pooler: prepared ? 'named' : 'unnamed' }
}
