import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const waiting = (args: object, more: object = {}) => ({
  nodes: [{ id: 'w', type: 'wait.event', args, ...more }],
  edges: [],
  output: { $ref: 'nodes.w.output' },
})

const makeWorkflow = async (definition: object, settings: object = {}): Promise<string> => {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Wait', definition, settings } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const run = async (definition: object, input: object = {}): Promise<string> =>
  (await world.owner.call('POST', `/api/workflows/${await makeWorkflow(definition)}/run`, { body: { input } })).body
    .execution_id
const read = async (execution: string) => (await world.owner.call('GET', `/api/workflows/executions/${execution}`)).body
const whenWaiting = (execution: string) =>
  until(async () => {
    const body = await read(execution)
    return body.status === 'waiting' && body.waiting_for[0]?.kind === 'event' ? body : undefined
  }, 'the wait')
const whenEnded = (execution: string) =>
  until(async () => {
    const body = await read(execution)
    return ['succeeded', 'failed', 'cancelled', 'timed_out'].includes(body.status) ? body : undefined
  }, 'the end')
const send = (body: object, of = world.owner) => of.call('POST', '/api/events', { body })
let keys = 0
const newKey = (): string => `key-${++keys}`

describe('an execution that waits for an event', () => {
  test('continues with the event’s data, and shows what it waits for until then', async () => {
    const key = newKey()
    const execution = await run(waiting({ key: { $ref: 'input.key' }, due_in_s: 3600 }), { key })
    const { waiting_for } = await whenWaiting(execution)
    expect(waiting_for).toMatchObject([{ kind: 'event', node_id: 'w', key, until: expect.any(String) }])
    const sent = await send({ key, name: 'paid', data: { amount: 12 } })
    expect([sent.status, sent.body]).toMatchObject([202, { woken: 1, unfit: 0, started: [], duplicate: false }])
    const { results } = await whenEnded(execution)
    expect(results).toMatchObject({
      data: { amount: 12 },
      name: 'paid',
      event_id: sent.body.event_id,
      timed_out: false,
    })
    expect((await send({ key })).body.woken).toBe(0)
  })

  test('is woken together with all others of its workspace that wait for the key, not with those of another workspace', async () => {
    const key = newKey()
    const all = await Promise.all([1, 2, 3].map(() => run(waiting({ key }))))
    for (const execution of all) await whenWaiting(execution)
    const other = await makeWorld(service())
    expect((await send({ key }, other.owner)).body.woken).toBe(0)
    expect((await send({ key })).body.woken).toBe(3)
    for (const execution of all) expect((await whenEnded(execution)).status).toBe('succeeded')
  })

  test('is not woken by data that does not fit its schema', async () => {
    const key = newKey()
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
    const execution = await run(waiting({ key, schema }))
    await whenWaiting(execution)
    expect((await send({ key, data: { ok: 'yes' } })).body).toMatchObject({ woken: 0, unfit: 1 })
    expect((await send({ key, data: { ok: true } })).body).toMatchObject({ woken: 1, unfit: 0 })
    expect((await whenEnded(execution)).results.data).toEqual({ ok: true })
  })

  test('fails when the event is overdue, or continues without data', async () => {
    const fails = await run(waiting({ key: newKey(), due_in_s: 0.2 }))
    const goesOn = await run(waiting({ key: newKey(), due_in_s: 0.2, on_due: 'continue' }))
    expect((await whenEnded(fails)).error.code).toBe('event_overdue')
    expect((await whenEnded(goesOn)).results).toMatchObject({ timed_out: true, data: null, event_id: null })
  })

  test('has no open wait after it is cancelled or its node times out', async () => {
    const key = newKey()
    const cancelled = await run(waiting({ key }))
    await whenWaiting(cancelled)
    await world.owner.call('POST', `/api/workflows/executions/${cancelled}/cancel`)
    expect((await whenEnded(cancelled)).status).toBe('cancelled')
    const late = await run(waiting({ key }, { timeout_s: 1 }))
    expect((await whenEnded(late)).error.code).toBe('timeout')
    const open = () =>
      service().sql(`select from event_waits where status = 'open' and execution_id = any ($1)`, [
        [fromWire('exe', cancelled), fromWire('exe', late)],
      ])
    await until(async () => (await open()).length === 0, 'the waits to be closed')
    expect((await send({ key })).body.woken).toBe(0)
  })

  test('waits separately for each item of a map', async () => {
    const key = newKey()
    const body = { ...waiting({ key: { $cel: `"${key}-" + string(index)` } }), output: { $ref: 'nodes.w.output.data' } }
    const execution = await run({
      nodes: [{ id: 'm', type: 'map', args: { items: [1, 2], body } }],
      edges: [],
      output: { $ref: 'nodes.m.output' },
    })
    await until(async () => (await read(execution)).waiting_for.length === 2, 'both waits')
    expect((await send({ key: `${key}-1`, data: 'b' })).body.woken).toBe(1)
    expect((await send({ key: `${key}-0`, data: 'a' })).body.woken).toBe(1)
    expect((await whenEnded(execution)).results).toEqual(['a', 'b'])
  })

  test('continues once after its worker was replaced', async () => {
    const key = newKey()
    const database = service().database
    const first = await startService({ database })
    const execution = await run(waiting({ key }))
    await whenWaiting(execution)
    await first.stop()
    const second = await startService({ database })
    try {
      const answers = await Promise.all([send({ key, data: 1 }), send({ key, data: 2 }), send({ key, data: 3 })])
      expect(answers.map(({ body }) => body.woken).sort()).toEqual([0, 0, 1])
      const winner = answers.findIndex(({ body }) => body.woken === 1) + 1
      expect((await whenEnded(execution)).results.data).toBe(winner)
    } finally {
      await second.stop()
    }
  })
})

describe('an event', () => {
  test('is kept for later executions for the requested time', async () => {
    const key = newKey()
    const kept = await send({ key, data: 'early', keep_s: 600 })
    expect(kept.body).toMatchObject({ woken: 0, kept_until: expect.any(String) })
    expect((await whenEnded(await run(waiting({ key })))).results.data).toBe('early')
    const gone = newKey()
    await send({ key: gone, data: 'early', keep_s: 600 })
    await service().sql(`update incoming_events set keep_until = now() - interval '1 second' where key = $1`, [gone])
    const execution = await run(waiting({ key: gone }))
    await whenWaiting(execution)
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
  })

  test('is given to an execution once, even if it waits twice for the key', async () => {
    const key = newKey()
    await send({ key, data: 1, keep_s: 600 })
    const execution = await run({
      nodes: [
        { id: 'a', type: 'wait.event', args: { key } },
        { id: 'b', type: 'wait.event', args: { key } },
      ],
      edges: [{ from: { node: 'a' }, to: 'b' }],
      output: [{ $ref: 'nodes.a.output.data' }, { $ref: 'nodes.b.output.data' }],
    })
    await until(async () => (await read(execution)).waiting_for[0]?.node_id === 'b', 'the second wait')
    await send({ key, data: 2 })
    expect((await whenEnded(execution)).results).toEqual([1, 2])
  })

  test('with an id takes effect once, even if it is sent several times at once', async () => {
    const key = newKey()
    const execution = await run(waiting({ key }))
    await whenWaiting(execution)
    const event = { key, data: 1, event_id: `id-${key}` }
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(event)))
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.event_id)).size).toBe(1)
    expect(answers.every(({ body }) => body.woken === 1)).toBe(true)
    await whenEnded(execution)
  })

  test('starts the workflows that subscribed to its name, and names those that it could not start', async () => {
    const name = `order.paid.${newKey()}`
    const takes = (inputs?: object) => ({
      ...(inputs && { inputs }),
      nodes: [{ id: 'a', type: 'set', args: { values: { got: { $ref: 'input' } } } }],
      edges: [],
      output: { $ref: 'nodes.a.output.got' },
    })
    const subscribed = await makeWorkflow(takes(), { on_event: ['other', name] })
    const unfit = await makeWorkflow(takes({ type: 'object', required: ['no'] }), { on_event: [name] })
    await makeWorkflow(takes(), { on_event: ['other'] })
    const sent = await send({ name, data: { order: 7 }, event_id: `start-${name}` })
    expect(sent.body).toMatchObject({ woken: 0, not_started: [{ workflow_id: unfit }] })
    expect(sent.body.started).toHaveLength(1)
    const ended = await whenEnded(sent.body.started[0])
    expect(ended).toMatchObject({
      workflow_id: subscribed,
      trigger: { kind: 'event', id: sent.body.event_id },
      results: { name, data: { order: 7 }, event_id: sent.body.event_id },
    })
    expect((await send({ name, data: {}, event_id: `start-${name}` })).body).toMatchObject({
      duplicate: true,
      started: sent.body.started,
    })
    await world.owner.call('DELETE', `/api/workflows/${subscribed}`)
    expect((await send({ name })).body.started).toEqual([])
  })

  test('describes the inputs of a workflow only to people who can see its versions', async () => {
    const name = `order.paid.${newKey()}`
    const inputs = { type: 'object', properties: { data: { required: ['salary'] } } }
    const definition = { inputs, nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
    const workflow_id = await makeWorkflow(definition, { on_event: [name] })
    const event = { name, data: {}, event_id: `hidden-${name}` }
    const reasonFor = async (person: TestPerson) => (await send(event, person)).body.not_started
    const whole = [{ workflow_id, reason: expect.stringContaining('salary') }]
    expect(await reasonFor(world.member)).toEqual([{ workflow_id, reason: 'The event does not match its inputs.' }])
    expect(await reasonFor(world.owner)).toEqual(whole)
    const members = [{ user_id: world.member.id, role: 'viewer' }]
    await world.owner.call('PATCH', `/api/workflows/${workflow_id}`, { body: { members } })
    expect(await reasonFor(world.member)).toEqual(whole)
  })

  test.each([
    [{}, '/key'],
    [{ key: '' }, '/key'],
    [{ key: 'x'.repeat(201) }, '/key'],
    [{ key: 'k', keep_s: 86_401 }, '/keep_s'],
    [{ key: 'k', event_id: '' }, '/event_id'],
    [{ key: 'k', other: 1 }, '/other'],
  ])('%j is refused', async (body, path) => {
    const refused = await send(body)
    expect(refused.body.errors?.map((error: { path: string }) => error.path)).toContain(path)
  })
})

