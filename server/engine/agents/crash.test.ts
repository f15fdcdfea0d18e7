import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ExecutionView } from '#engine/ports'
import { type Bench, startTestEngine } from '#engine/testing'
import type { Definition } from '#model/definition'
import { SECOND } from '#platform/clock'
import { callTools, say } from '#test/fakes/llm/answers'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { slow } from '#test/harness/slow'

// The tests kill workers that run an agent at the worst moments.

let database: TestDatabase
let api: Bench
let fake: FakeLlm
let server: Server
let effects: string
const counted = new Map<string, number>()
/** Answers the HTTP request of a tool. The tool hangs until `answer` is called. */
let onEffect: (type: string, answer: () => void) => void = (_type, answer) => answer()
const workers = new Set<ChildProcess>()

const args = { goal: 'Pay it', tools: ['look', 'pay'], max_steps: 5 }
const body: Definition = {
  nodes: [{ id: 'a', type: 'agent.run', args }],
  edges: [],
  output: { $ref: 'nodes.a.output' },
}
const mapped = (concurrency: number): Definition => ({
  nodes: [{ id: 'm', type: 'map', args: { items: [1, 2, 3], body, concurrency } }],
  edges: [],
  output: { $ref: 'nodes.m.output' },
})
const caller: Definition = {
  nodes: [{ id: 'a', type: 'agent.run', args: { goal: 'Ask', tools: [{ workflow_id: 'adhoc:child' }] } }],
  edges: [],
  output: { $ref: 'nodes.a.output.answer' },
}
const child: Definition = { nodes: [{ id: 'l', type: 'look' }], edges: [], output: { $ref: 'nodes.l.output' } }
const definitions = new Map<string, Definition>([
  ['adhoc:caller', caller],
  ['adhoc:child', child],
  ['adhoc:agent', body],
  ['adhoc:one-by-one', mapped(1)],
  ['adhoc:at-once', mapped(3)],
])

beforeAll(async () => {
  database = await makeTestDatabase()
  fake = await startFakeLlm()
  server = createServer((request, response: ServerResponse) => {
    const [, type = ''] = (request.url ?? '').split('/')
    counted.set(type, (counted.get(type) ?? 0) + 1)
    onEffect(type, () => response.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  effects = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  api = await startTestEngine(database.urls, { definitions, engine: { role: 'api' } })
})
afterEach(() => {
  for (const worker of workers) worker.kill('SIGKILL')
  workers.clear()
  onEffect = (_type, answer) => answer()
  counted.clear()
  fake.reset()
})
afterAll(async () => {
  await api?.stop()
  await fake?.close()
  server?.closeAllConnections()
  server?.close()
  await database?.drop()
})

const startWorker = async (): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'testing-worker.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  workers.add(child)
  const llm = { baseUrl: fake.baseUrl, apiKey: FAKE_KEY }
  child.stdin?.end(JSON.stringify({ urls: database.urls, definitions: [...definitions], effects, llm }))
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('exit', () => reject(new Error('the worker ended')))
  })
  child.removeAllListeners('exit')
  return child
}

const ended = async (executionId: string): Promise<ExecutionView> =>
  (await api.engine.waitFor(api.workspaceId, executionId, 25 * SECOND)) as ExecutionView

/** Scripts a model that calls `look`, then `pay`, and then answers with the result of `pay`. */
const script = (): void =>
  fake.otherwise((asked) => {
    const results = asked.messages.filter(({ role }) => role === 'tool')
    if (results.length === 0) return callTools([{ name: 'look', arguments: {} }])
    if (results.length === 1) return callTools([{ name: 'pay', arguments: {} }])
    return say(results[1]?.text ?? '')
  })

