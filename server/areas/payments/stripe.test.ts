import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { connectStripe, makeStripe } from '#providers/billing/stripe/stripe'
import { type Billing, cards, eventsOf, type PlanRow, startBilling } from '#test/fakes/stripe/bench'
import { SECRET_KEY, WEBHOOK_SECRET } from '#test/fakes/stripe/server'
import { makePerson, makeWorkspace, type TestPerson } from '#test/harness/world'
import { makePayments } from './payments.ts'

// Stripe through its real SDK, including the ways in which it fails.

const ME = '/api/payments/subscriptions/me'
const SUBSCRIPTIONS = '/api/payments/subscriptions'
const METHODS = '/api/payments/methods'
const WEBHOOK = '/api/payments/webhooks/stripe'

let billing: Billing
let team: PlanRow
let business: PlanRow
beforeAll(async () => {
  billing = await startBilling('stripe')
  team = await billing.addPlan({ name: 'Team', amount: 3000 })
  business = await billing.addPlan({ name: 'Business', amount: 9000 })
})
afterAll(() => billing.stop())
afterEach(() => billing.fake.heal())

async function newOwner(options: { card?: string } = { card: cards.works }) {
  const owner = await makePerson(billing.service)
  const workspace = await makeWorkspace(billing.service, owner)
  if (options.card) await billing.addCard(owner, options.card)
  const [row] = await billing.service.sql<{ ref: string }>(
    'select provider_ref as ref from billing_customers where workspace_id = $1',
    [workspace.uuid],
  )
  return Object.assign(owner, { workspace, ref: row?.ref ?? '' })
}
const subscribe = (owner: TestPerson, plan = team, key?: string) =>
  owner.call('POST', SUBSCRIPTIONS, {
    body: { plan_id: plan.plan_id },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })
const subscriptionsOf = (ref: string) =>
  [...billing.fake.state.subscriptions.values()].filter(({ customer }) => customer === ref)
/** Makes our copies older than the time for which they are valid. */
const makeOld = () => billing.service.sql(`update billing_customers set synced_at = now() - interval '1 hour'`)
const clock = () => {
  const { config, db, vault } = billing.service
  const payments = makePayments({ config, db, vault, log: makeLogger('silent') })
  return payments.clock
}

