import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY } from '#platform/clock'
import { makeLogger } from '#platform/log'
import { unitAmount } from '#providers/billing/stripe/meters'
import { usageAmount } from '#providers/billing/usage'
import { say } from '#test/fakes/llm/answers'
import { type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Billing, cards, type PlanRow, startBilling } from '#test/fakes/stripe/bench'
import { makePerson, makeWorkspace, type TestPerson } from '#test/harness/world'
import { makePayments } from './payments.ts'

// Plans that charge for the use of the operator's models: from the node of an execution to the line of the invoice.

const ME = '/api/payments/subscriptions/me'
const OPERATOR = 'operator@example.com'
const USAGE = [
  { meter: 'model_tokens', unit_amount: 200, per: 1_000, included: 1_000 },
  { meter: 'model_cost', unit_amount: 150, per: 1_000_000, included: 0 },
]

let llm: FakeLlm
beforeAll(async () => {
  llm = await startFakeLlm()
})
afterAll(() => llm.close())

const envOf = () => ({
  HEDDLE_OPERATORS: OPERATOR,
  LLM_PROVIDER: 'openai-compatible',
  LLM_MODEL: 'house',
  LLM_API_KEY: llm.key,
  LLM_BASE_URL: llm.baseUrl,
  HEDDLE_ALLOW_TARGETS: new URL(llm.baseUrl).host,
})

const start = async (provider: 'builtin' | 'stripe') => {
  const billing = await startBilling(provider, envOf())
  const operator = await makePerson(billing.service, { email: OPERATOR })
  await makeWorkspace(billing.service, operator)
  // One dollar per thousand tokens.
  const prices = [{ model: 'openai-compatible/house', input: 1_000, output: 1_000 }]
  const set = await operator.call('PUT', '/api/operations/prices', { body: { prices } })
  expect(set.status, set.text).toBe(200)
  return { billing, operator }
}

async function ask(person: TestPerson, tokens: number): Promise<string> {
  llm.reset()
  llm.script(say('Hi', { input: tokens - 1, output: 1 }))
  const definition = { nodes: [{ id: 'ask', type: 'llm.generate', args: { prompt: 'Hello' } }], edges: [] }
  const made = await person.call('POST', '/api/workflows', { body: { name: 'Asks', definition } })
  expect(made.status, made.text).toBe(201)
  const ran = await person.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, {
    body: { input: {} },
  })
  expect(ran.body.status, ran.text).toBe('succeeded')
  return ran.body.execution_id
}
const owning = async (billing: Billing, plan: PlanRow) => {
  const owner = await makePerson(billing.service)
  const workspace = await makeWorkspace(billing.service, owner)
  await billing.addCard(owner, cards.works)
  const made = await owner.call('POST', '/api/payments/subscriptions', { body: { plan_id: plan.plan_id } })
  expect(made.status, made.text).toBe(201)
  return Object.assign(owner, { workspace })
}
const invoicesOf = async (owner: TestPerson) => (await owner.call('GET', '/api/payments/invoices')).body.items
const chargesOf = async (owner: TestPerson, query = '') => {
  const { status, body, text } = await owner.call('GET', `/api/payments/usage-charges?${query}`)
  expect(status, text).toBe(200)
  return body.items
}
type Line = { meter?: string; amount: number }
const usageLines = (invoice: { lines: Line[] }): Line[] => invoice.lines.filter(({ meter }) => meter)

