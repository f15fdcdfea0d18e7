import { expect, test } from 'vitest'
import { callTools, say } from '#test/fakes/llm/answers'
import { FAKE_KEY, startFakeLlm } from '#test/fakes/llm/server'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

// A vote or an answer is sent to the execution in the transaction that records it. The process that received it may
// stop before a worker has read the message.

const definition = {
  nodes: [
    { id: 'ask', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } },
    {
      id: 'gate',
      type: 'approval',
      args: { title: 'Go?', payload: {}, policy: { approvers: [{ kind: 'role', id: 'member' }], quorum: 'any' } },
    },
  ],
  edges: [{ from: { node: 'ask' }, to: 'gate' }],
  output: { $ref: 'nodes.gate.output.outcome' },
}

/** Starts servers one after another. Each server stops before the next starts. */
const onDatabase =
  (database: TestDatabase, env: Record<string, string> = {}) =>
  async <T>(role: 'all' | 'api', work: (service: Service) => Promise<T>): Promise<T> => {
    const service = await startService({ database, role, env })
    try {
      return await work(service)
    } finally {
      await service.stop()
    }
  }
const call = (service: Service, person: TestPerson, method: string, path: string, body?: unknown) =>
  service.call(method, path, { token: person.key, ...(body !== undefined && { body }) })
const status = (service: Service, person: TestPerson, execution: string) => async () =>
  (await call(service, person, 'GET', `/api/workflows/executions/${execution}`)).body

test('a server that stops after the answer and after the vote loses neither: the next worker continues the execution', async () => {
  const database = await makeTestDatabase()
  const during = onDatabase(database)
  const { world, execution } = await during('all', async (service) => {
    const people = await makeWorld(service)
    const { body } = await call(service, people.owner, 'POST', '/api/workflows', { name: 'Waits', definition })
    const ran = await call(service, people.owner, 'POST', `/api/workflows/${body.workflow_id}/run`, {})
    await until(
      async () => (await status(service, people.owner, ran.body.execution_id)()).status === 'waiting',
      'the question',
    )
    return { world: people, execution: ran.body.execution_id as string }
  })

  await during('api', async (service) => {
    expect(
      (await call(service, world.owner, 'POST', `/api/workflows/executions/${execution}/respond`, { response: 'yes' }))
        .status,
    ).toBe(202)
  })
  const gate = await during('all', (service) =>
    until(async () => {
      const view = await status(service, world.owner, execution)()
      return view.waiting_for[0]?.kind === 'approval'
        ? (await call(service, world.member, 'GET', '/api/approvals/inbox')).body.items[0]
        : undefined
    }, 'the gate'),
  )
  await during('api', async (service) => {
    const vote = { decision: 'approve', payload_sha256: gate.payload_sha256 }
    expect((await call(service, world.member, 'POST', `/api/approvals/${gate.request_id}/votes`, vote)).status).toBe(
      201,
    )
  })
  const ended = await during('all', (service) =>
    until(async () => {
      const view = await status(service, world.owner, execution)()
      return view.status === 'succeeded' ? view : undefined
    }, 'the end'),
  )
  expect(ended.results).toBe('approved')
  await database.drop()
})

test('an edited tool call and its approval survive the end of their server; the tool is called once, as approved', async () => {
  const [database, model] = [await makeTestDatabase(), await startFakeLlm()]
  model.otherwise(({ messages }) => {
    const given = messages.findLast(({ role }) => role === 'tool')
    return given ? say(given.text) : callTools([{ name: 'notify', arguments: { title: 'first', body: '' } }])
  })
  const during = onDatabase(database, {
    LLM_PROVIDER: 'openai-compatible',
    LLM_MODEL: 'fake-model',
    LLM_API_KEY: FAKE_KEY,
    LLM_BASE_URL: model.baseUrl,
  })
  const approval = { approvers: [{ kind: 'role', id: 'member' }], quorum: 'any', allow_self: true }
  const args = { goal: 'Tell them', tools: [{ type: 'notify', approval }] }
  const agent = { nodes: [{ id: 'agent', type: 'agent.run', args }], edges: [] }
  const gateOf = async (service: Service, { owner }: World, execution: string) =>
    (await call(service, owner, 'GET', `/api/workflows/executions/${execution}/approvals?status=open`)).body.items[0]

  const { world, execution, gate } = await during('all', async (service) => {
    const people = await makeWorld(service)
    const { body } = await call(service, people.owner, 'POST', '/api/workflows', { name: 'Agent', definition: agent })
    const ran = await call(service, people.owner, 'POST', `/api/workflows/${body.workflow_id}/run`, {})
    const id = ran.body.execution_id as string
    return { world: people, execution: id, gate: await until(() => gateOf(service, people, id), 'the gate') }
  })
  // No worker is running, so neither the edit nor the vote is read before the process that received it has stopped.
  const next = await during('api', async (service) => {
    const edit = { arguments: { title: 'second', body: '' }, payload_sha256: gate.payload_sha256 }
    return call(service, world.member, 'POST', `/api/approvals/${gate.request_id}/arguments`, edit)
  })
  expect(next.status, next.text).toBe(201)
  await during('api', async (service) => {
    const vote = { decision: 'approve', payload_sha256: next.body.payload_sha256 }
    const cast = await call(service, world.member, 'POST', `/api/approvals/${next.body.request_id}/votes`, vote)
    expect(cast.status, cast.text).toBe(201)
  })
  const told = await during('all', async (service) => {
    await until(async () => (await status(service, world.owner, execution)()).status === 'succeeded', 'the end')
    return service.sql<{ title: string }>(`select title from notifications where title in ('first', 'second')`)
  })
  expect(new Set(told.map(({ title }) => title))).toEqual(new Set(['second']))
  await model.close()
  await database.drop()
})