test('a worker killed between two turns of an agent: no recorded turn or tool call is repeated', async () => {
  script()
  const first = await startWorker()
  // The second turn was requested, and its answer does not come.
  const hanging = new Promise<void>((resolve) => {
    fake.script(callTools([{ name: 'look', arguments: {} }]), () => {
      resolve()
      return { kind: 'hang' }
    })
  })
  const id = await api.run('adhoc:agent')
  await hanging
  first.kill('SIGKILL')
  await startWorker()
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: { answer: 'pay done' } })
  expect(Object.fromEntries(counted)).toEqual({ look: 1, pay: 1 })
  // Three turns, and the turn whose answer was lost with the worker.
  expect(fake.count()).toBe(4)
  const events = await api.engine.readEvents(api.workspaceId, id, 0, 1_000)
  const steps = events.flatMap(({ data }) => (typeof data.step === 'string' ? [data.step] : []))
  expect(steps).toEqual(['turn:1', 'tool:1.0', 'turn:2', 'tool:2.0:begun', 'tool:2.0', 'turn:3'])
})

slow(
  'a tool that must not be repeated, whose worker is killed, is not called again, and the model is told so',
  async () => {
    script()
    const first = await startWorker()
    const paying = new Promise<void>((resolve) => {
      onEffect = (type, answer) => (type === 'pay' ? resolve() : answer())
    })
    const id = await api.run('adhoc:agent')
    await paying
    first.kill('SIGKILL')
    await startWorker()
    const view = await ended(id)
    expect(view.status).toBe('succeeded')
    expect((view.results as { answer: string }).answer).toContain('It may have taken effect')
    expect(Object.fromEntries(counted)).toEqual({ look: 1, pay: 1 })
  },
)

slow(
  'a workflow that an agent waits for, whose worker is killed, is not started again, and the agent gets its result',
  async () => {
    fake.otherwise((asked) => {
      const [result] = asked.messages.filter(({ role }) => role === 'tool')
      return result ? say(result.text) : callTools([{ name: 'adhoc_child', arguments: {} }])
    })
    const first = await startWorker()
    const looking = new Promise<void>((resolve) => {
      onEffect = (_type, answer) => (counted.get('look') === 1 ? resolve() : answer())
    })
    const id = await api.run('adhoc:caller')
    await looking
    first.kill('SIGKILL')
    await startWorker()
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'look done' })
    const started = await api.db.engine((tx) => tx.rows('select from executions where parent_execution_id = $1', [id]))
    expect(started).toHaveLength(1)
    // The node of the child execution may be repeated, but no turn of the agent was.
    expect(fake.count()).toBe(2)
  },
)

slow('a map of agents, whose worker is killed, repeats no ended items, recorded turns or tool calls', async () => {
  script()
  const first = await startWorker()
  let pays = 0
  const secondPays = new Promise<void>((resolve) => {
    onEffect = (type, answer) => (type === 'pay' && ++pays === 2 ? resolve() : answer())
  })
  const id = await api.run('adhoc:one-by-one')
  await secondPays
  first.kill('SIGKILL')
  await startWorker()
  const view = await ended(id)
  expect(view.status).toBe('succeeded')
  const answers = (view.results as { answer: string }[]).map(({ answer }) => answer)
  expect(answers).toEqual(['pay done', expect.stringContaining('It may have taken effect'), 'pay done'])
  expect(Object.fromEntries(counted)).toEqual({ look: 3, pay: 3 })
  // Three turns per item. The second turn of the second item was recorded before that item paid.
  expect(fake.count()).toBe(9)
})

slow(
  'three agents of a map, whose worker is killed in their second turn, continue from their recorded turns',
  async () => {
    script()
    const first = await startWorker()
    let hanging = 0
    const allHang = new Promise<void>((resolve) => {
      fake.otherwise((asked) => {
        const results = asked.messages.filter(({ role }) => role === 'tool')
        if (results.length === 0) return callTools([{ name: 'look', arguments: {} }])
        if (++hanging === 3) resolve()
        return { kind: 'hang' }
      })
    })
    const id = await api.run('adhoc:at-once')
    await allHang
    first.kill('SIGKILL')
    script()
    await startWorker()
    const view = await ended(id)
    expect((view.results as { answer: string }[]).map(({ answer }) => answer)).toEqual(Array(3).fill('pay done'))
    expect(Object.fromEntries(counted)).toEqual({ look: 3, pay: 3 })
    // Nine turns, and the three turns whose answers were lost with the worker.
    expect(fake.count()).toBe(12)
  },
)
