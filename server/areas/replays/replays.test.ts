import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { type Answer, type SharedService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const shared = useSharedService()
let service: SharedService
let vendor: Vendor
let world: World

beforeAll(async () => {
  vendor = await startVendor()
  service = shared()
  service.allow(vendor.host)
  world = await makeWorld(service)
})
beforeEach(() => {
  vendor.seen.length = 0
  vendor.answer = (request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ discount: JSON.parse(request.body).amount > 100 ? 10 : 0 }))
})
afterAll(async () => {
  await vendor?.stop()
})

/** Requests a discount, decides by the amount, and sends a note to the warehouse. */
const order = ({ limit = 100, note = 'order' } = {}) => ({
  inputs: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  nodes: [
    {
      id: 'ask',
      type: 'http.request',
      args: { method: 'POST', url: `${vendor.url}/discount`, json: { amount: { $ref: 'input.amount' } } },
    },
    {
      id: 'decide',
      type: 'branch',
      args: { cases: [{ port: 'large', when: { $cel: `input.amount > ${limit}` } }] },
    },
    {
      id: 'price',
      type: 'code',
      args: {
        source: 'return { due: input.amount - input.discount, at: input.at }',
        input: {
          amount: { $ref: 'input.amount' },
          discount: { $ref: 'nodes.ask.output.body.discount' },
          at: { $cel: 'string(now())' },
        },
      },
    },
    {
      id: 'tell',
      type: 'http.request',
      args: { method: 'POST', url: `${vendor.url}/tell`, json: { note, amount: { $ref: 'nodes.price.output.due' } } },
    },
    { id: 'small', type: 'set', args: { values: { due: { $ref: 'input.amount' } } } },
  ],
  edges: [
    { from: { node: 'ask' }, to: 'decide' },
    { from: { node: 'decide', port: 'large' }, to: 'price' },
    { from: { node: 'price' }, to: 'tell' },
    { from: { node: 'decide', port: 'default' }, to: 'small' },
  ],
  output: { $cel: 'nodes.price.output == null ? nodes.small.output.due : nodes.price.output.due' },
})