describe('requests to Stripe', () => {
  test('carry an idempotency key on every write, and the pinned version on every request', async () => {
    const owner = await newOwner()
    await subscribe(owner)
    const writes = billing.fake.seen.filter(({ method }) => method === 'POST')
    expect(writes.length).toBeGreaterThan(3)
    // The fake refuses writes without a key and other versions, so success proves both. Keys also have a prefix by
    // purpose.
    expect(writes.every(({ key }) => key !== undefined && /^[a-z]+:/.test(key))).toBe(true)
  })

  test('contain no card number and no secret of ours', () => {
    const sent = JSON.stringify(billing.fake.seen)
    expect(sent).not.toContain(cards.works)
    expect(sent).not.toContain(WEBHOOK_SECRET)
  })

  test('are refused by the fake if Stripe would refuse them', async () => {
    const ask = (body: string, headers: Record<string, string> = {}) =>
      fetch(`${billing.fake.base}/v1/setup_intents`, {
        method: 'POST',
        body,
        headers: {
          authorization: 'Bearer sk_test_fake',
          'stripe-version': '2026-10-28.endive',
          'idempotency-key': body,
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
      })
    expect(await (await ask('customer=x&colour=red')).json()).toMatchObject({ error: { code: 'parameter_unknown' } })
    expect(await (await ask('usage=off_session')).json()).toMatchObject({ error: { code: 'parameter_missing' } })
    expect((await ask('customer=x', { authorization: 'Bearer other' })).status).toBe(401)
    expect((await ask('customer=x', { 'stripe-version': '2020-01-01' })).status).toBe(400)
  })
})

describe('when Stripe fails', () => {
  test('a failure of Stripe is retried by the SDK with the same key and is invisible to the user', async () => {
    const owner = await newOwner()
    billing.fake.fail({ match: /POST \/v1\/subscriptions/, what: { status: 500 } })
    billing.fake.fail({ match: /POST \/v1\/subscriptions/, what: { status: 503 } })
    const from = billing.fake.seen.length
    expect((await subscribe(owner)).status).toBe(201)
    const attempts = billing.fake.seen
      .slice(from)
      .filter(({ path, method }) => method === 'POST' && path === '/v1/subscriptions')
    expect(attempts).toHaveLength(3)
    expect(new Set(attempts.map(({ key }) => key)).size).toBe(1)
  })

  test('a response that is lost after the effect ends in one subscription', async () => {
    const owner = await newOwner()
    billing.fake.fail({ match: /POST \/v1\/subscriptions/, when: 'after', what: 'drop' })
    expect((await subscribe(owner)).status).toBe(201)
    expect(subscriptionsOf(owner.ref)).toHaveLength(1)
  })

  test('an outage of Stripe gives 503 with Retry-After, and a retry with the same key ends in one subscription', async () => {
    const owner = await newOwner()
    billing.fake.fail({ match: /POST \/v1\/subscriptions/, times: 3, when: 'after', what: { status: 500 } })
    const failed = await subscribe(owner, team, 'k')
    expect([failed.status, failed.body.code]).toEqual([503, 'provider_unavailable'])
    expect(Number(failed.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(failed.text).not.toContain('sk_test')
    const again = await subscribe(owner, team, 'k')
    expect(again.status).toBe(201)
    expect((await subscribe(owner, team, 'k')).text).toBe(again.text)
    expect(subscriptionsOf(owner.ref)).toHaveLength(1)
    expect((await owner.call('GET', '/api/payments/invoices')).body.items).toHaveLength(1)
  })

  test('a retry without a key finds the subscription of the lost attempt and creates no second one', async () => {
    const owner = await newOwner()
    billing.fake.fail({ match: /POST \/v1\/subscriptions/, times: 3, when: 'after', what: { status: 500 } })
    expect((await subscribe(owner)).status).toBe(503)
    expect((await subscribe(owner, business)).body.code).toBe('subscription_exists')
    expect(subscriptionsOf(owner.ref)).toHaveLength(1)
    expect((await owner.call('GET', ME)).body.plan_id).toBe(team.plan_id)
  })

  test('after a process died between the call and our commit, a retry with the same key ends in one subscription', async () => {
    const owner = await newOwner()
    // The state after a process died: the attempt and its lease, and a subscription at Stripe that our copy lacks.
    billing.fake.fail({ match: /GET \/v1\/subscriptions/, times: 3, what: { status: 500 } })
    expect((await subscribe(owner, team, 'killed')).status).toBe(503)
    expect(subscriptionsOf(owner.ref)).toHaveLength(1)
    await billing.service.sql(
      `update billing_customers set lease = 'dead', leased_until = now() - interval '1 second' where workspace_id = $1`,
      [owner.workspace.uuid],
    )
    expect((await subscribe(owner, team, 'killed')).status).toBe(201)
    expect(subscriptionsOf(owner.ref)).toHaveLength(1)
    const [row] = await billing.service.sql<{ n: number }>(
      'select count(*)::int as n from billing_subscriptions where workspace_id = $1',
      [owner.workspace.uuid],
    )
    expect(row!.n).toBe(1)
  })

  test('a request that hangs is retried after a timeout; if every attempt hangs, the caller gets 503', async () => {
    const provider = makeStripe(
      connectStripe({ secretKey: SECRET_KEY, apiBase: billing.fake.base, timeoutMs: 150, retries: 1 }),
    )
    const make = (key: string) =>
      provider.createCustomer({ workspaceId: newId(), name: 'A', email: 'a@example.com', key })
    billing.fake.fail({ match: /POST \/v1\/customers/, what: 'hang' })
    expect(await make('one')).toMatch(/^cus_/)
    billing.fake.fail({ match: /POST \/v1\/customers/, times: 2, what: 'hang' })
    await expect(make('two')).rejects.toMatchObject({ code: 'provider_unavailable', retryAfterS: 5 })
  })

  test('a failure that Stripe remembers does not block the workspace permanently', async () => {
    const owner = await newOwner()
    billing.fake.fail({ match: /POST \/v1\/subscriptions/, remembered: true, what: { status: 500 } })
    expect((await subscribe(owner)).status).toBe(503)
    expect((await subscribe(owner)).status).toBe(503)
    await billing.service.sql(
      `update billing_customers set attempt_at = attempt_at - interval '3 minutes' where workspace_id = $1`,
      [owner.workspace.uuid],
    )
    expect((await subscribe(owner)).status).toBe(201)
    expect(subscriptionsOf(owner.ref)).toHaveLength(1)
  })

  test('after a failure, the next read refreshes from Stripe', async () => {
    const owner = await newOwner()
    billing.fake.fail({ match: /POST \/v1\/subscriptions/, times: 3, when: 'after', what: { status: 500 } })
    expect((await subscribe(owner)).status).toBe(503)
    expect((await owner.call('GET', ME)).body.plan_id).toBe(team.plan_id)
  })

  test('a rate limit of Stripe gives 503 with Retry-After', async () => {
    const owner = await newOwner()
    billing.fake.fail({
      match: /POST \/v1\/setup_intents/,
      what: { status: 429, body: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests' } },
    })
    const refused = await owner.call('POST', '/api/payments/setup-intent')
    expect([refused.status, refused.body.code]).toEqual([503, 'provider_unavailable'])
    expect(refused.headers.get('retry-after')).toBe('5')
  })

  test('a permanent refusal by Stripe gives no Retry-After', async () => {
    const owner = await newOwner()
    billing.fake.fail({
      match: /POST \/v1\/setup_intents/,
      what: { status: 400, body: { type: 'invalid_request_error', code: 'parameter_invalid', message: 'No.' } },
    })
    const refused = await owner.call('POST', '/api/payments/setup-intent')
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([409, 'conflict', null])
  })

  test('an API key that Stripe refuses is reported as missing configuration', async () => {
    const owner = await newOwner()
    billing.fake.fail({
      match: /POST \/v1\/setup_intents/,
      what: { status: 401, body: { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_fake' } },
    })
    const refused = await owner.call('POST', '/api/payments/setup-intent')
    expect([refused.status, refused.body.code]).toEqual([503, 'provider_not_configured'])
    expect(refused.text).not.toContain('sk_')
  })

  test('known data is still shown while Stripe is unavailable', async () => {
    const owner = await newOwner()
    await subscribe(owner)
    await makeOld()
    billing.fake.fail({ times: 100, what: { status: 500, headers: { 'stripe-should-retry': 'false' } } })
    expect((await owner.call('GET', ME)).status).toBe(200)
    expect((await owner.call('GET', METHODS)).body.items).toHaveLength(1)
  })

  test('a first payment that the bank challenges is confirmed with a client secret, and then the subscription starts', async () => {
    const owner = await newOwner({ card: '4000002760003184' })
    const challenged = await subscribe(owner)
    expect([challenged.status, challenged.body]).toEqual([
      202,
      { status: 'requires_action', publishable_key: null, client_secret: expect.stringMatching(/^pi_\w+_secret_/) },
    ])
    // Without the holder's confirmation there is no subscription, and a repeated request returns the same client
    // secret.
    expect((await owner.call('GET', ME)).body.code).toBe('no_subscription')
    expect((await subscribe(owner)).body).toEqual(challenged.body)
    await billing.service.sql(`update billing_customers set attempt_at = now() - interval '1 hour'`)
    expect((await subscribe(owner, team, 'another try')).body).toEqual(challenged.body)
    expect(subscriptionsOf(owner.ref)).toHaveLength(1)
    billing.fake.confirmPayment(challenged.body.client_secret)
    await makeOld()
    expect((await owner.call('GET', ME)).body).toMatchObject({ status: 'active', plan_id: team.plan_id })
    expect((await subscribe(owner)).body.code).toBe('subscription_exists')
  })

  test('a challenge of a later payment is refused with an explanation of what to do', async () => {
    const owner = await newOwner({ card: '4000002760003184' })
    billing.fake.confirmPayment((await subscribe(owner)).body.client_secret)
    await makeOld()
    expect((await owner.call('GET', ME)).status).toBe(200)
    const refused = await owner.call('PATCH', ME, { body: { plan_id: business.plan_id } })
    expect([refused.status, refused.body.code]).toEqual([402, 'card_declined'])
    expect(refused.body.detail).toContain('setup intent')
  })

  test('servers that create the same price at the same time end with one price', async () => {
    const fresh = await billing.addPlan({ name: 'Fresh', amount: 1234 })
    const owners = await Promise.all([newOwner(), newOwner(), newOwner()])
    const answers = await Promise.all(owners.map((owner) => subscribe(owner, fresh)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect([...billing.fake.state.prices.values()].filter(({ unit_amount }) => unit_amount === 1234)).toHaveLength(1)
  })
})

describe('webhooks', () => {
  const send = (payload: string, options?: { timestamp?: number; secret?: string }) =>
    billing.service.call('POST', WEBHOOK, billing.fake.sign(payload, options))

  test('that are forged, unsigned, old or altered get 401 and have no effect', async () => {
    const owner = await newOwner()
    await subscribe(owner)
    billing.fake.events.splice(0)
    billing.fake.passPeriod(owner.ref)
    const { payload } = billing.fake.events[0]!
    const from = billing.fake.seen.length
    const now = Math.floor(Date.now() / 1000)
    const signed = billing.fake.sign(payload)
    const refused = [
      await billing.service.call('POST', WEBHOOK, { raw: payload }),
      await billing.service.call('POST', WEBHOOK, { raw: payload, headers: { 'stripe-signature': '' } }),
      await billing.service.call('POST', WEBHOOK, { raw: payload, headers: { 'stripe-signature': 't=1,v1=00' } }),
      await billing.service.call('POST', WEBHOOK, { raw: payload, headers: { 'stripe-signature': `t=${now}` } }),
      await send(payload, { secret: 'whsec_other' }),
      await send(payload, { timestamp: now - 301 }),
      await billing.service.call('POST', WEBHOOK, { ...signed, raw: `${payload} ` }),
      await billing.service.call('POST', WEBHOOK, { ...signed, raw: payload.replace('invoice', 'voice') }),
    ]
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [401, 'bad_signature']))
    expect(billing.fake.seen.length).toBe(from)
    expect((await send(payload)).body).toEqual({ received: true })
  })

  test('are refused if no secret is configured', async () => {
    const closed = await startBilling('stripe', { STRIPE_WEBHOOK_SECRET: '' })
    const payload = '{"id":"evt_1","object":"event","type":"x.y","data":{"object":{}}}'
    for (const secret of ['x', WEBHOOK_SECRET]) {
      const { status } = await closed.service.call('POST', WEBHOOK, closed.fake.sign(payload, { secret }))
      expect(status).toBe(401)
    }
    await closed.stop()
  })

  test('in any order and any number end in the current state of Stripe, with one notification per change', async () => {
    const owner = await newOwner()
    await subscribe(owner)
    billing.fake.events.splice(0)
    const before = await eventsOf(billing.service, owner)
    billing.fake.passPeriod(owner.ref)
    billing.fake.passPeriod(owner.ref)
    const events = billing.fake.events.splice(0)
    const storm = [...events.toReversed(), ...events, ...events.toReversed()]
    const answers = await Promise.all(storm.map(({ payload }) => send(payload)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { body } = await owner.call('GET', '/api/payments/invoices')
    expect(body.items.map(({ status }: { status: string }) => status)).toEqual(['paid', 'paid', 'paid'])
    const told = (await eventsOf(billing.service, owner)).slice(before.length)
    expect(told).toEqual(['invoice.paid', 'invoice.paid'])
  })

  test('about a failed renewal make the subscription past due and notify the owner', async () => {
    const owner = await newOwner()
    const bad = (await billing.addCard(owner, cards.chargesFail))!
    await subscribe(owner)
    await owner.call('POST', `${METHODS}/${bad}/default`)
    await billing.deliver()
    billing.fake.passPeriod(owner.ref)
    await billing.deliver()
    expect((await owner.call('GET', ME)).body.status).toBe('past_due')
    expect((await eventsOf(billing.service, owner)).slice(-2).sort()).toEqual([
      'invoice.failed',
      'subscription.changed',
    ])
    const refused = await owner.call('PATCH', ME, { body: { plan_id: business.plan_id } })
    expect(refused.status).toBe(409)
    const good = (await billing.addCard(owner, cards.other))!
    await owner.call('POST', `${METHODS}/${good}/default`)
    expect((await owner.call('GET', ME)).body.status).toBe('active')
  })

  test('of another account, of an unknown type or without a customer are accepted and ignored', async () => {
    const from = billing.fake.seen.length
    for (const object of [{ object: 'invoice', customer: 'cus_of_somebody_else' }, { object: 'balance' }, {}]) {
      const payload = JSON.stringify({ id: `evt_${Math.random()}`, object: 'event', type: 'x.y', data: { object } })
      expect((await send(payload)).status).toBe(200)
    }
    expect(billing.fake.seen.length).toBe(from)
  })

  test('whose processing failed are not recorded, so that they work when Stripe sends them again', async () => {
    const owner = await newOwner()
    await subscribe(owner)
    billing.fake.events.splice(0)
    billing.fake.passPeriod(owner.ref)
    const [event] = billing.fake.events.splice(0)
    billing.fake.fail({ match: /GET/, times: 1, what: { status: 500, headers: { 'stripe-should-retry': 'false' } } })
    expect((await send(event!.payload)).status).toBe(503)
    expect((await send(event!.payload)).status).toBe(200)
    expect((await owner.call('GET', '/api/payments/invoices')).body.items).toHaveLength(2)
  })
})

describe('our copy of the data at Stripe', () => {
  test('receives what webhooks missed, at the next read or at the next tick of the clock', async () => {
    const [looked, ticked] = [await newOwner(), await newOwner()]
    for (const owner of [looked, ticked]) {
      await subscribe(owner)
      billing.fake.passPeriod(owner.ref)
    }
    billing.fake.events.splice(0)
    await makeOld()
    expect((await looked.call('GET', '/api/payments/invoices')).body.items).toHaveLength(2)
    await billing.service.sql(
      `update billing_customers set synced_at = now() - interval '1 day' where workspace_id = $1`,
      [ticked.workspace.uuid],
    )
    // The clock of the service itself may hold the lock at this moment.
    const invoicesAfterTick = async (): Promise<number> => {
      await clock().runBillingClock(new Date())
      const [row] = await billing.service.sql<{ n: number }>(
        'select count(*)::int as n from invoices where workspace_id = $1',
        [ticked.workspace.uuid],
      )
      return row!.n
    }
    await expect.poll(invoicesAfterTick).toBe(2)
  })

  test('receives a card added in the browser without a webhook', async () => {
    const owner = await newOwner()
    const { body } = await owner.call('POST', '/api/payments/setup-intent')
    billing.fake.confirmSetup(body.client_secret, cards.other)
    billing.fake.events.splice(0)
    await makeOld()
    const { items } = (await owner.call('GET', METHODS)).body
    expect(items.map(({ last4, default: chosen }: { last4: string; default: boolean }) => [last4, chosen])).toEqual([
      ['4444', false],
      ['4242', true],
    ])
  })

  test('of a customer deleted at Stripe has no card and no subscription, and the owner can subscribe again', async () => {
    const owner = await newOwner()
    await subscribe(owner)
    billing.fake.state.customers.get(owner.ref)!.deleted = true
    await makeOld()
    expect((await owner.call('GET', ME)).body.code).toBe('no_subscription')
    expect((await owner.call('GET', METHODS)).body.items).toEqual([])
    await billing.addCard(owner)
    expect((await subscribe(owner)).status).toBe(201)
  })

  test('of a deleted workspace is gone, and the clock ends its subscription at Stripe', async () => {
    const owner = await newOwner()
    await subscribe(owner)
    await billing.service.sql('delete from workspaces where workspace_id = $1', [owner.workspace.uuid])
    expect(subscriptionsOf(owner.ref)).toMatchObject([{ status: 'active' }])
    await clock().runBillingClock(new Date())
    expect(subscriptionsOf(owner.ref)).toMatchObject([{ status: 'canceled' }])
    const left = await billing.service.sql('select from billing_orphans')
    expect(left).toEqual([])
  })

  test('gets cards only from Stripe: confirming a card here is refused', async () => {
    const owner = await newOwner()
    const { setup_intent_id, client_secret } = (await owner.call('POST', '/api/payments/setup-intent')).body
    const refused = await owner.call('POST', `/api/payments/setup-intents/${setup_intent_id}/confirm`, {
      body: { client_secret, card: { number: cards.works, exp_month: 1, exp_year: 2090, cvc: '123' } },
    })
    expect(refused.status).toBe(409)
  })
})
