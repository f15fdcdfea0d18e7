import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY } from '#platform/clock'
import { makeLogger } from '#platform/log'
import { type Billing, cards, eventsOf, type PlanRow, startBilling } from '#test/fakes/stripe/bench'
import { fiftyTimes } from '#test/harness/fifty-times'
import { addMember, makePerson, makeWorkspace, type TestPerson } from '#test/harness/world'
import { makePayments } from './payments.ts'

// The built-in ledger, with a clock that the test controls.

const ME = '/api/payments/subscriptions/me'
const SUBSCRIPTIONS = '/api/payments/subscriptions'
const METHODS = '/api/payments/methods'

let billing: Billing
let team: PlanRow
let yearly: PlanRow
let operator: TestPerson
beforeAll(async () => {
  billing = await startBilling('builtin', { HEDDLE_OPERATORS: 'op@example.com' })
  team = await billing.addPlan({ name: 'Team <b>&', amount: 3000 })
  yearly = await billing.addPlan({ name: 'Yearly', amount: 30_000, interval: 'year' })
  operator = await makePerson(billing.service, { email: 'op@example.com' })
})
afterAll(() => billing.stop())

async function subscribed(plan: PlanRow, card: string = cards.works) {
  const owner = await makePerson(billing.service)
  const workspace = await makeWorkspace(billing.service, owner, 'Home <script>')
  await billing.addCard(owner, card)
  expect((await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: plan.plan_id } })).status).toBe(201)
  return Object.assign(owner, { workspace })
}
const clock = () => {
  const { config, db, vault } = billing.service
  return makePayments({ config, db, vault, log: makeLogger('silent') }).clock
}
const me = async (owner: TestPerson) => (await owner.call('GET', ME)).body
const invoicesOf = async (owner: TestPerson) => (await owner.call('GET', '/api/payments/invoices')).body.items
const makeBadCardDefault = async (owner: TestPerson): Promise<void> => {
  const bad = await billing.addCard(owner, cards.chargesFail)
  await owner.call('POST', `${METHODS}/${bad}/default`)
}
const later = (time: string, ms: number): Date => new Date(Date.parse(time) + ms)

describe('renewal', () => {
  test('happens once at the end of the period, not earlier and not twice', async () => {
    const owner = await subscribed(team)
    const { current_period_end: end } = await me(owner)
    await clock().runBillingClock(later(end, -1000))
    expect(await invoicesOf(owner)).toHaveLength(1)
    await Promise.all(Array.from({ length: 20 }, () => clock().runBillingClock(later(end, 1000))))
    await clock().runBillingClock(later(end, 2000))
    const invoices = await invoicesOf(owner)
    expect(invoices.map(({ number }: { number: string }) => number.slice(-4))).toEqual(['0002', '0001'])
    expect(await me(owner)).toMatchObject({ status: 'active', current_period_start: end })
  })

  test('after months without a server, creates the missed invoices with the times when they were due', async () => {
    const owner = await subscribed(team)
    const start = Date.parse((await me(owner)).current_period_start)
    await clock().runBillingClock(new Date(start + 100 * DAY))
    const invoices = await invoicesOf(owner)
    expect(invoices).toHaveLength(4)
    for (const [at, invoice] of invoices.entries())
      if (at > 0) expect(invoices[at - 1].period_start).toBe(invoice.period_end)
    expect(
      invoices.every(
        (invoice: { created_at: string; period_start: string }) => invoice.created_at === invoice.period_start,
      ),
    ).toBe(true)
  })

  test('of a yearly plan is due after a year', async () => {
    const owner = await subscribed(yearly)
    const { current_period_start, current_period_end } = await me(owner)
    expect(new Date(current_period_end).getUTCFullYear()).toBe(new Date(current_period_start).getUTCFullYear() + 1)
  })

  test('does not happen for a cancelled subscription, which ends without another invoice', async () => {
    const owner = await subscribed(team)
    const { current_period_end } = await me(owner)
    await owner.call('DELETE', ME)
    await clock().runBillingClock(later(current_period_end, 1000))
    expect((await me(owner)).code).toBe('no_subscription')
    expect(await invoicesOf(owner)).toHaveLength(1)
  })

  test('of one workspace can fail without delaying other workspaces', async () => {
    const [broken, fine] = [await subscribed(team), await subscribed(team)]
    await billing.service.sql(`update billing_customers set invoice_prefix = 'BROKEN' where workspace_id = $1`, [
      broken.workspace.uuid,
    ])
    // The next invoice number already exists.
    await billing.service.sql(`update invoices set number = 'BROKEN-0002' where workspace_id = $1`, [
      broken.workspace.uuid,
    ])
    const { current_period_end } = await me(fine)
    await clock().runBillingClock(later(current_period_end, 1000))
    expect(await invoicesOf(fine)).toHaveLength(2)
    expect(await invoicesOf(broken)).toHaveLength(1)
    await billing.service.sql('delete from workspaces where workspace_id = $1', [broken.workspace.uuid])
  })
})

