import { beforeAll, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
  await service().sql(
    `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas, features)
     select $1, org_id, 'Tiny', 0, 'eur', 'month', '{"records": 5, "members": 5}', '[]' from orgs`,
    [newId()],
  )
})

const create = (count: number) =>
  world.owner.call('POST', '/api/datasets', {
    body: { name: 'D', records: Array.from({ length: count }, (_, n) => ({ n })) },
  })
const usage = async (quota: string) =>
  (await world.owner.call('GET', '/api/payments/usage')).body.quotas.find(
    (one: { quota: string }) => one.quota === quota,
  )

test('records count against the plan however they are written, and deleting them frees the quota', async () => {
  const first = await create(3)
  expect(first.status, first.text).toBe(201)
  expect(await usage('records')).toMatchObject({ used: 3, limit: 5 })
  const refused = await create(3)
  expect([refused.status, refused.body.code]).toEqual([403, 'quota_exceeded'])
  expect(refused.body.detail).toContain('records')
  expect((await world.owner.call('GET', '/api/datasets')).body.items).toHaveLength(1)
  const grown = await world.owner.call('PATCH', `/api/datasets/${first.body.dataset_id}`, {
    body: { records: Array.from({ length: 6 }, (_, n) => ({ n })) },
  })
  expect(grown.body.code).toBe('quota_exceeded')
  expect((await world.owner.call('DELETE', `/api/datasets/${first.body.dataset_id}`)).status).toBe(204)
  expect(await usage('records')).toMatchObject({ used: 0 })
  expect((await create(5)).status).toBe(201)
})

test('simultaneous creations do not exceed the plan', async () => {
  await service().sql('delete from datasets')
  const answers = await Promise.all(Array.from({ length: 10 }, () => create(1)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
  expect(await usage('records')).toMatchObject({ used: 5 })
})

test('new members count against the plan; guests do not', async () => {
  const invite = async (n: number) =>
    (
      await world.owner.call('POST', `/api/workspaces/${world.workspace.id}/members/invite`, {
        body: { email: `new-${n}@example.com` },
      })
    ).body.link
      .split('/')
      .at(-1)
  const accept = async (token: string) =>
    service().call('POST', `/auth/invitations/${token}/accept`, {
      body: { name: 'New', password: 'correct horse battery' },
    })
  expect(await usage('members')).toMatchObject({ used: 3, limit: 5 })
  for (const n of [1, 2]) expect((await accept(await invite(n))).status).toBe(201)
  const refused = await accept(await invite(3))
  expect([refused.status, refused.body.code]).toEqual([403, 'quota_exceeded'])
  expect(await usage('members')).toMatchObject({ used: 5 })
})

test('the usage of the operator’s resources is shown with its limits', async () => {
  await service().sql(
    `update plans set quotas = quotas || '{"outgoing_requests_per_minute": 7, "model_tokens_per_month": null}' where name = 'Tiny'`,
  )
  const month = new Date().toISOString().slice(0, 7)
  await service().sql('insert into usage_counters (workspace_id, quota, period, used) values ($1, $2, $3, 1234)', [
    world.workspace.uuid,
    'model_tokens_per_month',
    month,
  ])
  const means = await until(async () => {
    const { body } = await world.owner.call('GET', '/api/payments/usage')
    const found = Object.fromEntries(body.means.map((one: { quota: string }) => [one.quota, one]))
    return found.model_tokens_per_month.used > 0 && found.outgoing_requests_per_minute.limit === 7 ? found : undefined
  }, 'the counters')
  expect(means.model_tokens_per_month).toMatchObject({ used: 1234, limit: null, period: 'month' })
  expect(means.outgoing_requests_per_minute).toMatchObject({ used: 0, limit: 7, period: 'minute' })
  expect(means.mails_per_minute).toMatchObject({ used: 0, limit: 60 })
})
