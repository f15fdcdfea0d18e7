import pg from 'pg'
import { SECOND } from '../clock.ts'
import { hostsOf, withoutHosts } from './address.ts'
import { isNamed, namedQuery } from './named-query.ts'
import { forgetPrimary, primaryOf } from './primary.ts'
import { refuseReadOnly } from './socket.ts'

// Opens every connection to Heddle's own database. A connection finds the server that accepts writes, gives up in time,
// and notices a peer that has disappeared.

export const CONNECT_WITHIN = 4 * SECOND

/** The kernel probes an idle peer after this time, and gives up ten seconds later. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5 * SECOND }

/** The stack of an error of the database ends in the socket that it was read from. */
const withStackOfCaller = (error: Error): never => {
  Error.captureStackTrace(error)
  throw error
}

type Connected = (error: Error | null, client?: pg.Client) => void

export class ServerClient extends pg.Client {
  readonly #address: string

  constructor(config: pg.ClientConfig & { connectionString: string }) {
    super({
      connectionTimeoutMillis: CONNECT_WITHIN,
      ...KEEP_ALIVE,
      ...config,
      connectionString: withoutHosts(config.connectionString),
    })
    this.#address = config.connectionString
    // Without a listener, an idle connection that breaks would end the process.
    this.on('error', () => {})
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the class it extends
  override connect(done?: any): any {
    if (done) this.#connect(done)
    else
      return new Promise<pg.Client>((resolve, reject) =>
        this.#connect((error) => (error ? reject(error) : resolve(this))),
      )
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the class it extends
  override query(config: any, ...rest: any[]): any {
    const done = rest.at(-1)
    const areValuesApart = rest.length > 0 && rest[0] !== undefined && rest[0] !== done
    if (!isNamed(config) || areValuesApart) return super.query(config as never, ...(rest as never[]))
    if (typeof done === 'function') return super.query(namedQuery(config, done))
    const answered = new Promise<pg.QueryResult>((resolve, reject) => {
      super.query(namedQuery(config, (error, result) => (error ? reject(error) : resolve(result as pg.QueryResult))))
    })
    return answered.catch(withStackOfCaller)
  }

  #connect(done: Connected): void {
    const refusal = refuseReadOnly(this)
    const connected = (error: Error | null): void => done(error ?? refusal() ?? null, this)
    if (hostsOf(this.#address).length === 0) {
      super.connect(connected as (error: Error) => void)
      return
    }
    primaryOf(this.#address).then((at) => {
      Object.assign(this, at)
      super.connect(((error: Error | null) => {
        if (error ?? refusal()) forgetPrimary(this.#address, at)
        connected(error)
      }) as (error: Error) => void)
    }, done)
  }
}

/** A client for a pooler that does not support named statements. The server parses each statement every time. */
export class UnnamedClient extends ServerClient {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the class it extends
  override query(config: any, ...rest: any[]): any {
    if (typeof config !== 'object' || config === null || config.name === undefined)
      return super.query(config as never, ...(rest as never[]))
    const { name: _name, ...unnamed } = config
    return super.query(unnamed as never, ...(rest as never[]))
  }
}

/** Opens one connection for a one-off task and closes it at the end of the task. */
export async function withClient<T>(
  config: pg.ClientConfig & { connectionString: string },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new ServerClient(config)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
