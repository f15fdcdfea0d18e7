import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { type Billing, startBilling } from '#test/fakes/stripe/bench'
import { freshEmail, PASSWORD } from '#test/harness/browser'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorkspace, type TestPerson, type TestWorkspace } from '#test/harness/world'
import { makeQuotas, type Quotas } from './quotas.ts'

let billing: Billing
let quotas: Quotas
beforeAll(async () => {
  billing = await startBilling('builtin', { HEDDLE_OPERATORS: 'op@example.com' })
  quotas = makeQuotas({ db: billing.service.db, provider: 'builtin' })
})
afterAll(async () => {
  await quotas.stop()
  await billing.stop()
})

async function workspaceWith(
  limits: object,
): Promise<{ owner: TestPerson; workspace: TestWorkspace; plan_id: string }> {
  const owner = await makePerson(billing.service)
  const workspace = await makeWorkspace(billing.service, owner)
  await billing.addCard(owner)
  const { plan_id } = await billing.addPlan({ name: `Plan ${newId()}`, amount: 100, quotas: limits })
  expect((await owner.call('POST', '/api/payments/subscriptions', { body: { plan_id } })).status).toBe(201)
  return { owner, workspace, plan_id }
}
const within = <T>(workspaceId: string, work: Parameters<typeof billing.service.db.tenant<T>>[1]): Promise<T> =>
  billing.service.db.tenant({ workspaceId, userId: null }, work)
const usageOf = async (owner: TestPerson) => {
  const { body } = await owner.call('GET', '/api/payments/usage')
  return Object.fromEntries(
    body.quotas.map(({ quota, used, limit }: { quota: string; used: number; limit: number | null }) => [
      quota,
      [used, limit],
    ]),
  )
}

