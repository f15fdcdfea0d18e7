import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// The flow rules as users see them. The tests of the engine cover the rules themselves.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const quick = {
  inputs: { type: 'object', properties: { n: { type: 'number' } } },
  nodes: [{ id: 'a', type: 'set', args: { values: { n: 1 } } }],
  edges: [],
}

async function make(settings: object = {}, definition: unknown = quick): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Flow', definition, settings } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const run = async (id: string, body: object = {}) => {
  const started = await world.owner.call('POST', `/api/workflows/${id}/run`, { body })
  expect(started.status, started.text).toBe(202)
  return started.body.execution_id as string
}
const read = async (id: string) => (await world.owner.call('GET', `/api/workflows/executions/${id}`)).body
/** Returns, for example, `waiting slot rate` or `cancelled duplicate`. */
const stateOf = async (id: string): Promise<string> => {
  const { status, error, waiting_for } = await read(id)
  const [wait] = waiting_for
  return [status, error?.code, wait?.kind, wait?.reason].filter(Boolean).join(' ')
}
const becomes = (id: string, state: string) =>
  until(async () => ((await stateOf(id)) === state ? true : undefined), `${id} to become ${state}`)
const patch = (id: string, settings: unknown) =>
  world.owner.call('PATCH', `/api/workflows/${id}`, { body: { settings } })

describe('the settings', () => {
  const key = { $cel: 'input.n' }
  const all = {
    concurrency: { key, limit: 2, count: 'live', when_full: 'skip' },
    debounce: { key, window_s: 5 },
    rate: { limit: 1, per_s: 60, key },
    dedupe: { key, window_s: 60 },
  }

  test('are stored and shown with defaults for missing fields, and null removes a setting', async () => {
    const id = await make(all)
    expect((await world.owner.call('GET', `/api/workflows/${id}`)).body.settings).toEqual(all)
    expect((await patch(id, { concurrency: { limit: 3 }, rate: null })).body.settings).toEqual({
      ...all,
      concurrency: { limit: 3, count: 'running', when_full: 'queue' },
      rate: undefined,
    })
  })

  test.each([
    { settings: { concurrency: { limit: 0 } }, path: '/settings/concurrency/limit' },
    { settings: { concurrency: { limit: 10_001 } }, path: '/settings/concurrency/limit' },
    { settings: { concurrency: { limit: 1, count: 'all' } }, path: '/settings/concurrency/count' },
    { settings: { concurrency: { limit: 1, key: 'input.n' } }, path: '/settings/concurrency/key' },
    {
      settings: { concurrency: { limit: 1, key: { $cel: 'nodes.a.output' } } },
      path: '/settings/concurrency/key/$cel',
    },
    { settings: { rate: { limit: 1, per_s: 0 } }, path: '/settings/rate/per_s' },
    { settings: { debounce: { window_s: 31 * 24 * 3600 } }, path: '/settings/debounce/window_s' },
    { settings: { dedupe: { window_s: 5 } }, path: '/settings/dedupe/key' },
    { settings: { dedupe: { key: { $cel: 'input.' }, window_s: 5 } }, path: '/settings/dedupe/key/$cel' },
    { settings: { concurrency: { limit: 1 }, max_concurrency: 1 }, path: '/settings/concurrency' },
    { settings: { paused_at: '2026-01-31T00:00:00Z' }, path: '/settings/paused_at' },
  ])('are refused if they are invalid: $path', async ({ settings, path }) => {
    const id = await make({})
    const { status, body } = await patch(id, settings)
    expect([status, body.errors?.[0]?.path]).toEqual([422, path])
    expect((await world.owner.call('GET', `/api/workflows/${id}`)).body.settings).toEqual({})
  })

  test('cannot contain both max_concurrency and concurrency, in any order of setting them', async () => {
    const id = await make({ max_concurrency: 1 })
    expect((await patch(id, { concurrency: { limit: 1 } })).body.errors[0].path).toBe('/settings/concurrency')
    expect((await patch(id, { concurrency: { limit: 1 }, max_concurrency: null })).status).toBe(200)
  })
})

test('the examples in docs/flow.md have the documented results', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/flow.md'), 'utf8')
  const examples = [...text.matchAll(/^```json flow\n([\s\S]*?)^```/gm)].map(([, body]) => JSON.parse(body!))
  expect(examples).toHaveLength(4)
  for (const { settings, workflow, runs, become } of examples) {
    const id = await make(settings, workflow)
    const ids: string[] = []
    for (const [at, one] of runs.entries()) {
      ids.push(await run(id, one))
      // A later run changes the state of a debounced one, so its final state is checked below.
      if (become[at] !== 'cancelled debounced') await becomes(ids[at]!, become[at])
      else await becomes(ids[at]!, 'waiting slot debounce')
    }
    for (const [at, state] of become.entries()) await becomes(ids[at]!, state)
  }
})

