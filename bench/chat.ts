import pg from 'pg'
import { cpuMs } from './cpu.ts'
import { median, percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson, startBenchService } from './world.ts'

// 200 visitors chat at once on one server, without a language model: a greeting, a request, two values in words, and
// the execution that follows. As in the widget, every message has an idempotency key. Measures the time of one turn as
// the visitors see it, and the processor time of the service and of PostgreSQL, without the visitors.

const VISITORS = 200
const ROUNDS = Number(process.env.ROUNDS ?? 3)
/** The maximum time in ms that a visitor reads and types between two messages; half of it on average. */
const THINKING = Number(process.env.THINKING_MS ?? 5000)

const database = await startBenchDatabase()
const service = await startBenchService(database)
const { key } = await makeBenchPerson(database)

type Body = Record<string, unknown>

async function call(
  method: string,
  path: string,
  token: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Body> {
  const response = await fetch(service.base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
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
const { token } = (await call('POST', `/api/templates/${template.template_id}/embed-tokens`, key, {})) as {
  token: string
}
const path = `/api/embed/template/${template.template_id}`

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function chat(times: number[]): Promise<void> {
  await wait(Math.random() * THINKING)
  const { visitor_token } = await call('GET', `${path}/config`, token)
  const visitor = { 'x-visitor-token': visitor_token as string }
  let thread: unknown
  let execution: unknown
  for (const message of ['Hello', 'I want a refund', 'order 1042', 'it came late']) {
    const begun = performance.now()
    const body = await call(
      'POST',
      `${path}/chat`,
      token,
      { message, ...(thread ? { thread_id: thread } : {}) },
      { ...visitor, 'idempotency-key': crypto.randomUUID() },
    )
    times.push(performance.now() - begun)
    thread = body.thread_id
    execution = body.execution_id ?? execution
    await wait(Math.random() * THINKING)
  }
  for (;;) {
    const { status } = await call('GET', `${path}/execution/${execution}/status`, token, undefined, visitor)
    if (status === 'succeeded') return
    await wait(THINKING)
  }
}

const round = async (): Promise<number[]> => {
  const times: number[] = []
  await Promise.all(Array.from({ length: VISITORS }, () => chat(times)))
  return times
}

// The first round warms up the compiler and the query plans and is not counted.
await round()
const owner = new pg.Client({ connectionString: database.superuserUrl.replace(/[^/]*$/, 'bench') })
const pids = [service.child.pid!, database.postmaster()]
const before = pids.map(cpuMs)
const rounds: number[][] = []
for (let at = 0; at < ROUNDS; at++) rounds.push(await round())
const turns = ROUNDS * VISITORS * 4
const tenths = (ms: number): number => Math.round(ms * 10) / 10
const [serviceMs, databaseMs] = pids.map((pid, at) => tenths((cpuMs(pid) - before[at]!) / turns))
await owner.connect()
const { rows } = await owner.query(
  `select count(*)::int as told, count(distinct thread_id)::int as threads from messages where about = 'result'`,
)
await owner.end()
service.child.removeAllListeners('exit')
service.stop()
await database.stop()

const of = (p: number): number => tenths(median(rounds.map((times) => percentile(times, p))))
console.log(
  JSON.stringify(
    {
      visitors: VISITORS,
      turns,
      turn_ms: { p50: of(50), p99: of(99), worst: tenths(Math.max(...rounds.flat())) },
      processor_ms_per_turn: { service: serviceMs, database: databaseMs },
      results_told: rows[0],
    },
    null,
    2,
  ),
)
process.exit(0)