describe('the built-in ledger', () => {
  let billing: Billing
  let operator: TestPerson
  let plan: PlanRow
  beforeAll(async () => {
    ;({ billing, operator } = await start('builtin'))
    plan = await billing.addPlan({ name: 'Metered', amount: 1_000, usage_prices: USAGE })
  })
  afterAll(() => billing.stop())
  const clockOf = () => {
    const { config, db, vault } = billing.service
    return makePayments({ config, db, vault, log: makeLogger('silent') }).clock
  }
  const passPeriod = async (owner: TestPerson): Promise<void> => {
    const { current_period_end } = (await owner.call('GET', ME)).body
    await clockOf().runBillingClock(new Date(Date.parse(current_period_end) + 1_000))
  }

  test('charges usage once, at the end of its period, and links each execution to its invoice line', async () => {
    const owner = await owning(billing, plan)
    const [first, second] = [await ask(owner, 2_000), await ask(owner, 500)]
    const before = await chargesOf(owner, `execution_id=${first}`)
    expect(before).toHaveLength(2)
    expect(before.map((charge: object) => ({ ...charge }))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          meter: 'model_tokens',
          quantity: 2_000,
          amount: 400,
          execution_id: first,
          node_path: 'ask',
          invoice_id: null,
          currency: 'eur',
        }),
        expect.objectContaining({ meter: 'model_cost', quantity: 2_000_000, amount: 300, plan_id: plan.plan_id }),
      ]),
    )
    await passPeriod(owner)
    const [invoice] = await invoicesOf(owner)
    expect(usageLines(invoice)).toEqual([
      expect.objectContaining({ meter: 'model_tokens', amount: 300, quantity: 1_500 }),
      expect.objectContaining({ meter: 'model_cost', amount: 375, quantity: 2_500_000 }),
    ])
    expect(invoice).toMatchObject({ amount_due: 1_675, status: 'paid' })
    const charged = await chargesOf(owner, `invoice_id=${invoice.invoice_id}&meter=model_tokens`)
    expect(charged.map(({ execution_id }: { execution_id: string }) => execution_id)).toEqual([second, first])
    expect((await chargesOf(owner, `execution_id=${first}`))[0].invoice_id).toBe(invoice.invoice_id)

    await passPeriod(owner)
    expect(usageLines((await invoicesOf(owner))[0])).toEqual([])
  })

  test('charges usage before a change of plan and before the end of the subscription', async () => {
    const owner = await owning(billing, plan)
    const other = await billing.addPlan({ name: 'Flat', amount: 1_000 })
    await ask(owner, 1_500)
    expect((await owner.call('PATCH', ME, { body: { plan_id: other.plan_id } })).status).toBe(200)
    const [changed] = await invoicesOf(owner)
    expect(usageLines(changed).map(({ amount }) => amount)).toEqual([100, 225])
    await ask(owner, 1_500)
    expect(await chargesOf(owner)).toHaveLength(2)

    expect((await owner.call('PATCH', ME, { body: { plan_id: plan.plan_id } })).status).toBe(200)
    await ask(owner, 3_000)
    expect((await owner.call('DELETE', `${ME}?at=now`)).status).toBe(204)
    const [last] = await invoicesOf(owner)
    expect(last).toMatchObject({ amount_due: 850, status: 'paid' })
    expect(await chargesOf(owner, `invoice_id=${last.invoice_id}`)).toHaveLength(2)
  })

  test('charges the usage since a failed renewal once, when the subscription ends because it stays unpaid', async () => {
    const owner = await owning(billing, plan)
    const bad = await billing.addCard(owner, cards.chargesFail)
    await owner.call('POST', `/api/payments/methods/${bad}/default`)
    const { current_period_end } = (await owner.call('GET', ME)).body
    await passPeriod(owner)
    expect((await owner.call('GET', ME)).body.status).toBe('past_due')
    const used = await ask(owner, 2_000)
    for (const days of [7, 8]) {
      await clockOf().runBillingClock(new Date(Date.parse(current_period_end) + days * DAY + 1_000))
      expect((await owner.call('GET', ME)).body.code).toBe('no_subscription')
      const [last, renewal, ...others] = await invoicesOf(owner)
      expect(usageLines(last).map(({ amount }) => amount)).toEqual([200, 300])
      expect(last).toMatchObject({ amount_due: 500, amount_paid: 0, status: 'uncollectible' })
      expect(renewal).toMatchObject({ amount_due: 1_000, status: 'uncollectible' })
      expect(others).toHaveLength(1)
      expect(await chargesOf(owner, `invoice_id=${last.invoice_id}&execution_id=${used}`)).toHaveLength(2)
    }
  })

  test('charges nothing during a trial, for a model of the tenant, or under a plan without usage prices', async () => {
    const trial = await billing.addPlan({ name: 'Trial', amount: 1_000, trial_days: 10, usage_prices: USAGE })
    const trying = await owning(billing, trial)
    await ask(trying, 2_000)
    expect(await chargesOf(trying)).toEqual([])

    const own = await owning(billing, plan)
    const credential = await own.call('POST', '/api/credentials', {
      body: {
        name: 'Own',
        kind: 'llm',
        hosts: [new URL(llm.baseUrl).hostname],
        config: { provider: 'openai-compatible', base_url: llm.baseUrl, default_model: 'house' },
        secrets: { api_key: llm.key },
      },
    })
    expect(credential.status, credential.text).toBe(201)
    llm.reset()
    llm.script(say('Hi', { input: 1_000, output: 1_000 }))
    const args = { prompt: 'Hello', credential_id: credential.body.credential_id }
    const made = await own.call('POST', '/api/workflows', {
      body: { name: 'Own', definition: { nodes: [{ id: 'ask', type: 'llm.generate', args }], edges: [] } },
    })
    const ran = await own.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, { body: { input: {} } })
    expect(ran.body.status, ran.text).toBe('succeeded')
    expect(await chargesOf(own)).toEqual([])
  })

  test('shows charges only to their own workspace', async () => {
    const [owner, other] = [await owning(billing, plan), await owning(billing, plan)]
    const execution = await ask(owner, 2_000)
    expect(await chargesOf(other)).toEqual([])
    expect(await chargesOf(other, `execution_id=${execution}`)).toEqual([])
  })

  test('requires a card even if the plan itself costs nothing', async () => {
    const free = await billing.addPlan({ name: 'Pay as you go', amount: 0, usage_prices: USAGE })
    const owner = await makePerson(billing.service)
    await makeWorkspace(billing.service, owner)
    const { body } = await owner.call('POST', '/api/payments/subscriptions', { body: { plan_id: free.plan_id } })
    expect(body.code).toBe('payment_method_required')
  })

  test('lets operators set valid usage prices, which cannot change while customers pay them', async () => {
    const body = { name: 'New', amount: 0, currency: 'eur', interval: 'month' }
    const make = (usage_prices: unknown) =>
      operator.call('POST', '/api/payments/plans', { body: { ...body, usage_prices } })
    const price = { meter: 'model_tokens', unit_amount: 5, per: 1_000_000 }
    for (const bad of [
      [{ ...price, per: 3 }],
      [{ ...price, meter: 'runs' }],
      [price, price],
      [{ ...price, unit_amount: -1 }],
      {},
    ])
      expect((await make(bad)).status, JSON.stringify(bad)).toBe(422)
    const made = await make([price])
    expect(made.status, made.text).toBe(201)
    expect(made.body.usage_prices).toEqual([{ ...price, included: 0 }])
    await owning(billing, { ...plan, plan_id: made.body.plan_id })
    const change = (usage_prices: unknown) =>
      operator.call('PATCH', `/api/payments/plans/${made.body.plan_id}`, { body: { usage_prices } })
    expect((await change([{ ...price, unit_amount: 6 }])).body.code).toBe('plan_in_use')
    expect((await change([{ ...price, included: 0 }])).status).toBe(200)
  })
})

