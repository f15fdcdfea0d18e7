import { z } from 'zod'
import { andOperator, anyone, owner, viewer, workspaceOwner } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import type { Payments } from './payments.ts'
import {
  BillingSubscription,
  BillingSubscriptionPatch,
  CancelQuery,
  ConfirmSetupIntent,
  MoveTestClock,
  NewBillingSubscription,
  PaymentToConfirm,
  SetupConfirmation,
  SetupIntent,
  TestClock,
  Usage,
  WebhookReceipt,
} from './schema.ts'

/** Routes of subscriptions and usage, and the webhook of Stripe. */
export const subscriptionRoutes = ({
  allowances,
  methods,
  quotas,
  subscriptions,
  testClock,
  webhooks,
}: Payments): AnyRoute[] =>
  routes(
    'Payments',
    {
      createSetupIntent: ['POST', '/api/payments/setup-intent', workspaceOwner],
      confirmSetupIntent: ['POST', '/api/payments/setup-intents/:setup_intent_id/confirm', owner('setup_intent')],
      createBillingSubscription: ['POST', '/api/payments/subscriptions', workspaceOwner],
      getMyBillingSubscription: ['GET', '/api/payments/subscriptions/me', viewer('workspace')],
      updateMyBillingSubscription: ['PATCH', '/api/payments/subscriptions/me', workspaceOwner],
      cancelMyBillingSubscription: ['DELETE', '/api/payments/subscriptions/me', workspaceOwner],
      getUsage: ['GET', '/api/payments/usage', viewer('workspace')],
      moveTestClock: ['POST', '/api/payments/test-clock', andOperator(workspaceOwner)],
      receiveStripeWebhook: ['POST', '/api/payments/webhooks/stripe', anyone],
    },
    {
      createSetupIntent: {
        summary:
          'Create or reuse the billing customer of the workspace, then return the client_secret of a setup intent',
        answer: SetupIntent,
        status: 201,
        // A setup intent cannot be read again; the resulting card appears among the methods.
        location: () => '/api/payments/methods',
        transaction: false,
        run: methods.createSetupIntent,
      },
      confirmSetupIntent: {
        summary: 'Confirm a setup intent of the built-in provider with a test card',
        description:
          '4242424242424242 works, 4000000000000002 is declined (402), 4000002500003155 needs a second confirm, 4000000000000341 works but every charge fails.',
        body: ConfirmSetupIntent,
        examples: {
          body: {
            client_secret: 'seti_secret',
            card: { number: '4242424242424242', exp_month: 12, exp_year: 2030, cvc: '123' },
          },
        },
        answer: SetupConfirmation,
        transaction: false,
        extension: true,
        alsoRefuses: [402],
        run: methods.confirmSetupIntent,
      },
      createBillingSubscription: {
        summary: 'Subscribe the workspace to a plan',
        description:
          'If the bank asks the card holder to confirm the first payment, the response is 202 with a `client_secret`: confirm it with Stripe.js within 23 hours, and the subscription starts. The same request again returns the same secret.',
        body: NewBillingSubscription,
        answer: z.union([BillingSubscription, PaymentToConfirm]),
        status: 201,
        alsoStatus: [202],
        location: () => '/api/payments/subscriptions/me',
        transaction: false,
        alsoRefuses: [402],
        run: subscriptions.createSubscription,
      },
      getMyBillingSubscription: {
        summary: 'The active subscription of the workspace',
        answer: BillingSubscription,
        transaction: false,
        run: subscriptions.getMySubscription,
      },
      updateMyBillingSubscription: {
        summary: 'Change the plan, or reverse a cancellation',
        description:
          'Unused time is credited and the new price is charged at once. A plan whose quotas are smaller than the current usage of the workspace gets 403 `quota_exceeded`.',
        body: BillingSubscriptionPatch,
        answer: BillingSubscription,
        transaction: false,
        extension: true,
        current: subscriptions.getMySubscription,
        alsoRefuses: [402],
        run: subscriptions.updateMySubscription,
      },
      cancelMyBillingSubscription: {
        summary: 'Cancel the subscription at the end of its period, or at once with `at=now`',
        query: CancelQuery,
        status: 204,
        transaction: false,
        extension: true,
        current: subscriptions.getMySubscription,
        run: subscriptions.cancelMySubscription,
      },
      getUsage: {
        summary: 'What the workspace uses of the quotas of its plan',
        description:
          '`means` are quotas of a minute, a day or a month; over several processes they are up to two seconds old.',
        answer: Usage,
        transaction: false,
        extension: true,
        run: async (ctx) => ({
          ...(await quotas.getUsage(ctx)),
          means: await allowances.list(ctx.workspace.workspace_id),
        }),
      },
      moveTestClock: {
        summary: 'Move the billing clock of the selected workspace forward (built-in provider)',
        description: 'Renewals, failed payments and endings that fall into the time passed happen at once.',
        body: MoveTestClock,
        answer: TestClock,
        transaction: false,
        extension: true,
        run: testClock.move,
      },
      receiveStripeWebhook: {
        summary: 'Webhooks of Stripe; signed with STRIPE_WEBHOOK_SECRET',
        bodyKind: 'any',
        answer: WebhookReceipt,
        transaction: false,
        idempotency: 'none',
        extension: true,
        run: webhooks.receive,
      },
    },
  )
