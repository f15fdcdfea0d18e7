import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY, systemClock } from '#platform/clock'
import { isProblem } from '#platform/errors'
import { newId } from '#platform/ids'
import { SECRET_KEY, startFakeStripe } from '#test/fakes/stripe/server'
import { useService } from '#test/harness/service'
import { makePerson, makeWorkspace } from '#test/harness/world'
import { makeBuiltin } from './builtin/builtin.ts'
import type { BillingPlan, BillingProvider, Customer } from './index.ts'
import { connectStripe, makeStripe } from './stripe/stripe.ts'

// The contract of every billing provider, checked by reading the provider's own state: the ledger in PostgreSQL, and
// Stripe through its real SDK.

const WORKS = '4242424242424242'
const CHARGES_FAIL = '4000000000000341'
const CONFIRM = '4000002500003155'
const DECLINED = '4000000000000002'

type Bench = {
  provider: BillingProvider
  newCustomer(): Promise<Customer>
  addCard(customer: Customer, number: string): Promise<'succeeded' | 'requires_action' | 'declined'>
  passPeriod(customer: Customer): Promise<void>
  stop(): Promise<void>
}

const service = useService()
const plan = (name: string, amount: number, interval: 'month' | 'year' = 'month'): BillingPlan => ({
  plan_id: newId(),
  name,
  amount,
  currency: 'eur',
  interval,
  trial_days: 0,
  usage_prices: [],
  tax: null,
})
const free = plan('Free', 0)
const team = plan('Team', 3000)
const business = plan('Business', 9000)
const yearly = plan('Yearly', 30_000, 'year')
const taxed: BillingPlan = { ...plan('Taxed', 3000), tax: { name: 'VAT', percent: 19 } }
const plans = [free, team, business, yearly, taxed]

async function makeBuiltinBench(): Promise<Bench> {
  const { db, vault, sql } = service()
  const provider = makeBuiltin({ db, vault, clock: systemClock })
  const owner = await makePerson(service())
  for (const one of plans)
    await sql(
      `insert into plans (plan_id, org_id, name, amount, currency, "interval", tax) select $1, org_id, $2, $3, $4, $5, $6 from orgs limit 1`,
      [one.plan_id, one.name, one.amount, one.currency, one.interval, one.tax],
    )
  return {
    provider,
    async newCustomer() {
      const { uuid } = await makeWorkspace(service(), owner)
      const ref = await provider.createCustomer({ workspaceId: uuid, name: 'Acme', email: owner.email, key: uuid })
      const customerId = newId()
      await sql(
        `insert into billing_customers (workspace_id, provider, customer_id, provider_ref, invoice_prefix) values ($1, 'builtin', $2, $3, $4)`,
        [uuid, customerId, ref, customerId.slice(-8)],
      )
      return { workspaceId: uuid, customerId, ref }
    },
    async addCard(customer, number) {
      const id = newId()
      await sql(
        `insert into setup_intents (workspace_id, setup_intent_id, provider, request_key) values ($1, $2, 'builtin', $2::uuid::text)`,
        [customer.workspaceId, id],
      )
      const { client_secret } = await provider.createSetupIntent(customer, { id, key: id })
      const card = { number, exp_month: 12, exp_year: 2090, cvc: '123' }
      const confirm = async (): Promise<'succeeded' | 'requires_action' | 'declined'> => {
        try {
          return (await provider.confirmSetupIntent!(customer, { id, client_secret, card })).status
        } catch (error) {
          if (isProblem(error, 'card_declined')) return 'declined'
          throw error
        }
      }
      const first = await confirm()
      return first === 'requires_action' && number === CONFIRM ? confirm() : first
    },
    async passPeriod(customer) {
      const snapshot = await provider.read(customer)
      const live = snapshot!.subscriptions.find(({ status }) => status !== 'cancelled')!
      await provider.moveClock(customer.workspaceId, new Date(live.current_period_end.getTime() + 1000))
    },
    stop: async () => {},
  }
}

