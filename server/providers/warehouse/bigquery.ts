import { createSign } from 'node:crypto'
import type { BigQuery, Job, QueryRowsResponse } from '@google-cloud/bigquery'
import type { Json, JsonObject } from '#model/definition'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { bigqueryDialect, executeOnBigquery } from './bigquery-write.ts'
import {
  bareStatement,
  exactNumber,
  inStep,
  messageOf,
  nameSchema,
  probeOver,
  quoteTable,
  readFromWith,
  rowOf,
  textOf,
  toJson,
  type Web,
} from './common.ts'
import { type Query, type QueryResult, type Target, type Warehouse, WarehouseFailure } from './index.ts'
import { queryOverProxy } from './proxied.ts'
import { openProxy } from './proxy.ts'
import { writingIn } from './writing.ts'

const STANDARD = 'https://bigquery.googleapis.com'
const STANDARD_TOKEN = 'https://oauth2.googleapis.com/token'
const PAGE_ROWS = 1_000

const endpointOf = (config: JsonObject): URL => new URL(textOf(config.endpoint) || STANDARD)

function webOf(config: JsonObject): Web {
  const { protocol, hostname, port } = endpointOf(config)
  const https = protocol === 'https:'
  return { host: hostname, port: Number(port || (https ? 443 : 80)), https }
}

type ServiceAccount = { client_email: string; private_key: string; token_uri?: string }

function accountOf({ secrets }: Target): ServiceAccount {
  try {
    const account = JSON.parse(secrets.service_account ?? '') as Partial<ServiceAccount>
    if (typeof account.client_email === 'string' && typeof account.private_key === 'string')
      return account as ServiceAccount
  } catch {
    // The error below contains nothing of the secret's content.
  }
  throw new WarehouseFailure('sign_in', 'the service account is not the JSON key file that Google gives out')
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Returns the address that receives the signed claim. It must be Google's own or the connection's, because a key file
 * can contain any address.
 */
function tokenAddress(account: ServiceAccount, config: JsonObject): string {
  const wanted = account.token_uri ?? STANDARD_TOKEN
  if (wanted === STANDARD_TOKEN) return wanted
  if (URL.canParse(wanted) && config.endpoint !== undefined && new URL(wanted).origin === endpointOf(config).origin)
    return wanted
  throw new WarehouseFailure(
    'sign_in',
    'the service account names a token address that is not the host of this connection',
  )
}

const READ = 'https://www.googleapis.com/auth/bigquery.readonly'
const WRITE = 'https://www.googleapis.com/auth/bigquery'

async function signIn(outgoing: Outgoing, target: Target, signal: AbortSignal, scope = READ): Promise<string> {
  const account = accountOf(target)
  const audience = tokenAddress(account, target.config)
  const now = Math.floor(Date.now() / 1000)
  const claim = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({
    iss: account.client_email,
    scope,
    aud: audience,
    iat: now,
    exp: now + 3600,
  })}`
  const signature = createSign('RSA-SHA256').update(claim).sign(account.private_key, 'base64url')
  const answer = await outgoing.request({
    method: 'POST',
    url: audience,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `${claim}.${signature}`,
    }).toString(),
    signal,
    maxBytes: 64 << 10,
  })
  const said = JSON.parse(answer.body.toString()) as {
    access_token?: string
    error_description?: string
    error?: string
  }
  if (answer.status !== 200 || !said.access_token)
    throw new Error(said.error_description ?? said.error ?? `the token was refused with status ${answer.status}`)
  return said.access_token
}

/** Creates Google's client, whose requests are sent through the guard and signed here. */
async function connect(token: string, target: Target, proxyUrl: string): Promise<BigQuery> {
  const { BigQuery } = await import('@google-cloud/bigquery')
  const client = new BigQuery({
    projectId: textOf(target.config.project_id),
    apiEndpoint: endpointOf(target.config).origin,
    autoRetry: false,
    maxRetries: 0,
    // Without this, the client would look for a credential of the machine itself and use it.
    authClient: { getRequestHeaders: async () => new Headers({ authorization: `Bearer ${token}` }) } as never,
  })
  client.interceptors.push({ request: (options) => ({ ...options, proxy: proxyUrl }) as never })
  return client
}

const toFailure = (error: unknown): WarehouseFailure =>
  new WarehouseFailure((error as { code?: number }).code === 401 ? 'sign_in' : 'read', messageOf(error))

export function makeBigquery(outgoing: Outgoing): Warehouse {
  async function query(target: Target, wanted: Query): Promise<QueryResult> {
    const { limit, signal } = wanted
    const token = await inStep('sign_in', () => signIn(outgoing, target, signal))
    const proxy = await openProxy(outgoing, webOf(target.config))
    const run = async (): Promise<QueryResult> => {
      const client = await connect(token, target, proxy.url)
      const job = await startJob(client, target, wanted)
      const page = (pageToken?: string): Promise<QueryRowsResponse> =>
        job.getQueryResults({
          autoPaginate: false,
          maxResults: Math.min(PAGE_ROWS, limit),
          // Without this, the client rounds large integers.
          wrapIntegers: true,
          ...(pageToken && { pageToken }),
        })
      const first = await page()
      const schema = (first[2] as { schema?: { fields?: { name: string; type: string }[] } } | undefined)?.schema
      const columns = (schema?.fields ?? []).map(({ name, type }) => ({ name, type: type.toLowerCase() }))
      const names = columns.map(({ name }) => name)
      async function* pages(): AsyncGenerator<JsonObject[]> {
        for (let answer = first; ; ) {
          const [rows, next] = answer as unknown as [Record<string, unknown>[], { pageToken?: string } | null]
          const cells = (row: Record<string, unknown>): Json[] => names.map((name) => plain(row[name]))
          if (rows.length > 0) yield rows.map((row) => rowOf(names, cells(row)))
          if (!next?.pageToken) return
          answer = await page(next.pageToken)
        }
      }
      return { columns, pages: pages() }
    }
    return queryOverProxy(proxy, wanted, { end: async () => {}, run, toFailure })
  }

  return {
    kind: 'bigquery',
    title: 'Google BigQuery',
    config_schema: {
      type: 'object',
      required: ['project_id'],
      additionalProperties: false,
      properties: {
        project_id: { type: 'string', title: 'Project', pattern: '^[a-z0-9:.\\-]{1,128}$' },
        location: { type: 'string', title: 'Location', pattern: '^[A-Za-z0-9\\-]{1,64}$' },
        dataset: nameSchema('Default dataset'),
        endpoint: {
          type: 'string',
          title: 'Endpoint',
          description: 'Only for a private endpoint',
          pattern: '^https?://[A-Za-z0-9.\\-\\[\\]:]+$',
          maxLength: 300,
        },
      },
    },
    secret_fields: [{ name: 'service_account', title: 'Service account key (JSON)', required: true, multiline: true }],
    destination: (config) => endpointOf(config).host.toLowerCase(),
    probe: probeOver(outgoing, webOf, query),
    query,
    readTable: (table) => `select * from ${quoteTable(table, '`')}`,
    readFrom: readFromWith('`', '?'),
    writing: writingIn(bigqueryDialect),
    async execute(target, work) {
      const token = await inStep('sign_in', () => signIn(outgoing, target, work.signal, WRITE))
      const { config } = target
      return executeOnBigquery({ outgoing, endpoint: endpointOf(config).origin, token, config }, work)
    },
  }
}

