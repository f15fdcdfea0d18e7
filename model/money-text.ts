// Messages of the service contain amounts in the English format, such as $1,234.50 or CHF 20.00. Readers see them in
// the format of their language.

/** The English format has a no-break space after letters, unlike a name such as "TRY 3" or "TOP10". */
const AMOUNT = /^(-?)(\D*(?:[^\s\dA-Z]|[A-Z]\u00a0))(\d+(?:,\d{3})*)(?:\.(\d{1,20}))?$/

const symbolOf = (currency: string): string | undefined =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).formatToParts(0).find(({ type }) => type === 'currency')
    ?.value

let currencies: Map<string | undefined, string> | undefined
const currencyOf = (symbol: string): string | undefined => {
  currencies ??= new Map(Intl.supportedValuesOf('currency').map((currency) => [symbolOf(currency), currency]))
  return currencies.get(symbol)
}

/** Returns a function that formats an English amount in the language. It returns any other text unchanged. */
export const makeMoneyFormatter =
  (language: string) =>
  (text: string): string => {
    const [, sign = '', symbol = '', whole = '', fraction = ''] = AMOUNT.exec(text) ?? []
    const currency = symbol === '' ? undefined : currencyOf(symbol.trimEnd())
    if (currency === undefined) return text
    const [minimumFractionDigits, maximumFractionDigits] = [fraction.length, fraction.length]
    return new Intl.NumberFormat(language, {
      style: 'currency',
      currency,
      minimumFractionDigits,
      maximumFractionDigits,
    }).format(Number(`${sign}${whole.replaceAll(',', '')}.${fraction}`))
  }