describe('a callback address', () => {
  /** An earlier node outputs the address, as if to pass it to a vendor. */
  const handing = (args: object = {}, between: object[] = []) => ({
    nodes: [
      { id: 'hand', type: 'set', args: { values: { url: { $ref: 'callbacks.w.url' } } } },
      ...between,
      { id: 'w', type: 'wait.event', args },
    ],
    edges: [
      { from: { node: 'hand' }, to: between.length > 0 ? 'between' : 'w' },
      ...(between.length > 0 ? [{ from: { node: 'between' }, to: 'w' }] : []),
    ],
    output: { $ref: 'nodes.w.output.data' },
  })
  const addressOf = (execution: string): Promise<string> =>
    until(async () => {
      const { nodes } = await read(execution)
      const { output } = nodes.find(({ node_id }: { node_id: string }) => node_id === 'hand')
      return output && new URL(output.url).pathname
    }, 'the address')

  test('answers its node once, by POST or GET', async () => {
    for (const [method, query, options, data] of [
      ['POST', '', { body: { paid: true } }, { paid: true }],
      ['GET', '?paid=yes', {}, { paid: 'yes' }],
    ] as const) {
      const execution = await run(handing())
      await whenWaiting(execution)
      const address = await addressOf(execution)
      expect((await service().call(method, address + query, options)).body).toEqual({ status: 'received' })
      expect((await whenEnded(execution)).results).toEqual(data)
      expect((await service().call(method, address, options)).status).toBe(409)
    }
  })

  test('can be called once before its node waits', async () => {
    const key = newKey()
    const between = { id: 'between', type: 'wait.event', args: { key } }
    const execution = await run(handing({}, [between]))
    await whenWaiting(execution)
    const address = await addressOf(execution)
    const early = await service().call('POST', address, { body: { early: true } })
    expect(early.body).toEqual({ status: 'kept' })
    expect((await service().call('POST', address, { body: { early: 2 } })).status).toBe(409)
    expect((await send({ key })).body.woken).toBe(1)
    expect((await whenEnded(execution)).results).toEqual({ early: true })
  })

  test('can be called again after data that does not fit the schema', async () => {
    const execution = await run(handing({ schema: { type: 'object', required: ['ok'] } }))
    await whenWaiting(execution)
    const address = await addressOf(execution)
    const wrong = await service().call('POST', address, { body: {} })
    expect([wrong.status, wrong.body.code]).toEqual([422, 'invalid'])
    expect((await service().call('POST', address, { body: { ok: 1 } })).status).toBe(200)
    await whenEnded(execution)
  })

  test('cannot be forged, and is refused after its execution ends', async () => {
    const execution = await run(handing())
    await whenWaiting(execution)
    const address = await addressOf(execution)
    const last = address.at(-1) === 'A' ? 'B' : 'A'
    for (const made of [address.slice(0, -1) + last, `${address}A`, '/api/callbacks/x'])
      expect((await service().call('POST', made, { body: {} })).status).toBe(404)
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
    await whenEnded(execution)
    expect((await service().call('POST', address, { body: {} })).body.code).toBe('already_finished')
  })

  test('is neither in the journal nor in the view of the execution, unless a node outputs it', async () => {
    const execution = await run(waiting({}))
    const body = await whenWaiting(execution)
    expect(JSON.stringify(body)).not.toContain('/api/callbacks/')
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
  })

  test.each(['callbacks.hand.url', 'callbacks.nobody.url', 'callbacks.w', 'callbacks.w.secret'])(
    'is refused when a definition with the invalid reference %s is saved',
    async ($ref) => {
      const [, ...others] = handing().nodes
      const hand = { id: 'hand', type: 'set', args: { values: { url: { $ref } } } }
      const definition = { ...handing(), nodes: [hand, ...others] }
      const refused = await world.owner.call('POST', '/api/workflows', { body: { name: 'x', definition } })
      expect(refused.status).toBe(422)
    },
  )
})