describe('a paused workflow', () => {
  test('starts no execution for any caller: executions wait until it is resumed', async () => {
    const id = await make({ on_event: ['ping'] })
    const { body: token } = await world.owner.call('POST', `/api/workflows/${id}/tokens`, { body: {} })
    const paused = await world.owner.call('POST', `/api/workflows/${id}/pause`)
    expect(paused.body.paused_at).toEqual(expect.any(String))
    expect((await world.owner.call('POST', `/api/workflows/${id}/pause`)).body.paused_at).toBe(paused.body.paused_at)
    expect((await patch(id, null)).body).toMatchObject({ paused_at: paused.body.paused_at, settings: {} })
    await patch(id, { on_event: ['ping'] })

    const parent = await make(
      {},
      { nodes: [{ id: 's', type: 'subworkflow', args: { workflow_id: id, input: {} } }], edges: [] },
    )
    const hook = await service().call('POST', `/api/webhooks/workflow/${id}/trigger`, { token: token.token, body: {} })
    await world.owner.call('PUT', `/api/workflows/${id}/schedule`, { body: { cron: '0 9 * * *' } })
    await service().sql(`update schedules set next_run_at = now() where workflow_id = $1`, [fromWire('wf', id)])
    // Adding a schedule makes the scheduler poll immediately.
    await world.owner.call('POST', `/api/workflows/${id}/schedules`, { body: { at: '2199-01-01T00:00:00Z' } })
    const scheduled = await until(async () => {
      const { items } = (await world.owner.call('GET', `/api/workflows/${id}/executions`)).body
      return items.find(({ trigger }: { trigger: { kind: string } }) => trigger.kind === 'schedule')
    }, 'the scheduled execution')
    const waiting = [
      await run(id),
      hook.body.execution_id,
      (await world.owner.call('POST', '/api/events', { body: { name: 'ping', data: {} } })).body.started[0],
      (await world.owner.call('POST', `/api/workflows/${id}/run-batch`, { body: { runs: [{}] } })).body.runs[0]
        .execution_id,
      scheduled.execution_id,
    ]
    const outer = await run(parent)
    await becomes(outer, 'waiting execution')
    waiting.push((await read(outer)).waiting_for[0].execution_id)
    for (const one of waiting) await becomes(one, 'waiting slot paused')
    const { items } = (await world.owner.call('GET', `/api/workflows/${id}/executions`)).body
    for (const { waiting_for, created_at } of [await read(waiting[0]), ...items])
      expect(waiting_for).toEqual([{ kind: 'slot', reason: 'paused', since: created_at }])

    const resumed = await world.owner.call('POST', `/api/workflows/${id}/resume`)
    expect(resumed.body.paused_at).toBeNull()
    for (const one of [...waiting, outer]) await becomes(one, 'succeeded')
    await becomes(await run(id), 'succeeded')
  })

  test('is what an older execution waits for since the pause', async () => {
    const id = await make({ debounce: { window_s: 600 } })
    const older = await run(id)
    const { paused_at } = (await world.owner.call('POST', `/api/workflows/${id}/pause`)).body
    expect((await read(older)).waiting_for).toEqual([{ kind: 'slot', reason: 'paused', since: paused_at }])
  })

  test('makes a retry wait as well', async () => {
    const id = await make()
    const first = await run(id)
    await becomes(first, 'succeeded')
    await world.owner.call('POST', `/api/workflows/${id}/pause`)
    const { body } = await world.owner.call('POST', `/api/workflows/executions/${first}/retry`, { body: {} })
    await becomes(body.execution_id, 'waiting slot paused')
    await world.owner.call('POST', `/api/workflows/${id}/resume`)
    await becomes(body.execution_id, 'succeeded')
  })

  test('starts the waiting executions even if it is resumed while its rules are evaluated', async () => {
    const id = await make()
    await world.owner.call('POST', `/api/workflows/${id}/pause`)
    const waiting = await run(id)
    await becomes(waiting, 'waiting slot paused')
    const workflow = fromWire('wf', id)!
    await inOtherTransaction(service(), async (resuming) => {
      await resuming.sql('lock table flow_dirty in share mode')
      service().db.hint('flows', `${world.workspace.uuid} ${workflow}`)
      await until(() => waitsForLock(service(), '%flow_decide%'), 'the check of the flow rules')
      await resuming.sql(`update workflows set settings = settings - 'paused_at' where workflow_id = $1`, [workflow])
      await resuming.commit()
    })
    await becomes(waiting, 'succeeded')
  })

  test('cannot be a system workflow', async () => {
    const refused = await world.owner.call('POST', '/api/workflows/nhl-odds-digest/pause')
    expect(refused.status).toBe(403)
  })
})

