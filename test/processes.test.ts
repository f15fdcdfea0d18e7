import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { limits } from '#platform/http/limits'
import { callAt } from '#test/harness/call'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Program, startProgram, until } from '#test/harness/program'
import { openSocket } from '#test/harness/socket'
import { makePerson, makeWorkspace, type ServiceAccess, type TestPerson } from '#test/harness/world'
import { slow } from './harness/slow.ts'

// Several processes share one port: `HEDDLE_PROCESSES`.

let database: TestDatabase
let root: string
const programs: Program[] = []

beforeAll(async () => {
  database = await makeTestDatabase()
  root = mkdtempSync(join(tmpdir(), 'heddle-processes-'))
})
afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.stop('SIGINT')))
})
afterAll(async () => {
  await database.drop()
  rmSync(root, { recursive: true, force: true })
})

async function start(env: Record<string, string> = {}): Promise<{ program: Program; person: TestPerson }> {
  const program = startProgram({
    DATABASE_URL: database.superuserUrl,
    HEDDLE_DATA_DIR: join(root, 'data'),
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
    HEDDLE_DEMO: 'off',
    HEDDLE_PROCESSES: '2',
    ...env,
  })
  programs.push(program)
  const base = await program.ready
  const client = await database.superuser()
  const surface: ServiceAccess = {
    sql: async (text, values) => (await client.query(text, values)).rows,
    call: (method, path, options) => callAt(base, method, path, options),
  }
  const person = await makePerson(surface)
  await makeWorkspace(surface, person)
  return { program, person }
}

/** Returns the ids of the worker processes from the system. */
const membersOf = ({ child }: Program): number[] =>
  readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid.trim() !== '')
    .map(Number)

const definition = { nodes: [{ id: 'n', type: 'set', args: { values: { done: true } } }], edges: [] }

async function makeWorkflow(person: TestPerson): Promise<string> {
  const { body } = await person.call('POST', '/api/workflows', { body: { name: 'Counted', definition } })
  return body.workflow_id
}

const statusesOf = async (person: TestPerson, ids: string[]): Promise<Set<string>> =>
  new Set(
    await Promise.all(ids.map(async (id) => (await person.call('GET', `/api/workflows/executions/${id}`)).body.status)),
  )

/** A number of connections at which each process certainly accepts some of them. */
const DOORS = 12

async function seesEventsAtEveryDoor(person: TestPerson): Promise<void> {
  const asking = {
    nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?', schema: {} } }],
    edges: [],
  }
  const { body: made } = await person.call('POST', '/api/workflows', { body: { name: 'Watched', definition: asking } })
  const { body: run } = await person.call('POST', `/api/workflows/${made.workflow_id}/run`, { body: {} })
  const execution = run.execution_id as string
  await expect.poll(() => statusesOf(person, [execution])).toEqual(new Set(['waiting']))
  const sockets = await Promise.all(
    Array.from({ length: DOORS }, async () => {
      const { body } = await person.call('POST', `/auth/workflow-ticket/${execution}`)
      return openSocket(body.url, body.ticket)
    }),
  )
  await Promise.all(sockets.map(({ frame }) => frame(({ type }) => type === 'snapshot')))
  await person.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response: 'yes' } })
  await Promise.all(sockets.map(({ frame }) => frame(({ type }) => type === 'execution.succeeded')))
  for (const { socket } of sockets) socket.terminate()
}

async function forgetsKeyAtEveryDoor(base: string, person: TestPerson): Promise<void> {
  const { body: key } = await person.call('POST', '/auth/api-keys', { body: { name: 'Short-lived' } })
  const statuses = async (): Promise<Set<number>> => {
    const headers = { connection: 'close' }
    const ask = async () => (await callAt(base, 'GET', '/api/workflows', { headers, token: key.key })).status
    return new Set(await Promise.all(Array.from({ length: DOORS }, ask)))
  }
  expect(await statuses()).toEqual(new Set([200]))
  await person.call('DELETE', `/auth/api-keys/${key.key_id}`)
  expect(await statuses()).toEqual(new Set([401]))
}

