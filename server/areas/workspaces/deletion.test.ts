import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join as joinPath } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeMaintenance } from '#engine/maintenance'
import { toWire } from '#platform/ids'
import { makeDiskBlobs } from '#providers/blobs/disk'
import { type Service, useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorkspace, type TestPerson, type TestWorkspace } from '#test/harness/world'

// Accepts requests and never answers.
const silentServer = createServer(() => {})
silentServer.listen(0, '127.0.0.1')
await once(silentServer, 'listening')
const target = `127.0.0.1:${(silentServer.address() as AddressInfo).port}`
const silent = `http://${target}`
afterAll(() => {
  silentServer.close()
  silentServer.closeAllConnections()
})

const service = useService({ env: { HEDDLE_ALLOW_TARGETS: target } })

/** Fills a workspace with resources of every kind, and returns what could still access them after the deletion. */
async function fill(on: Service, owner: TestPerson, member: TestPerson, workspace: TestWorkspace) {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await owner.call(method, path, { workspace: workspace.id, ...(body !== undefined && { body }) })
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  const make = async (definition: unknown): Promise<string> =>
    (await call('POST', '/api/workflows', { name: 'W', definition })).workflow_id
  const waiting = await make({ nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] })
  const gated = await make({
    nodes: [
      {
        id: 'g',
        type: 'approval',
        args: { title: 'Go?', payload: 1, policy: { approvers: [{ kind: 'user', id: member.id }], quorum: 'any' } },
      },
    ],
    edges: [],
  })
  const large = await make({
    nodes: [{ id: 'a', type: 'set', args: { values: { text: 'x'.repeat(50_000) } } }],
    edges: [],
    output: { $ref: 'nodes.a.output.text' },
  })
  // Keeps an execution on a worker while the workspace is deleted.
  const busy = await make({
    nodes: [{ id: 'c', type: 'http.request', args: { method: 'GET', url: `${silent}/` } }],
    edges: [],
  })
  const dataset = await call('POST', '/api/datasets', { name: 'D', records: [{ a: 1 }] })
  const token = await call('POST', `/api/workflows/${waiting}/tokens`, { name: 't' })
  await call('PUT', `/api/workflows/${waiting}/schedule`, { cron: '* * * * *', timezone: 'UTC' })
  const key = await call('POST', '/auth/api-keys', { name: 'bound', workspace_id: workspace.id })
  const plans = (await call('GET', '/api/payments/plans')).items as { plan_id: string; amount: number }[]
  const free = plans.find(({ amount }) => amount === 0)
  if (free) await call('POST', '/api/payments/subscriptions', { plan_id: free.plan_id })
  const executions: string[] = []
  for (const id of [waiting, gated]) executions.push((await call('POST', `/api/workflows/${id}/run`, {})).execution_id)
  executions.push((await call('POST', `/api/workflows/${large}/run?wait_s=60`, {})).execution_id)
  await until(
    async () =>
      (await on.sql(`select from executions where workspace_id = $1 and status = 'waiting'`, [workspace.uuid]))
        .length === 2,
    'both executions to wait',
  )
  const inbox = await until(
    async () => (await member.call('GET', '/api/approvals/inbox', { workspace: workspace.id })).body.items[0],
    'the gate',
  )
  return { waiting, busy, dataset, token, key, executions, gate: inbox.request_id as string, call }
}

const blobFolder = (): string => joinPath(service().config.HEDDLE_DATA_DIR, 'blobs')
const blobsOf = async (workspace: TestWorkspace): Promise<string[]> =>
  (await readdir(blobFolder(), { recursive: true })).filter((file) => file.includes(`${workspace.uuid}/`))

