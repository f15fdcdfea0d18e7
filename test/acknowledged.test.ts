import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type NetworkProxy, startProxy, targetOf } from '#test/harness/proxy'
import { type Service, startService } from '#test/harness/service'
import { slow } from '#test/harness/slow'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// A connection breaks exactly when a transaction between an execution and a person is committed, so that one side does
// not know its result. Every acknowledged request must count, and the execution must continue.

let database: TestDatabase
let network: { worker: NetworkProxy; api: NetworkProxy }
let services: { worker: Service; api: Service }
let world: World

const through = (proxy: NetworkProxy) => {
  const { owner, app, engine, operator } = database.urls
  const urls = { owner, operator, app: proxy.through(app), engine: proxy.through(engine) }
  return { ...database, urls }
}

beforeAll(async () => {
  database = await makeTestDatabase()
  const target = targetOf(database.superuserUrl)
  network = { worker: await startProxy(target), api: await startProxy(target) }
  services = {
    api: await startService({ database: through(network.api), role: 'api' }),
    worker: await startService({ database: through(network.worker), role: 'worker' }),
  }
  world = await makeWorld(services.api)
})
afterAll(async () => {
  await services?.worker.stop()
  await services?.api.stop()
  await network?.worker.stop()
  await network?.api.stop()
  await database?.drop()
})

const gate = {
  id: 'gate',
  type: 'approval',
  args: { title: 'Go?', payload: {}, policy: { approvers: [{ kind: 'role', id: 'member' }], quorum: 'any' } },
}
const question = { id: 'ask', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } }

/** Clients repeat a request while the service answers 503. */
const ask = async (person: World['owner'], method: string, path: string, body?: unknown) =>
  until(async () => {
    const answer = await person.call(method, path, body === undefined ? {} : { body })
    return answer.status === 503 ? undefined : answer
  }, `${method} ${path}`)

const start = async (node: object, output: string): Promise<string> => {
  const definition = { nodes: [node], edges: [], output: { $ref: output } }
  const made = await ask(world.owner, 'POST', '/api/workflows', { name: 'Waits', definition })
  const ran = await ask(world.owner, 'POST', `/api/workflows/${made.body.workflow_id}/run`, {})
  return ran.body.execution_id
}

const read = async (execution: string) => (await ask(world.owner, 'GET', `/api/workflows/executions/${execution}`)).body

const ended = (execution: string) =>
  until(async () => {
    const view = await read(execution)
    return view.finished_at ? view : undefined
  }, 'the end')

const vote = async (execution: string): Promise<number> => {
  const found = await until(async () => {
    const { items } = (await ask(world.member, 'GET', '/api/approvals/inbox')).body
    return items.find((item: { execution_id: string }) => item.execution_id === execution)
  }, 'the gate')
  const { request_id, payload_sha256 } = found
  return (
    await ask(world.member, 'POST', `/api/approvals/${request_id}/votes`, { decision: 'approve', payload_sha256 })
  ).status
}

const answer = async (execution: string): Promise<number> => {
  await until(async () => {
    const { items } = (await ask(world.owner, 'GET', '/api/clarifications/inbox')).body
    return items.find((item: { execution_id: string }) => item.execution_id === execution)
  }, 'the question')
  return (await ask(world.owner, 'POST', `/api/workflows/executions/${execution}/respond`, { response: 'yes' })).status
}

const events = async (execution: string): Promise<string[]> =>
  (await ask(world.owner, 'GET', `/api/workflows/executions/${execution}/events`)).body.items.map(
    ({ type }: { type: string }) => type,
  )

const GATE_OPENS = /from approval_requests where .* for update/s
const QUESTION_OPENS = /from questions where .* for update/s
const WAIT_OPENS = /from event_waits where .* node_path = .* for update/s
const WAIT_ENDS = /update event_waits set status/

const waitFor = (key?: string) => ({ id: 'wait', type: 'wait.event', args: { ...(key && { key }), due_in_s: 600 } })
const waiting = (execution: string) =>
  until(async () => (await read(execution)).waiting_for[0]?.kind === 'event', 'the wait for an event')

