import { newId, toWire } from '#platform/ids'
import { type Answer, type Service, startService } from '#test/harness/service'
import type { TestPerson } from '#test/harness/world'
import { type FakeStripe, startFakeStripe } from './server.ts'

// A service that bills through one of the two providers, and the actions of a person in the browser.

export const cards = {
  works: '4242424242424242',
  other: '5555555555554444',
  declined: '4000000000000002',
  confirm: '4000002500003155',
  chargesFail: '4000000000000341',
} as const

export type PlanRow = { plan_id: string; uuid: string; name: string; amount: number }

export async function startBilling(provider: 'builtin' | 'stripe', env: Record<string, string> = {}) {
  const fake = provider === 'stripe' ? await startFakeStripe() : null
  const service = await startService({ env: { ...fake?.env, ...env } })

  /** Sends the events of Stripe in order. Does nothing without Stripe. */
  async function deliver(): Promise<Answer[]> {
    const answers: Answer[] = []
    for (const { payload } of fake?.events.splice(0) ?? [])
      answers.push(await service.call('POST', '/api/payments/webhooks/stripe', fake!.sign(payload)))
    return answers
  }

  return {
    service,
    fake: fake as FakeStripe,
    provider,
    deliver,

    async addPlan(plan: {
      name: string
      amount: number
      interval?: string
      currency?: string
      quotas?: object
      trial_days?: number
      usage_prices?: object[]
    }): Promise<PlanRow> {
      const uuid = newId()
      await service.sql(
        `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas, trial_days, usage_prices)
         select $1, org_id, $2, $3, $4, $5, $6, $7, $8 from orgs order by org_id limit 1`,
        [
          uuid,
          plan.name,
          plan.amount,
          plan.currency ?? 'eur',
          plan.interval ?? 'month',
          plan.quotas ?? {},
          plan.trial_days ?? 0,
          JSON.stringify(plan.usage_prices ?? []),
        ],
      )
      return { plan_id: toWire('plan', uuid), uuid, name: plan.name, amount: plan.amount }
    },

    /** Adds a card as the console does, including all steps. Returns its id, or undefined if the card was declined. */
    async addCard(person: TestPerson, number: string = cards.works): Promise<string | undefined> {
      const intent = (await person.call('POST', '/api/payments/setup-intent')).body
      if (fake) {
        if (fake.confirmSetup(intent.client_secret, number) === 'requires_action')
          fake.confirmSetup(intent.client_secret, number)
        await deliver()
        const { body } = await person.call('GET', '/api/payments/methods')
        return body.items.find(({ last4 }: { last4: string }) => number.endsWith(last4))?.payment_method_id
      }
      const body = { client_secret: intent.client_secret, card: { number, exp_month: 12, exp_year: 2090, cvc: '123' } }
      const path = `/api/payments/setup-intents/${intent.setup_intent_id}/confirm`
      let answer = await person.call('POST', path, { body })
      if (answer.body.status === 'requires_action') answer = await person.call('POST', path, { body })
      return answer.body.payment_method?.payment_method_id
    },

    async stop(): Promise<void> {
      await service.stop()
      await fake?.stop()
    },
  }
}

export type Billing = Awaited<ReturnType<typeof startBilling>>

/** Returns the kinds of a person's notifications, oldest first. */
export async function eventsOf(service: Service, person: TestPerson): Promise<string[]> {
  const rows = await service.sql<{ kind: string }>(
    'select kind from notifications where user_id = $1 order by notification_id',
    [person.uuid],
  )
  return rows.map(({ kind }) => kind)
}