describe('dunning', () => {
  test('retries a failed payment after 1, 3 and 7 days, then ends the subscription and marks the invoice uncollectible', async () => {
    const owner = await subscribed(team)
    await makeBadCardDefault(owner)
    const { current_period_end: end } = await me(owner)
    const attemptsAt = async (ms: number) => {
      await clock().runBillingClock(later(end, ms))
      const [row] = await billing.service.sql<{ attempts: number }>(
        'select attempts from invoices where workspace_id = $1 order by created_at desc limit 1',
        [owner.workspace.uuid],
      )
      return row!.attempts
    }
    expect(await attemptsAt(1000)).toBe(1)
    expect((await me(owner)).status).toBe('past_due')
    expect(await attemptsAt(1 * DAY - 1000)).toBe(1)
    expect(await attemptsAt(1 * DAY + 1000)).toBe(2)
    expect(await attemptsAt(3 * DAY + 1000)).toBe(3)
    expect((await me(owner)).status).toBe('past_due')
    expect(await attemptsAt(7 * DAY + 1000)).toBe(4)
    expect((await me(owner)).code).toBe('no_subscription')
    expect((await invoicesOf(owner))[0]).toMatchObject({ status: 'uncollectible', amount_due: 3000, amount_paid: 0 })
    const told = await eventsOf(billing.service, owner)
    expect(told.filter((kind) => kind === 'invoice.failed')).toHaveLength(4)
    // Created, past due, ended.
    expect(told.filter((kind) => kind === 'subscription.changed')).toHaveLength(3)
  })

  test('charges a card that works again at the next attempt', async () => {
    const owner = await subscribed(team)
    await makeBadCardDefault(owner)
    const { current_period_end: end } = await me(owner)
    await clock().runBillingClock(later(end, 1000))
    await billing.service.sql(`update payment_methods set charge = 'pays' where workspace_id = $1`, [
      owner.workspace.uuid,
    ])
    await clock().runBillingClock(later(end, DAY + 1000))
    expect(await me(owner)).toMatchObject({ status: 'active', current_period_start: end })
    expect((await invoicesOf(owner))[0]).toMatchObject({ status: 'paid', amount_paid: 3000 })
  })

  test('notifies only owners', async () => {
    const owner = await subscribed(team)
    const member = await makePerson(billing.service)
    await addMember(billing.service, owner.workspace, member, 'member')
    await clock().runBillingClock(later((await me(owner)).current_period_end, 1000))
    expect(await eventsOf(billing.service, owner)).toContain('invoice.paid')
    expect(await eventsOf(billing.service, member)).toEqual([])
  })
})

