import { owner, signedIn, viewer, workspaceOwner } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { ListedSubscription, NewSubscription, Subscription, SubscriptionPatch, subscriptionList } from './schema.ts'
import * as subscriptions from './service.ts'

export const subscriptionRoutes = (): AnyRoute[] =>
  routes(
    'Subscriptions',
    {
      listSubscriptions: ['GET', '/api/subscriptions', signedIn],
      createSubscription: ['POST', '/api/subscriptions', workspaceOwner],
      getSubscription: ['GET', '/api/subscriptions/:subscription_id', viewer('subscription')],
      updateSubscription: ['PATCH', '/api/subscriptions/:subscription_id', owner('subscription')],
      deleteSubscription: ['DELETE', '/api/subscriptions/:subscription_id', owner('subscription')],
    },
    {
      listSubscriptions: {
        summary: "Subscriptions of the caller's workspaces (operators: all)",
        query: subscriptionList.query,
        answer: page(ListedSubscription),
        run: subscriptions.listSubscriptions,
      },
      createSubscription: {
        summary: 'Create a subscription in the selected workspace',
        body: NewSubscription,
        answer: Subscription,
        status: 201,
        location: ({ subscription_id }) => `/api/subscriptions/${subscription_id}`,
        examples: { body: { name: 'Market data', quantity: 5, ends_at: '2027-01-01T00:00:00Z' } },
        run: subscriptions.createSubscription,
      },
      getSubscription: { summary: 'One subscription', answer: Subscription, run: subscriptions.getSubscription },
      updateSubscription: {
        summary: 'Change a subscription: an owner of its workspace',
        body: SubscriptionPatch,
        answer: Subscription,
        current: subscriptions.getSubscription,
        run: subscriptions.updateSubscription,
      },
      deleteSubscription: {
        summary: 'Delete a subscription: an owner of its workspace',
        status: 204,
        current: subscriptions.getSubscription,
        run: subscriptions.deleteSubscription,
      },
    },
  )
