import { request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, type TestPerson } from '#test/harness/world'

// The limits of a token: its org, its workspace and the plan.

const service = useService()
const RUNS = 4
beforeAll(async () => {
  await service().sql(
    `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas, features)
     select $1, org_id, 'Tiny', 0, 'eur', 'month', $2, '[]' from orgs`,
    [newId(), JSON.stringify({ runs_per_month: RUNS })],
  )
})

const constant = (values: object) => ({ nodes: [{ id: 'a', type: 'set', args: { values } }], edges: [] })
const failing = { nodes: [{ id: 'a', type: 'fail', args: { code: 'broken', message: 'no' } }], edges: [] }

async function makeOwner() {
  const owner = await makePerson(service())
  return { owner, workspace: await makeWorkspace(service(), owner) }
}

async function makeHook(owner: TestPerson, definition: object = constant({}), settings: object = {}) {
  const made = await owner.call('POST', '/api/workflows', { body: { name: 'Hook', definition, settings } })
  const workflow = made.body.workflow_id as string
  const { token } = (await owner.call('POST', `/api/workflows/${workflow}/tokens`, { body: {} })).body
  const path = `/api/webhooks/workflow/${workflow}/trigger`
  const trigger = (headers: Record<string, string> = {}, body: object = {}) =>
    service().call('POST', path, { token, headers, body })
  return { workflow, path, token: token as string, trigger }
}

const used = async (owner: TestPerson): Promise<number> =>
  (await owner.call('GET', '/api/payments/usage')).body.quotas.find(
    ({ quota }: { quota: string }) => quota === 'runs_per_month',
  ).used

test('a repeated call does not count against the plan, and gets its response even if the plan is used up', async () => {
  const { owner } = await makeOwner()
  const hook = await makeHook(owner)
  const key = (n: number) => ({ 'idempotency-key': `delivery-${n}` })
  const first = await hook.trigger(key(0))
  expect(first.status).toBe(202)
  for (let again = 0; again < 3; again++) expect((await hook.trigger(key(0))).text).toBe(first.text)
  expect(await used(owner)).toBe(1)
  for (let n = 1; n < RUNS; n++) expect((await hook.trigger(key(n))).status).toBe(202)
  expect((await hook.trigger(key(RUNS))).body.code).toBe('quota_exceeded')
  expect((await hook.trigger(key(0))).text).toBe(first.text)
  expect((await hook.trigger(key(0), { other: true })).body.code).toBe('idempotency_key_reused')
  expect(await used(owner)).toBe(RUNS)
})

test('a repeated call gets its response although the active version now requires other inputs', async () => {
  const { owner } = await makeOwner()
  const hook = await makeHook(owner)
  const key = { 'idempotency-key': 'before' }
  const first = await hook.trigger(key)
  await owner.call('POST', `/api/workflows/${hook.workflow}/versions`, {
    body: {
      definition: { ...constant({}), inputs: { type: 'object', required: ['order'] } },
      activate: true,
    },
  })
  await until(async () => (await hook.trigger()).status === 422, 'the new version')
  expect((await hook.trigger(key)).text).toBe(first.text)
})

test('a refused start does not count; retries do, once per key', async () => {
  const { owner } = await makeOwner()
  const hook = await makeHook(owner, failing)
  const run = await owner.call('POST', `/api/workflows/${hook.workflow}/run?wait_s=60`, { body: {} })
  const retry = () =>
    owner.call('POST', `/api/workflows/executions/${run.body.execution_id}/retry`, {
      body: { from: 'start' },
      headers: { 'idempotency-key': 'again' },
    })
  expect((await hook.trigger({}, { a: '\ud800' })).status).toBe(422)
  const [one, two] = [await retry(), await retry()]
  expect([one.status, two.text]).toEqual([202, one.text])
  expect(await used(owner)).toBe(2)
})

test('an error workflow counts against the plan; if the plan is used up, the owner is notified that it was not started', async () => {
  const { owner } = await makeOwner()
  const handler = await makeHook(owner, constant({}))
  const hook = await makeHook(owner, failing, { error_workflow_id: handler.workflow })
  const handled = async () =>
    (await owner.call('GET', `/api/workflows/${handler.workflow}/executions`)).body.items.length as number
  for (let n = 1; n <= 2; n++) {
    await hook.trigger()
    await until(async () => (await handled()) === n, 'the error workflow')
  }
  expect(await used(owner)).toBe(RUNS)
  await service().sql('update plans set quotas = $1', [JSON.stringify({ runs_per_month: RUNS + 1 })])
  const last = await makeHook(owner, failing, { error_workflow_id: handler.workflow })
  await until(async () => (await last.trigger()).status === 202, 'the larger plan')
  const told = await until(
    async () =>
      (await owner.call('GET', '/api/notifications')).body.items.find(
        ({ kind, data }: { kind: string; data: { workflow_id: string } }) =>
          kind === 'execution.failed' && data.workflow_id === last.workflow,
      ),
    'the notification',
  )
  expect(told.body).toContain('error workflow was not started')
  expect(told.body).toContain('runs_per_month')
  expect(await handled()).toBe(2)
  expect(await used(owner)).toBe(RUNS + 1)
  await service().sql('update plans set quotas = $1', [JSON.stringify({ runs_per_month: RUNS })])
})

test('nothing starts in a deleted workspace, even while its token is still cached', async () => {
  const { owner, workspace } = await makeOwner()
  const hook = await makeHook(owner)
  expect((await hook.trigger()).status).toBe(202)
  await service().sql('delete from workspaces where workspace_id = $1', [workspace.uuid])
  const before = await service().sql('select from executions where workspace_id = $1', [workspace.uuid])
  const after = await Promise.all([hook.trigger(), hook.trigger({ 'idempotency-key': 'late' })])
  // 401 if the token is no longer in the cache, which lasts less than a second.
  for (const { status } of after) expect([401, 404]).toContain(status)
  expect(await service().sql('select from executions where workspace_id = $1', [workspace.uuid])).toHaveLength(
    before.length,
  )
  expect(await service().sql('select from start_keys where workspace_id = $1', [workspace.uuid])).toEqual([])
  const [late] = await service().sql<{ outcome: string }>(
    `select engine.start($1, $2, '{}', '{"definition_ref": "adhoc:x", "trigger_kind": "schedule"}') as outcome`,
    [workspace.uuid, newId()],
  )
  expect(late!.outcome).toBe('unknown')
})

test('a token of one org is refused on the host of another', async () => {
  await service().sql(`update plans set quotas = '{}'`)
  const { owner } = await makeOwner()
  const hook = await makeHook(owner)
  const other = newId()
  await service().sql(`insert into org_hosts (host, org_id) select '127.0.0.1', org_id from orgs`)
  await service().sql(`insert into orgs (org_id, name) values ($1, 'Other')`, [other])
  await service().sql(`insert into org_hosts (host, org_id) values ('other.example', $1)`, [other])
  const from = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(service().base)
      request({
        port,
        host: '127.0.0.1',
        path: hook.path,
        method: 'POST',
        headers: { host: `${host}:${port}`, authorization: `Bearer ${hook.token}` },
      })
        .once('response', (answer) => resolve(answer.resume().statusCode!))
        .once('error', reject)
        .end()
    })
  // Servers cache for two seconds that there is only one org.
  await until(async () => (await from('unknown.example')) !== 202, 'the server to notice the second organisation')
  expect(await from('127.0.0.1')).toBe(202)
  expect(await from('other.example')).toBe(401)
})