test('two processes answer on one port; a killed process is replaced, and no accepted execution is lost', async () => {
  const { program, person } = await start({ HEDDLE_RATE_LIMITS: 'off' })
  const before = membersOf(program)
  expect(before).toHaveLength(2)
  const { text } = await person.call('GET', '/metrics')
  for (const process of ['1', '2'])
    expect(text).toContain(`heddle_http_requests{state="waiting",process="${process}"} 0\n`)
  expect(text.match(/^# HELP heddle_http_requests /gm)).toHaveLength(1)

  await seesEventsAtEveryDoor(person)
  await forgetsKeyAtEveryDoor(await program.ready, person)

  const workflow = await makeWorkflow(person)
  const accepted: string[] = []
  const run = async (): Promise<void> => {
    // A request on a connection to the killed process is cut off; only answered requests count.
    const answer = await person.call('POST', `/api/workflows/${workflow}/run`, { body: {} }).catch(() => undefined)
    if (answer?.status === 202) accepted.push(answer.body.execution_id)
  }
  const running = Array.from({ length: 40 }, run)
  await running[0]
  process.kill(before[0]!, 'SIGKILL')
  await Promise.all([...running, ...Array.from({ length: 40 }, run)])
  expect(accepted.length).toBeGreaterThan(0)
  await expect.poll(() => statusesOf(person, accepted)).toEqual(new Set(['succeeded']))
  await until(() => membersOf(program).length === 2 && !membersOf(program).includes(before[0]!))
})

test('a rate limit applies to all processes together', async () => {
  const { person } = await start()
  let accepted = 0
  let refused = 0
  const begun = performance.now()
  // Each request uses its own connection, so that both processes get some. With separate limits, each would accept ten
  // sign-ups.
  while (refused < 20) {
    const headers = { connection: 'close' }
    const { status } = await person.call('POST', '/auth/sign-up', { body: {}, headers })
    if (status === 429) refused += 1
    else accepted += 1
  }
  const refilled = ((performance.now() - begun) / 1000) * limits.sign_up.perSecond
  expect(accepted - refilled).toBeLessThan(2 * limits.sign_up.burst - 2)
})

test('every line of the log names the process that wrote it, and the claim of an operator is printed once', async () => {
  const { program, person } = await start({
    HEDDLE_LOG_LEVEL: 'debug',
    HEDDLE_RATE_LIMITS: 'off',
    HEDDLE_OPERATORS: 'op@example.com',
  })
  expect(program.output().match(/operator claim/g)).toHaveLength(1)
  // An incomplete last line is not counted.
  const lines = () => program.errors().split('\n').slice(0, -1)
  const writers = () =>
    new Set(lines().flatMap((line) => (line.includes('"operation":"fetchOdds"') ? [JSON.parse(line).process] : [])))
  // Each request uses its own connection, so that both processes get some.
  await until(async () => {
    const { body } = await person.call('POST', '/api/workflows/odds', {
      body: { date: '2026-01-31' },
      headers: { connection: 'close' },
    })
    expect(body.code).toBe('provider_not_configured')
    return writers().size === 2
  })
  expect(writers()).toEqual(new Set([1, 2]))
})

slow('SIGHUP replaces every process and fails no request', async () => {
  const { program, person } = await start({ HEDDLE_RATE_LIMITS: 'off', HEDDLE_DRAIN_S: '1' })
  const before = membersOf(program)
  const answers = new Map<string, number>()
  let over = false
  const caller = async (): Promise<void> => {
    while (!over) {
      const { status } = await person.call('GET', '/api/workflows')
      answers.set(String(status), (answers.get(String(status)) ?? 0) + 1)
    }
  }
  const callers = Array.from({ length: 4 }, caller)
  program.child.kill('SIGHUP')
  await until(() => membersOf(program).length === 2 && membersOf(program).every((pid) => !before.includes(pid)))
  over = true
  await Promise.all(callers)
  expect([...answers.keys()]).toEqual(['200'])
})

slow('a process that dies while all processes are replaced is replaced once', async () => {
  const { program } = await start({ HEDDLE_RATE_LIMITS: 'off' })
  const before = membersOf(program)
  program.child.kill('SIGHUP')
  // The third process is the successor of the first, which is starting.
  await until(() => membersOf(program).length === 3)
  process.kill(before[0]!, 'SIGKILL')
  await until(() => program.errors().includes('the processes were replaced'))
  const after = membersOf(program)
  expect(after.filter((pid) => before.includes(pid))).toEqual([])
  expect(after).toHaveLength(2)
})

test('a setting that the first process refuses ends the program, which prints the reason', async () => {
  const program = startProgram({ DATABASE_URL: 'postgres://nobody:wrong@127.0.0.1:1/none', HEDDLE_PROCESSES: '2' })
  const { code, errors } = await program.ended
  expect(code).toBe(1)
  expect(errors).toContain('the first process did not start')
})
