import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type Config, readConfig } from '#platform/config'
import { type Database, openDatabase } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { makeVault, type Vault } from '#platform/secrets'
import { type App, makeApp } from '#server/app'
import { type DatabaseAddress, makeTestDatabase } from './postgres.ts'
import { makeTemporaryDirectory } from './temporary.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export type Answer = { status: number; headers: Headers; text: string; body: any }

export type CallOptions = {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  /** An API key, a webhook token or an embed token. */
  token?: string
  workspace?: string
  raw?: string | Buffer | FormData
}

export type Service = {
  base: string
  app: App
  db: Database
  vault: Vault
  config: Config
  database: DatabaseAddress
  /** A statement as the superuser, past row security. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  call(method: string, path: string, options?: Omit<CallOptions, 'method'>): Promise<Answer>
  stop(): Promise<void>
}

export type ServiceOptions = {
  role?: 'all' | 'api' | 'worker'
  env?: Record<string, string>
  database?: DatabaseAddress
  pages?: string
}

/** The whole service on a database of its own, listening on a free port. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const own = options.database ? undefined : await makeTestDatabase()
  const database = options.database ?? own!
  const directory = await makeTemporaryDirectory()
  const config = readConfig(
    {
      PORT: '0',
      HEDDLE_DATA_DIR: join(directory.path, 'data'),
      HEDDLE_LOG_LEVEL: process.env.HEDDLE_TEST_LOG ?? 'silent',
      HEDDLE_RATE_LIMITS: 'off',
      // Beside other tests it would hardly have its turn.
      SPEECH_NICENESS: '0',
      HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...options.env,
    },
    ['--role', options.role ?? 'all'],
  )
  const log = makeLogger(config.HEDDLE_LOG_LEVEL)
  const vault = makeVault(config.HEDDLE_SECRET_KEY!)
  const db = openDatabase({ urls: database.urls, log, poolSize: 8 })
  const superuser = new pg.Pool({ connectionString: database.superuserUrl, max: 2 })
  superuser.on('error', () => {})
  await superuser.query(`insert into orgs (org_id, name) select $1, 'Heddle' where not exists (select from orgs)`, [
    newId(),
  ])
  let base = ''
  const app = await makeApp({
    config,
    db,
    vault,
    log,
    baseUrl: () => config.HEDDLE_BASE_URL ?? base,
    checkAnswers: true,
    pages: options.pages,
  })
  base = await app.http.listen({ host: '127.0.0.1', port: 0 })

  return {
    base,
    app,
    db,
    vault,
    config,
    database,
    sql: async (text, values) => (await superuser.query(text, values)).rows as never,
    call: (method, path, callOptions = {}) => call(base, method, path, callOptions),
    async stop() {
      await app.stop()
      await db.close()
      await superuser.end()
      await own?.drop()
      await directory.remove()
    },
  }
}

export async function call(base: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const headers = new Headers(options.headers)
  if (options.token) headers.set('authorization', `Bearer ${options.token}`)
  if (options.workspace) headers.set('x-workspace-id', options.workspace)
  let body: string | Buffer | FormData | undefined = options.raw
  if (options.body !== undefined) {
    body = JSON.stringify(options.body)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  }
  const response = await fetch(base + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: body as BodyInit }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  }
}

/** One service for a test file. */
export function useService(options: ServiceOptions = {}): () => Service {
  let service: Service | undefined
  beforeAll(async () => {
    service = await startService(options)
  })
  afterAll(() => service?.stop())
  return () => service!
}