const create = async (definition: object, name = 'Orders'): Promise<string> => {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name, definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const addVersion = async (workflow: string, definition: object): Promise<string> => {
  const made = await world.owner.call('POST', `/api/workflows/${workflow}/versions`, { body: { definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.version_id
}
const run = async (workflow: string, input: object): Promise<Answer['body']> =>
  (await world.owner.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, { body: { input } })).body
const start = (workflow: string, version: string, body: object = {}): Promise<Answer> =>
  world.owner.call('POST', `/api/workflows/${workflow}/versions/${version}/replay`, { body })
const report = async (replayId: string, query = ''): Promise<Answer['body']> =>
  (await world.owner.call('GET', `/api/replays/${replayId}${query}`)).body
async function replay(workflow: string, version: string, body: object = {}): Promise<Answer['body']> {
  const started = await start(workflow, version, body)
  expect(started.status, started.text).toBe(202)
  return until(async () => {
    const found = await report(started.body.replay_id)
    return found.finished_at !== null && found
  }, 'the replay')
}

describe('a replay', () => {
  test('compares a version with past executions without sending any request', async () => {
    const workflow = await create(order())
    for (const amount of [50, 150, 500]) expect((await run(workflow, { amount })).status).toBe('succeeded')
    const same = await addVersion(workflow, { ...order(), layout: { positions: {} } })
    const other = await addVersion(workflow, order({ limit: 200, note: 'large order' }))
    vendor.seen.length = 0

    const first = await replay(workflow, same)
    expect(first).toMatchObject({ status: 'succeeded', total: 3, same: 3, different: 0, unreplayable: 0, mocked: 0 })
    expect(first.duration_ms.candidate).toBe(first.duration_ms.original)

    const second = await replay(workflow, other)
    expect(second).toMatchObject({ total: 3, same: 1, different: 2, unreplayable: 0, mocked: 1 })
    const [large, middle, small] = second.items
    expect(small).toMatchObject({ outcome: 'same', difference: null })
    // 500: the note differs. 150: the order is no longer large.
    expect(large.difference).toMatchObject({
      status: null,
      results: [],
      path: [],
      sent: [{ node_id: 'tell', before: { json: { note: 'order' } }, after: { json: { note: 'large order' } } }],
    })
    expect(large.mocked).toEqual([{ node_id: 'tell', type: 'http.request', reason: 'arguments_differ' }])
    expect(middle.difference).toMatchObject({
      results: [{ path: '', before: 140, after: 150 }],
      sent: [{ node_id: 'tell', before: {}, after: null }],
    })
    expect(middle.difference.path.map((entry: Answer['body']) => entry.node_id).sort()).toEqual([
      'decide',
      'price',
      'small',
      'tell',
    ])
    expect((await report(second.replay_id, '?outcome=different')).items).toHaveLength(2)
    const page = await report(second.replay_id, '?limit=2')
    expect(page.items).toHaveLength(2)
    expect((await report(second.replay_id, `?limit=2&cursor=${page.next_cursor}`)).items).toHaveLength(1)
    expect(vendor.seen).toEqual([])
  })

  test('is refused while five others are not finished, even if two are requested at the same moment', async () => {
    const workflow = await create(order())
    await run(workflow, { amount: 50 })
    const version = await addVersion(workflow, order({ limit: 200 }))
    const place = [world.workspace.uuid, fromWire('wf', workflow)]
    // The infinite lease keeps runners from claiming them.
    await service.sql(
      `insert into replays (workspace_id, workflow_id, replay_id, version_id, wanted, execution_ids, lease_until)
       select $1, $2, gen_random_uuid(), $3, 1, '{}', 'infinity' from generate_series(1, 4)`,
      [...place, fromWire('wfv', version)],
    )
    let answers: Promise<Answer>[] = []
    await inOtherTransaction(service, async (holding) => {
      await holding.sql('lock table replays in share mode')
      answers = [start(workflow, version), start(workflow, version)]
      const inserts = (count: number) => waitsForLock(service, 'insert into replays%', count)
      const takesTurns = () => waitsForLock(service, 'select pg_advisory_xact_lock%replays%')
      await until(
        async () => (await inserts(2)) || ((await inserts(1)) && (await takesTurns())),
        'both replays to wait for the lock',
      )
      await holding.commit()
    })
    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([202, 409])
    await service.sql(
      `delete from replays where workspace_id = $1 and workflow_id = $2 and lease_until = 'infinity'`,
      place,
    )
  })

  test('matches the example in docs/replay.md', async () => {
    const text = await readFile(join(import.meta.dirname, '../../../docs/replay.md'), 'utf8')
    const example = (name: string) => JSON.parse(new RegExp(`\\n\`\`\`json ${name}\\n(.*?)\`\`\``, 's').exec(text)![1]!)
    const workflow = await create(example('replay-before'))
    for (const amount of [50, 150, 500]) await run(workflow, { amount })
    const found = await replay(workflow, await addVersion(workflow, example('replay-after')))
    expect(found).toMatchObject({ same: 2, different: 1, unreplayable: 0 })
    expect(found.items[1].difference).toEqual(example('replay-difference'))
  })

  test('recomputes changed code, and takes errors, retries and continued failures from the journal', async () => {
    let calls = 0
    vendor.answer = (_request, response) => response.writeHead(++calls % 2 === 1 ? 503 : 200).end('"ok"')
    const definition = (source: string) => ({
      nodes: [
        {
          id: 'shaky',
          type: 'http.request',
          args: { url: `${vendor.url}/s` },
          retry: { max_attempts: 2, backoff_s: 0.01 },
        },
        { id: 'count', type: 'code', args: { source } },
      ],
      edges: [{ from: { node: 'shaky' }, to: 'count' }],
      output: { $ref: 'nodes.count.output' },
    })
    const workflow = await create(definition('return 1'))
    expect((await run(workflow, {})).results).toBe(1)
    const changed = await addVersion(workflow, definition('return 1 + 1'))
    const equal = await addVersion(workflow, definition('return 2 - 1'))
    vendor.seen.length = 0
    expect((await replay(workflow, changed)).items[0].difference.results).toEqual([{ path: '', before: 1, after: 2 }])
    expect((await replay(workflow, equal)).same).toBe(1)
    expect(vendor.seen).toEqual([])
  })

  test('uses recorded answers to the same question; another question would wait', async () => {
    const gated = (title: string, output: string) => ({
      nodes: [
        {
          id: 'gate',
          type: 'approval',
          args: {
            title,
            payload: { amount: { $ref: 'input.amount' } },
            policy: { approvers: [{ kind: 'user', id: world.member.id }], quorum: 'any' },
          },
        },
        { id: 'why', type: 'clarification', args: { question: 'Why?', schema: { type: 'object' } } },
      ],
      edges: [{ from: { node: 'gate', port: 'approved' }, to: 'why' }],
      output: { $cel: output },
    })
    const workflow = await create(gated('Pay', 'nodes.why.output.reason'))
    const { body } = await world.owner.call('POST', `/api/workflows/${workflow}/run`, {
      body: { input: { amount: 7 } },
    })
    const gate = await until(
      async () => (await world.member.call('GET', '/api/approvals/inbox')).body.items[0],
      'the gate',
    )
    await world.member.call('POST', `/api/approvals/${gate.request_id}/votes`, {
      body: { decision: 'approve', payload_sha256: gate.payload_sha256 },
    })
    const read = async () => (await world.owner.call('GET', `/api/workflows/executions/${body.execution_id}`)).body
    await until(async () => (await read()).waiting_for[0]?.kind === 'clarification', 'the question')
    await world.owner.call('POST', `/api/workflows/executions/${body.execution_id}/respond`, {
      body: { response: { reason: 'rent' } },
    })
    await until(async () => (await read()).status === 'succeeded', 'the end')

    const again = await addVersion(workflow, gated('Pay', 'nodes.why.output.reason + "!"'))
    expect((await replay(workflow, again)).items[0].difference).toMatchObject({
      results: [{ before: 'rent', after: 'rent!' }],
      asked: [],
      unanswered: [],
    })
    const renamed = await addVersion(workflow, gated('Pay now', 'nodes.why.output.reason'))
    expect((await replay(workflow, renamed)).items[0].difference).toMatchObject({
      status: { before: 'succeeded', after: 'waiting' },
      asked: [
        { node_id: 'gate', before: { title: 'Pay' }, after: { title: 'Pay now' } },
        { node_id: 'why', after: null },
      ],
      unanswered: ['gate'],
    })
    expect((await world.member.call('GET', '/api/approvals/inbox')).body.items).toEqual([])
  })

  test('uses the recorded output of an unchanged map, and runs a changed map with mocked effects', async () => {
    const mapped = (factor: number, type = 'set') => ({
      nodes: [
        {
          id: 'each',
          type: 'map',
          args: {
            items: { $ref: 'input.items' },
            body: {
              nodes: [
                type === 'set'
                  ? { id: 'one', type, args: { values: { n: { $cel: `item * ${factor}.0` } } } }
                  : {
                      id: 'one',
                      type,
                      args: { method: 'POST', url: `${vendor.url}/m`, json: { n: { $ref: 'item' } } },
                    },
              ],
              edges: [],
              output: type === 'set' ? { $ref: 'nodes.one.output.n' } : 1,
            },
          },
        },
      ],
      edges: [],
      output: { $ref: 'nodes.each.output' },
    })
    const workflow = await create(mapped(1))
    await run(workflow, { items: [1, 2] })
    const doubled = await addVersion(workflow, mapped(2))
    expect((await replay(workflow, doubled)).items[0].difference.results).toEqual([
      { path: '/0', before: 1, after: 2 },
      { path: '/1', before: 2, after: 4 },
    ])
    const sending = await addVersion(workflow, mapped(1, 'http.request'))
    const [item] = (await replay(workflow, sending)).items
    expect(item.difference.sent.map(({ node_id }: Answer['body']) => node_id)).toEqual(['each[0].one', 'each[1].one'])
    expect(item.mocked).toHaveLength(2)
    expect(vendor.seen).toEqual([])
  })

  test('states why an execution cannot be replayed, and what a stricter input refuses', async () => {
    const waiting = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] }
    const workflow = await create(waiting)
    const { execution_id } = (await world.owner.call('POST', `/api/workflows/${workflow}/run`, { body: {} })).body
    const version = await addVersion(workflow, { nodes: [], edges: [] })
    expect((await start(workflow, version)).body.code).toBe('conflict')
    await world.owner.call('POST', `/api/workflows/executions/${execution_id}/cancel`)
    await until(
      async () =>
        (await world.owner.call('GET', `/api/workflows/executions/${execution_id}`)).body.finished_at !== null,
      'the end',
    )
    expect((await replay(workflow, version)).items).toMatchObject([
      { outcome: 'unreplayable', reason: { code: 'cancelled' }, difference: null },
    ])

    const plain = await create({ nodes: [], edges: [] })
    await run(plain, {})
    const strict = await addVersion(plain, { inputs: { type: 'object', required: ['name'] }, nodes: [], edges: [] })
    expect((await replay(plain, strict)).items[0].difference).toMatchObject({
      status: { before: 'succeeded', after: 'refused' },
      error: { after: { code: 'invalid_input' } },
    })
  })

  test('selects by filter or by id, and refuses executions of other workflows and other workspaces', async () => {
    const workflow = await create({ nodes: [], edges: [] })
    const first = await run(workflow, {})
    await run(workflow, {})
    const version = await addVersion(workflow, { nodes: [], edges: [], output: 1 })
    const other = await run(await create({ nodes: [], edges: [] }), {})
    expect(await replay(workflow, version, { execution_ids: [first.execution_id] })).toMatchObject({ total: 1 })
    expect(await replay(workflow, version, { limit: 1 })).toMatchObject({ total: 1, limit: 1 })
    expect((await start(workflow, version, { filter: { status: ['failed'] } })).body.code).toBe('conflict')
    const foreign = await start(workflow, version, { execution_ids: [first.execution_id, other.execution_id] })
    expect(foreign.body).toMatchObject({ code: 'unknown_reference', errors: [{ path: '/execution_ids/1' }] })
    expect((await start(workflow, version, { limit: 1001 })).status).toBe(422)
    expect((await start(workflow, version, { execution_ids: [first.execution_id], filter: {} })).status).toBe(422)
    const [replayed] = (await world.owner.call('GET', `/api/workflows/${workflow}/replays`)).body.items
    expect((await world.stranger.call('GET', `/api/replays/${replayed.replay_id}`)).status).toBe(404)
    expect((await world.member.call('GET', `/api/replays/${replayed.replay_id}`)).status).toBe(404)
  })

  test('does not show secrets from the arguments in the report', async () => {
    const sending = (note: string) => ({
      nodes: [
        {
          id: 'send',
          type: 'http.request',
          args: {
            method: 'POST',
            url: `${vendor.url}/h`,
            headers: { authorization: 'Bearer abc123' },
            json: { amount: 1, note },
          },
        },
      ],
      edges: [],
    })
    const workflow = await create(sending('a'))
    await run(workflow, {})
    const version = await addVersion(workflow, sending('b'))
    const { items } = await replay(workflow, version)
    expect(items[0].difference.sent[0].after.headers).toEqual({ authorization: '***' })
    expect(JSON.stringify(items)).not.toContain('abc123')
  })

  test('is repeated once by another process for a slice whose process died', async () => {
    const workflow = await create({ nodes: [], edges: [], output: 1 })
    for (let n = 0; n < 3; n += 1) await run(workflow, {})
    const version = await addVersion(workflow, { nodes: [], edges: [], output: 2 })
    // Simulates a runner that claimed the replay and died.
    const { replay_id } = (await start(workflow, version)).body
    const uuid = fromWire('rpl', replay_id)
    await until(async () => (await report(replay_id)).finished_at !== null, 'the first time')
    await service.sql(
      `update replays set status = 'running', finished_at = null, done = 0, same = 0, different = 0, lease_until = now() + interval '1 hour'
       where replay_id = $1`,
      [uuid],
    )
    await service.sql('delete from replay_results where replay_id = $1 and position >= 0', [uuid])
    expect((await service.sql('select * from claim_replay(10)')).length).toBe(0)
    await service.sql('update replays set lease_until = now() where replay_id = $1', [uuid])
    await until(async () => (await report(replay_id)).finished_at !== null, 'the second time')
    expect(await report(replay_id)).toMatchObject({ total: 3, done: 3, different: 3 })
  })

  test('can be cancelled, and is deleted after a month', async () => {
    const workflow = await create({ nodes: [], edges: [] })
    await run(workflow, {})
    const version = await addVersion(workflow, { nodes: [], edges: [], output: 1 })
    const { replay_id } = await replay(workflow, version)
    expect((await world.owner.call('POST', `/api/replays/${replay_id}/cancel`)).body.code).toBe('already_finished')
    const uuid = fromWire('rpl', replay_id)
    await service.sql(
      `update replays set status = 'queued', finished_at = null, lease_until = now() + interval '1 hour' where replay_id = $1`,
      [uuid],
    )
    expect((await world.owner.call('POST', `/api/replays/${replay_id}/cancel`)).body.status).toBe('cancelled')
    await service.sql(`update replays set finished_at = now() - interval '40 days' where replay_id = $1`, [uuid])
    await service.sql('select forget_replays(30, 100)')
    expect((await world.owner.call('GET', `/api/replays/${replay_id}`)).status).toBe(404)
  })
})
