const MAX_S = 86_400

/**
 * Returns the seconds of a `Retry-After` header, at most a day. The header is a number of seconds, or a date, which is
 * compared with the `Date` of the same response because the clocks may differ. Undefined if the header is absent or
 * invalid.
 */
export function retryAfterS(
  header: string | undefined,
  date: string | undefined,
  now = Date.now(),
): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(MAX_S, Number(text))
  const until = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(until)) return undefined
  const said = Date.parse(date ?? '')
  return Math.min(MAX_S, Math.max(0, (until - (Number.isNaN(said) ? now : said)) / 1000))
}
