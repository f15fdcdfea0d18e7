import type { Client } from '#sdk/client'

/** Creates a card, a paid plan and a record. */
export async function fillBilling(ada: Client, at: Record<string, string>): Promise<void> {
  const intent = await ada.createSetupIntent()
  const year = new Date().getFullYear() + 2
  await ada.confirmSetupIntent({
    setup_intent_id: intent.setup_intent_id,
    client_secret: intent.client_secret,
    card: { number: '4242424242424242', exp_month: 11, exp_year: year, cvc: '123' },
  })
  const plans = (await ada.listPlans()).items.filter(({ amount }) => amount > 0)
  if (plans[0]) await ada.createBillingSubscription({ plan_id: plans[0].plan_id })
  const record = await ada.createSubscription({ name: 'Yarn, monthly', quantity: 40, metadata: { supplier: 'Lyon' } })
  at.record = `/billing/records/${record.subscription_id}`
}