describe('the options of a run', () => {
  test('delay an execution, which shows its start time and can be cancelled', async () => {
    const id = await make()
    const [delayed, dated] = [
      await run(id, { delay_s: 3600 }),
      await run(id, { start_at: new Date(Date.now() + 86_400_000).toISOString() }),
    ]
    expect(await stateOf(delayed)).toBe('waiting timer start_at')
    expect(await stateOf(dated)).toBe('waiting timer start_at')
    await service().sql(`update executions set due_at = now() where execution_id = $1 and status = 'waiting'`, [
      fromWire('exe', delayed),
    ])
    await becomes(delayed, 'succeeded')
    await world.owner.call('POST', `/api/workflows/executions/${dated}/cancel`)
    await becomes(dated, 'cancelled')
  })

  test('include labels, which the execution and lists show and a retry keeps', async () => {
    const id = await make()
    const labels = { priority: -3, tags: ['nightly', 'eu'], metadata: { order: 'A-17', urgent: true } }
    const one = await run(id, { ...labels, tags: ['nightly', 'eu', 'eu'] })
    await becomes(one, 'succeeded')
    expect(await read(one)).toMatchObject(labels)
    expect((await world.owner.call('GET', `/api/workflows/${id}/executions`)).body.items).toMatchObject([labels])
    const { body } = await world.owner.call('POST', `/api/workflows/executions/${one}/retry`, { body: {} })
    await becomes(body.execution_id, 'succeeded')
    expect(await read(body.execution_id)).toMatchObject(labels)
  })

  test('include a concurrency key that replaces the key of the setting', async () => {
    const asking = { nodes: [{ id: 'q', type: 'clarification', args: { question: '?' } }], edges: [] }
    const id = await make({ concurrency: { limit: 1, count: 'live' } }, asking)
    await becomes(await run(id, { concurrency_key: 'a' }), 'waiting clarification')
    await becomes(await run(id, { concurrency_key: 'b' }), 'waiting clarification')
    await becomes(await run(id, { concurrency_key: 'a' }), 'waiting slot concurrency')
  })

  test.each([
    { body: { start_at: '2026-01-31T00:00:00Z', delay_s: 1 }, path: '/delay_s' },
    { body: { delay_s: -1 }, path: '/delay_s' },
    { body: { start_at: 'tomorrow' }, path: '/start_at' },
    { body: { priority: 11 }, path: '/priority' },
    { body: { priority: 1.5 }, path: '/priority' },
    { body: { tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, path: '/tags' },
    { body: { tags: ['a,b'] }, path: '/tags/0' },
    { body: { metadata: { deep: { er: 1 } } }, path: '/metadata/deep' },
    { body: { concurrency_key: 'x' }, path: '/concurrency_key' },
  ])('are refused if they are invalid: $body', async ({ body, path }) => {
    const id = await make()
    const refused = await world.owner.call('POST', `/api/workflows/${id}/run`, { body })
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([422, path])
    expect((await world.owner.call('GET', `/api/workflows/${id}/executions`)).body.items).toEqual([])
  })
})

describe('a batch', () => {
  const batch = (id: string, runs: object[], headers: Record<string, string> = {}) =>
    world.owner.call('POST', `/api/workflows/${id}/run-batch`, { body: { runs }, headers })

  test('starts a thousand executions in the order of the request', async () => {
    const id = await make()
    const { status, body, text } = await batch(
      id,
      Array.from({ length: 1000 }, (_, n) => ({ input: { n } })),
    )
    expect(status, text).toBe(202)
    expect(body).toMatchObject({ started: 1000, refused: 0 })
    expect(new Set(body.runs.map(({ execution_id }: { execution_id: string }) => execution_id)).size).toBe(1000)
    for (const n of [0, 500, 999]) expect((await read(body.runs[n].execution_id)).input).toEqual({ n })
    await becomes(body.runs[999].execution_id, 'succeeded')
  })

  test('starts nothing twice if it is repeated with the keys of its runs or the key of the request', async () => {
    const id = await make()
    const runs = [
      { input: { n: 1 }, idempotency_key: 'one' },
      { input: { n: 2 }, idempotency_key: 'two' },
    ]
    const first = (await batch(id, runs)).body
    expect((await batch(id, [...runs, { input: { n: 3 } }])).body.runs.slice(0, 2)).toEqual(first.runs)
    const changed = (await batch(id, [{ input: { n: 9 }, idempotency_key: 'one' }])).body
    expect(changed).toMatchObject({
      refused: 1,
      runs: [{ execution_id: null, error: { code: 'idempotency_key_reused' } }],
    })
    const whole = { 'idempotency-key': 'batch-1' }
    expect((await batch(id, [{}, {}], whole)).body).toEqual((await batch(id, [{}, {}], whole)).body)
  })

  test('is refused as a whole if one run is invalid', async () => {
    const id = await make()
    const refused = await batch(id, [{ input: { n: 1 } }, { input: { n: 'x' } }])
    expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/runs/1/input/n'])
    for (const runs of [[], Array.from({ length: 1001 }, () => ({}))]) expect((await batch(id, runs)).status).toBe(422)
    expect((await world.owner.call('GET', `/api/workflows/${id}/executions`)).body.items).toEqual([])
  })
})
