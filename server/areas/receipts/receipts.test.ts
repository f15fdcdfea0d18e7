import { beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { verifyReceipt } from '#sdk/receipts'
import { type Answer, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let executionId: string
let key: string

const gated = () => ({
  inputs: { type: 'object' },
  nodes: [
    { id: 'first', type: 'set', args: { values: { who: { $ref: 'input.who' } } } },
    {
      id: 'gate',
      type: 'approval',
      args: {
        title: 'Pay',
        payload: { to: { $ref: 'input.who' }, amount: 10.5 },
        policy: { approvers: [{ kind: 'user', id: world.member.id }], quorum: 'any' },
      },
    },
  ],
  edges: [{ from: { node: 'first' }, to: 'gate' }],
  output: { $ref: 'nodes.gate.output.outcome' },
})

const receiptOf = (id: string, person = world.owner): Promise<Answer> =>
  person.call('GET', `/api/workflows/executions/${id}/receipt`)

async function start(definition: object, input: object): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  const ran = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input } })
  return ran.body.execution_id
}
const ended = (id: string): Promise<Answer['body']> =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${id}`)
    return body.finished_at !== null && body
  }, 'the end of the run')

beforeAll(async () => {
  world = await makeWorld(service())
  executionId = await start(gated(), { who: 'Ada ✓' })
  const gate = await until(async () => {
    const { body } = await world.member.call('GET', '/api/approvals/inbox')
    return body.items[0]
  }, 'the gate')
  expect((await receiptOf(executionId)).body).toMatchObject({ status: 409, code: 'conflict' })
  const voted = await world.member.call('POST', `/api/approvals/${gate.request_id}/votes`, {
    body: { decision: 'approve', payload_sha256: gate.payload_sha256, comment: 'Looks right' },
  })
  expect(voted.status).toBe(201)
  await ended(executionId)
  key = (await service().call('GET', '/api/receipt-key')).body.public_key
})

describe('a receipt', () => {
  test('contains what was executed, for whom, with which results, and who approved what', async () => {
    const { status, body } = await receiptOf(executionId)
    expect(status).toBe(200)
    const execution = (await world.owner.call('GET', `/api/workflows/executions/${executionId}`)).body
    expect(body.execution).toMatchObject({
      execution_id: executionId,
      workspace_id: world.workspace.id,
      workflow_id: execution.workflow_id,
      version_id: execution.version_id,
      status: 'succeeded',
      started_by: world.owner.id,
      principal_id: world.owner.id,
    })
    const versions = await world.owner.call('GET', `/api/workflows/${execution.workflow_id}/versions`)
    expect(body.content).toMatchObject({
      definition_sha256: versions.body.items[0].sha256,
      results_form: 'canonical',
    })
    expect(body.gates).toMatchObject([
      {
        node_id: 'gate',
        payload: { to: 'Ada ✓', amount: 10.5 },
        outcome: 'approved',
        votes: [{ voter: { id: world.member.id }, decision: 'approve', comment: 'Looks right' }],
      },
    ])
    expect(body.gates[0].votes[0].payload_sha256).toBe(body.gates[0].payload_sha256)
    const events = await world.owner.call('GET', `/api/workflows/executions/${executionId}/events?limit=200`)
    expect(body.events.map(({ seq, type, at }: Answer['body']) => ({ seq, type, at }))).toEqual(
      events.body.items.map(({ seq, type, at }: Answer['body']) => ({ seq, type, at })),
    )
  })

  test('can be verified without the service, with the public key of the installation', async () => {
    const { body } = await receiptOf(executionId)
    expect(verifyReceipt(body)).toEqual([])
    expect(verifyReceipt(body, key)).toEqual([])
    expect(verifyReceipt(body, `${key.slice(0, -1)}A`)).toEqual([
      { path: '/public_key', message: 'is not the key that you trust' },
    ])
    // A second receipt differs only in the time and in the statement and signature that depend on the time.
    const again = (await receiptOf(executionId, world.owner)).body
    expect({ ...again, statement: null, signature: null }).toEqual({ ...body, statement: null, signature: null })
  })

  test('includes a journal that is longer than one page', async () => {
    const items = Array.from({ length: 60 }, (_, n) => ({ id: `n${n}`, type: 'set', args: { values: { n } } }))
    const long = await start({ nodes: items, edges: [] }, {})
    await ended(long)
    const { body } = await receiptOf(long)
    expect(body.events.length).toBeGreaterThan(60)
    expect(body.statement.events).toBe(body.events.length)
    expect(verifyReceipt(body, key)).toEqual([])
  })
})

describe('the verification of a changed receipt', () => {
  type Change = (receipt: Answer['body']) => void
  test.each<[string, Change, path: string]>([
    ['the status', (receipt) => (receipt.execution.status = 'failed'), '/execution'],
    ['a field that was added', (receipt) => (receipt.execution.more = 1), '/execution'],
    ['a hash of the content', (receipt) => (receipt.content.input_sha256 = 'f'.repeat(64)), '/content'],
    ['what a voter saw', (receipt) => (receipt.gates[0].payload.amount = 1000.5), '/gates/0'],
    ['a vote', (receipt) => (receipt.gates[0].votes[0].decision = 'reject'), '/gates/0'],
    ['a gate that was removed', (receipt) => receipt.gates.pop(), '/gates'],
    ['a gate that was added', (receipt) => receipt.gates.push(receipt.gates[0]), '/gates'],
    ['an event', (receipt) => (receipt.events[2].type = 'node.failed'), '/events/2'],
    ['the time of an event', (receipt) => (receipt.events[1].at = '2020-01-01T00:00:00.000Z'), '/events/1'],
    ['an event that was removed', (receipt) => receipt.events.splice(3, 1), '/events/3'],
    [
      'two events in another order',
      (receipt) => receipt.events.splice(1, 2, receipt.events[2], receipt.events[1]),
      '/events/1',
    ],
    ['the removal of the last event', (receipt) => receipt.events.pop(), '/events'],
    ['the statement', (receipt) => (receipt.statement.issuer = 'https://elsewhere.example'), '/statement'],
    ['the number of events', (receipt) => (receipt.statement.events -= 1), '/statement'],
    ['the signature', (receipt) => (receipt.signature = `AAAA${receipt.signature.slice(4)}`), '/statement'],
    ['the key', (receipt) => (receipt.public_key = `AAAA${receipt.public_key.slice(4)}`), '/statement'],
    ['a missing field', (receipt) => delete receipt.gates, ''],
  ])('names %s', async (_what, change, path) => {
    const { body } = await receiptOf(executionId)
    change(body)
    expect(verifyReceipt(body).map((problem) => problem.path)).toEqual([path])
  })

  test.each<[string, Json]>([
    ['nothing', null],
    ['a list', []],
    ['another document', { heddle: 'workflow/1' }],
  ])('does not accept %s as a receipt', (_what, value) => {
    expect(verifyReceipt(value)).toEqual([{ path: '', message: 'is not a receipt of the format receipt/1' }])
  })
})
