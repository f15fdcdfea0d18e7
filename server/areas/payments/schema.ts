import { z } from 'zod'
import { anyId, anyOf, anyText, defineList } from '#platform/http/list'
import { id, reference, timestamp, timestampIn } from '#platform/http/schema'
import { meters } from '#providers/billing/index'
import { couponCode, quotaNames, resourceQuotas } from './plan-schema.ts'

export const PaymentMethod = z
  .object({
    payment_method_id: id('pm'),
    brand: z.string(),
    last4: z.string(),
    exp_month: z.number().int(),
    exp_year: z.number().int(),
    default: z.boolean(),
    created_at: timestamp(),
  })
  .meta({ id: 'PaymentMethod' })
export type PaymentMethod = z.input<typeof PaymentMethod>

export const SetupIntent = z
  .object({
    setup_intent_id: id('seti'),
    client_secret: z.string(),
    customer_id: id('cus'),
    provider: z.enum(['builtin', 'stripe']),
    publishable_key: z
      .string()
      .nullable()
      .describe('For Stripe.js in the browser: `STRIPE_PUBLISHABLE_KEY`; null if it is not set')
      .meta({ 'x-heddle-extension': true }),
  })
  .meta({ id: 'SetupIntent' })

export const ConfirmSetupIntent = z.strictObject({
  client_secret: z.string().min(1).max(500),
  card: z.strictObject({
    number: z
      .string()
      .max(40)
      .transform((text) => text.replaceAll(/[ -]/g, ''))
      .pipe(z.string().regex(/^\d{12,19}$/, 'must be a card number')),
    exp_month: z.number().int().min(1).max(12),
    exp_year: z.number().int().min(2000).max(2100),
    cvc: z.string().regex(/^\d{3,4}$/, 'must be three or four digits'),
  }),
})

export const SetupConfirmation = z
  .object({ status: z.enum(['succeeded', 'requires_action']), payment_method: PaymentMethod.optional() })
  .meta({ id: 'SetupConfirmation' })

export const BillingSubscription = z
  .object({
    subscription_id: id('sub'),
    plan_id: id('plan'),
    status: z.enum(['trialing', 'active', 'past_due', 'cancelled']),
    current_period_start: timestamp(),
    current_period_end: timestamp(),
    cancel_at_period_end: z.boolean(),
    created_at: timestamp(),
  })
  .meta({ id: 'BillingSubscription' })
export type BillingSubscription = z.input<typeof BillingSubscription>

export const PaymentToConfirm = z
  .object({
    status: z.literal('requires_action'),
    client_secret: z
      .string()
      .describe(
        'For `stripe.confirmCardPayment` in the browser of the holder. The subscription begins when that is done',
      ),
    publishable_key: z
      .string()
      .nullable()
      .describe('For Stripe.js in the browser')
      .meta({ 'x-heddle-extension': true }),
  })
  .meta({ id: 'PaymentToConfirm' })
export type PaymentToConfirm = z.input<typeof PaymentToConfirm>

export const NewBillingSubscription = z.strictObject({
  plan_id: reference('plan'),
  coupon: couponCode().optional().describe('A coupon of the plan'),
})
export const BillingSubscriptionPatch = z.strictObject({
  plan_id: reference('plan').optional(),
  cancel_at_period_end: z.boolean().optional(),
})
export const CancelQuery = z.strictObject({ at: z.enum(['period_end', 'now']).default('period_end') })

export const Invoice = z
  .object({
    invoice_id: id('inv'),
    number: z.string().nullable(),
    status: z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']),
    amount_due: z.number().int(),
    amount_paid: z.number().int(),
    currency: z.string(),
    lines: z.array(
      z.object({
        description: z.string(),
        amount: z.number().int(),
        quantity: z.number().int(),
        proration: z.boolean(),
        period_start: timestamp(),
        period_end: timestamp(),
        meter: z
          .enum(meters)
          .nullable()
          .optional()
          .describe('If the line is for usage: what was used, `quantity` units beyond the included ones')
          .meta({ 'x-heddle-extension': true }),
      }),
    ),
    period_start: timestamp(),
    period_end: timestamp(),
    created_at: timestamp(),
    url: z.string().nullable(),
    pdf_url: z
      .string()
      .nullable()
      .describe('The invoice as a PDF; of the built-in provider signed, for one to two hours')
      .meta({ 'x-heddle-extension': true }),
  })
  .meta({ id: 'Invoice' })

export const InvoicePageQuery = z.strictObject({
  workspace: z.string().max(100),
  expires: z.string().regex(/^\d{1,12}$/),
  signature: z.string().max(100),
})

export const Usage = z
  .object({
    plan_id: id('plan').nullable(),
    plan: z.string().nullable(),
    period_start: timestamp(),
    period_end: timestamp(),
    quotas: z.array(
      z.object({
        quota: z.enum(quotaNames),
        used: z.number().int(),
        limit: z.number().int().nullable(),
      }),
    ),
    means: z
      .array(
        z.object({
          quota: z.enum([...resourceQuotas, 'cpu_s_per_minute']),
          used: z.number(),
          limit: z.number().nullable(),
          period: z.enum(['minute', 'day', 'month']).describe('In UTC; `used` is that of the present one'),
        }),
      )
      .describe(
        'Mails, model tokens, speech, outgoing requests and processor time of code: what the workspace uses of the means of the operator. The processor time is that of all processes, and its limit that of each',
      )
      .meta({ 'x-heddle-extension': true }),
  })
  .meta({ id: 'Usage' })

export const TestClock = z.object({ now: timestamp() }).meta({ id: 'TestClock' })
export const MoveTestClock = z.strictObject({ now: timestampIn() })
export const WebhookReceipt = z.object({ received: z.literal(true) }).meta({ id: 'WebhookReceipt' })

export const UsageCharge = z
  .object({
    meter: z.enum(meters).describe('What is charged for'),
    at: timestamp(),
    quantity: z.number().int().describe('Tokens, or millionths of a US dollar'),
    amount: z
      .number()
      .describe('What it costs at the price of the plan, in minor units, not rounded and before what is included'),
    currency: z.string(),
    plan_id: id('plan'),
    model: z.string(),
    execution_id: id('exe')
      .nullable()
      .describe('The run that made the call; null if something else did, such as a reviewer'),
    node_path: z.string().nullable().describe('The node of the run that asked'),
    workflow_id: id('wf').nullable(),
    user_id: id('usr').nullable().describe('Who started the run, or asked'),
    invoice_id: id('inv').nullable().describe('The invoice with the line that it is part of; null until there is one'),
  })
  .meta({ id: 'UsageCharge' })
export type UsageCharge = z.input<typeof UsageCharge>

export const chargeList = defineList({
  id: 'charge_id',
  sort: { at: 'time' },
  order: '-at',
  created: 'at',
  filters: {
    execution_id: anyId('exe', 'Only what this run used'),
    invoice_id: anyId('inv', 'Only usage that is on this invoice'),
    meter: anyOf(meters),
  },
})

export const methodList = defineList({
  id: 'payment_method_id',
  search: ['brand', 'last4'],
  sort: { created_at: 'time' },
  order: '-created_at',
})

export const invoiceList = defineList({
  id: 'invoice_id',
  search: ['number'],
  sort: { created_at: 'time', amount_due: 'number' },
  order: '-created_at',
  filters: { status: anyText('Only invoices with this status, or one of several, separated by commas') },
})
