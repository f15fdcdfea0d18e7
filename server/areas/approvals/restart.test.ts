import { expect, test } from 'vitest'
import { makeTestDatabase } from '#test/harness/postgres'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson } from '#test/harness/world'

// A vote or an answer is a message to the execution in the transaction that records it. The process that took it may be gone before
// anybody has read it.

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

test('a server that is gone after the answer, and after the vote, loses neither: the execution goes on with the next worker', async () => {
  const database = await makeTestDatabase()
  const during = async <T>(role: 'all' | 'api', work: (service: Service) => Promise<T>): Promise<T> => {
    const service = await startService({ database, role })
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
