import type { Plan, Usage } from '#sdk/types.generated'
import { formatBytes, formatMoney, formatShort } from '#web/ui/format.ts'

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
  outside_recipients_per_day: 'Recipients outside the workspace today',
  model_tokens_per_minute: 'Model tokens this minute',
  model_tokens_per_month: 'Model tokens this month',
  speech_characters_per_minute: 'Spoken characters this minute',
  transcription_s_per_minute: 'Seconds transcribed this minute',
  outgoing_requests_per_minute: 'Outgoing requests this minute',
  cpu_s_per_minute: 'Processor seconds of code this minute',
}

export const quotaValue = (quota: string, value: number): string =>
  quota === 'storage_bytes' ? formatBytes(value) : formatShort(value)

const short: Record<Quota, string> = {
  runs_per_month: 'runs a month',
  members: 'people',
  storage_bytes: 'storage',
  records: 'records',
  event_destinations: 'event destinations',
  knowledge_documents: 'documents in knowledge bases',
}

export const quotaLines = (quotas: Plan['quotas']): string[] =>
  (Object.keys(short) as Quota[]).map((quota) => {
    const limit = quotas[quota]
    return limit == null ? `Unlimited ${short[quota]}` : `${quotaValue(quota, limit)} ${short[quota]}`
  })

export function quotaText(quotas: Plan['quotas']): string {
  const limited = (Object.keys(short) as Quota[]).flatMap((quota) => {
    const limit = quotas[quota]
    return limit == null ? [] : [`${quotaValue(quota, limit)} ${short[quota]}`]
  })
  return limited.join(', ') || 'unlimited'
}

export const priceOf = ({
  amount,
  currency,
  interval,
  tax,
}: Pick<Plan, 'amount' | 'currency' | 'interval'> & { tax?: Plan['tax'] }): string => {
  if (amount === 0) return 'Free'
  const price =
    interval === 'year' ? `${formatMoney(amount, currency)} a year` : `${formatMoney(amount, currency)} a month`
  return tax ? `${price} plus ${tax.percent}% ${tax.name}` : price
}

export const staleAfterBilling = ['getMyBillingSubscription', 'getUsage', 'listInvoices', 'listPaymentMethods'] as const
