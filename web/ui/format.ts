import { language, t } from '#web/words/language.ts'

const whole = new Intl.NumberFormat(language)
const short = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 })

/** Formats 92.5 with one decimal place, and whole numbers without. */
const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
export const formatTenths = (value: number): string => (Number.isInteger(value) ? whole : tenths).format(value)

/** Returns the text with a capital first letter. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const formatNumber = (value: number): string => whole.format(value)
/** Formats 250,000 and 3.4M, for places where the exact number is not useful. */
export const formatShort = (value: number): string => (value < 1_000_000 ? whole.format(value) : short.format(value))

export function formatBytes(bytes: number): string {
  const units = [t('bytes'), 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value < 10 ? tenths.format(value) : whole.format(Math.round(value))} ${units[unit]}`
}

/** Formats an amount in minor units; the currency defines how many minor units make one unit. */
export function formatMoney(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(language, { style: 'currency', currency: currency.toUpperCase() })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return format.format(amount / 10 ** digits)
}

export const plural = (count: number, one: string, many: string): string =>
  `${formatShort(count)} ${count === 1 ? one : many}`