describe('the test clock', () => {
  test('lets an operator move the clock of their current workspace, but only forward', async () => {
    await makeWorkspace(billing.service, operator)
    await billing.addCard(operator)
    await operator.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id } })
    const { current_period_end: end } = await me(operator)
    const moved = await operator.call('POST', '/api/payments/test-clock', { body: { now: later(end, DAY) } })
    expect(moved.status).toBe(200)
    expect(Math.abs(Date.parse(moved.body.now) - later(end, DAY).getTime())).toBeLessThan(60_000)
    expect(await me(operator)).toMatchObject({ current_period_start: end })
    const back = await operator.call('POST', '/api/payments/test-clock', { body: { now: new Date(0) } })
    expect(Date.parse(back.body.now)).toBeGreaterThanOrEqual(Date.parse(moved.body.now) - 1000)
    const other = await subscribed(team)
    expect(Date.parse((await me(other)).current_period_start)).toBeLessThan(Date.parse(end))
    expect((await other.call('POST', '/api/payments/test-clock', { body: { now: new Date() } })).status).toBe(403)
  })
})

test('the test clock refuses to charge a workspace that the operator does not own, and its use is audited', async () => {
  const owner = await subscribed(team)
  await addMember(billing.service, owner.workspace, operator, 'viewer')
  const { current_period_end: end } = await me(owner)
  const move = () =>
    operator.call('POST', '/api/payments/test-clock', {
      body: { now: later(end, DAY) },
      headers: { 'x-workspace-id': owner.workspace.id },
    })
  expect((await move()).status).toBe(403)
  expect(await invoicesOf(owner)).toHaveLength(1)
  await addMember(billing.service, owner.workspace, operator, 'owner')
  expect((await move()).status).toBe(200)
  expect(await invoicesOf(owner)).toHaveLength(2)
  const { body } = await owner.call('GET', '/api/audit-log?action=billing.clock_moved')
  expect(body.items).toMatchObject([
    { actor_id: operator.id, actor_kind: 'operator', data: { now: later(end, DAY).toISOString() } },
  ])
})

describe('confirming a card', () => {
  const card = { number: cards.works, exp_month: 12, exp_year: 2090, cvc: '123' }
  const intentOf = async (owner: TestPerson) => (await owner.call('POST', '/api/payments/setup-intent')).body
  const confirm = (owner: TestPerson, intent: { setup_intent_id: string; client_secret: string }, more: object = {}) =>
    owner.call('POST', `/api/payments/setup-intents/${intent.setup_intent_id}/confirm`, {
      body: { client_secret: intent.client_secret, card, ...more },
    })
  let owner: TestPerson
  beforeAll(async () => {
    owner = await makePerson(billing.service)
    await makeWorkspace(billing.service, owner)
  })

  test('returns the documented result for each test card', async () => {
    const intent = await intentOf(owner)
    const declined = await confirm(owner, intent, { card: { ...card, number: cards.declined } })
    expect([declined.status, declined.body.code]).toEqual([402, 'card_declined'])
    const first = await confirm(owner, intent, { card: { ...card, number: cards.confirm } })
    expect([first.status, first.body]).toEqual([200, { status: 'requires_action' }])
    const second = await confirm(owner, intent, { card: { ...card, number: cards.confirm } })
    expect(second.body).toMatchObject({
      status: 'succeeded',
      payment_method: { brand: 'visa', last4: '3155', default: true },
    })
    const repeated = await confirm(owner, intent, { card: { ...card, number: cards.confirm } })
    expect(repeated.body).toEqual(second.body)
  })

  test('ignores spaces in the number, and refuses real, wrong and expired cards', async () => {
    const intent = await intentOf(owner)
    const refusals = [
      [{ ...card, number: '4111111111111111' }, 402],
      [{ ...card, number: '4242424242424241' }, 422],
      [{ ...card, number: 'abcd' }, 422],
      [{ ...card, exp_year: 2001 }, 422],
      [{ ...card, exp_month: 13 }, 422],
      [{ ...card, cvc: '1' }, 422],
      [{ ...card, extra: true }, 422],
    ] as const
    for (const [bad, status] of refusals) expect((await confirm(owner, intent, { card: bad })).status).toBe(status)
    const spaced = await confirm(owner, intent, { card: { ...card, number: '4242 4242 4242 4242' } })
    expect(spaced.body.payment_method.last4).toBe('4242')
  })

  test('stores no card number and no security code', async () => {
    const rows = await billing.service.sql<{ dump: string }>(
      `select (select json_agg(s) from setup_intents s)::text || (select json_agg(p) from payment_methods p)::text
        || coalesce((select json_agg(a) from audit_log a)::text, '') as dump`,
    )
    for (const number of Object.values(cards)) expect(rows[0]!.dump).not.toContain(number)
  })

  test('fails with a wrong secret or with the intent of another workspace', async () => {
    const intent = await intentOf(owner)
    const wrong = await confirm(owner, { ...intent, client_secret: `${intent.client_secret}x` })
    expect([wrong.status, wrong.body.code]).toEqual([422, 'unknown_reference'])
    const stranger = await makePerson(billing.service)
    await makeWorkspace(billing.service, stranger)
    const foreign = await confirm(stranger, intent)
    const random = await confirm(stranger, { ...intent, setup_intent_id: 'seti_01kf3v6h2he3wtpk1fw5c0wz9d' })
    expect([foreign.status, random.status]).toEqual([404, 404])
    expect((await stranger.call('GET', METHODS)).body.items).toEqual([])
  })

  test('a second time fails with an explanation if the card was deleted in the meantime', async () => {
    const intent = await intentOf(owner)
    const { payment_method } = (await confirm(owner, intent)).body
    expect((await owner.call('DELETE', `${METHODS}/${payment_method.payment_method_id}`)).status).toBe(204)
    const again = await confirm(owner, intent)
    expect([again.status, again.body.code]).toEqual([409, 'conflict'])
    expect(again.body.detail).toContain('deleted')
  })

  test('fifty times with one intent creates one payment method', async () => {
    const racer = await makePerson(billing.service)
    await makeWorkspace(billing.service, racer)
    const intent = await intentOf(racer)
    const answers = await fiftyTimes(() => confirm(racer, intent))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await racer.call('GET', METHODS)).body.items).toMatchObject([{ default: true }])
  })
})

