import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { fiftyTimes } from '#test/harness/fifty-times'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const constant = (value: unknown) => ({
  nodes: [{ id: 'a', type: 'set', args: { values: { value } } }],
  edges: [],
  output: { $ref: 'nodes.a.output.value' },
})
const waiting = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] }

async function make(
  definition?: unknown,
  more: Record<string, unknown> = {},
  as: TestPerson = world.owner,
): Promise<string> {
  const { status, body, text } = await as.call('POST', '/api/workflows', {
    body: { name: 'W', ...(definition !== undefined && { definition }), ...more },
  })
  expect(status, text).toBe(201)
  return body.workflow_id
}
const get = async (path: string, as: TestPerson = world.owner) => (await as.call('GET', path)).body
const run = (id: string, body: unknown = {}, query = '?wait_s=60', as: TestPerson = world.owner) =>
  as.call('POST', `/api/workflows/${id}/run${query}`, { body })

describe('workflows', () => {
  test('with a definition have an active version 1; without one they cannot run', async () => {
    const id = await make(constant(1))
    const workflow = await get(`/api/workflows/${id}`)
    expect(workflow).toMatchObject({
      kind: 'user',
      owner_id: world.owner.id,
      members: [],
      active_version_id: expect.stringMatching(/^wfv_/),
    })
    expect((await get(`/api/workflows/${id}/versions`)).items).toMatchObject([
      { number: 1, active: true, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
    const empty = await make()
    expect((await run(empty)).body.code).toBe('no_active_version')
  })

  test('with an invalid definition are refused with the path of every error, and nothing is stored', async () => {
    const before = (await get('/api/workflows?limit=200')).items.length
    const { status, body } = await world.owner.call('POST', '/api/workflows', {
      body: {
        name: 'Bad',
        definition: {
          nodes: [
            { id: 'a', type: 'no.such', args: {} },
            { id: 'b', type: 'http.request', args: { method: 'GET' } },
            { id: 'c', type: 'set', args: { values: { x: { $ref: 'nodes.later.output' } } } },
          ],
          edges: [{ from: { node: 'a' }, to: 'nowhere' }],
        },
      },
    })
    expect(status).toBe(422)
    const paths = body.errors.map(({ path }: { path: string }) => path)
    expect(paths).toContain('/definition/nodes/0/type')
    expect(paths.some((path: string) => path.startsWith('/definition/nodes/1/args'))).toBe(true)
    expect(paths.some((path: string) => path.startsWith('/definition/edges/0'))).toBe(true)
    expect((await get('/api/workflows?limit=200')).items).toHaveLength(before)
  })

  test('are checked on save for the tools of agents and the schemas of extractions, also inside a map', async () => {
    const agent = (tools: unknown) => ({ id: 'agent', type: 'agent.run', args: { goal: 'Look it up', tools } })
    const extract = (schema: unknown) => ({ id: 'read', type: 'llm.extract', args: { text: 'Ada', schema } })
    const made = (...nodes: object[]) =>
      world.owner.call('POST', '/api/workflows', { body: { name: 'Asks a model', definition: { nodes, edges: [] } } })
    const pathsOf = async (...nodes: object[]) => {
      const { status, body } = await made(...nodes)
      expect(status).toBe(422)
      return body.errors.map(({ path }: { path: string }) => path)
    }
    expect(
      await pathsOf(agent(['http.request', 'nope', 'approval', 'agent.run']), extract({ type: 'nonsense' })),
    ).toEqual([
      '/definition/nodes/0/args/tools/1',
      '/definition/nodes/0/args/tools/2',
      '/definition/nodes/0/args/tools/3',
      '/definition/nodes/1/args/schema/type',
    ])
    expect(await pathsOf(extract({ type: 'array' }))).toEqual(['/definition/nodes/0/args/schema/type'])
    const each = { id: 'each', type: 'map', args: { items: [1], body: { nodes: [agent(['nope'])], edges: [] } } }
    expect(await pathsOf(each)).toEqual(['/definition/nodes/0/args/body/nodes/0/args/tools/0'])
    const computed = { $ref: 'input.wanted' }
    for (const tools of [computed, ['http.request', computed]])
      expect((await made(agent(tools), extract({ properties: { name: { type: 'string' } } }))).status).toBe(201)
    expect((await made(extract(computed))).status).toBe(201)
  })

  test('with code or JSONata that cannot work are refused when saved or tried, also inside a loop', async () => {
    const code = (source: string) => ({ id: 'c', type: 'code', args: { source } })
    const nodes = [
      code('const page = input.page\nreturn fetch(page)'),
      { id: 't', type: 'transform', args: { expression: '$nope(1)' } },
      {
        id: 'l',
        type: 'loop',
        args: {
          body: { nodes: [{ ...code('return ('), id: 'b' }], edges: [] },
          until: { $cel: 'turn == 1' },
          max_iterations: 1,
        },
      },
      { ...code('return input.ok'), id: 'fine' },
    ]
    const definition = { nodes, edges: [] }
    const errors = [
      {
        path: '/definition/nodes/0/args/source',
        message: 'line 2: "fetch" is not defined; code has no network, files, timers or packages',
      },
      { path: '/definition/nodes/1/args/expression', message: 'there is no function $nope' },
      {
        path: '/definition/nodes/2/args/body/nodes/0/args/source',
        message: expect.stringContaining('neither JavaScript nor TypeScript'),
      },
    ]
    const save = () => world.owner.call('POST', '/api/workflows', { body: { name: 'Fetches', definition } })
    // A machine that is too busy to check the code in time saves it unchecked.
    await until(async () => (await save()).status === 422, 'the code to be checked')
    const refused = await save()
    expect([refused.status, refused.body.errors], refused.text).toEqual([422, errors])
    const id = await make({ nodes: [code('return input.ok')], edges: [] })
    for (const path of ['try', 'versions']) {
      const { status, body, text } = await world.owner.call('POST', `/api/workflows/${id}/${path}`, {
        body: { definition },
      })
      expect([status, body.errors], text).toEqual([422, errors])
    }
    expect((await get(`/api/workflows/${id}/versions`)).items).toHaveLength(1)
  })

  test('refuse an id of another workspace in a definition exactly like a random id', async () => {
    const foreign = await world.stranger.call('POST', '/api/workflows', {
      body: { name: 'Theirs', definition: constant(1) },
    })
    const using = (workflow_id: string) =>
      world.owner.call('POST', '/api/workflows', {
        body: {
          name: 'Uses',
          definition: { nodes: [{ id: 's', type: 'subworkflow', args: { workflow_id, input: {} } }], edges: [] },
        },
        headers: { 'x-request-id': 'same' },
      })
    const answers = [
      await using(foreign.body.workflow_id),
      await using('wf_01kf3v6h2he3wtpk1fw5c0wz9d'),
      await using('wf_nonsense'),
    ]
    expect(answers[0]!.body.code).toBe('unknown_reference')
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('are listed if the caller owns them or is a member of them, with system workflows first', async () => {
    const mine = await make(constant(1), {}, world.member)
    const shared = await make(constant(1), { members: [{ user_id: world.member.id, role: 'viewer' }] })
    const other = await make(constant(1))
    const ids = (await get('/api/workflows?limit=200', world.member)).items.map(
      ({ workflow_id }: { workflow_id: string }) => workflow_id,
    )
    expect(ids[0]).toBe('echo')
    expect(ids).toContain(mine)
    expect(ids).toContain(shared)
    expect(ids).not.toContain(other)
    const all = (await get('/api/workflows?limit=200&scope=workspace', world.member)).items.map(
      ({ workflow_id }: { workflow_id: string }) => workflow_id,
    )
    expect(all).toContain(other)
  })

  test('have their members replaced as a whole, and only with people of the workspace', async () => {
    const id = await make(constant(1), { members: [{ user_id: world.member.id }] })
    const foreign = await world.owner.call('PATCH', `/api/workflows/${id}`, {
      body: { members: [{ user_id: world.member.id }, { user_id: world.stranger.id }] },
    })
    expect([foreign.status, foreign.body.code, foreign.body.errors[0].path]).toEqual([
      422,
      'unknown_reference',
      '/members/1/user_id',
    ])
    const replaced = await world.owner.call('PATCH', `/api/workflows/${id}`, {
      body: { members: [{ user_id: world.viewer.id, role: 'viewer' }] },
    })
    expect(replaced.body.members).toEqual([{ user_id: world.viewer.id, role: 'viewer' }])
    const refused = await world.member.call('PATCH', `/api/workflows/${id}`, { body: { name: 'x' } })
    expect(refused.status).toBe(403)
    expect(refused.body.detail).toBe('This needs the role editor in the workflow; it has not been shared with you.')
  })

  test('of a person who leaves go to the person who removed them, so that they have an owner', async () => {
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const id = await make(
      constant(1),
      { name: 'Left behind', members: [{ user_id: world.owner.id, role: 'viewer' }] },
      leaver,
    )
    const template = (await leaver.call('POST', '/api/templates', { body: { name: 'T', workflow_ids: [id] } })).body
    const removed = await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    expect(removed.status, removed.text).toBe(204)
    expect(await get(`/api/workflows/${id}`)).toMatchObject({ owner_id: world.owner.id, members: [] })
    expect(await get(`/api/templates/${template.template_id}`)).toMatchObject({ owner_id: world.owner.id })
    // A person who returns as a guest does not find the workflow.
    await addMember(service(), world.workspace, leaver, 'guest')
    expect((await leaver.call('GET', `/api/workflows/${id}`, { workspace: world.workspace.id })).status).toBe(404)
    const told = (await get('/api/notifications')).items.find(
      ({ kind }: { kind: string }) => kind === 'workflow.passed_on',
    )
    expect(told.body).toContain('Left behind')
  })

  test('have settings that are merged: absent fields stay, null clears a field', async () => {
    const handler = await make(constant(1))
    const id = await make(constant(1), { settings: { max_concurrency: 3, error_workflow_id: handler } })
    const patch = async (settings: unknown) => {
      const { status, body, text } = await world.owner.call('PATCH', `/api/workflows/${id}`, { body: { settings } })
      expect(status, text).toBe(200)
      return body.settings
    }
    const first = { timeout_s: 60, max_concurrency: 3, error_workflow_id: handler }
    expect(await patch({ timeout_s: 60 })).toEqual(first)
    expect(await patch(first)).toEqual(first)
    expect(await patch({ max_concurrency: null, error_workflow_id: null })).toEqual({ timeout_s: 60 })
    expect(await patch(null)).toEqual({})
  })

  test('cannot keep executions longer than the service, and a longer setting is refused', async () => {
    const most = service().config.HEDDLE_RETENTION_DAYS
    const id = await make(constant(1), { settings: { retention_days: most } })
    const patch = (settings: unknown) => world.owner.call('PATCH', `/api/workflows/${id}`, { body: { settings } })
    const created = { name: 'For ever', settings: { retention_days: most + 1 } }
    for (const refused of [
      await world.owner.call('POST', '/api/workflows', { body: created }),
      await patch({ retention_days: most + 1 }),
    ]) {
      expect(refused.status, refused.text).toBe(422)
      expect(refused.body.errors).toEqual([
        { path: '/settings/retention_days', message: `must be at most ${most} (HEDDLE_RETENTION_DAYS)` },
      ])
    }
    // A value from when the service kept executions longer may be sent back.
    await service().sql(
      `update workflows set settings = settings || '{"retention_days": 3000}' where workflow_id = $1`,
      [fromWire('wf', id)],
    )
    expect((await patch({ retention_days: 3000, timeout_s: 60 })).body.settings).toMatchObject({ timeout_s: 60 })
  })

  test('have exactly one active version after concurrent activations', async () => {
    const id = await make(constant(1))
    const versions = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        world.owner.call('POST', `/api/workflows/${id}/versions`, { body: { definition: constant(n) } }),
      ),
    )
    expect(versions.map(({ body }) => body.number).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    const answers = await fiftyTimes((n) =>
      world.owner.call('POST', `/api/workflows/${id}/versions/${versions[n % 8]!.body.version_id}/activate`),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const active = (await get(`/api/workflows/${id}/versions?limit=200`)).items.filter(
      (version: { active: boolean }) => version.active,
    )
    expect(active).toHaveLength(1)
  })

  test('run their active version unless one is named; the layout does not change the fingerprint', async () => {
    const id = await make({ ...constant('old'), layout: { a: { x: 1 } } })
    const first = (await get(`/api/workflows/${id}/versions`)).items[0]
    const same = await world.owner.call('POST', `/api/workflows/${id}/versions`, {
      body: { definition: { ...constant('old'), layout: { a: { x: 99 } } } },
    })
    expect(same.body.sha256).toBe(first.sha256)
    await world.owner.call('POST', `/api/workflows/${id}/versions`, {
      body: { definition: constant('new'), activate: true, note: 'Better' },
    })
    expect((await run(id)).body.results).toBe('new')
    expect((await run(id, { version_id: first.version_id })).body.results).toBe('old')
    const activations = (await get('/api/audit-log?action=version.activated')).items.filter(
      ({ subject }: { subject: string }) => subject === id,
    )
    expect(activations.map(({ data }: { data: { number: number } }) => data.number)).toEqual([3, 1])
    const elsewhere = await make(constant('x'))
    const theirs = (await get(`/api/workflows/${elsewhere}/versions`)).items[0].version_id
    expect((await run(id, { version_id: theirs })).body.code).toBe('unknown_reference')
    const diff = await get(
      `/api/workflows/${id}/versions/${first.version_id}/diff/${(await get(`/api/workflows/${id}`)).active_version_id}`,
    )
    expect(diff.nodes.changed).toMatchObject([{ node_id: 'a' }])
  })

  test('check the input against the inputs of the version', async () => {
    const id = await make({
      ...constant(1),
      inputs: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false },
    })
    const { status, body } = await run(id, { input: { n: 'five', more: 1 } })
    expect(status).toBe(422)
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining(['/input/n', '/input/more']),
    )
    expect((await get(`/api/workflows/${id}/executions`)).items).toEqual([])
  })

  test('with one idempotency key start one execution and return the same bytes for a hundred parallel requests', async () => {
    const id = await make(constant(1))
    const call = (body: unknown, key = 'once') =>
      world.owner.call('POST', `/api/workflows/${id}/run`, { body, headers: { 'idempotency-key': key } })
    const answers = await Promise.all(Array.from({ length: 100 }, () => call({ input: { a: 1 } })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect((await get(`/api/workflows/${id}/executions`)).items).toHaveLength(1)
    expect((await call({ input: { a: 2 } })).body.code).toBe('idempotency_key_reused')
    expect((await call({ input: { a: 1 } }, 'k'.repeat(256))).status).toBe(400)
  })

  test('with live executions are deleted only on explicit request, which cancels the executions', async () => {
    const id = await make(waiting)
    const { body } = await run(id, {}, '')
    await until(
      async () => (await get(`/api/workflows/executions/${body.execution_id}`)).status === 'waiting',
      'waiting',
    )
    expect((await world.owner.call('DELETE', `/api/workflows/${id}`)).body.code).toBe('runs_live')
    expect((await world.owner.call('DELETE', `/api/workflows/${id}?cancel_runs=true`)).status).toBe(204)
    expect((await world.owner.call('GET', `/api/workflows/${id}`)).status).toBe(404)
    await until(
      async () => (await get(`/api/workflows/executions/${body.execution_id}`)).status === 'cancelled',
      'cancelled',
    )
  })
})

describe('executions', () => {
  const failing = (succeed: boolean) => ({
    nodes: [
      { id: 'one', type: 'set', args: { values: { at: { $cel: 'execution.execution_id' } } } },
      {
        id: 'two',
        type: succeed ? 'set' : 'fail',
        args: succeed ? { values: { ok: true } } : { code: 'broken', message: 'as told' },
      },
    ],
    edges: [{ from: { node: 'one' }, to: 'two' }],
    output: { $ref: 'nodes.one.output.at' },
  })

  test('that fail show which node failed and why; a retry from there keeps earlier outputs', async () => {
    const id = await make(failing(false))
    const failed = (await run(id)).body
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'broken', message: 'as told', node_id: 'two' } })
    await world.owner.call('POST', `/api/workflows/${id}/versions`, {
      body: { definition: failing(true), activate: true },
    })
    const retried = await world.owner.call('POST', `/api/workflows/executions/${failed.execution_id}/retry`, {
      body: { from: 'failed', version: 'active' },
    })
    expect(retried.status, retried.text).toBe(202)
    const again = await until(async () => {
      const view = await get(`/api/workflows/executions/${retried.body.execution_id}`)
      return view.status === 'succeeded' ? view : undefined
    }, 'the retry')
    expect(again).toMatchObject({ retry_of: failed.execution_id, results: failed.execution_id })
    const fromStart = await world.owner.call('POST', `/api/workflows/executions/${failed.execution_id}/retry`, {
      body: { version: 'active' },
    })
    const fresh = await until(async () => {
      const view = await get(`/api/workflows/executions/${fromStart.body.execution_id}`)
      return view.status === 'succeeded' ? view : undefined
    }, 'the retry from the start')
    expect(fresh.results).toBe(fromStart.body.execution_id)
    expect(
      (
        await world.owner.call('POST', `/api/workflows/executions/${failed.execution_id}/retry`, {
          body: { from: 'no-such-node' },
        })
      ).status,
    ).toBeGreaterThanOrEqual(409)
  })

  test('end when they are cancelled; finished executions cannot be cancelled', async () => {
    const id = await make(waiting)
    const { body } = await run(id, {}, '')
    expect((await world.owner.call('POST', `/api/workflows/executions/${body.execution_id}/cancel`)).status).toBe(202)
    await until(
      async () => (await get(`/api/workflows/executions/${body.execution_id}`)).status === 'cancelled',
      'cancelled',
    )
    expect((await world.owner.call('POST', `/api/workflows/executions/${body.execution_id}/cancel`)).body.code).toBe(
      'already_finished',
    )
  })

  test('are found by status, workflow and time, and only if the caller may see them', async () => {
    const id = await make(constant(1))
    const { body } = await run(id)
    const found = await get(`/api/executions?workflow_id=${id}&status=succeeded,failed&from=2020-01-01T00:00:00Z`)
    expect(found.items).toMatchObject([{ execution_id: body.execution_id, status: 'succeeded' }])
    expect((await get(`/api/executions?workflow_id=${id}&to=2020-01-01T00:00:00Z`)).items).toEqual([])
    expect((await get(`/api/executions?workflow_id=${id}`, world.member)).items).toEqual([])
    expect((await world.owner.call('GET', '/api/executions?status=nonsense')).status).toBe(422)
  })

  test('that fail start the error workflow once with the failure, and the owner is notified', async () => {
    const handler = await make({
      nodes: [{ id: 'h', type: 'set', args: { values: { code: { $ref: 'input.error.code' } } } }],
      edges: [],
      output: { $ref: 'nodes.h.output.code' },
    })
    const id = await make(failing(false), { settings: { error_workflow_id: handler } })
    await run(id)
    const handled = await until(
      async () => (await get(`/api/workflows/${handler}/executions`)).items[0],
      'the error workflow',
    )
    await until(
      async () => (await get(`/api/workflows/executions/${handled.execution_id}`)).results === 'broken',
      'the result of the error workflow',
    )
    expect((await get(`/api/workflows/${handler}/executions`)).items).toHaveLength(1)
    const told = (await get('/api/notifications?limit=200')).items
    expect(
      told.some(
        ({ kind, data }: { kind: string; data: { workflow_id: string } }) =>
          kind === 'execution.failed' && data.workflow_id === id,
      ),
    ).toBe(true)
  })
})

describe('system workflows', () => {
  test('come first in the list, and are paged like all others', async () => {
    const person = await makePerson(service())
    await makeWorkspace(service(), person)
    const names = ['First', 'Second', 'Third']
    for (const name of names) await person.call('POST', '/api/workflows', { body: { name } })
    const whole = (await person.call('GET', '/api/workflows')).body
    const kinds = whole.items.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(['system', 'system', 'system', 'system', 'user', 'user', 'user'])
    for (const limit of [1, 2, 3, 4, 5]) {
      const seen: { name: string }[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body }: { body: { items: { name: string }[]; next_cursor: string | null } } = await person.call(
          'GET',
          `/api/workflows?limit=${limit}${cursor && `&cursor=${cursor}`}`,
        )
        expect(body.items.length).toBeLessThanOrEqual(limit)
        expect(body.items.length).toBeGreaterThan(0)
        seen.push(...body.items)
        cursor = body.next_cursor
      }
      expect(seen).toEqual(whole.items)
    }
    const forged = Buffer.from('["no-such-slug"]').toString('base64url')
    expect((await person.call('GET', `/api/workflows?cursor=${forged}`)).status).toBe(422)
  })

  test('can be run by any member, who sees only their own executions', async () => {
    const ran = await world.member.call('POST', '/api/workflows/system/echo/run?wait_s=60', {
      body: { input: { hi: 5 } },
    })
    expect(ran.body).toMatchObject({
      status: 'succeeded',
      results: { hi: 5 },
      workflow_id: 'echo',
      trigger: { kind: 'system' },
    })
    expect((await get('/api/workflows/system/echo/executions', world.member)).items).toHaveLength(1)
    expect((await get('/api/workflows/system/echo/executions')).items).toHaveLength(0)
    expect((await world.owner.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)).status).toBe(404)
    expect((await world.owner.call('PATCH', '/api/workflows/echo', { body: { name: 'x' } })).status).toBe(403)
    expect((await world.owner.call('POST', '/api/workflows/system/no-such/run', { body: {} })).status).toBe(404)
    expect(await get('/api/workflows/echo')).toMatchObject({
      kind: 'system',
      name: 'Echo',
      definition: { inputs: { type: 'object' }, nodes: [{ id: 'echo' }] },
    })
  })

  test('fail with a clear code if the odds digest has no key', async () => {
    const ran = await world.member.call('POST', '/api/workflows/system/nhl-odds-digest/run?wait_s=60', {
      body: { input: { date: '2026-01-31' } },
    })
    expect(ran.body.error?.code).toBe('provider_not_configured')
  })
})

