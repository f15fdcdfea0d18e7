import pg from 'pg'
import { readConfig } from '#platform/config'
import { openDatabase } from '#platform/db/pool'
import { hashSecret, newId, newSecret } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { median, percentile, startBenchDatabase } from './database.ts'

// 200 visitors chatting at once on one server, without a language model: a greeting, a wish, two values in words, and the
// execution that follows. Times of one turn as the visitors see them, with the load generator in the same process.

const VISITORS = 200
const ROUNDS = 3
/** A visitor reads and types between two messages: at most this long, half of it on average. */
const THINKING = 5000

const database = await startBenchDatabase()
const log = makeLogger('error')
const config = readConfig({
  HEDDLE_RATE_LIMITS: 'off',
  HEDDLE_LOG_LEVEL: 'error',
  HEDDLE_DATA_DIR: '/tmp/heddle-bench-chat',
})
const db = openDatabase({ urls: database.urls, log })
let base = ''
const app = await makeApp({ config, db, vault: makeVault(Buffer.alloc(32, 1)), log, baseUrl: () => base })
base = await app.http.listen({ host: '127.0.0.1', port: 0 })

const owner = new pg.Client({ connectionString: database.urls.owner })
await owner.connect()
const [org, user, company, workspace, key] = [newId(), newId(), newId(), newId(), newSecret('hk')]
await owner.query('insert into orgs values ($1, $2)', [org, 'Bench'])
await owner.query(`insert into users (user_id, org_id, email, name) values ($1, $2, 'bench@example.com', 'Bench')`, [
  user,
  org,
])
await owner.query(
  `insert into api_keys (key_id, user_id, name, prefix, token_hash) values ($1, $2, 'bench', 'hk_', $3)`,
  [newId(), user, hashSecret(key)],
)
await owner.query(`insert into companies (company_id, org_id, owner_id, name) values ($1, $2, $3, 'Company')`, [
  company,
  org,
  user,
])
await owner.query(`insert into workspaces (workspace_id, company_id, org_id, name) values ($1, $2, $3, 'Bench')`, [
  workspace,
  company,
  org,
])
await owner.query(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [workspace, user])
await owner.end()

type Body = Record<string, never> & { [name: string]: unknown }

async function call(method: string, path: string, token: string, body?: unknown, visitor?: string): Promise<Body> {
  const response = await fetch(base + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(visitor !== undefined && { 'x-visitor-token': visitor }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

const workflow = await call('POST', '/api/workflows', key, {
  name: 'Request a refund',
  definition: {
    inputs: {
      type: 'object',
      properties: { order: { type: 'integer' }, reason: { type: 'string', enum: ['damaged', 'late'] } },
      required: ['order', 'reason'],
    },
    nodes: [{ id: 'made', type: 'set', args: { values: { order: { $ref: 'input.order' } } } }],
    edges: [],
    output: { $ref: 'nodes.made.output' },
  },
})
const template = await call('POST', '/api/templates', key, { name: 'Bench', workflow_ids: [workflow.workflow_id] })
const { token } = await call('POST', `/api/templates/${template.template_id}/embed-tokens`, key, {})
const path = `/api/embed/template/${template.template_id}`

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function chat(times: number[]): Promise<string> {
  await wait(Math.random() * THINKING)
  const { visitor_token: visitor } = await call('GET', `${path}/config`, token as never)
  let thread: unknown
  let execution: unknown
  for (const message of ['Hello', 'I want a refund', 'order 1042', 'it came late']) {
    const begun = performance.now()
    const body = await call(
      'POST',
      `${path}/chat`,
      token as never,
      { message, ...(thread ? { thread_id: thread } : {}) },
      visitor,
    )
    times.push(performance.now() - begun)
    thread = body.thread_id
    execution = body.execution_id ?? execution
    await wait(Math.random() * THINKING)
  }
  for (;;) {
    const { status } = await call('GET', `${path}/execution/${execution}/status`, token as never, undefined, visitor)
    if (status === 'succeeded') return thread as string
    await wait(THINKING)
  }
}

const begun = process.cpuUsage()
const rounds: { p50: number; p99: number; most: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  const times: number[] = []
  await Promise.all(Array.from({ length: VISITORS }, () => chat(times)))
  rounds.push({ p50: percentile(times, 50), p99: percentile(times, 99), most: Math.max(...times) })
}
const spent = process.cpuUsage(begun)
const check = new pg.Client({ connectionString: database.urls.owner })
await check.connect()
const { rows } = await check.query(
  `select count(*)::int as told, count(distinct thread_id)::int as threads from messages where about = 'result'`,
)
await check.end()
await app.stop()
await db.close()
await database.stop()

const tenths = (ms: number): number => Math.round(ms * 10) / 10
console.log(
  JSON.stringify(
    {
      visitors: VISITORS,
      turns_per_round: VISITORS * 4,
      turn_ms: {
        p50: tenths(median(rounds.map(({ p50 }) => p50))),
        p99: tenths(median(rounds.map(({ p99 }) => p99))),
        worst: tenths(Math.max(...rounds.map(({ most }) => most))),
      },
      // Of this process: the service, and the visitors themselves.
      processor_ms_per_turn: tenths((spent.user + spent.system) / 1000 / (ROUNDS * VISITORS * 4)),
      results_told: rows[0],
    },
    null,
    2,
  ),
)
