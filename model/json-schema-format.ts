// The formats that are checked; any other `format` is a hint for the code that renders the form. Each pattern is
// linear.

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i
const EMAIL =
  /^[^\s@"(),:;<>[\\\]]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)*[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const URI = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i

function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (!match) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const date = new Date(Date.UTC(year, month - 1, day))
  date.setUTCFullYear(year)
  return month >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

function isDateTime(text: string): boolean {
  const separator = text[10]
  return (separator === 'T' || separator === 't') && isDate(text.slice(0, 10)) && TIME.test(text.slice(11))
}

const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', isDate],
  ['time', (text: string) => TIME.test(text)],
  ['date-time', isDateTime],
  ['email', (text: string) => text.length <= 320 && EMAIL.test(text)],
  ['uuid', (text: string) => UUID.test(text)],
  ['uri', (text: string) => text.length <= 8_192 && URI.test(text)],
])

export const hasFormat = (format: string, text: string): boolean => CHECKS.get(format)?.(text) ?? true