describe.each(['confirming', 'sending'] as const)('a connection that is cut while a COMMIT is %s', (at) => {
  /** `npm test` runs each case for one of the two moments; `npm run test:slow` runs both. */
  const mostly = (quick: typeof at) => (at === quick ? test : slow)

  // The cut happens three times: the worker retries after half a second, so the vote or answer arrives before its third
  // attempt.
  mostly('sending')('does not lose a vote on a gate that is being opened', async () => {
    const cut = network.worker.aim({ transaction: GATE_OPENS, at, times: at === 'confirming' ? 3 : 1 })
    const execution = await start(gate, 'nodes.gate.output.outcome')
    expect(await vote(execution)).toBe(201)
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'approved' })
    const people = (await events(execution)).filter((type) => type.startsWith('approval.'))
    expect(people).toEqual(['approval.opened', 'approval.voted', 'approval.resolved'])
  })

  slow('does not lose an answer to a question that is being opened', async () => {
    const cut = network.worker.aim({ transaction: QUESTION_OPENS, at, times: at === 'confirming' ? 3 : 1 })
    const execution = await start(question, 'nodes.ask.output')
    expect(await answer(execution)).toBe(202)
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'yes' })
  })

  slow('does not lose the vote that it commits', async () => {
    const execution = await start(gate, 'nodes.gate.output.outcome')
    const cut = network.api.aim({ transaction: /insert into approval_votes/, at })
    expect(await vote(execution)).toBe(at === 'confirming' ? 409 : 201)
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'approved' })
  })

  mostly('sending')('does not lose the answer that it commits', async () => {
    const execution = await start(question, 'nodes.ask.output')
    const cut = network.api.aim({ transaction: /update questions set status = 'answered'/, at })
    expect(await answer(execution)).toBe(at === 'confirming' ? 409 : 202)
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'yes' })
  })

  slow('does not lose an event for a wait that is being opened', async () => {
    const key = `opened while ${at}`
    const cut = network.worker.aim({ transaction: WAIT_OPENS, at, times: at === 'confirming' ? 3 : 1 })
    const execution = await start(waitFor(key), 'nodes.wait.output.data')
    expect((await ask(world.owner, 'POST', '/api/events', { key, data: 7, keep_s: 600 })).status).toBe(202)
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 7 })
    expect((await events(execution)).filter((type) => type === 'event.received')).toHaveLength(1)
  })

  mostly('confirming')('does not lose the event that it commits', async () => {
    const key = `sent while ${at}`
    const execution = await start(waitFor(key), 'nodes.wait.output.data')
    await waiting(execution)
    const cut = network.api.aim({ transaction: WAIT_ENDS, at })
    // A client that sends the event again with the same id gets the result of the first request.
    const sent = await ask(world.owner, 'POST', '/api/events', { key, data: 7, event_id: key })
    expect(sent.body).toMatchObject({ woken: 1, duplicate: at === 'confirming' })
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 7 })
    expect((await events(execution)).filter((type) => type === 'event.received')).toHaveLength(1)
  })

  slow('does not lose a call of a callback address', async () => {
    const definition = {
      nodes: [{ id: 'tell', type: 'set', args: { values: { url: { $ref: 'callbacks.wait.url' } } } }, waitFor()],
      edges: [{ from: { node: 'tell' }, to: 'wait' }],
      output: { $ref: 'nodes.wait.output.data' },
    }
    const made = await ask(world.owner, 'POST', '/api/workflows', { name: 'Waits', definition })
    const ran = await ask(world.owner, 'POST', `/api/workflows/${made.body.workflow_id}/run`, {})
    const { execution_id } = ran.body
    await waiting(execution_id)
    const { nodes } = await read(execution_id)
    const { pathname } = new URL(nodes.find(({ node_id }: { node_id: string }) => node_id === 'tell').output.url)
    const cut = network.api.aim({ transaction: WAIT_ENDS, at })
    expect((await ask(world.owner, 'POST', pathname, { n: 7 })).status).toBe(at === 'confirming' ? 409 : 200)
    await cut
    expect(await ended(execution_id)).toMatchObject({ status: 'succeeded', results: { n: 7 } })
    expect((await events(execution_id)).filter((type) => type === 'event.received')).toHaveLength(1)
  })

  slow('does not lose or repeat the start of a sub-workflow', async () => {
    const made = await ask(world.owner, 'POST', '/api/workflows', {
      name: 'Child',
      definition: { nodes: [], edges: [], output: { $ref: 'input.n' } },
    })
    const cut = network.worker.aim({ transaction: /insert into executions/, at })
    const args = { workflow_id: made.body.workflow_id, input: { n: 7 } }
    const execution = await start({ id: 'child', type: 'subworkflow', args }, 'nodes.child.output')
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 7 })
  })

  mostly('confirming')('does not prevent the start of a node that may run at most once', async () => {
    const cut = network.worker.aim({ transaction: /insert into events/, at })
    const args = { to: 'ann@example.com', subject: `Cut while ${at}`, text: 'Once.' }
    const execution = await start({ id: 'mail', type: 'mail.send', args }, 'nodes.mail.output.accepted')
    await cut
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: ['ann@example.com'] })
    const sent = await services.api.sql('select from mail_outbox where subject = $1', [args.subject])
    expect(sent).toHaveLength(1)
    const begun = (await events(execution)).filter((type) => type === 'node.started')
    expect(begun).toHaveLength(1)
  })
})
