import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Definition } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { slow } from '#test/harness/slow'
import type { ExecutionView } from './ports.ts'
import { type Bench, chain, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let api: Bench
let superuser: pg.Client
let server: Server
let effects: string
const counted = new Map<string, number>()
let onEffect: (type: string) => void = () => {}
const workers = new Set<ChildProcess>()

const definitions = new Map<string, Definition>([
  ['adhoc:effects', { ...chain(4, 'effect') }],
  ['adhoc:once', { nodes: [{ id: 'o', type: 'once' }], edges: [] }],
  ['adhoc:steps', { nodes: [{ id: 's', type: 'steps' }], edges: [], output: { $ref: 'nodes.s.output' } }],
])

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  server = createServer((request, response) => {
    const [, type = '', key = ''] = (request.url ?? '').split('/')
    counted.set(`${type}/${key}`, (counted.get(`${type}/${key}`) ?? 0) + 1)
    response.end()
    onEffect(type)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  effects = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  api = await startTestEngine(database.urls, { definitions, engine: { role: 'api' } })
})
afterEach(async () => {
  for (const worker of workers) worker.kill('SIGKILL')
  workers.clear()
  onEffect = () => {}
  // The database still executes what a worker sent before it was killed. On a busy machine, the last claim of a
  // killed worker took the execution of the next test, and its death was counted as the fifth crash of that
  // execution.
  await expect
    .poll(
      async () =>
        (await superuser.query(`select from pg_stat_activity where application_name = '${WORKER}'`)).rows.length,
    )
    .toBe(0)
})
afterAll(async () => {
  await api?.stop()
  server?.close()
  await database?.drop()
})

const WORKER = 'a worker of the test'

/** Returns URLs with the application name that identifies the database connections of the workers. */
const workerUrls = (): typeof database.urls => {
  const named = (address: string): string => {
    const url = new URL(address)
    url.searchParams.set('application_name', WORKER)
    return url.href
  }
  const { owner, app, engine, operator } = database.urls
  return { owner: named(owner), app: named(app), engine: named(engine), operator: named(operator) }
}

const startWorker = async (env: Record<string, string> = {}): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'testing-worker.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  workers.add(child)
  child.stdin?.end(JSON.stringify({ urls: workerUrls(), definitions: [...definitions], effects }))
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('exit', () => reject(new Error('the worker ended')))
  })
  child.removeAllListeners('exit')
  return child
}

const kill = (child: ChildProcess, signal: NodeJS.Signals): void => void child.kill(signal)
const nextEffect = (type: string, count = 1): Promise<void> =>
  new Promise((resolve) => {
    let left = count
    onEffect = (seen) => {
      if (seen === type && --left === 0) resolve()
    }
  })

const ended = async (executionId: string): Promise<ExecutionView> =>
  (await api.engine.waitFor(api.workspaceId, executionId, 25 * SECOND)) as ExecutionView

const journal = async (executionId: string) => api.engine.readEvents(api.workspaceId, executionId, 0, 1000)

/** Checks that events are numbered without a gap and that no node succeeded twice. */
const expectOneOfEach = async (executionId: string): Promise<void> => {
  const events = await journal(executionId)
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
  const done = events.filter((event) => event.type === 'node.succeeded').map((event) => event.data.node_id)
  expect(new Set(done).size).toBe(done.length)
}

test('a worker killed during executions loses nothing, and another worker continues them', async () => {
  const first = await startWorker()
  await startWorker()
  const underWay = nextEffect('effect', 150)
  const ids = await Promise.all(Array.from({ length: 100 }, (_, value) => api.run('adhoc:effects', { value })))
  await underWay
  kill(first, 'SIGKILL')
  for (const [value, id] of ids.entries()) {
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: value })
    await expectOneOfEach(id)
  }
  const health = await api.engine.health()
  expect(health).toMatchObject({ running: 0, queued: 0, unaccounted: [] })
})

slow('a worker that is paused until it is declared dead writes nothing when it continues', async () => {
  const stopped = await startWorker()
  const begun = nextEffect('effect', 1)
  const id = await api.run('adhoc:effects', { value: 1 })
  await begun
  kill(stopped, 'SIGSTOP')
  const other = await startWorker()
  expect(await ended(id)).toMatchObject({ status: 'succeeded' })
  const before = await journal(id)
  kill(stopped, 'SIGCONT')
  // The worker notices at its next write or tick that it was declared dead, and registers with a new id.
  await expect.poll(async () => (await api.engine.health()).workers.filter((worker) => worker.alive).length).toBe(2)
  expect(await journal(id)).toEqual(before)
  await expectOneOfEach(id)
  kill(other, 'SIGKILL')
})

slow('a node that may run at most once is not run again after a crash: its outcome is unknown', async () => {
  const first = await startWorker()
  const begun = nextEffect('once')
  const id = await api.run('adhoc:once')
  await begun
  kill(first, 'SIGKILL')
  await startWorker()
  expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown', node_id: 'o' } })
  expect([...counted].filter(([key]) => key.startsWith('once/')).map(([, count]) => count)).toEqual([1])
})

slow('journalled steps are not repeated after a crash', async () => {
  const first = await startWorker({ HANG: 'yes' })
  const hanging = nextEffect('hang')
  const id = await api.run('adhoc:steps')
  await hanging
  kill(first, 'SIGKILL')
  await startWorker()
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'stepped' })
  expect([...counted].filter(([key]) => key.startsWith('step/')).map(([, count]) => count)).toEqual([1, 1])
})

