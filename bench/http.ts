import autocannon from 'autocannon'
import { fastify } from 'fastify'
import pg from 'pg'
import { readConfig } from '#platform/config'
import { openDatabase } from '#platform/db/pool'
import { hashSecret, newId, newSecret, toWire } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { median, startBenchDatabase } from './database.ts'

// Measures an authenticated GET of one resource and a list of 50 through the service, as a ratio to a bare Fastify
// route that runs the same statements (look-up of the key, row-security transaction, access, rows) in the same process
// and run.

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 32

const database = await startBenchDatabase()
const log = makeLogger('error')
const config = readConfig({
  HEDDLE_RATE_LIMITS: 'off',
  HEDDLE_LOG_LEVEL: 'error',
  HEDDLE_DATA_DIR: '/tmp/heddle-bench-http',
})
const db = openDatabase({ urls: database.urls, log })
const app = await makeApp({ config, db, vault: makeVault(Buffer.alloc(32, 1)), log, baseUrl: () => '' })
const service = await app.http.listen({ host: '127.0.0.1', port: 0 })

const owner = new pg.Client({ connectionString: database.urls.owner })
await owner.connect()
const [org, user, key, company] = [newId(), newId(), newSecret('hk'), newId()]
await owner.query('insert into orgs values ($1, $2)', [org, 'Bench'])
await owner.query('insert into users (user_id, org_id, email, name) values ($1, $2, $3, $4)', [
  user,
  org,
  'bench@example.com',
  'Bench',
])
await owner.query(
  `insert into api_keys (key_id, user_id, name, prefix, token_hash) values ($1, $2, 'bench', 'hk_', $3)`,
  [newId(), user, hashSecret(key)],
)
const insertCompany = (id: string) =>
  owner.query('insert into companies (company_id, org_id, owner_id, name) values ($1, $2, $3, $4)', [
    id,
    org,
    user,
    'Company',
  ])
await insertCompany(company)
for (let n = 0; n < 60; n++) await insertCompany(newId())
const workspace = newId()
await owner.query('insert into workspaces (workspace_id, company_id, org_id, name) values ($1, $2, $3, $4)', [
  workspace,
  company,
  org,
  'Bench',
])
await owner.query(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [workspace, user])
await owner.end()

const bare = fastify()
const pool = new pg.Pool({
  connectionString: database.urls.app,
  max: 16,
  pipeline: true,
  options: '-c plan_cache_mode=force_generic_plan',
} as pg.PoolConfig)
const columns = 'company_id, name, owner_id, metadata, created_at, updated_at'
type Who = { user_id: string; workspace_id: string }

async function inScope<T>(
  header: string | undefined,
  work: (client: pg.PoolClient, who: Who) => Promise<T>,
): Promise<T> {
  const { rows } = await pool.query<Who>({
    name: 'k',
    text: 'select * from identify_key($1, $2)',
    values: [hashSecret((header ?? '').slice(7)), null],
  })
  const who = rows[0]!
  const client = await pool.connect()
  try {
    client.query('begin')
    client.query({
      name: 's',
      text: `select set_config('app.ws', $1, true), set_config('app.user', $2, true)`,
      values: [who.workspace_id, who.user_id],
    })
    const result = await work(client, who)
    await client.query('commit')
    return result
  } finally {
    client.release()
  }
}

bare.get<{ Params: { id: string } }>('/one/:id', (request) =>
  inScope(request.headers.authorization, async (client, who) => {
    await client.query({
      name: 'r',
      text: `select c.owner_id = $2 or exists (select from workspaces w join memberships m using (workspace_id)
        where w.company_id = c.company_id and m.user_id = $2 and m.role = 'owner') as owns from companies c where c.company_id = $1`,
      values: [request.params.id, who.user_id],
    })
    const { rows } = await client.query({
      name: 'o',
      text: `select ${columns} from companies where company_id = $1`,
      values: [request.params.id],
    })
    return rows[0]
  }),
)
bare.get('/list', (request) =>
  inScope(request.headers.authorization, async (client, who) => {
    const { rows } = await client.query({
      name: 'l',
      text: `select ${columns} from companies where company_id in (select company_id from companies where owner_id = $1
         union select w.company_id from memberships m join workspaces w using (workspace_id) where m.user_id = $1 and m.role <> 'guest')
       order by company_id desc limit 51`,
      values: [who.user_id],
    })
    return { items: rows.slice(0, 50), next_cursor: 'x' }
  }),
)
const plain = await bare.listen({ host: '127.0.0.1', port: 0 })

const headers = { authorization: `Bearer ${key}` }
async function load(url: string): Promise<{ rate: number; p99: number }> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: SECONDS, workers: 1 })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`)
  return { rate: result.requests.average, p99: result.latency.p99 }
}

async function compare(servicePath: string, plainPath: string) {
  const [ours, theirs]: { rate: number; p99: number }[][] = [[], []]
  await load(service + servicePath)
  await load(plain + plainPath)
  for (let round = 0; round < ROUNDS; round++) {
    theirs!.push(await load(plain + plainPath))
    ours!.push(await load(service + servicePath))
  }
  return {
    service_per_s: Math.round(median(ours!.map(({ rate }) => rate))),
    bare_per_s: Math.round(median(theirs!.map(({ rate }) => rate))),
    ratio: Number(median(ours!.map(({ rate }, round) => rate / theirs![round]!.rate)).toFixed(2)),
    service_p99_ms: median(ours!.map(({ p99 }) => p99)),
    bare_p99_ms: median(theirs!.map(({ p99 }) => p99)),
  }
}

const one = await compare(`/api/companies/${toWire('co', company)}`, `/one/${company}`)
const list = await compare('/api/companies?limit=50', '/list')
console.log(JSON.stringify({ one, list }, null, 2))

await bare.close()
await pool.end()
await app.stop()
await db.close()
await database.stop()
