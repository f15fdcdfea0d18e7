import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Questions and gates whose node has ended without them while the execution continues. They are withdrawn, because no
// node waits for them.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const long = { id: 'later', type: 'wait', args: { for_s: 3600 } }
const question = (more: object = {}) => ({ id: 'ask', type: 'clarification', args: { question: 'Well?' }, ...more })
const gate = (more: object = {}) => ({
  id: 'gate',
  type: 'approval',
  args: { title: 'Go?', policy: { approvers: [{ kind: 'user', id: world.member.id }] } },
  ...more,
})
const mapped = (body: object, more: object = {}, args: object = {}) => ({
  nodes: [{ id: 'each', type: 'map', args: { items: [0, 1], body, ...args }, ...more }, long],
  edges: [{ from: { node: 'each' }, to: 'later' }],
})

async function run(definition: unknown): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  expect(made.status, made.text).toBe(201)
  return (await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })).body.execution_id
}

/** Waits until the execution waits only for `later`. */
const overtaken = (execution: string) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return body.waiting_for.map(({ node_id }: { node_id: string }) => node_id).join() === 'later'
  }, 'the last wait')

const respond = (execution: string) =>
  world.owner.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response: 1 } })

const gatesOf = async (execution: string) =>
  (await world.owner.call('GET', `/api/workflows/executions/${execution}/approvals`)).body.items

async function expectNoQuestion(execution: string): Promise<void> {
  const { items } = (await world.owner.call('GET', '/api/clarifications/inbox?limit=200')).body
  expect(items.filter(({ execution_id }: { execution_id: string }) => execution_id === execution)).toEqual([])
  const late = await respond(execution)
  expect([late.status, late.body.code]).toEqual([409, 'not_waiting'])
}

describe('a question or gate is withdrawn when its node ends without it', () => {
  test('a question that timed out accepts no answer', async () => {
    const execution = await run({
      nodes: [question({ timeout_s: 1, on_error: 'continue' }), long],
      edges: [{ from: { node: 'ask' }, to: 'later' }],
    })
    await overtaken(execution)
    await expectNoQuestion(execution)
  })

  test('a gate that timed out accepts no vote and is in no inbox', async () => {
    const execution = await run({
      nodes: [gate({ timeout_s: 1, on_error: 'route' }), long],
      edges: [{ from: { node: 'gate', port: 'error' }, to: 'later' }],
    })
    await overtaken(execution)
    const [closed] = await gatesOf(execution)
    expect(closed).toMatchObject({ status: 'cancelled', outstanding: [] })
    const inbox = (await world.member.call('GET', '/api/approvals/inbox?limit=200')).body.items
    expect(inbox.map(({ request_id }: { request_id: string }) => request_id)).not.toContain(closed.request_id)
    const vote = { decision: 'approve', payload_sha256: closed.payload_sha256 }
    const late = await world.member.call('POST', `/api/approvals/${closed.request_id}/votes`, { body: vote })
    expect([late.status, late.body.code]).toEqual([409, 'gate_closed'])
  })

  test('a second attempt opens its own gate', async () => {
    const execution = await run({
      nodes: [gate({ timeout_s: 1, on_error: 'route', retry: { max_attempts: 2, backoff_s: 0.05 } }), long],
      edges: [{ from: { node: 'gate', port: 'error' }, to: 'later' }],
    })
    await overtaken(execution)
    expect((await gatesOf(execution)).map(({ status }: { status: string }) => status)).toEqual([
      'cancelled',
      'cancelled',
    ])
  })

  test('a map that fails withdraws the questions of its other items', async () => {
    const execution = await run(
      mapped(
        {
          nodes: [
            { id: 'which', type: 'set', args: { values: {} } },
            question(),
            { id: 'pause', type: 'wait', args: { for_s: 1 } },
            { id: 'broken', type: 'fail', args: { message: 'broken' } },
          ],
          edges: [
            { from: { node: 'which' }, to: 'ask', when: { $cel: 'index == 0' } },
            { from: { node: 'which' }, to: 'pause', when: { $cel: 'index == 1' } },
            { from: { node: 'pause' }, to: 'broken' },
          ],
        },
        { on_error: 'continue' },
      ),
    )
    await overtaken(execution)
    await expectNoQuestion(execution)
  })

  test('an item that fails withdraws its own gates; the other items of the map continue', async () => {
    const execution = await run(
      mapped(
        {
          nodes: [
            gate(),
            { id: 'pause', type: 'wait', args: { for_s: 1 } },
            { id: 'broken', type: 'fail', args: { message: 'broken' } },
          ],
          edges: [{ from: { node: 'pause' }, to: 'broken', when: { $cel: 'index == 1' } }],
        },
        {},
        { on_item_error: 'collect' },
      ),
    )
    const gates = await until(async () => {
      const found = await gatesOf(execution)
      return found.length === 2 && found.some(({ status }: { status: string }) => status === 'cancelled') && found
    }, 'the end of an item')
    expect(gates.map(({ status }: { status: string }) => status).sort()).toEqual(['cancelled', 'open'])
  })
})