describe('schedules', () => {
  test('that are due start the workflow once and move to the next time', async () => {
    const id = await make(constant('tick'))
    const put = await world.owner.call('PUT', `/api/workflows/${id}/schedule`, {
      body: { cron: '0 9 * * 1', timezone: 'Europe/Amsterdam', input: {} },
    })
    expect(put.status, put.text).toBe(200)
    expect(new Date(put.body.next_run_at).getTime()).toBeGreaterThan(Date.now())
    await service().sql(
      `update schedules set next_run_at = now() - interval '3 weeks' where workflow_id = (select workflow_id from workflows order by created_at desc limit 1)`,
    )
    const [execution] = await until(async () => {
      const { items } = await get(`/api/workflows/${id}/executions`)
      return items.length > 0 ? items : undefined
    }, 'the start')
    expect(execution.trigger).toEqual({ kind: 'schedule', id: expect.stringMatching(/^sch_/) })
    expect(new Date(execution.scheduled_at).getTime()).toBeLessThanOrEqual(Date.now())
    const moved = await get(`/api/workflows/${id}/schedule`)
    expect(new Date(moved.next_run_at).getTime()).toBeGreaterThan(Date.now())
    expect(moved.last_execution_id).toBe(execution.execution_id)
    expect((await get(`/api/workflows/${id}/executions`)).items).toHaveLength(1)
  })

  test('can be sent back as fetched, and a change requires the current ETag', async () => {
    const path = `/api/workflows/${await make(constant(1))}/schedule`
    const put = (body: unknown, ifMatch?: string) =>
      world.owner.call('PUT', path, { body, headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } })
    const daily = { cron: '0 9 * * *' }
    expect([(await put(daily, '*')).status, (await put(daily, '"none"')).status]).toEqual([412, 412])
    expect((await put({ ...daily, last_error: 'mine' })).body.code).toBe('read_only')
    await put(daily)
    const fetched = await world.owner.call('GET', path)
    const etag = fetched.headers.get('etag')!
    const changed = await put({ ...fetched.body, cron: '0 10 * * *' }, etag)
    expect(changed.body.cron, changed.text).toBe('0 10 * * *')
    expect((await put(fetched.body, etag)).status).toBe(412)
    const remove = (ifMatch: string) => world.owner.call('DELETE', path, { headers: { 'if-match': ifMatch } })
    expect((await remove(etag)).status).toBe(412)
    const now = (await world.owner.call('GET', path)).headers.get('etag')!
    expect((await remove(now)).status).toBe(204)
  })

  test('with a cron pattern that is invalid or never fires, or with an unknown time zone, are refused', async () => {
    const id = await make(constant(1))
    const put = (body: unknown) => world.owner.call('PUT', `/api/workflows/${id}/schedule`, { body })
    for (const cron of ['every day', '@daily', '2026-12-01T00:00:00', '2099-12-01T00:00:00', '0 0 9 * * *', ''])
      expect((await put({ cron })).body.errors?.[0].path, cron).toBe('/cron')
    expect((await put({ cron: '0 9 * *' })).body.errors[0].message).toContain('five fields')
    expect((await put({ cron: '0 0 30 2 *' })).body.errors[0]).toEqual({ path: '/cron', message: 'never fires' })
    expect((await put({ cron: '0 9 * * *', timezone: 'Mars/Olympus' })).body.errors[0].path).toBe('/timezone')
    expect((await world.owner.call('GET', `/api/workflows/${id}/schedule`)).status).toBe(404)
  })
})
