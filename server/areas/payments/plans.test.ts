import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Tx } from '#platform/db/pool'
import { newId, toWire } from '#platform/ids'
import { type Billing, cards, startBilling } from '#test/fakes/stripe/bench'
import { makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { seedPlans } from './seed.ts'

const PLANS = '/api/payments/plans'
let otherOrg: string

let billing: Billing
const asTx: Pick<Tx, 'count'> = {
  count: async (text, values) => (await billing.service.sql(text, values as unknown[])).length,
}
let world: World
let operator: TestPerson
beforeAll(async () => {
  billing = await startBilling('builtin', { HEDDLE_OPERATORS: 'op@example.com' })
  const { sql } = billing.service
  const [org] = await sql<{ org_id: string }>('select org_id from orgs')
  await seedPlans(asTx, org!.org_id)
  // With a second org, the host determines the org.
  otherOrg = newId()
  await sql(`insert into org_hosts (host, org_id) values ('127.0.0.1', $1), ('heddle.example', $1)`, [org!.org_id])
  await sql(`insert into orgs (org_id, name) values ($1, 'Other')`, [otherOrg])
  await sql(`insert into org_hosts (host, org_id) values ('other.example', $1)`, [otherOrg])
  await sql(
    `insert into plans (plan_id, org_id, name, amount, currency, "interval") values ($1, $1, 'Elsewhere', 100, 'usd', 'year')`,
    [otherOrg],
  )
  world = await makeWorld(billing.service)
  operator = await makePerson(billing.service, { email: 'op@example.com' })
  await makeWorkspace(billing.service, operator)
})
afterAll(() => billing.stop())

const namesAt = async (headers: Record<string, string>): Promise<unknown> => {
  const answer = await billing.service.app.http.inject({ method: 'GET', url: PLANS, headers })
  return answer.statusCode === 200 ? answer.json().items.map(({ name }: { name: string }) => name) : answer.json().code
}

describe('the plans on offer', () => {
  test('are the plans of the host’s org, cheapest first, for anyone', async () => {
    expect(await namesAt({ host: 'heddle.example' })).toEqual(['Free', 'Team', 'Business'])
    expect(await namesAt({ host: 'OTHER.example:443' })).toEqual(['Elsewhere'])
    const { items } = (await billing.service.call('GET', PLANS)).body
    expect(items[0]).toMatchObject({ amount: 0, currency: 'eur', interval: 'month', quotas: { members: 100 } })
    expect(items[2].quotas.members).toBeNull()
  })

  test('do not change with a spoofed host header', async () => {
    expect(await namesAt({ host: 'unknown.example' })).toBe('unknown_host')
    expect(await namesAt({ host: 'heddle.example', 'x-forwarded-host': 'other.example' })).toEqual([
      'Free',
      'Team',
      'Business',
    ])
  })

  test('are not duplicated by a second seeding', async () => {
    await seedPlans(asTx, otherOrg)
    expect(await namesAt({ host: 'other.example' })).toEqual(['Elsewhere'])
  })

  test('of another org cannot be subscribed to', async () => {
    await billing.addCard(world.owner, cards.works)
    const headers = { 'x-request-id': 'same' }
    const ask = (plan_id: string) =>
      world.owner.call('POST', '/api/payments/subscriptions', { body: { plan_id }, headers })
    const foreign = await ask(toWire('plan', otherOrg))
    expect([foreign.status, foreign.body.code]).toEqual([422, 'unknown_reference'])
    expect(foreign.text).toBe((await ask('plan_01kf3v6h2he3wtpk1fw5c0wz9d')).text)
  })

  test('are paged, and an invalid cursor is refused', async () => {
    const first = (await billing.service.call('GET', `${PLANS}?limit=2`)).body
    const rest = (await billing.service.call('GET', `${PLANS}?limit=2&cursor=${first.next_cursor}`)).body
    expect([...first.items, ...rest.items].map(({ name }) => name)).toEqual(['Free', 'Team', 'Business'])
    expect(rest.next_cursor).toBeNull()
    const bad = Buffer.from('["x",1]').toString('base64url')
    expect((await billing.service.call('GET', `${PLANS}?cursor=${bad}`)).status).toBe(422)
  })
})

describe('managing plans', () => {
  const body = { name: 'Pro', amount: 500, currency: 'EUR', interval: 'month', quotas: { members: 3 }, features: ['a'] }

  test('is reserved for operators', async () => {
    const { body: plan } = await operator.call('POST', PLANS, { body })
    for (const person of [world.owner, world.member, world.stranger]) {
      expect((await person.call('POST', PLANS, { body })).status).toBe(403)
      expect((await person.call('PATCH', `${PLANS}/${plan.plan_id}`, { body: { amount: 0 } })).status).toBe(403)
      expect((await person.call('DELETE', `${PLANS}/${plan.plan_id}`)).status).toBe(403)
    }
    expect((await billing.service.call('POST', PLANS, { body })).status).toBe(401)
    await operator.call('DELETE', `${PLANS}/${plan.plan_id}`)
  })

  test('creates, changes and archives a plan', async () => {
    const made = await operator.call('POST', PLANS, { body })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'Pro',
      currency: 'eur',
      quotas: { members: 3 },
      features: ['a'],
      trial_days: 0,
    })
    const path = made.headers.get('location')!
    const changed = await operator.call('PATCH', path, { body: { amount: 700, quotas: {} } })
    expect(changed.body).toMatchObject({ amount: 700, quotas: {}, name: 'Pro' })
    expect((await operator.call('PATCH', path, { body: changed.body })).status).toBe(200)
    expect((await operator.call('DELETE', path)).status).toBe(204)
    expect((await operator.call('PATCH', path, { body: { amount: 1 } })).status).toBe(404)
    expect(await namesAt({ host: 'heddle.example' })).toEqual(['Free', 'Team', 'Business'])
  })

  test('requires an amount that is an integer, not negative and not too large, with a currency', async () => {
    for (const bad of [
      { amount: -1 },
      { amount: 0.5 },
      { amount: 1e12 },
      { amount: '5' },
      { currency: 'euro' },
      { currency: '12€' },
      { currency: 'zzz' },
      { interval: 'week' },
      { quotas: { cpu: 1 } },
      { quotas: { members: -1 } },
      { quotas: { members: 1.5 } },
      { name: '' },
      { org_id: 'org_x' },
    ])
      expect([bad, (await operator.call('POST', PLANS, { body: { ...body, ...bad } })).status]).toEqual([bad, 422])
  })

  test('does not find a plan of another org', async () => {
    const path = `${PLANS}/${toWire('plan', otherOrg)}`
    expect((await operator.call('PATCH', path, { body: { amount: 0 } })).status).toBe(404)
    expect((await operator.call('DELETE', path)).status).toBe(404)
  })

  test('keeps a plan with subscribers: its price cannot change and the plan cannot be deleted', async () => {
    const { body: plan } = await operator.call('POST', PLANS, { body: { ...body, quotas: {} } })
    const path = `${PLANS}/${plan.plan_id}`
    const customer = await makePerson(billing.service)
    await makeWorkspace(billing.service, customer)
    await billing.addCard(customer)
    await customer.call('POST', '/api/payments/subscriptions', { body: { plan_id: plan.plan_id } })
    for (const patch of [{ amount: 1 }, { currency: 'usd' }, { interval: 'year' }])
      expect((await operator.call('PATCH', path, { body: patch })).body.code).toBe('plan_in_use')
    expect((await operator.call('DELETE', path)).body.code).toBe('plan_in_use')
    expect((await operator.call('PATCH', path, { body: { name: 'Pro 2', amount: 500 } })).body.name).toBe('Pro 2')
    await customer.call('DELETE', '/api/payments/subscriptions/me?at=now')
    expect((await operator.call('DELETE', path)).status).toBe(204)
    // Earlier invoices still refer to the plan.
    expect((await customer.call('GET', '/api/payments/invoices')).body.items).toHaveLength(1)
  })
})