describe('a workspace that is deleted', () => {
  let owner: TestPerson
  let member: TestPerson
  let workspace: TestWorkspace
  let held: Awaited<ReturnType<typeof fill>>
  beforeAll(async () => {
    owner = await makePerson(service())
    member = await makePerson(service())
    await makeWorkspace(service(), owner, 'Stays')
    workspace = await makeWorkspace(service(), owner, 'Goes')
    await addMember(service(), workspace, member, 'member')
    held = await fill(service(), owner, member, workspace)
    const { execution_id } = await held.call('POST', `/api/workflows/${held.busy}/run`, {})
    held.executions.push(execution_id)
    await until(
      async () =>
        (await service().sql(`select from executions where workspace_id = $1 and status = 'running'`, [workspace.uuid]))
          .length === 1,
      'the busy execution to run',
    )
    expect(await blobsOf(workspace)).not.toEqual([])
    const gone = await owner.call('DELETE', `/api/workspaces/${workspace.id}`)
    expect(gone.status, gone.text).toBe(204)
  })

  test('has no live executions: waiting executions have ended, and running ones are stopped', async () => {
    const live = () =>
      service().sql<{ status: string }>(
        `select status from executions where workspace_id = $1 and status in ('queued', 'running', 'waiting')`,
        [workspace.uuid],
      )
    expect((await live()).filter(({ status }) => status !== 'running')).toEqual([])
    await until(async () => (await live()).length === 0, 'the running execution to stop')
  })

  test('cannot be accessed any more, with any credential or id', async () => {
    const paths = [
      `/api/workspaces/${workspace.id}`,
      `/api/workflows/${held.waiting}`,
      `/api/datasets/${held.dataset.dataset_id}`,
      `/api/approvals/${held.gate}`,
      ...held.executions.map((id) => `/api/workflows/executions/${id}`),
    ]
    for (const path of paths)
      for (const person of [owner, member]) {
        expect([path, (await person.call('GET', path)).status]).toEqual([path, 404])
        const selected = await person.call('GET', path, { workspace: workspace.id })
        expect([path, selected.status]).toEqual([path, 404])
      }
    const trigger = `/api/webhooks/workflow/${held.waiting}/trigger`
    await until(
      async () => (await service().call('POST', trigger, { token: held.token.token })).status === 401,
      'the webhook token to be refused everywhere',
      2_000,
    )
    expect((await service().call('GET', '/auth/me', { token: held.key.key })).status).toBe(401)
  })

  test('has no row in any table except the record of its deletion, after maintenance', async () => {
    const blobs = makeDiskBlobs(blobFolder())
    await until(async () => {
      await makeMaintenance({ db: service().db, blobs, retentionDays: 30 }).run()
      return (await service().sql('select from executions where workspace_id = $1', [workspace.uuid])).length === 0
    }, 'its executions to be removed')
    const tables = await service().sql<{ name: string }>(
      `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.attname = 'workspace_id' and not a.attisdropped`,
    )
    expect(tables.length).toBeGreaterThan(30)
    const left: Record<string, number> = {}
    for (const { name } of tables) {
      const [row] = await service().sql<{ n: number }>(
        `select count(*)::int as n from ${name} where workspace_id = $1`,
        [workspace.uuid],
      )
      if (row!.n > 0) left[name] = row!.n
    }
    // Hashes of idempotency keys are deleted after a day; scheduled checks of gates and waits with the next check.
    delete left.start_keys
    delete left.gate_rechecks
    delete left.wait_checks
    expect(left).toEqual({ gone_workspaces: 1 })
    const [entry] = await service().sql<{ subject: string }>(
      `select subject from audit_log where action = 'workspace.deleted' and workspace_id is null`,
    )
    expect(entry).toEqual({ subject: toWire('ws', workspace.uuid) })
    expect(await blobsOf(workspace)).toEqual([])
  })
})

test('an execution that starts at the moment when its workspace is deleted is cancelled', async () => {
  const owner = await makePerson(service())
  await makeWorkspace(service(), owner, 'Stays')
  const workspace = await makeWorkspace(service(), owner, 'Late')
  const { body } = await owner.call('POST', '/api/workflows', {
    workspace: workspace.id,
    body: { name: 'Waits', definition: { nodes: [{ id: 'w', type: 'wait', args: { for_s: 3600 } }], edges: [] } },
  })
  const run = () => owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { workspace: workspace.id, body: {} })
  expect((await run()).status).toBe(202)
  // Simulates a deletion whose last check of live executions missed this one.
  await service().sql('insert into gone_workspaces (workspace_id) values ($1)', [workspace.uuid])
  const statuses = async (): Promise<string[]> =>
    (
      await service().sql<{ status: string }>('select status from executions where workspace_id = $1', [workspace.uuid])
    ).map(({ status }) => status)
  await until(async () => (await statuses()).every((status) => status === 'cancelled'), 'the execution to be cancelled')
  await service().sql('delete from gone_workspaces where workspace_id = $1', [workspace.uuid])
  // The same with a real deletion, with the starts before and after it.
  const starts = Array.from({ length: 20 }, run)
  await owner.call('DELETE', `/api/workspaces/${workspace.id}`)
  await Promise.all(starts)
  await until(
    async () => (await statuses()).every((status) => status === 'cancelled'),
    'all executions to be cancelled',
  )
})