/**
 * Starts a query after a dry run. BigQuery has no read-only session, so any statement but a SELECT is refused before it
 * runs.
 */
async function startJob(
  client: BigQuery,
  { config }: Target,
  { text, params, timeoutMs }: Pick<Query, 'text' | 'params' | 'timeoutMs'>,
): Promise<Job> {
  const options = {
    query: bareStatement(text),
    useLegacySql: false,
    jobTimeoutMs: timeoutMs,
    ...(params !== undefined && { params: params as never }),
    ...(config.location !== undefined && { location: textOf(config.location) }),
    ...(config.dataset !== undefined && {
      defaultDataset: { datasetId: textOf(config.dataset), projectId: textOf(config.project_id) },
    }),
  }
  const [trial] = await client.createQueryJob({ ...options, dryRun: true })
  const kind = (trial.metadata as { statistics?: { query?: { statementType?: string } } }).statistics?.query
    ?.statementType
  if (kind !== 'SELECT') throw new WarehouseFailure('read', 'only a single statement that reads is allowed')
  const [job] = await client.createQueryJob(options)
  return job
}

/** Converts the client's own objects for integers, decimals, dates and places to JSON, also inside of records. */
function plain(value: unknown): Json {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return toJson(value)
  if (Array.isArray(value)) return value.map(plain)
  const { value: inner } = value as { value?: unknown }
  const type = value.constructor?.name ?? ''
  if (type === 'BigQueryInt') return exactNumber(String(inner))
  if (type === 'Big') return exactNumber(String(value))
  if (/^(BigQuery|Geography$)/.test(type) && typeof inner === 'string') return inner
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]))
}