describe('the page of an invoice', () => {
  test('shows the content of the invoice, escaped, with a content security policy that allows no scripts', async () => {
    const owner = await subscribed(team)
    const [invoice] = await invoicesOf(owner)
    const page = await fetch(invoice.url)
    const html = await page.text()
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('script-src')
    expect(policy).not.toContain('unsafe')
    expect(html).toContain(invoice.number)
    expect(html).toContain('€30.00')
    expect(html).toContain('Team &lt;b&gt;&amp;')
    expect(html).toContain('Home &lt;script&gt;')
    expect(html).not.toContain('<script>')
  })

  test('is not found if any part of its address is changed', async () => {
    const owner = await subscribed(team)
    const [invoice] = await invoicesOf(owner)
    const url = new URL(invoice.url)
    const changed = (change: (copy: URL) => void): string => {
      const copy = new URL(url)
      change(copy)
      return copy.href
    }
    const stranger = await subscribed(team)
    const bad = [
      changed((copy) => copy.searchParams.set('expires', String(Number(copy.searchParams.get('expires')) + 1))),
      changed((copy) => copy.searchParams.set('workspace', stranger.workspace.id)),
      changed((copy) => copy.searchParams.set('signature', `${copy.searchParams.get('signature')}A`)),
      changed((copy) => copy.searchParams.set('signature', '')),
      changed((copy) =>
        copy.searchParams.set(
          'signature',
          copy.searchParams.get('signature')!.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')),
        ),
      ),
    ]
    for (const address of bad) expect((await fetch(address)).status).toBe(404)
    const [other] = await invoicesOf(stranger)
    expect((await fetch(url.href.replace(invoice.invoice_id, other.invoice_id))).status).toBe(404)
    expect((await fetch(changed((copy) => copy.searchParams.set('more', '1')))).status).toBe(422)
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    expect((await fetch(changed((copy) => copy.searchParams.delete('signature')))).status).toBe(422)
  })
})

test('webhooks of Stripe are refused if Stripe is not configured', async () => {
  const answer = await billing.service.call('POST', '/api/payments/webhooks/stripe', {
    raw: '{}',
    headers: { 'stripe-signature': 't=1,v1=00' },
  })
  expect([answer.status, answer.body.code]).toEqual([401, 'bad_signature'])
})