describe('Stripe', () => {
  let billing: Billing
  let plan: PlanRow
  beforeAll(async () => {
    ;({ billing } = await start('stripe'))
    plan = await billing.addPlan({ name: 'Metered', amount: 1_000, usage_prices: USAGE })
  })
  afterAll(() => billing.stop())
  const report = async (): Promise<void> => {
    const { config, db, vault } = billing.service
    await makePayments({ config, db, vault, log: makeLogger('silent') }).clock.runBillingClock(new Date())
  }
  const events = () => [...billing.fake.state.meterEvents.values()]

  test('receives meters, prices per meter and each usage report once, and its invoice leads to the executions', async () => {
    const owner = await owning(billing, plan)
    const { meters, prices, subscriptions } = billing.fake.state
    expect([...meters.values()].map(({ event_name }) => event_name).sort()).toEqual([
      'heddle_model_cost',
      'heddle_model_tokens',
    ])
    const metered = [...prices.values()].filter(({ recurring }) => recurring.usage_type === 'metered')
    expect(
      metered.map(({ unit_amount_decimal, tiers }) => unit_amount_decimal ?? tiers?.[1]?.unit_amount_decimal),
    ).toEqual(['0.2', '0.00015'])
    expect([...subscriptions.values()].at(-1)!.items.data).toHaveLength(3)

    const execution = await ask(owner, 2_000)
    // The response to the first report is lost: the report is sent again and counted once.
    billing.fake.fail({ match: /meter_events/, when: 'after', what: { status: 500 }, times: 9 })
    await report()
    billing.fake.heal()
    await report()
    await report()
    expect(
      events()
        .map(({ event_name, value }) => [event_name, value])
        .sort(),
    ).toEqual([
      ['heddle_model_cost', 2_000_000],
      ['heddle_model_tokens', 2_000],
    ])
    const [row] = await billing.service.sql<{ ref: string }>(
      'select provider_ref as ref from billing_customers where workspace_id = $1',
      [owner.workspace.uuid],
    )
    billing.fake.passPeriod(row!.ref)
    await billing.deliver()
    const [invoice] = await invoicesOf(owner)
    expect(usageLines(invoice)).toEqual([
      expect.objectContaining({ meter: 'model_tokens', amount: 200 }),
      expect.objectContaining({ meter: 'model_cost', amount: 300 }),
    ])
    const charged = await chargesOf(owner, `invoice_id=${invoice.invoice_id}`)
    expect(charged.map(({ execution_id }: { execution_id: string }) => execution_id)).toEqual([execution, execution])
    expect((await owner.call('GET', ME)).body.plan_id).toBe(plan.plan_id)
  })

  test('receives other prices when the plan changes', async () => {
    const owner = await owning(billing, plan)
    const other = await billing.addPlan({ name: 'Other', amount: 2_000, usage_prices: [USAGE[1]!] })
    const changed = await owner.call('PATCH', ME, { body: { plan_id: other.plan_id } })
    expect(changed.status, changed.text).toBe(200)
    expect(changed.body.plan_id).toBe(other.plan_id)
    const items = [...billing.fake.state.subscriptions.values()].at(-1)!.items.data
    expect(items.map(({ price }) => price.metadata.heddle_plan)).toEqual([other.plan_id, other.plan_id])
  })
})

