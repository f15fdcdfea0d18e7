import { cp, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { useNormalPriority } from '#platform/children/start'
import { type Config, readConfig } from '#platform/config'
import { shareConnections } from '#platform/db/connections'
import { type Database, openDatabase } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { checkNow, limitCheckPauses } from '#platform/periodic-check'
import { makeVault, type Vault } from '#platform/secrets'
import { type App, makeApp } from '#server/app'
import { type Answer, type CallOptions, callAt } from './call.ts'
import { operatorsOfShared } from './operators.ts'
import { type DatabaseAddress, makeTestDatabase } from './postgres.ts'
import { checkStatuses } from './statuses.ts'
import { makeTemporaryDirectory } from './temporary.ts'

export { type Answer, type CallOptions, callAt as call } from './call.ts'

export type Service = {
  base: string
  app: App
  db: Database
  vault: Vault
  config: Config
  database: DatabaseAddress
  /** Runs a statement as the superuser, who bypasses row security. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  call(method: string, path: string, options?: Omit<CallOptions, 'method'>): Promise<Answer>
  /** Lets tenants reach these targets (`host:port`), as HEDDLE_ALLOW_TARGETS does at the start. */
  allow(...targets: string[]): void
  /**
   * Throws if the service has answered with a status that the OpenAPI document does not describe. `stop` does so too.
   */
  checkAnswers(): void
  stop(options?: { drainMs?: number }): Promise<void>
}

/** A service that several test files use. */
export type SharedService = Omit<Service, 'stop'>

export type ServiceOptions = {
  role?: 'all' | 'api' | 'worker'
  env?: Record<string, string>
  database?: DatabaseAddress
  pages?: string
  /** A directory that is copied into the data directory first, for example with blobs. */
  dataFrom?: string
  /** Whether the service cleans up at its start, as the program does. */
  clearUpAtStart?: boolean
  /** The data directory. By default the service has its own, which is removed when it stops. */
  directory?: string
}

/** The maximum pause of periodic work, in milliseconds. After a test has changed a table, the work runs at once. */
const LOOK_EVERY = 1000
const CHANGES = /^\s*(?:update|delete)\b/i

/** Starts the whole service on a free port, by default with its own database. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  if (!usesShared) endShared()
  limitCheckPauses(LOOK_EVERY)
  useNormalPriority()
  const own = options.database ? undefined : await makeTestDatabase()
  const database = options.database ?? own!
  const directory = options.directory
    ? { path: options.directory, remove: async () => {} }
    : await makeTemporaryDirectory()
  if (options.dataFrom !== undefined) await cp(options.dataFrom, join(directory.path, 'data'), { recursive: true })
  const read = readConfig(
    {
      PORT: '0',
      HEDDLE_DATA_DIR: join(directory.path, 'data'),
      HEDDLE_LOG_LEVEL: process.env.HEDDLE_TEST_LOG ?? 'silent',
      HEDDLE_RATE_LIMITS: 'off',
      // With a lower priority, speech would get almost no processor time beside other tests.
      SPEECH_NICENESS: '0',
      HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...options.env,
    },
    ['--role', options.role ?? 'all'],
  )
  // A copy of the list, because the default list is shared by all services of the process.
  const allowed = [...read.HEDDLE_ALLOW_TARGETS]
  const config = { ...read, HEDDLE_ALLOW_TARGETS: allowed }
  const log = makeLogger(config.HEDDLE_LOG_LEVEL)
  const vault = makeVault(config.HEDDLE_SECRET_KEY!)
  const db = openDatabase({ urls: database.urls, log, connections: shareConnections('all', 16) })
  const superuser = new pg.Pool({ connectionString: database.superuserUrl, max: 2 })
  superuser.on('error', () => {})
  await superuser.query(`insert into orgs (org_id, name) select $1, 'Heddle' where not exists (select from orgs)`, [
    newId(),
  ])
  let base = ''
  const answers = checkStatuses(() => app.routes)
  const app: App = await makeApp({
    config,
    db,
    vault,
    log,
    baseUrl: () => config.HEDDLE_BASE_URL ?? base,
    checkAnswers: true,
    onAnswered: answers.note,
    pages: options.pages,
    clearUpAtStart: options.clearUpAtStart ?? false,
  })
  base = await app.http.listen({ host: '127.0.0.1', port: 0 })

  return {
    base,
    app,
    db,
    vault,
    config,
    database,
    async sql(text, values) {
      const { rows, rowCount } = await superuser.query(text, values)
      if (CHANGES.test(text) && rowCount !== 0) checkNow()
      return rows as never
    },
    call: (method, path, callOptions = {}) => callAt(base, method, path, callOptions),
    allow: (...targets) => void allowed.push(...targets),
    checkAnswers: answers.check,
    async stop(stopOptions) {
      await app.stop(stopOptions)
      await db.close()
      await superuser.end()
      await own?.drop()
      await directory.remove()
      answers.check()
    },
  }
}

/**
 * Services by their options. Test files that run one after another in a process share them; each file creates its own
 * people and workspaces. They stop with the process, or when a file starts its own service: the periodic work of an
 * idle service takes 3 % of a core.
 */
const shared = new Map<string, Promise<Service>>()
/** Whether the current file uses a shared service. */
let usesShared = false

/** Stops the shared services without waiting. Each file has already checked the responses. */
function endShared(): void {
  for (const service of shared.values()) void service.then(({ stop }) => stop()).catch(() => {})
  shared.clear()
}

/**
 * Returns a service that other test files use too. Only for files that read only what they created: no data of the
 * whole installation, and no statement without one of their workspaces or people.
 */
export function useSharedService(options: Pick<ServiceOptions, 'env'> = {}): () => SharedService {
  const key = JSON.stringify(options)
  let service: Service | undefined
  beforeAll(async () => {
    usesShared = true
    if (!shared.has(key)) shared.set(key, startShared(options))
    service = await shared.get(key)!
  })
  afterAll(() => {
    usesShared = false
    service?.checkAnswers()
  })
  return () => service!
}

async function startShared(options: ServiceOptions): Promise<Service> {
  const service = await startService({
    env: { HEDDLE_OPERATORS: operatorsOfShared.join(), ...options.env },
    directory: await mkdtemp(join(inject('postgres').scratch, 'shared-')),
  })
  // The service belongs to no file, and must not keep the process alive.
  service.app.http.server.unref()
  return service
}

/** Starts one service for a test file. */
export function useService(options: ServiceOptions = {}): () => Service {
  let service: Service | undefined
  beforeAll(async () => {
    service = await startService(options)
  })
  afterAll(() => service?.stop())
  return () => service!
}