describe('quotas', () => {
  test('let code wait for processor time, and code that gets none fails with cpu_budget_exceeded', async () => {
    const { owner } = await workspaceWith({ cpu_s_per_minute: 0 })
    const nodes = [{ id: 'one', type: 'code', args: { source: 'return 1 + 1' }, timeout_s: 4 }]
    const { body } = await owner.call('POST', '/api/workflows', { body: { name: 'Code', definition: { nodes } } })
    const run = await owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: { input: {} } })
    const path = `/api/workflows/executions/${run.body.execution_id}`
    const ended = await until(async () => {
      const execution = (await owner.call('GET', path)).body
      return execution.status === 'failed' ? execution : undefined
    }, 'the end of the execution')
    expect(ended.error).toMatchObject({ code: 'cpu_budget_exceeded' })
  })

  test('are unlimited for a workspace without a plan in an org without a free plan', async () => {
    const owner = await makePerson(billing.service)
    const { uuid } = await makeWorkspace(billing.service, owner)
    await within(uuid, (tx) => quotas.check(tx, uuid, 'records', Number.MAX_SAFE_INTEGER))
    await quotas.takeExecutions(uuid, 1_000_000)
    expect((await owner.call('GET', '/api/payments/usage')).body).toMatchObject({ plan_id: null, plan: null })
  })

  test('show the usage, and refuse more than the limit with the name of the quota', async () => {
    const { owner, workspace } = await workspaceWith({ records: 10, members: 1, storage_bytes: 5 })
    const { uuid } = workspace
    await within(uuid, async (tx) => {
      await quotas.check(tx, uuid, 'records', 10)
      await quotas.add(tx, uuid, 'records', 10)
    })
    expect(await usageOf(owner)).toEqual({
      runs_per_month: [0, null],
      members: [1, 1],
      storage_bytes: [0, 5],
      records: [10, 10],
      event_destinations: [0, 20],
      knowledge_documents: [0, 10_000],
    })
    for (const quota of ['records', 'members'] as const)
      await expect(within(uuid, (tx) => quotas.check(tx, uuid, quota, 1))).rejects.toMatchObject({
        code: 'quota_exceeded',
        message: expect.stringContaining(quota),
      })
    await expect(within(uuid, (tx) => quotas.check(tx, uuid, 'storage_bytes', 6))).rejects.toMatchObject({
      code: 'quota_exceeded',
    })
    await within(uuid, async (tx) => {
      await quotas.add(tx, uuid, 'records', -4)
      await quotas.check(tx, uuid, 'records', 4)
    })
    expect((await usageOf(owner)).records).toEqual([6, 10])
  })

  test('give the last place to one of fifty simultaneous requests', async () => {
    const { workspace, owner } = await workspaceWith({ records: 1 })
    const { uuid } = workspace
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        within(uuid, async (tx) => {
          await quotas.check(tx, uuid, 'records', 1)
          await quotas.add(tx, uuid, 'records', 1)
        }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await usageOf(owner)).records).toEqual([1, 1])
  })

  test('refuse an invitation without a free place in the same way with and without an account', async () => {
    const { owner, workspace } = await workspaceWith({ members: 2 })
    const known = await makePerson(billing.service)
    const links: string[] = []
    for (const email of [known.email, freshEmail()]) {
      const path = `/api/workspaces/${workspace.id}/members/invite`
      links.push((await owner.call('POST', path, { body: { email, role: 'member' } })).body.link)
    }
    await addMember(billing.service, workspace, await makePerson(billing.service), 'member')
    for (const link of links) {
      const path = `/auth/invitations/${link.split('/').at(-1)}/accept`
      const refused = await billing.service.call('POST', path, { body: { name: 'Nel', password: PASSWORD } })
      expect([refused.status, refused.body.code]).toEqual([403, 'quota_exceeded'])
    }
  })

  test('limit how many guests become members', async () => {
    const { owner, workspace } = await workspaceWith({ members: 2 })
    const statuses: number[] = []
    for (let at = 0; at < 3; at++) {
      const guest = await makePerson(billing.service)
      await addMember(billing.service, workspace, guest, 'guest')
      const path = `/api/workspaces/${workspace.id}/members/${guest.id}`
      statuses.push((await owner.call('PATCH', path, { body: { role: 'member' } })).status)
      if (at === 0) expect((await owner.call('PATCH', path, { body: { role: 'viewer' } })).status).toBe(200)
    }
    expect(statuses).toEqual([200, 403, 403])
    expect((await usageOf(owner)).members).toEqual([2, 2])
  })

  test('do not count a resource whose creation is rolled back', async () => {
    const { workspace, owner } = await workspaceWith({ records: 5 })
    const { uuid } = workspace
    await within(uuid, async (tx) => {
      await quotas.add(tx, uuid, 'records', 5)
      throw new Error('no')
    }).catch(() => {})
    expect((await usageOf(owner)).records).toEqual([0, 5])
  })

  test('count executions in memory, write them together, and stop exactly at the limit', async () => {
    const { workspace, owner } = await workspaceWith({ runs_per_month: 100 })
    const { uuid } = workspace
    const outcomes = await Promise.allSettled(Array.from({ length: 150 }, () => quotas.takeExecutions(uuid)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
    await quotas.flush()
    await expect(quotas.takeExecutions(uuid)).rejects.toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringContaining('runs_per_month'),
    })
    expect((await usageOf(owner)).runs_per_month).toEqual([100, 100])
  })

  test('write the executions of other workspaces although one workspace was deleted in the meantime', async () => {
    const { workspace, owner } = await workspaceWith({})
    await quotas.takeExecutions(newId())
    await quotas.takeExecutions(workspace.uuid)
    await quotas.flush()
    expect((await usageOf(owner)).runs_per_month).toEqual([1, null])
  })

  test('follow a larger plan immediately, and the free plan after a subscription has ended', async () => {
    const free = await billing.addPlan({ name: 'Free', amount: 0, quotas: { members: 7 } })
    const { owner, workspace } = await workspaceWith({ members: 2 })
    expect((await usageOf(owner)).members).toEqual([1, 2])
    const larger = await billing.addPlan({ name: 'Larger', amount: 200, quotas: { members: 9 } })
    await owner.call('PATCH', '/api/payments/subscriptions/me', { body: { plan_id: larger.plan_id } })
    expect((await usageOf(owner)).members).toEqual([1, 9])
    await owner.call('DELETE', '/api/payments/subscriptions/me?at=now')
    const { body } = await owner.call('GET', '/api/payments/usage')
    expect(body).toMatchObject({ plan_id: free.plan_id, plan: 'Free' })
    const guest = await makePerson(billing.service)
    await addMember(billing.service, workspace, guest, 'guest')
    expect((await usageOf(owner)).members).toEqual([1, 7])
  })

  test('show and change the counters of the own workspace only', async () => {
    const one = await workspaceWith({ records: 5 })
    const two = await workspaceWith({ records: 5 })
    await within(one.workspace.uuid, (tx) => quotas.add(tx, one.workspace.uuid, 'records', 3))
    expect((await usageOf(two.owner)).records).toEqual([0, 5])
    const seen = await within(two.workspace.uuid, (tx) => tx.rows('select * from usage_counters'))
    expect(seen).toEqual([])
    const nobody = await billing.service.db.tenant({ workspaceId: null, userId: null }, (tx) =>
      tx.rows('select from usage_counters union all select from invoices union all select from payment_methods'),
    )
    expect(nobody).toEqual([])
  })
})