describe('usage under Stripe that is not reported yet', () => {
  let billing: Billing
  let plan: PlanRow
  beforeAll(async () => {
    ;({ billing } = await start('stripe'))
    plan = await billing.addPlan({ name: 'Metered', amount: 1_000, usage_prices: USAGE })
  })
  afterAll(() => billing.stop())

  test('is charged with a last invoice when the subscription ends at once', async () => {
    const owner = await owning(billing, plan)
    const execution = await ask(owner, 2_000)
    expect((await owner.call('DELETE', `${ME}?at=now`)).status).toBe(204)
    const invoices = (await invoicesOf(owner)).filter((one: { lines: Line[] }) => usageLines(one).length > 0)
    expect(invoices).toMatchObject([{ status: 'paid', amount_due: 500 }])
    const [invoice] = invoices
    expect(usageLines(invoice).map(({ amount }) => amount)).toEqual([200, 300])
    expect(await chargesOf(owner, `execution_id=${execution}&invoice_id=${invoice.invoice_id}`)).toHaveLength(2)
  })

  test('is reported before the plan changes to one without a price for it', async () => {
    const owner = await owning(billing, plan)
    const reports = () => [...billing.fake.state.meterEvents.values()].length
    const before = reports()
    await ask(owner, 2_000)
    const flat = await billing.addPlan({ name: 'Flat', amount: 1_000 })
    expect((await owner.call('PATCH', ME, { body: { plan_id: flat.plan_id } })).status).toBe(200)
    expect(reports()).toBe(before + 2)
  })
})

test.each([
  [0, 200, 1_000, 0, 0],
  [1_000, 200, 1_000, 0, 200],
  [1_000, 200, 1_000, 1_000, 0],
  [1_002, 250, 1_000, 1_000, 1],
  [1_001, 250, 1_000, 1_000, 0],
  [9_007_199_254_740_991, 99_999_999, 1_000_000_000, 0, 900_719_916_466_900],
])('%i units at %i per %i beyond %i included units cost %i', (quantity, unit_amount, per, included, amount) => {
  expect(usageAmount({ meter: 'model_tokens', unit_amount, per, included }, quantity)).toBe(amount)
})

test.each([
  [200, 1, '200'],
  [200, 1_000, '0.2'],
  [1_234, 1_000, '1.234'],
  [0, 1_000_000, '0'],
  [5, 1_000_000_000, '0.000000005'],
])('the unit amount of %i per %i is %s', (unit_amount, per, text) => {
  expect(unitAmount({ meter: 'model_tokens', unit_amount, per, included: 0 })).toBe(text)
})
