import type { z } from 'zod'
import type { FindAccessLevel } from '#platform/access/check'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId } from '#platform/ids'
import { listAsOperator } from '#platform/operator'
import type { NewSubscription, Subscription, SubscriptionPatch } from './schema.ts'
import * as store from './store.ts'

// Generic records of what a workspace has subscribed to. Billing has its own subscriptions, in the payments area.

type ById = { subscription_id: string }

/** Returns the role in the subscription's own workspace. */
export const accessLevelInSubscription: FindAccessLevel = async (ctx, subscriptionId) => {
  const role = await store.findRoleFor(ctx.tx, ctx.person.user_id, subscriptionId)
  return role === 'guest' ? undefined : role
}

export const getSubscription = async (ctx: Context, { subscription_id }: ById): Promise<Subscription> => {
  const subscription = await store.findSubscription(ctx.tx, subscription_id)
  if (!subscription) throw problem('not_found')
  return subscription
}

export const listSubscriptions = (ctx: Context, asked: ListInput) =>
  ctx.person.operator
    ? listAsOperator(ctx, 'subscriptions', (tx) => store.listAllSubscriptions(tx, asked))
    : store.listSubscriptions(ctx.tx, ctx.person.user_id, asked)

export async function createSubscription(ctx: Context, input: z.output<typeof NewSubscription>): Promise<Subscription> {
  const row = { subscription_id: newId(), ...input }
  return checkTimes(await store.insertSubscription(ctx.tx, ctx.workspace.workspace_id, row))
}

export const updateSubscription = async (
  ctx: Context,
  { subscription_id, ...patch }: ById & z.output<typeof SubscriptionPatch>,
): Promise<Subscription> => checkTimes(await store.updateSubscription(ctx.tx, subscription_id, patch))

export async function deleteSubscription(ctx: Context, { subscription_id }: ById): Promise<void> {
  await store.deleteSubscription(ctx.tx, subscription_id)
}

/** Checks the resulting row: each time may come from the request, the stored row or the clock. */
function checkTimes(subscription: Subscription): Subscription {
  const { starts_at, ends_at } = subscription
  if (ends_at !== null && ends_at <= starts_at)
    throw invalid([{ path: '/ends_at', message: 'must be later than starts_at' }])
  return subscription
}
