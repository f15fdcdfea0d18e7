const MAX_S = 86_400

/**
 * The seconds that a `Retry-After` header asks for, at most a day: a number of seconds, or a date, which is held against the
 * `Date` of the same answer, since the clocks of the two may differ. Undefined where it is absent or says nothing.
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
