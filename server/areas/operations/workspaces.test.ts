import { beforeAll, describe, expect, test } from 'vitest'
import { newId, toWire } from '#platform/ids'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, type TestPerson, type TestWorkspace } from '#test/harness/world'

const target = { HEDDLE_ALLOW_TARGETS: '127.0.0.1:9' }
const service = useService({ env: { HEDDLE_OPERATORS: 'op@example.com', ...target } })
let operator: TestPerson
let owner: TestPerson
beforeAll(async () => {
  operator = await makePerson(service(), { email: 'op@example.com' })
  owner = await makePerson(service())
})

const path = (workspace: TestWorkspace, rest = '') => `/api/operations/workspaces/${workspace.id}${rest}`
const suspend = (workspace: TestWorkspace, reason = 'Unpaid since May') =>
  operator.call('PUT', path(workspace, '/suspension'), { body: { suspended: true, reason } })
const resume = (workspace: TestWorkspace) =>
  operator.call('PUT', path(workspace, '/suspension'), { body: { suspended: false } })

async function makeWorkflow(workspace: TestWorkspace, nodes: unknown[] = [], edges: unknown[] = []): Promise<string> {
  const body = { name: 'W', definition: { nodes, edges } }
  const made = await owner.call('POST', '/api/workflows', { workspace: workspace.id, body })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const run = (workspace: TestWorkspace, workflow: string, query = '') =>
  owner.call('POST', `/api/workflows/${workflow}/run${query}`, { workspace: workspace.id, body: {} })

describe('the list of workspaces', () => {
  test('shows an operator what each workspace uses, the largest first, and is audited', async () => {
    const [busy, quiet] = [
      await makeWorkspace(service(), owner, 'Busy'),
      await makeWorkspace(service(), owner, 'Quiet'),
    ]
    const workflow = await makeWorkflow(busy)
    for (let at = 0; at < 3; at++) expect((await run(busy, workflow)).status).toBe(202)
    await owner.call('POST', '/api/datasets', {
      workspace: quiet.id,
      body: { name: 'D', records: [{ a: 1 }, { a: 2 }] },
    })
    await service().sql(
      `insert into usage_days (workspace_id, day, model, credential_id, calls, unpriced_calls, input_tokens, output_tokens, cost)
       select $1, (now() at time zone 'UTC')::date - ago, 'm', credential, 1, 0, 10, 5, 0.25
       from (values (0, null), (40, null), (0, gen_random_uuid())) as used (ago, credential)`,
      [quiet.uuid],
    )
    const listed = async (query: string) =>
      (await operator.call('GET', `/api/operations/workspaces?q=${query}`)).body.items as Record<string, unknown>[]
    const [first] = await until(async () => {
      const items = await listed('busy&sort=-runs_this_month')
      return items[0]?.runs_this_month === 3 ? items : undefined
    }, 'the counted executions')
    expect(first).toMatchObject({
      workspace_id: busy.id,
      name: 'Busy',
      owners: [{ user_id: owner.id, email: owner.email }],
      members: 1,
      model_cost_this_month: 0,
      trusted: false,
      suspended: false,
      suspended_at: null,
    })
    // Usage with a credential of the tenant, and of an earlier month, is not counted.
    expect((await listed('quiet'))[0]).toMatchObject({
      records: 2,
      storage_bytes: expect.any(Number),
      model_tokens_this_month: 15,
      model_cost_this_month: 0.25,
    })
    const all = (await operator.call('GET', '/api/operations/workspaces?sort=-runs_this_month&limit=1')).body
    expect(all).toMatchObject({ items: [{ name: 'Busy' }], next_cursor: expect.any(String) })
    const next = (
      await operator.call('GET', `/api/operations/workspaces?sort=-runs_this_month&cursor=${all.next_cursor}`)
    ).body.items as { name: string }[]
    expect(next.map(({ name }) => name)).toContain('Quiet')
    expect((await owner.call('GET', '/api/operations/workspaces')).status).toBe(403)
    const [row] = await service().sql<{ n: number }>(
      `select count(*)::int as n from audit_log where action = 'operator.listed' and subject = 'workspaces'`,
    )
    expect(row!.n).toBeGreaterThan(0)
  })
})

describe('a suspended workspace', () => {
  test('starts nothing and calls nothing, says why, and continues when the suspension ends', async () => {
    const workspace = await makeWorkspace(service(), owner, 'Owes money')
    const workflow = await makeWorkflow(workspace)
    const nodes = [
      { id: 'w', type: 'wait.event', args: { key: 'go' } },
      { id: 'h', type: 'http.request', args: { url: 'http://127.0.0.1:9/' } },
    ]
    const waits = await makeWorkflow(workspace, nodes, [{ from: { node: 'w' }, to: 'h' }])
    const { execution_id } = (await run(workspace, waits)).body
    const token = (
      await owner.call('POST', `/api/workflows/${workflow}/tokens`, { workspace: workspace.id, body: { name: 't' } })
    ).body.token
    const trigger = () => service().call('POST', `/api/webhooks/workflow/${workflow}/trigger`, { token, body: {} })
    expect((await trigger()).status).toBe(202)

    expect((await operator.call('PUT', path(workspace, '/suspension'), { body: { suspended: true } })).status).toBe(422)
    expect((await owner.call('PUT', path(workspace, '/suspension'), { body: { suspended: false } })).status).toBe(403)
    expect((await suspend(workspace)).body).toEqual({
      workspace_id: workspace.id,
      suspended: true,
      reason: 'Unpaid since May',
    })
    const refused = await until(async () => {
      const answer = await run(workspace, workflow)
      return answer.status === 403 ? answer : undefined
    }, 'the refusal')
    const reason = 'An operator of this installation has suspended the workspace: Unpaid since May'
    const title = 'The workspace is suspended'
    expect(refused.body).toMatchObject({ code: 'quota_exceeded', title, detail: reason })
    expect((await trigger()).status).toBe(403)

    // The execution that waits continues, but the request is not made.
    await owner.call('POST', '/api/events', { workspace: workspace.id, body: { key: 'go', data: {}, keep_s: 60 } })
    const ended = await until(async () => {
      const { body } = await owner.call('GET', `/api/workflows/executions/${execution_id}`, { workspace: workspace.id })
      return body.status === 'failed' ? body : undefined
    }, 'the end of the execution')
    expect(ended.error).toMatchObject({ code: 'quota_exceeded', message: reason, node_id: 'h' })

    // People still read, and operators find the workspace.
    expect((await owner.call('GET', `/api/workflows/${workflow}`, { workspace: workspace.id })).status).toBe(200)
    const { body: listed } = await operator.call('GET', '/api/operations/workspaces?suspended=true')
    expect(listed.items).toMatchObject([
      {
        workspace_id: workspace.id,
        suspended: true,
        suspension_reason: 'Unpaid since May',
        suspended_at: expect.any(String),
      },
    ])

    expect((await resume(workspace)).body).toEqual({ workspace_id: workspace.id, suspended: false, reason: null })
    await until(async () => (await run(workspace, workflow)).status === 202, 'a start after the suspension')
    const { body: log } = await owner.call('GET', '/api/audit-log?limit=2', { workspace: workspace.id })
    expect(log.items).toMatchObject([
      { action: 'workspace.resumed', actor_kind: 'operator' },
      { action: 'workspace.suspended', data: { reason: 'Unpaid since May' } },
    ])
  })

  test('can be deleted by an operator with everything in it; a workspace that is not suspended cannot', async () => {
    const workspace = await makeWorkspace(service(), owner, 'Goes')
    await makeWorkspace(service(), owner, 'Stays')
    const workflow = await makeWorkflow(workspace)
    await owner.call('POST', '/api/datasets', { workspace: workspace.id, body: { name: 'D', records: [{ a: 1 }] } })
    await run(workspace, workflow, '?wait_s=60')
    expect(await operator.call('DELETE', path(workspace))).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: 'Suspend the workspace first.' },
    })
    await suspend(workspace)
    expect((await owner.call('DELETE', path(workspace))).status).toBe(403)
    expect((await operator.call('DELETE', path(workspace))).status).toBe(204)
    expect((await operator.call('DELETE', path(workspace))).status).toBe(404)
    const unknown = `/api/operations/workspaces/${toWire('ws', newId())}/suspension`
    expect((await operator.call('PUT', unknown, { body: { suspended: true, reason: 'x' } })).status).toBe(404)
    const { body } = await owner.call('GET', '/api/workspaces')
    const names = (body.items as { name: string }[]).map(({ name }) => name)
    expect(names).toContain('Stays')
    expect(names).not.toContain('Goes')
    for (const table of ['workflows', 'datasets', 'workspace_suspensions', 'usage_counters'])
      expect(await service().sql(`select from ${table} where workspace_id = $1`, [workspace.uuid]), table).toEqual([])
    const { body: log } = await operator.call('GET', '/api/audit-log?action=workspace.deleted')
    expect(log.items[0]).toMatchObject({ actor_kind: 'operator', subject: workspace.id, data: { name: 'Goes' } })
  })
})