async function makeStripeBench(): Promise<Bench> {
  const fake = await startFakeStripe()
  const provider = makeStripe(connectStripe({ secretKey: SECRET_KEY, apiBase: fake.base }))
  return {
    provider,
    async newCustomer() {
      const workspaceId = newId()
      const ref = await provider.createCustomer({ workspaceId, name: 'Acme', email: 'owner@example.com', key: 'k' })
      return { workspaceId, customerId: newId(), ref }
    },
    async addCard(customer, number) {
      const { client_secret } = await provider.createSetupIntent(customer, { id: newId(), key: newId() })
      const first = fake.confirmSetup(client_secret, number)
      const status = first === 'requires_action' ? fake.confirmSetup(client_secret, number) : first
      const snapshot = await provider.read(customer)
      const [only, ...others] = snapshot!.methods
      // The service makes the first card the default for Stripe; the ledger does so itself.
      if (only && others.length === 0) await provider.setDefaultMethod(customer, only.ref, newId())
      return status
    },
    async passPeriod(customer) {
      fake.passPeriod(customer.ref)
    },
    stop: fake.stop,
  }
}

describe.each([
  ['builtin', makeBuiltinBench],
  ['stripe', makeStripeBench],
] as const)('%s', (name, makeBench) => {
  let bench: Bench
  let provider: BillingProvider
  beforeAll(async () => {
    bench = await makeBench()
    provider = bench.provider
  })
  afterAll(() => bench.stop())

  const read = async (customer: Customer) => (await provider.read(customer))!
  const order = (of: BillingPlan, more: { trialDays?: number; requestKey?: string; attempt?: number } = {}) => ({
    plan: of,
    trialDays: 0,
    requestKey: newId(),
    attempt: 0,
    discount: null,
    ...more,
  })
  const withCard = async (number = WORKS): Promise<Customer> => {
    const customer = await bench.newCustomer()
    await bench.addCard(customer, number)
    return customer
  }

  test('reports its name', () => {
    expect(provider.name).toBe(name)
  })

  test('the first card becomes the default, a later one does not', async () => {
    const customer = await withCard()
    await bench.addCard(customer, '5555555555554444')
    const { methods } = await read(customer)
    expect(methods.map(({ brand, last4, is_default }) => [brand, last4, is_default])).toEqual([
      ['mastercard', '4444', false],
      ['visa', '4242', true],
    ])
  })

  test('a declined card adds no method, and a card that its holder must confirm is added at the second confirmation', async () => {
    const customer = await bench.newCustomer()
    expect(await bench.addCard(customer, DECLINED)).toBe('declined')
    expect((await read(customer)).methods).toEqual([])
    expect(await bench.addCard(customer, CONFIRM)).toBe('succeeded')
    expect((await read(customer)).methods).toHaveLength(1)
  })

  test('exactly one method is the default after every choice and removal', async () => {
    const customer = await withCard()
    await bench.addCard(customer, '5555555555554444')
    const [newer, older] = (await read(customer)).methods
    await provider.setDefaultMethod(customer, newer!.ref, newId())
    expect((await read(customer)).methods.filter(({ is_default }) => is_default).map(({ ref }) => ref)).toEqual([
      newer!.ref,
    ])
    await provider.removeMethod(customer, { ref: newer!.ref, nextDefault: older!.ref }, newId())
    expect((await read(customer)).methods.map(({ ref, is_default }) => [ref, is_default])).toEqual([[older!.ref, true]])
  })

  test('a subscription is active, stores its plan and request, and its first invoice is paid', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(team, { requestKey: 'r1' }))
    const { subscriptions, invoices } = await read(customer)
    expect(subscriptions).toMatchObject([
      { plan_id: team.plan_id, status: 'active', cancel_at_period_end: false, request_key: 'r1', ended_at: null },
    ])
    const [subscription] = subscriptions
    const days = (subscription!.current_period_end.getTime() - subscription!.current_period_start.getTime()) / DAY
    expect(days).toBeGreaterThanOrEqual(28)
    expect(days).toBeLessThanOrEqual(31)
    expect(invoices).toMatchObject([
      { status: 'paid', amount_due: 3000, amount_paid: 3000, currency: 'eur', subscription_ref: subscription!.ref },
    ])
    expect(invoices[0]!.number).toMatch(/-0001$/)
    expect(invoices[0]!.lines.reduce((sum, line) => sum + line.amount, 0)).toBe(3000)
  })

  test('a coupon is subtracted and the tax is added as lines that add up; a one-time coupon applies to the first invoice only', async () => {
    const customer = await withCard()
    const discount = { code: 'HALF', percent_off: 50, duration: 'once' } as const
    await provider.subscribe(customer, { ...order(taxed), discount })
    await bench.passPeriod(customer)
    const { invoices } = await read(customer)
    const sums = invoices.map(({ lines }) => lines.reduce((sum, { amount }) => sum + amount, 0))
    expect(invoices.map(({ amount_due }) => amount_due)).toEqual([3570, 1785])
    expect(sums).toEqual([3570, 1785])
    expect(invoices[1]!.lines.map(({ amount }) => amount)).toEqual([3000, -1500, 285])
  })

  test('a change of plan ends the coupon, and the credit includes the coupon and the tax that were paid', async () => {
    const customer = await withCard()
    const discount = { code: 'HALF', percent_off: 50, duration: 'forever' } as const
    await provider.subscribe(customer, { ...order(taxed), discount })
    const [{ ref } = { ref: '' }] = (await read(customer)).subscriptions
    await provider.changePlan(customer, ref, business, newId())
    await bench.passPeriod(customer)
    expect((await read(customer)).invoices[0]).toMatchObject({ amount_due: 9000 })
  })

  test('a repeated request creates one subscription and one invoice', async () => {
    const customer = await withCard()
    const same = order(team, { requestKey: 'again' })
    await provider.subscribe(customer, same)
    await provider.subscribe(customer, same)
    const { subscriptions, invoices } = await read(customer)
    expect([subscriptions.length, invoices.length]).toEqual([1, 1])
  })

  test('a free plan needs no card', async () => {
    const customer = await bench.newCustomer()
    await provider.subscribe(customer, order(free))
    const { subscriptions, invoices } = await read(customer)
    expect(subscriptions).toMatchObject([{ status: 'active', plan_id: free.plan_id }])
    expect(invoices).toMatchObject([{ status: 'paid', amount_due: 0 }])
  })

  test('a declined first payment leaves no subscription or invoice', async () => {
    const customer = await withCard(CHARGES_FAIL)
    await expect(provider.subscribe(customer, order(team))).rejects.toMatchObject({ code: 'card_declined' })
    expect(await read(customer)).toMatchObject({ subscriptions: [], invoices: [] })
  })

  test('a trial costs nothing, and the paid periods start at its end', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(team, { trialDays: 14 }))
    expect(await read(customer)).toMatchObject({
      subscriptions: [{ status: 'trialing' }],
      invoices: [{ amount_due: 0 }],
    })
    await bench.passPeriod(customer)
    expect(await read(customer)).toMatchObject({
      subscriptions: [{ status: 'active' }],
      invoices: [{ amount_due: 3000, status: 'paid' }, { amount_due: 0 }],
    })
  })

  test('a change to a more expensive plan is charged for the rest of the period at once', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(team))
    const before = (await read(customer)).subscriptions[0]!
    await provider.changePlan(customer, before.ref, business, newId())
    const { subscriptions, invoices } = await read(customer)
    expect(subscriptions[0]).toMatchObject({ plan_id: business.plan_id, current_period_end: before.current_period_end })
    const [change] = invoices
    // The period has only just started, so nearly all of the difference is charged.
    expect(change!.amount_paid).toBeGreaterThan(5_990)
    expect(change!.amount_paid).toBeLessThanOrEqual(6_000)
    expect(change!.lines.slice(0, 2).map(({ proration }) => proration)).toEqual([true, true])
    expect(change!.lines[0]!.amount).toBeLessThan(0)
  })

  test('a change to a cheaper plan leaves credit that pays later invoices', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(business))
    const { ref } = (await read(customer)).subscriptions[0]!
    await provider.changePlan(customer, ref, team, newId())
    expect((await read(customer)).invoices[0]).toMatchObject({ amount_due: 0, status: 'paid' })
    await bench.passPeriod(customer)
    // About 6000 of credit covers the 3000 due.
    expect((await read(customer)).invoices[0]).toMatchObject({ amount_due: 0, status: 'paid' })
  })

  test('a change to another interval starts a new period', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(team))
    const { ref } = (await read(customer)).subscriptions[0]!
    await provider.changePlan(customer, ref, yearly, newId())
    const { subscriptions, invoices } = await read(customer)
    const [subscription] = subscriptions
    const days = (subscription!.current_period_end.getTime() - subscription!.current_period_start.getTime()) / DAY
    expect(Math.round(days)).toBeGreaterThanOrEqual(365)
    expect(invoices[0]!.amount_paid).toBeGreaterThan(26_990)
  })

  test('a change of plan whose payment fails changes nothing', async () => {
    const customer = await withCard()
    await bench.addCard(customer, CHARGES_FAIL)
    await provider.subscribe(customer, order(team))
    const before = await read(customer)
    await provider.setDefaultMethod(customer, before.methods[0]!.ref, newId())
    const { ref } = before.subscriptions[0]!
    await expect(provider.changePlan(customer, ref, business, newId())).rejects.toMatchObject({ code: 'card_declined' })
    const after = await read(customer)
    expect(after.subscriptions).toEqual(before.subscriptions)
    expect(after.invoices).toEqual(before.invoices)
  })

  test('a period that ends is followed by the next period, which has its own invoice', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(team))
    const before = (await read(customer)).subscriptions[0]!
    await bench.passPeriod(customer)
    const { subscriptions, invoices } = await read(customer)
    expect(subscriptions[0]).toMatchObject({ status: 'active', current_period_start: before.current_period_end })
    expect(invoices.map(({ status, amount_paid }) => [status, amount_paid])).toEqual([
      ['paid', 3000],
      ['paid', 3000],
    ])
    expect(invoices[0]!.number).toMatch(/-0002$/)
  })

  test('a failed renewal is past due until a working card becomes the default and pays it', async () => {
    const customer = await withCard()
    await bench.addCard(customer, CHARGES_FAIL)
    await provider.subscribe(customer, order(team))
    const [bad, good] = (await read(customer)).methods
    await provider.setDefaultMethod(customer, bad!.ref, newId())
    await bench.passPeriod(customer)
    expect(await read(customer)).toMatchObject({
      subscriptions: [{ status: 'past_due' }],
      invoices: [{ status: 'open', attempts: 1, amount_paid: 0 }, { status: 'paid' }],
    })
    await provider.setDefaultMethod(customer, good!.ref, newId())
    expect(await read(customer)).toMatchObject({
      subscriptions: [{ status: 'active' }],
      invoices: [{ status: 'paid', amount_paid: 3000 }, { status: 'paid' }],
    })
  })

  test('a cancellation takes effect at the end of the period and can be reversed until then', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(team))
    const { ref } = (await read(customer)).subscriptions[0]!
    await provider.cancel(customer, ref, 'period_end', newId())
    expect((await read(customer)).subscriptions).toMatchObject([{ status: 'active', cancel_at_period_end: true }])
    await provider.resume(customer, ref, newId())
    expect((await read(customer)).subscriptions).toMatchObject([{ cancel_at_period_end: false }])
    await provider.cancel(customer, ref, 'period_end', newId())
    await bench.passPeriod(customer)
    expect((await read(customer)).subscriptions).toMatchObject([{ status: 'cancelled' }])
    expect((await read(customer)).invoices).toHaveLength(1)
  })

  test('an immediate cancellation ends the subscription at once, and a new subscription can follow', async () => {
    const customer = await withCard()
    await provider.subscribe(customer, order(team))
    const { ref } = (await read(customer)).subscriptions[0]!
    await provider.cancel(customer, ref, 'now', newId())
    expect((await read(customer)).subscriptions[0]).toMatchObject({ status: 'cancelled' })
    expect((await read(customer)).subscriptions[0]!.ended_at).toBeInstanceOf(Date)
    await provider.subscribe(customer, order(business, { attempt: 1 }))
    expect((await read(customer)).subscriptions.map(({ status }) => status).sort()).toEqual(['active', 'cancelled'])
  })
})
