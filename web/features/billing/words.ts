import type { Plan, Usage } from '#sdk/types.generated'
import { formatBytes, formatMoney, formatShort } from '#web/ui/format.ts'
import { t } from '#web/words/language.ts'

type Quota = Usage['quotas'][number]['quota']

export const quotaLabels: Record<Quota, string> = {
  runs_per_month: 'Runs this month',
  members: 'People',
  storage_bytes: 'Storage',
  records: 'Records in datasets',
  event_destinations: 'Event destinations',
  knowledge_documents: 'Documents in knowledge bases',
}

export const meansLabels: Record<Usage['means'][number]['quota'], string> = {
  mails_per_minute: 'Mails this minute',
  outside_recipients_per_day: 'External recipients today',
  model_tokens_per_minute: 'Model tokens this minute',
  model_tokens_per_month: 'Model tokens this month',
  speech_characters_per_minute: 'Spoken characters this minute',
  transcription_s_per_minute: 'Seconds transcribed this minute',
  outgoing_requests_per_minute: 'Outgoing requests this minute',
  cpu_s_per_minute: 'CPU seconds of code this minute',
}

export const quotaValue = (quota: string, value: number): string =>
  quota === 'storage_bytes' ? formatBytes(value) : formatShort(value)

const lines: Record<Quota, (amount: string) => string> = {
  runs_per_month: (amount) => `${amount} runs a month`,
  members: (amount) => `${amount} people`,
  storage_bytes: (amount) => `${amount} storage`,
  records: (amount) => `${amount} records in datasets`,
  event_destinations: (amount) => `${amount} event destinations`,
  knowledge_documents: (amount) => `${amount} documents in knowledge bases`,
}
const quotas = Object.keys(lines) as Quota[]

/** The features of the plans that every installation starts with. Features that an operator wrote stay unchanged. */
const features: Record<string, string> = {
  'Every node and every area': 'Every node and every area',
  'Community support': 'Community support',
  'Everything in Free': 'Everything in Free',
  'E-mail support': 'E-mail support',
  'Everything in Team': 'Everything in Team',
  'No quotas': 'No quotas',
  'Priority support': 'Priority support',
}
export const featureLine = (feature: string): string => features[feature] ?? feature

export const quotaLines = (limits: Plan['quotas']): string[] =>
  quotas.map((quota) => {
    const limit = limits[quota]
    return lines[quota](limit == null ? t('Unlimited') : quotaValue(quota, limit))
  })

export function quotaText(limits: Plan['quotas']): string {
  const limited = quotas.flatMap((quota) => {
    const limit = limits[quota]
    return limit == null ? [] : [lines[quota](quotaValue(quota, limit))]
  })
  return limited.join(', ') || t('Unlimited')
}

export const priceOf = ({
  amount,
  currency,
  interval,
  tax,
}: Pick<Plan, 'amount' | 'currency' | 'interval'> & { tax?: Plan['tax'] }): string => {
  if (amount === 0) return t('Free')
  const price =
    interval === 'year' ? `${formatMoney(amount, currency)} a year` : `${formatMoney(amount, currency)} a month`
  return tax ? `${price} plus ${tax.percent}% ${tax.name}` : price
}

/** Returns what a plan charges for usage, one line for each price. */
export const usageLines = ({ usage_prices, currency }: Pick<Plan, 'usage_prices' | 'currency'>): string[] =>
  usage_prices.map(({ meter, unit_amount, per, included }) => {
    const price = formatMoney(unit_amount, currency)
    if (meter === 'model_tokens') {
      const each = `${price} for each ${formatShort(per)} model tokens`
      return included === 0 ? each : `${each}, ${formatShort(included)} included`
    }
    const each = `${price} for each ${formatUsd(per)} that models cost`
    return included === 0 ? each : `${each}, ${formatUsd(included)} included`
  })

/** Formats a cost. The cost meter counts millionths of a US dollar. */
const formatUsd = (millionths: number): string => formatMoney(millionths / 10_000, 'usd')

export const staleAfterBilling = ['getMyBillingSubscription', 'getUsage', 'listInvoices', 'listPaymentMethods'] as const
