import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { type Answer, type SharedService, startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const shared = useSharedService()
let service: SharedService
let vendor: Vendor
let world: World
let workflow: string

beforeAll(async () => {
  vendor = await startVendor()
  service = shared()
  service.allow(vendor.host)
  world = await makeWorld(service)
  workflow = await save({ name: 'Tried' })
})
beforeEach(() => {
  vendor.seen.length = 0
})
afterAll(async () => {
  await vendor?.stop()
})

/** Requests of the workflow, without those to the event destination. */
const posted = () => vendor.seen.filter(({ path }) => path === '/x')

const save = async (body: object, person: TestPerson = world.owner): Promise<string> =>
  (await person.call('POST', '/api/workflows', { body })).body.workflow_id

const calling = () => ({
  inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  nodes: [
    {
      id: 'post',
      type: 'http.request',
      args: { method: 'POST', url: `${vendor.url}/x`, body: { $ref: 'input.name' } },
    },
    { id: 'pick', type: 'set', args: { values: { got: { $ref: 'nodes.post.output.body' } } } },
  ],
  edges: [{ from: { node: 'post' }, to: 'pick' }],
  output: { $ref: 'nodes.pick.output.got' },
})

const attempt = (body: object, person: TestPerson = world.owner, id = workflow): Promise<Answer> =>
  person.call('POST', `/api/workflows/${id}/try?wait_s=60`, { body: { input: { name: 'Ada' }, ...body } })

describe('a draft that is tried', () => {
  test('acts in a live trial, creates no version, and appears in no list, event or usage', async () => {
    const made = await world.owner.call('POST', '/api/event-destinations', {
      body: { url: `${vendor.url}/events`, event_types: ['execution.*'] },
    })
    expect(made.status, made.text).toBe(201)
    const tried = await attempt({ definition: calling(), effects: 'live' })
    expect(tried.status, tried.text).toBe(200)
    expect(tried.body).toMatchObject({
      status: 'succeeded',
      plan: [
        { node_id: 'post', mode: 'live', source: null, acts: true },
        { node_id: 'pick', mode: 'live', source: null, acts: false },
      ],
      execution: { trial: true, version_id: null, results: { ok: true }, trigger: { kind: 'trial' } },
    })
    expect(posted()).toMatchObject([{ method: 'POST', body: 'Ada' }])
    expect((await world.owner.call('GET', `/api/workflows/${workflow}/versions`)).body.items).toEqual([])
    expect((await world.owner.call('GET', `/api/workflows/${workflow}`)).body.active_version_id).toBeNull()

    const { execution_id } = tried.body
    const listed = async (path: string): Promise<string[]> =>
      (await world.owner.call('GET', path)).body.items.map((row: Answer['body']) => row.execution_id)
    expect(await listed(`/api/workflows/${workflow}/executions`)).toEqual([])
    expect(await listed(`/api/workflows/${workflow}/executions?include_trials=true`)).toEqual([execution_id])
    expect(await listed('/api/executions')).toEqual([])
    expect(await listed('/api/executions?include_jobs=true')).toEqual([])
    expect(await listed('/api/executions?include_trials=true')).toEqual([execution_id])
    expect(await listed('/api/executions?include_jobs=true&include_trials=true')).toEqual([execution_id])

    // Later events in the outbox have been sent, but the events of the trial were not.
    const ordinary = await save({ name: 'Ordinary', definition: { nodes: [], edges: [] } })
    await world.owner.call('POST', `/api/workflows/${ordinary}/run?wait_s=60`, { body: {} })
    await until(
      async () => vendor.seen.some(({ path, body }) => path === '/events' && body.includes('succeeded')),
      'the event of the ordinary execution',
    )
    expect(
      vendor.seen
        .filter(({ path }) => path === '/events')
        .map(({ body }) => body)
        .join(),
    ).not.toContain(execution_id)
    const used = async (): Promise<number> =>
      (
        await service.sql<{ used: number }>(
          `select used::int from usage_counters where workspace_id = $1 and quota = 'runs_per_month'`,
          [world.workspace.uuid],
        )
      )[0]?.used ?? 0
    await until(async () => (await used()) > 0, 'the counter of runs')
    expect(await used()).toBe(1)
  })

  test('with mocked effects sends nothing, shows this beforehand, and finds expressions that fail', async () => {
    const dry = await attempt({ definition: calling(), dry_run: true })
    expect(dry.status).toBe(200)
    expect(dry.body).toMatchObject({
      execution_id: null,
      plan: [
        { node_id: 'post', mode: 'mocked', source: 'schema' },
        { node_id: 'pick', mode: 'live' },
      ],
    })
    const tried = await attempt({ definition: calling() })
    expect(tried.body.execution).toMatchObject({ status: 'succeeded', results: {} })
    const broken = calling()
    broken.nodes[0]!.args = { url: { $cel: 'input.name + 1' } } as never
    expect((await attempt({ definition: broken })).body.execution.error).toMatchObject({ node_id: 'post' })
    expect(posted()).toEqual([])
  })

  test('with pinned effects uses the given output of a node, and refuses nodes without one', async () => {
    const pinned = { post: { status: 200, headers: {}, body: { $cel: 'not run' } } }
    const tried = await attempt({ definition: calling(), effects: 'pinned', pinned })
    expect(tried.body.execution).toMatchObject({ status: 'succeeded', results: { $cel: 'not run' } })
    const refused = await attempt({ definition: calling(), effects: 'pinned' })
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toMatchObject([{ path: '/pinned/post' }])
    expect(posted()).toEqual([])
  })

  test('with mocked effects prefers the output of the last execution to an invented value', async () => {
    const id = await save({ name: 'Recorded', definition: calling() })
    vendor.answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"recorded":7}')
    await world.owner.call('POST', `/api/workflows/${id}/run?wait_s=60`, { body: { input: { name: 'Ada' } } })
    expect(posted()).toHaveLength(1)
    const tried = await attempt({ definition: calling() }, world.owner, id)
    expect(tried.body).toMatchObject({
      plan: [{ mode: 'mocked', source: 'recorded' }, {}],
      execution: { results: { recorded: 7 } },
    })
    expect(posted()).toHaveLength(1)
  })

  test('can run one node, or all nodes up to one', async () => {
    const pinned = { post: { status: 200, headers: {}, body: 'pinned' } }
    const one = await attempt({ definition: calling(), node_id: 'pick', pinned, effects: 'live', input: {} })
    expect(one.body).toMatchObject({
      plan: [{ node_id: 'post', mode: 'pinned' }, { node_id: 'pick' }],
      execution: { results: { got: 'pinned' } },
    })
    const upTo = await attempt({ definition: calling(), until: 'post' })
    expect(upTo.body.plan.map((entry: Answer['body']) => entry.node_id)).toEqual(['post'])
    expect(upTo.body.execution.results).toMatchObject({ status: 200 })
    expect(posted()).toEqual([])
  })

  test('asks people only in a live trial', async () => {
    const definition = {
      nodes: [
        {
          id: 'gate',
          type: 'approval',
          args: {
            title: 'Pay',
            policy: { approvers: [{ kind: 'user', id: world.owner.id }], quorum: 'any', allow_self: true },
          },
        },
      ],
      edges: [],
      output: { $ref: 'nodes.gate.output.status' },
    }
    const inbox = async (): Promise<unknown[]> => (await world.owner.call('GET', '/api/approvals/inbox')).body.items
    expect((await attempt({ definition })).body.execution.results).toBe('approved')
    expect(await inbox()).toEqual([])
    const live = await world.owner.call('POST', `/api/workflows/${workflow}/try`, {
      body: { definition, effects: 'live' },
    })
    expect(live.status).toBe(202)
    await until(async () => (await inbox()).length === 1, 'the gate')
    await world.owner.call('POST', `/api/workflows/executions/${live.body.execution_id}/cancel`)
  })

  test('with an invalid request is refused with the paths of the errors, and nothing is executed', async () => {
    const wrong = async (body: object): Promise<string[]> => {
      const { status, body: answer } = await attempt({ definition: calling(), ...body })
      expect(status).toBe(422)
      return answer.errors.map(({ path }: { path: string }) => path)
    }
    expect(await wrong({ node_id: 'none' })).toEqual(['/node_id'])
    expect(await wrong({ node_id: 'pick', until: 'pick' })).toEqual(['/until'])
    expect(await wrong({ pinned: { none: 1 } })).toEqual(['/pinned/none'])
    expect(await wrong({ input: {} })).toEqual(['/input/name'])
    expect(await wrong({ effects: 'real' })).toEqual(['/effects'])
    expect(await wrong({ definition: { nodes: [{ id: 'a', type: 'trial.answer', args: {} }], edges: [] } })).toEqual([
      '/definition/nodes/0/type',
    ])
    const branch = {
      nodes: [{ id: 'b', type: 'branch', args: { cases: [{ port: 'a', when: { $cel: 'true' } }] } }],
      edges: [],
    }
    expect(await wrong({ definition: branch, pinned: { b: 1 } })).toEqual(['/pinned/b'])
  })

  test('is limited per workspace and day, even with simultaneous requests', async () => {
    const { owner, workspace } = await makeWorld(service)
    const id = await save({ name: 'Often tried' }, owner)
    await service.sql(
      `insert into trials (workspace_id, trial_id, workflow_id, draft, definition, plan, effects)
       select $1, gen_random_uuid(), $2, '{}', '{}', '[]', 'mock' from generate_series(1, 1998)`,
      [workspace.uuid, fromWire('wf', id)],
    )
    const definition = { nodes: [{ id: 'n', type: 'set', args: { values: { a: 1 } } }], edges: [] }
    const answers = await Promise.all(Array.from({ length: 6 }, () => attempt({ definition }, owner, id)))
    const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
    expect([count(200), count(429)]).toEqual([2, 4])
  })

  test('with the same idempotency key is the same trial', async () => {
    const send = () =>
      world.owner.call('POST', `/api/workflows/${workflow}/try?wait_s=60`, {
        body: { definition: calling(), input: { name: 'Ada' } },
        headers: { 'idempotency-key': 'once' },
      })
    const [first, second] = [await send(), await send()]
    expect(second.body.execution_id).toBe(first.body.execution_id)
    expect(second.body.plan).toEqual(first.body.plan)
  })

  test('acts with the rights of the person who tries it, and fails after this person has left', async () => {
    const shared = await save({ name: 'Shared', members: [{ user_id: world.member.id, role: 'editor' }] })
    const other = await save({ name: 'Private', definition: { nodes: [], edges: [] } })
    const calls = { nodes: [{ id: 'sub', type: 'subworkflow', args: { workflow_id: other } }], edges: [] }
    const refused = await attempt({ definition: calls, effects: 'live' }, world.member, shared)
    expect(refused.body).toMatchObject({ code: 'unknown_reference' })
    expect((await attempt({ definition: calls, effects: 'live' }, world.owner, shared)).body.status).toBe('succeeded')

    const waiting = {
      nodes: [
        { id: 'w', type: 'wait.event', args: { key: 'go' } },
        { id: 'sub', type: 'subworkflow', args: { workflow_id: shared } },
      ],
      edges: [{ from: { node: 'w' }, to: 'sub' }],
    }
    await world.owner.call('POST', `/api/workflows/${shared}/versions`, {
      body: { definition: { nodes: [], edges: [] } },
    })
    const { body } = await world.member.call('POST', `/api/workflows/${shared}/try`, {
      body: { definition: waiting, effects: 'live' },
    })
    const read = async () => (await world.owner.call('GET', `/api/workflows/executions/${body.execution_id}`)).body
    await until(async () => (await read()).status === 'waiting', 'the wait')
    await service.sql('delete from memberships where workspace_id = $1 and user_id = $2', [
      world.workspace.uuid,
      world.member.uuid,
    ])
    await world.owner.call('POST', '/api/events', { body: { key: 'go' } })
    const ended = await until(async () => {
      const view = await read()
      return view.finished_at !== null && view
    }, 'the end')
    expect(ended.error).toMatchObject({ code: 'workflow_not_allowed' })
  })

  test('marks executions that it starts as trials, and cannot be retried', async () => {
    const child = await save({ name: 'Child', definition: { nodes: [], edges: [], output: 1 } })
    const definition = { nodes: [{ id: 'sub', type: 'subworkflow', args: { workflow_id: child } }], edges: [] }
    const tried = await attempt({ definition, effects: 'live' })
    expect(tried.body.status).toBe('succeeded')
    const list = `/api/workflows/${child}/executions`
    expect((await world.owner.call('GET', list)).body.items).toEqual([])
    expect((await world.owner.call('GET', `${list}?include_trials=true`)).body.items).toMatchObject([{ trial: true }])
    const retried = await world.owner.call('POST', `/api/workflows/executions/${tried.body.execution_id}/retry`, {
      body: {},
    })
    expect(retried.body.code).toBe('not_retryable')
  })

  test('that fails starts no error workflow and notifies no user', async () => {
    const handler = await save({ name: 'Handler', definition: { nodes: [], edges: [] } })
    const failing = await save({ name: 'Failing', settings: { error_workflow_id: handler } })
    const definition = { nodes: [{ id: 'f', type: 'fail', args: { code: 'no', message: 'No' } }], edges: [] }
    const tried = await attempt({ definition }, world.owner, failing)
    expect(tried.body.status).toBe('failed')
    await until(
      async () =>
        (
          await service.sql('select from executions where execution_id = $1 and not tell_end', [
            fromWire('exe', tried.body.execution_id),
          ])
        ).length === 1,
      'the end to be reported',
    )
    expect((await world.owner.call('GET', `/api/workflows/${handler}/executions`)).body.items).toEqual([])
  })

  test('shows the draft as it was sent, to users who may see the execution', async () => {
    const tried = await attempt({ definition: calling() })
    const path = `/api/workflows/executions/${tried.body.execution_id}/trial`
    const { body } = await world.owner.call('GET', path)
    expect(body).toMatchObject({ effects: 'mock', created_by: world.owner.id, plan: tried.body.plan })
    expect(body.definition.nodes).toEqual(calling().nodes)
    expect((await world.stranger.call('GET', path)).status).toBe(404)
  })

  test('continues with the same answers on another worker, and is deleted with its execution', async () => {
    const definition = {
      nodes: [
        { id: 'post', type: 'http.request', args: { method: 'POST', url: `${vendor.url}/x` } },
        { id: 'w', type: 'wait.event', args: { key: 'later' } },
        { id: 'again', type: 'http.request', args: { method: 'POST', url: `${vendor.url}/x` } },
      ],
      edges: [
        { from: { node: 'post' }, to: 'w' },
        { from: { node: 'w' }, to: 'again' },
      ],
      output: { $ref: 'nodes.again.output.body' },
    }
    const pinned = { post: {}, again: { status: 200, headers: {}, body: 'kept' } }
    const { body } = await world.owner.call('POST', `/api/workflows/${workflow}/try`, {
      body: { definition, pinned, effects: 'live' },
    })
    const read = async () => (await world.owner.call('GET', `/api/workflows/executions/${body.execution_id}`)).body
    await until(async () => (await read()).status === 'waiting', 'the wait')
    const second = await startService({
      database: service.database,
      env: { HEDDLE_ALLOW_TARGETS: vendor.host },
      role: 'worker',
    })
    try {
      await world.owner.call('POST', '/api/events', { body: { key: 'later' } })
      await until(async () => (await read()).status === 'succeeded', 'the end')
      expect((await read()).results).toBe('kept')
      expect(posted()).toEqual([])
    } finally {
      await second.stop()
    }
    const uuid = fromWire('exe', body.execution_id)
    await service.sql(`update trials set created_at = now() - interval '2 days' where trial_id = $1`, [uuid])
    await service.sql('select forget_trials(1000)')
    expect(await service.sql('select from trials where trial_id = $1', [uuid])).toHaveLength(1)
    await service.sql('delete from executions where execution_id = $1', [uuid])
    await service.sql('select forget_trials(1000)')
    expect(await service.sql('select from trials where trial_id = $1', [uuid])).toHaveLength(0)
  })
})