describe('a sub-workflow that is not waited for', () => {
  test('runs independently: the node continues with the execution id, and a failure of the sub-workflow does not matter', async () => {
    const child = await makeWorkflow({
      nodes: [{ id: 'f', type: 'fail', args: { code: 'x', message: 'no' } }],
      edges: [],
    })
    const execution = await run({
      nodes: [{ id: 's', type: 'subworkflow', args: { workflow_id: child, input: {}, wait: false } }],
      edges: [],
      output: { $ref: 'nodes.s.output' },
    })
    const { status, results } = await whenEnded(execution)
    expect(status).toBe('succeeded')
    expect((await whenEnded(results.execution_id)).status).toBe('failed')
  })

  test('continues after the execution that started it is cancelled', async () => {
    const key = newKey()
    const child = await makeWorkflow(waiting({ key }))
    const execution = await run({
      nodes: [
        { id: 's', type: 'subworkflow', args: { workflow_id: child, input: {}, wait: false } },
        { id: 'p', type: 'wait', args: { for_s: 3600 } },
      ],
      edges: [{ from: { node: 's' }, to: 'p' }],
    })
    const started = await until(async () => {
      const { nodes } = await read(execution)
      return nodes.find(({ node_id }: { node_id: string }) => node_id === 's')?.output?.execution_id
    }, 'the child')
    await whenWaiting(started)
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
    await whenEnded(execution)
    expect((await send({ key })).body.woken).toBe(1)
    expect((await whenEnded(started)).status).toBe('succeeded')
  })
})
