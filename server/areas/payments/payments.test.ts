import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { type Billing, cards, eventsOf, type PlanRow, startBilling } from '#test/fakes/stripe/bench'
import { fiftyTimes } from '#test/harness/fifty-times'
import { makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'

// The behaviour that is the same for every provider.

const RANDOM = '01kf3v6h2he3wtpk1fw5c0wz9d'
const ME = '/api/payments/subscriptions/me'
const SUBSCRIPTIONS = '/api/payments/subscriptions'
const METHODS = '/api/payments/methods'

describe.each(['builtin', 'stripe'] as const)('payments with %s', (provider) => {
  let billing: Billing
  let world: World
  let free: PlanRow
  let team: PlanRow
  let business: PlanRow
  beforeAll(async () => {
    billing = await startBilling(provider, { HEDDLE_OPERATORS: 'op@example.com' })
    world = await makeWorld(billing.service)
    free = await billing.addPlan({ name: 'Free', amount: 0 })
    team = await billing.addPlan({ name: 'Team', amount: 3000 })
    business = await billing.addPlan({ name: 'Business', amount: 9000 })
  })
  afterAll(() => billing.stop())

  /** Creates a person with their own workspace, so that tests do not affect each other. */
  const newOwner = async (): Promise<TestPerson> => {
    const owner = await makePerson(billing.service)
    await makeWorkspace(billing.service, owner)
    return owner
  }
  const subscribed = async (plan: PlanRow): Promise<TestPerson> => {
    const owner = await newOwner()
    await billing.addCard(owner)
    const { status } = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: plan.plan_id } })
    expect(status).toBe(201)
    return owner
  }
  const methodsOf = async (person: TestPerson) => (await person.call('GET', METHODS)).body.items

  describe('permissions', () => {
    let method: string
    beforeAll(async () => {
      method = (await billing.addCard(world.owner))!
    })

    test('members and viewers can read, guests cannot', async () => {
      for (const path of [METHODS, '/api/payments/invoices', '/api/payments/usage']) {
        expect((await world.member.call('GET', path)).status).toBe(200)
        expect((await world.viewer.call('GET', path)).status).toBe(200)
        expect((await world.guest.call('GET', path)).status).toBe(403)
        expect((await billing.service.call('GET', path)).status).toBe(401)
      }
      expect((await world.viewer.call('GET', ME)).body.code).toBe('no_subscription')
      expect((await world.guest.call('GET', ME)).status).toBe(403)
    })

    test('only owners can change anything', async () => {
      const writes: [string, string, object?][] = [
        ['POST', '/api/payments/setup-intent'],
        ['POST', SUBSCRIPTIONS, { plan_id: team.plan_id }],
        ['PATCH', ME, { plan_id: team.plan_id }],
        ['DELETE', ME],
        ['POST', `${METHODS}/${method}/default`],
        ['DELETE', `${METHODS}/${method}`],
        ['POST', `/api/payments/setup-intents/seti_${RANDOM}/confirm`, {}],
      ]
      for (const [verb, path, body] of writes) {
        for (const person of [world.member, world.viewer])
          expect([path, (await person.call(verb, path, { body })).status]).toEqual([
            path,
            path.includes(RANDOM) ? 404 : 403,
          ])
        const guest = /pm_|seti_/.test(path) ? 404 : 403
        expect([path, (await world.guest.call(verb, path, { body })).status]).toEqual([path, guest])
        expect([path, (await billing.service.call(verb, path, { body })).status]).toEqual([path, 401])
      }
      expect(await methodsOf(world.owner)).toHaveLength(1)
    })

    test('the method of another workspace is not found, like a random id, and is not changed', async () => {
      for (const [verb, tail] of [
        ['DELETE', ''],
        ['POST', '/default'],
      ]) {
        const headers = { 'x-request-id': 'same' }
        const foreign = await world.stranger.call(verb!, `${METHODS}/${method}${tail}`, { headers })
        const random = await world.stranger.call(verb!, `${METHODS}/pm_${RANDOM}${tail}`, { headers })
        const illFormed = await world.stranger.call(verb!, `${METHODS}/nonsense${tail}`, { headers })
        expect(foreign.status).toBe(404)
        expect(foreign.text).toBe(random.text)
        expect(foreign.text).toBe(illFormed.text)
      }
      expect(await methodsOf(world.owner)).toMatchObject([{ payment_method_id: method, default: true }])
      expect(await methodsOf(world.stranger)).toEqual([])
    })
  })

  test('a setup intent creates the customer once and reuses it', async () => {
    const owner = await newOwner()
    const first = await owner.call('POST', '/api/payments/setup-intent')
    const second = await owner.call('POST', '/api/payments/setup-intent')
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({ provider, client_secret: expect.stringContaining('_secret_') })
    expect(second.body.customer_id).toBe(first.body.customer_id)
    expect(second.body.setup_intent_id).not.toBe(first.body.setup_intent_id)
    const again = { headers: { 'idempotency-key': 'same-intent', 'x-request-id': 'r' } }
    const [one, two] = [
      await owner.call('POST', '/api/payments/setup-intent', again),
      await owner.call('POST', '/api/payments/setup-intent', again),
    ]
    expect(one.text).toBe(two.text)
  })

  test('a paid plan requires a card and charges it; the subscription and the invoice are then shown', async () => {
    const owner = await newOwner()
    expect((await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id } })).body.code).toBe(
      'payment_method_required',
    )
    await billing.addCard(owner)
    const made = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id } })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(ME)
    expect(made.body).toMatchObject({ plan_id: team.plan_id, status: 'active', cancel_at_period_end: false })
    expect((await owner.call('GET', ME)).body).toEqual(made.body)
    expect(Object.keys(made.body).sort()).toEqual([
      'cancel_at_period_end',
      'created_at',
      'current_period_end',
      'current_period_start',
      'plan_id',
      'status',
      'subscription_id',
    ])
    const [method] = await methodsOf(owner)
    expect(Object.keys(method).sort()).toEqual([
      'brand',
      'created_at',
      'default',
      'exp_month',
      'exp_year',
      'last4',
      'payment_method_id',
    ])
    const { body } = await owner.call('GET', '/api/payments/invoices')
    expect(body.items).toMatchObject([
      { status: 'paid', amount_due: 3000, amount_paid: 3000, currency: 'eur', url: expect.stringContaining('http') },
    ])
    expect((await eventsOf(billing.service, owner)).sort()).toEqual(['invoice.paid', 'subscription.changed'])
    const notices = (await owner.call('GET', '/api/notifications')).body.items as { kind: string; body: string }[]
    expect(notices.find(({ kind }) => kind === 'invoice.paid')?.body).toBe('Amount: €30.00')
  })

  test('a wrong id, a random and a malformed plan id get the same refusal', async () => {
    const owner = await newOwner()
    await billing.addCard(owner)
    const texts = []
    for (const plan_id of [`plan_${RANDOM}`, 'nonsense', team.plan_id.replace('plan_', 'ws_')]) {
      const answer = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id }, headers: { 'x-request-id': 'same' } })
      expect(answer.status).toBe(422)
      expect(answer.body.code).toBe('unknown_reference')
      texts.push(answer.text)
    }
    expect(new Set(texts).size).toBe(1)
    expect((await owner.call('GET', ME)).status).toBe(404)
  })

  test('the client cannot set the price', async () => {
    const owner = await newOwner()
    for (const extra of [{ amount: 1 }, { quantity: -1 }, { currency: 'xxx' }, { price: 0.5 }])
      expect((await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id, ...extra } })).status).toBe(422)
    const owned = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id, status: 'active' } })
    expect(owned.body.code).toBe('read_only')
  })

  test('a second subscription is refused and the first is unchanged', async () => {
    const owner = await subscribed(team)
    const second = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: business.plan_id } })
    expect([second.status, second.body.code]).toEqual([409, 'subscription_exists'])
    expect((await owner.call('GET', ME)).body.plan_id).toBe(team.plan_id)
    expect((await owner.call('GET', '/api/payments/invoices')).body.items).toHaveLength(1)
  })

  test('a failed payment creates no subscription, and another card then works', async () => {
    const owner = await newOwner()
    await billing.addCard(owner, cards.chargesFail)
    const refused = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id } })
    expect([refused.status, refused.body.code]).toEqual([402, 'card_declined'])
    expect((await owner.call('GET', ME)).status).toBe(404)
    const good = await billing.addCard(owner, cards.works)
    await owner.call('POST', `${METHODS}/${good}/default`)
    expect((await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id } })).status).toBe(201)
  })

  test('a declined card is not stored; a card that needs confirmation is stored after it', async () => {
    const owner = await newOwner()
    expect(await billing.addCard(owner, cards.declined)).toBeUndefined()
    expect(await methodsOf(owner)).toEqual([])
    expect(await billing.addCard(owner, cards.confirm)).toMatch(/^pm_/)
    expect(await methodsOf(owner)).toMatchObject([{ brand: 'visa', last4: '3155', default: true }])
  })

  test('changing the plan charges the difference and keeps one subscription', async () => {
    const owner = await subscribed(team)
    const before = (await owner.call('GET', ME)).body
    const changed = await owner.call('PATCH', ME, { body: { plan_id: business.plan_id } })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ subscription_id: before.subscription_id, plan_id: business.plan_id })
    const [newest] = (await owner.call('GET', '/api/payments/invoices')).body.items
    expect(newest.amount_paid).toBeGreaterThan(5_900)
    expect(Number.isInteger(newest.amount_paid)).toBe(true)
    const unknown = await owner.call('PATCH', ME, { body: { plan_id: `plan_${RANDOM}` } })
    expect(unknown.body.code).toBe('unknown_reference')
  })

  test('a fetched subscription can be sent back; read-only fields cannot be changed', async () => {
    const owner = await subscribed(team)
    const got = await owner.call('GET', ME)
    expect((await owner.call('PATCH', ME, { body: got.body })).body).toEqual(got.body)
    expect((await owner.call('PATCH', ME, { body: { ...got.body, status: 'trialing' } })).body.code).toBe('read_only')
    const guarded = { body: { cancel_at_period_end: true }, headers: { 'if-match': '"old"' } }
    expect((await owner.call('PATCH', ME, guarded)).status).toBe(412)
  })

  test('cancelling takes effect at the end of the period unless requested immediately', async () => {
    const owner = await subscribed(team)
    expect((await owner.call('DELETE', ME)).status).toBe(204)
    expect((await owner.call('GET', ME)).body).toMatchObject({ status: 'active', cancel_at_period_end: true })
    expect((await owner.call('DELETE', ME)).status).toBe(204)
    expect((await owner.call('PATCH', ME, { body: { cancel_at_period_end: false } })).body.cancel_at_period_end).toBe(
      false,
    )
    expect((await owner.call('DELETE', `${ME}?at=tomorrow`)).status).toBe(422)
    expect((await owner.call('DELETE', `${ME}?at=now`)).status).toBe(204)
    expect((await owner.call('GET', ME)).body.code).toBe('no_subscription')
    expect((await owner.call('DELETE', ME)).body.code).toBe('no_subscription')
    expect((await owner.call('PATCH', ME, { body: { plan_id: team.plan_id } })).body.code).toBe('no_subscription')
    expect((await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: business.plan_id } })).status).toBe(201)
  })

  test('deleting the default makes the newest other method the default; a subscriber cannot delete the last method', async () => {
    const owner = await newOwner()
    const first = (await billing.addCard(owner, cards.works))!
    const second = (await billing.addCard(owner, cards.other))!
    const third = (await billing.addCard(owner, cards.confirm))!
    await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id } })
    expect((await owner.call('DELETE', `${METHODS}/${first}`)).status).toBe(204)
    expect(await methodsOf(owner)).toMatchObject([
      { payment_method_id: third, default: true },
      { payment_method_id: second, default: false },
    ])
    const chosen = await owner.call('POST', `${METHODS}/${second}/default`)
    expect([chosen.status, chosen.body.default]).toEqual([200, true])
    expect((await owner.call('DELETE', `${METHODS}/${third}`)).status).toBe(204)
    expect((await owner.call('DELETE', `${METHODS}/${third}`)).status).toBe(404)
    const last = await owner.call('DELETE', `${METHODS}/${second}`)
    expect([last.status, last.body.code]).toEqual([409, 'method_in_use'])
    await owner.call('DELETE', `${ME}?at=now`)
    expect((await owner.call('DELETE', `${METHODS}/${second}`)).status).toBe(204)
    expect(await methodsOf(owner)).toEqual([])
  })

  test('a workspace gets a trial once', async () => {
    const trial = await billing.addPlan({ name: 'Trial', amount: 2000, trial_days: 14 })
    const owner = await subscribed(trial)
    expect((await owner.call('GET', ME)).body.status).toBe('trialing')
    await owner.call('DELETE', `${ME}?at=now`)
    const again = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: trial.plan_id } })
    expect(again.body.status).toBe('active')
  })

  test('a plan too small for the workspace is refused with the name of the quota', async () => {
    const tiny = await billing.addPlan({ name: 'Tiny', amount: 100, quotas: { members: 0 } })
    const owner = await subscribed(team)
    const refused = await owner.call('PATCH', ME, { body: { plan_id: tiny.plan_id } })
    expect([refused.status, refused.body.code]).toEqual([403, 'quota_exceeded'])
    expect(refused.body.detail).toContain('members')
    expect((await owner.call('GET', ME)).body.plan_id).toBe(team.plan_id)
  })

  test('paging through the invoices returns each once, newest first', async () => {
    const owner = await subscribed(team)
    await owner.call('PATCH', ME, { body: { plan_id: business.plan_id } })
    await owner.call('PATCH', ME, { body: { plan_id: free.plan_id } })
    const numbers: string[] = []
    let cursor = ''
    do {
      const { body } = await owner.call('GET', `/api/payments/invoices?limit=1${cursor}`)
      numbers.push(...body.items.map((invoice: { number: string }) => invoice.number))
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    expect(numbers.map((number) => number.slice(-4))).toEqual(['0003', '0002', '0001'])
    expect((await owner.call('GET', '/api/payments/invoices?cursor=nonsense')).status).toBe(422)
  })

  test('a cursor with an invalid time is refused', async () => {
    const owner = await subscribed(team)
    for (const at of [
      '0000-01-01T00:00:00Z',
      '-000001-01-01T00:00:00Z',
      '+275760-09-13T00:00:00Z',
      '2026-01-01',
      'x',
    ]) {
      const cursor = Buffer.from(JSON.stringify([at, newId()])).toString('base64url')
      for (const list of ['invoices', 'methods'])
        expect((await owner.call('GET', `/api/payments/${list}?cursor=${cursor}`)).status).toBe(422)
    }
  })

  test('the same Idempotency-Key with two credentials is two requests: the second subscription is refused', async () => {
    const owner = await newOwner()
    await billing.addCard(owner)
    const { key } = (await owner.call('POST', '/auth/api-keys', { body: { name: 'Second' } })).body
    const headers = { 'idempotency-key': 'i1' }
    const first = await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id }, headers })
    expect([first.status, first.body.plan_id]).toEqual([201, team.plan_id])
    for (const { plan_id } of [business, team]) {
      const second = await billing.service.call('POST', SUBSCRIPTIONS, { token: key, body: { plan_id }, headers })
      expect([second.status, second.body.code]).toEqual([409, 'subscription_exists'])
      headers['idempotency-key'] = 'i2'
    }
  })

  describe('fifty simultaneous requests', () => {
    let owner: TestPerson
    let methods: string[]
    beforeEach(async () => {
      owner = await newOwner()
      methods = [(await billing.addCard(owner, cards.works))!, (await billing.addCard(owner, cards.other))!]
    })
    const live = async (): Promise<number> => {
      const { body } = await owner.call('GET', '/api/payments/invoices')
      if (provider === 'stripe')
        expect(
          [...billing.fake.state.subscriptions.values()].filter(
            ({ customer }) => customer === [...billing.fake.state.invoices.values()].at(-1)?.customer,
          ),
        ).toHaveLength(1)
      return body.items.length
    }

    test('to subscribe without a key create one subscription, and the others are refused', async () => {
      const answers = await fiftyTimes((at) =>
        owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: (at % 2 ? team : business).plan_id } }),
      )
      const statuses = answers.map(({ status }) => status).sort()
      expect(statuses.filter((status) => status === 201)).toHaveLength(1)
      expect(statuses.filter((status) => status === 409)).toHaveLength(49)
      expect(await live()).toBe(1)
    })

    test('to subscribe with one key get the same response and create one subscription and one invoice', async () => {
      const options = { body: { plan_id: team.plan_id }, headers: { 'idempotency-key': 'once', 'x-request-id': 'r' } }
      const answers = await fiftyTimes(() => owner.call('POST', SUBSCRIPTIONS, options))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(answers[0]!.status).toBe(201)
      expect(await live()).toBe(1)
    })

    test('to set the default leave exactly one default', async () => {
      const answers = await fiftyTimes((at) => owner.call('POST', `${METHODS}/${methods[at % 2]}/default`))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      const defaults = (await methodsOf(owner)).filter((method: { default: boolean }) => method.default)
      expect(defaults).toHaveLength(1)
      if (provider === 'stripe') {
        const refs = await billing.service.sql<{ ref: string }>(
          'select provider_ref as ref from payment_methods m join memberships using (workspace_id) where user_id = $1 and is_default',
          [owner.uuid],
        )
        const customers = [...billing.fake.state.customers.values()]
        expect(customers.map((one) => one.invoice_settings.default_payment_method)).toContain(refs[0]!.ref)
      }
    })

    test('to delete both methods of a subscriber leave one method, which is the default', async () => {
      await owner.call('POST', SUBSCRIPTIONS, { body: { plan_id: team.plan_id } })
      const answers = await fiftyTimes((at) => owner.call('DELETE', `${METHODS}/${methods[at % 2]}`))
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
      expect(await methodsOf(owner)).toMatchObject([{ default: true }])
    })
  })
})