slow('if connections break under load, nothing is lost and nothing is repeated', async () => {
  const bench = await startTestEngine(database.urls, { workspaceId: api.workspaceId })
  const ref = bench.define(chain(5))
  const ids: string[] = []
  const starting = (async () => {
    for (let round = 0; round < 15; round += 1) {
      ids.push(...(await Promise.all(Array.from({ length: 20 }, (_, n) => bench.run(ref, { value: n })))))
    }
  })()
  for (let cut = 0; cut < 3; cut += 1) {
    const more = ids.length + 20
    await expect.poll(() => ids.length >= Math.min(more, 280)).toBe(true)
    await superuser.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and usename like 'heddle_engine%'`)
  }
  await starting
  expect(ids).toHaveLength(300)
  for (const id of ids) {
    expect(await ended(id)).toMatchObject({ status: 'succeeded' })
    await expectOneOfEach(id)
  }
  await bench.stop()
})

slow('none of 300 signals that arrive while executions park is lost', async () => {
  const { workspaceId } = api
  const answers: Promise<unknown>[] = []
  // Answers while the question is being recorded, which is at the same time as its execution parks. Every hint is
  // lost.
  const answer = (executionId: string) =>
    bench.db.tenant({ workspaceId, userId: null }, (tx) =>
      bench.engine.signal(
        { ...tx, hint: () => {} },
        { workspaceId, executionId, key: 'a' },
        { type: 'clarification.answered', nodePath: 'q', answer: executionId, data: {} },
      ),
    )
  const bench: Bench = await startTestEngine(database.urls, {
    workspaceId,
    ports: {
      askQuestion: async ({ executionId }) => {
        const answered = answer(executionId)
        answers.push(answered)
        // Every second answer is stored before the question is journalled. The others come at any time.
        if (answers.length % 2 === 0) await answered
        return { data: {} }
      },
    },
  })
  const ref = bench.define({
    nodes: [{ id: 'q', type: 'clarification', args: { question: '?' } }],
    edges: [],
    output: { $ref: 'nodes.q.output' },
  })
  const ids = await Promise.all(Array.from({ length: 300 }, () => bench.run(ref)))
  const views = await Promise.all(ids.map(ended))
  expect(views.filter((view) => view.status !== 'succeeded')).toEqual([])
  expect(await Promise.all(answers)).toEqual(ids.map(() => 'accepted'))
  await bench.stop()
})

test('an execution that cannot be stored fails alone, and the rest of its batch is stored', async () => {
  const bench = await startTestEngine(database.urls, {
    workspaceId: api.workspaceId,
    ports: { askQuestion: async () => ({ data: { title: 'half a \ud800 and \0' } }) },
  })
  const bad = bench.define({ nodes: [{ id: 'q', type: 'clarification' }], edges: [] })
  const good = bench.define(chain(5))
  const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => bench.run(n % 6 === 0 ? bad : good, { value: n })))
  for (const [n, id] of ids.entries()) {
    if (n % 6 === 0) expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'not_storable' } })
    else expect(await ended(id)).toMatchObject({ status: 'succeeded', results: n })
  }
  await bench.stop()
})

slow('an execution whose worker dies five times waits for an operator, and other executions continue', async () => {
  const workspaceId = api.workspaceId
  const id = await api.run('adhoc:effects', { value: 1 })
  for (let crash = 0; crash < 5; crash += 1) {
    const worker = await superuser.query<{ worker_id: string }>(`with w as (
      insert into workers (worker_id, host, pid) values (gen_random_uuid(), 'test', 0) returning worker_id)
      select worker_id from w`)
    const workerId = worker.rows[0]?.worker_id
    await superuser.query('insert into heartbeats (worker_id) values ($1)', [workerId])
    await superuser.query('select count(*) from engine.claim($1, $2, 10, 10, 100, 1)', [
      workerId,
      '00000000-0000-0000-0000-000000000000',
    ])
    await superuser.query('select engine.bury($1)', [workerId])
  }
  expect(await api.engine.readExecution(workspaceId, id)).toMatchObject({
    status: 'waiting',
    waiting_for: [{ kind: 'slot', reason: 'poison' }],
  })
  await startWorker()
  const other = await api.run('adhoc:effects', { value: 2 })
  expect(await ended(other)).toMatchObject({ status: 'succeeded' })
  const release = () =>
    api.db.tenant({ workspaceId, userId: null }, (tx) => api.engine.release(tx, { workspaceId, executionId: id }))
  expect(await release()).toBe('accepted')
  expect(await ended(id)).toMatchObject({ status: 'succeeded' })
  expect(await release()).toBe('not_poison')
})

slow('an execution that makes progress after its worker died is no longer a suspect', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const id = await api.run('adhoc:effects', { value: 1 })
  await superuser.query('update executions set crashes = 4 where execution_id = $1', [id])
  let calls = 0
  const bench = await startTestEngine(database.urls, {
    definitions,
    nodes: [
      kind('effect', 'idempotent', async (call) => {
        if (++calls === 2) {
          reach()
          await released
        }
        return { output: call.args.value ?? null }
      }),
    ],
  })
  // Stop the bench even after a timeout: a worker that is left running would take the executions of the next attempt.
  onTestFinished(async () => {
    release()
    await bench.stop()
  })
  await reached
  const { rows } = await superuser.query('select status, crashes from executions where execution_id = $1', [id])
  expect(rows).toEqual([{ status: 'running', crashes: 0 }])
  release()
  expect(await ended(id)).toMatchObject({ status: 'succeeded' })
})
