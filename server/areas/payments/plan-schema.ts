import { z } from 'zod'
import { anyOf, defineList } from '#platform/http/list'
import { id, name, timestamp, timestampIn } from '#platform/http/schema'
import { meters } from '#providers/billing/index'

// The price and the quotas of a plan.

const POWERS = new Set(Array.from({ length: 10 }, (_, digits) => 10 ** digits))
const amount = () => z.number().int().min(0).max(99_999_999)
const count = () => z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const CURRENCIES = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()))
const currency = () =>
  z
    .string()
    .toLowerCase()
    .regex(/^[a-z]{3}$/, 'must be a currency code of three letters')
    .refine((code) => CURRENCIES.has(code), 'is not a currency of ISO 4217')

export const quotaNames = [
  'runs_per_month',
  'members',
  'storage_bytes',
  'records',
  'event_destinations',
  'knowledge_documents',
] as const
export type QuotaName = (typeof quotaNames)[number]

/** Quotas for the operator's resources. Absent means the installation's limit, null means unlimited. */
export const resourceQuotas = [
  'mails_per_minute',
  'outside_recipients_per_day',
  'model_tokens_per_minute',
  'model_tokens_per_month',
  'speech_characters_per_minute',
  'transcription_s_per_minute',
  'outgoing_requests_per_minute',
] as const
export type ResourceQuota = (typeof resourceQuotas)[number]
/** Processor time is counted in milliseconds, since most calls take a few, and shown in seconds. */
export const CPU_COUNTER = 'cpu_ms_per_minute'
export type ResourceCounter = ResourceQuota | typeof CPU_COUNTER
const resourceCount = (description: string) => count().nullable().optional().meta({ description })

/**
 * The limit if a plan does not set one. There is always a limit, since each destination adds a delivery of every event.
 */
export const DEFAULT_DESTINATIONS = 20
/** The limit if a plan does not set one. The passages of a document and their index cost far more than its bytes. */
export const DEFAULT_DOCUMENTS = 10_000

/** An absent or null quota is unlimited, but an absent `cpu_s_per_minute` means the installation's limit. */
const Quotas = z.strictObject({
  runs_per_month: count().nullable().optional(),
  members: count().nullable().optional(),
  storage_bytes: count().nullable().optional(),
  records: count().nullable().optional(),
  event_destinations: count()
    .nullable()
    .optional()
    .meta({ description: `The maximum number of event destinations; ${DEFAULT_DESTINATIONS} if absent` }),
  knowledge_documents: count()
    .nullable()
    .optional()
    .meta({ description: `The maximum number of documents in all knowledge bases; ${DEFAULT_DOCUMENTS} if absent` }),
  mails_per_minute: resourceCount('Recipients of mails a minute'),
  outside_recipients_per_day: resourceCount('Recipients outside the workspace a day, until an operator trusts it'),
  model_tokens_per_minute: resourceCount("Tokens of the installation's language model a minute"),
  model_tokens_per_month: resourceCount("Tokens of the installation's language model a month"),
  speech_characters_per_minute: resourceCount('Characters turned into speech a minute'),
  transcription_s_per_minute: resourceCount('Seconds of audio transcribed a minute'),
  outgoing_requests_per_minute: resourceCount('Requests of nodes to addresses outside a minute'),
  cpu_s_per_minute: z.number().min(0).max(86_400).nullable().optional().meta({
    description:
      'Processor seconds that code and JSONata expressions of a workspace may use in a minute, in each process of the service',
  }),
})
export type Quotas = z.output<typeof Quotas>

const usagePriceFields = {
  meter: z
    .enum(meters)
    .describe(
      'What is charged for: tokens of language models, or what they cost, in millionths of a US dollar. Only of models of the installation',
    ),
  unit_amount: amount().describe('In minor units of the currency of the plan, for every `per` units'),
  per: z
    .number()
    .int()
    .refine((per) => POWERS.has(per), 'must be a power of ten from 1 to 1000000000')
    .describe('A power of ten from 1 to 1,000,000,000'),
  included: count().describe('Units of each period that cost nothing'),
}
const UsagePrice = z.strictObject(usagePriceFields).meta({ id: 'UsagePrice' })
const NewUsagePrice = z.strictObject({
  ...usagePriceFields,
  per: usagePriceFields.per.default(1),
  included: usagePriceFields.included.default(0),
})

/** Added to the price of a plan. */
const Tax = z.strictObject({
  name: name().describe('The name on invoices, such as VAT'),
  percent: z
    .number()
    .min(0)
    .max(100)
    .multipleOf(0.001)
    .describe(
      'The percentage of the charge, after a coupon. It may change at any time; later invoices use the new value',
    ),
})

export const couponCode = () =>
  z
    .string()
    .trim()
    .toUpperCase()
    .regex(/^[A-Z0-9_-]{3,40}$/, 'must be 3 to 40 letters, digits, hyphens and underscores')

const Coupon = z.strictObject({
  code: couponCode()
    .describe('What people type when they subscribe; letters are read as capitals')
    .meta({ examples: ['SPRING10'] }),
  percent_off: z.int().min(1).max(100).describe('Of the price, before tax'),
  duration: z
    .enum(['once', 'forever'])
    .describe('`once`: the first paid period. `forever`: as long as the plan is kept'),
  expires_at: timestampIn().nullable().optional().describe('It cannot be used after this time'),
})
export type Coupon = z.output<typeof Coupon>

const MAX_COUPONS = 100
const coupons = () =>
  z
    .array(Coupon)
    .max(MAX_COUPONS)
    .refine((all) => new Set(all.map(({ code }) => code)).size === all.length, 'must not have a code twice')

export const Plan = z
  .object({
    plan_id: id('plan'),
    name: z.string(),
    amount: z.number().int(),
    currency: z.string(),
    interval: z.enum(['month', 'year']),
    quotas: Quotas,
    features: z.array(z.string()),
    trial_days: z.number().int(),
    usage_prices: z
      .array(UsagePrice)
      .describe('What is charged for usage, at the end of each period')
      .meta({ 'x-heddle-extension': true }),
    tax: Tax.nullable().describe('Added to `amount`; null if there is none').meta({ 'x-heddle-extension': true }),
    coupons: z
      .array(z.object({ ...Coupon.shape, expires_at: timestamp().nullable() }))
      .optional()
      .describe('Only shown to operators')
      .meta({ 'x-heddle-extension': true }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Plan' })
export type Plan = z.input<typeof Plan>

const planFields = {
  name: name(),
  amount: amount(),
  currency: currency(),
  interval: z.enum(['month', 'year']),
  quotas: Quotas.optional(),
  features: z.array(name()).max(50).optional(),
  trial_days: z.number().int().min(0).max(730).optional(),
  usage_prices: z
    .array(NewUsagePrice)
    .max(meters.length)
    .refine((prices) => new Set(prices.map(({ meter }) => meter)).size === prices.length, 'must name each meter once')
    .optional()
    .describe('What is charged for usage, at the end of each period; nothing if absent')
    .meta({ 'x-heddle-extension': true }),
  tax: Tax.nullable().optional().describe('Added to `amount`; null: none'),
  coupons: coupons().optional().describe('Codes that reduce the price; only operators see them'),
}
export const NewPlan = z.strictObject(planFields)
export const PlanPatch = z.strictObject(planFields).partial()

export const planList = defineList({
  id: 'plan_id',
  search: ['name'],
  sort: { amount: 'number', created_at: 'id', name: 'text' },
  order: 'amount',
  filters: { interval: anyOf(['month', 'year']) },
})
