import { type Js, NotConvertible } from './js-ast.ts'
import { celOut, type Out, quote, textOf } from './out.ts'

// Converts times of Luxon and JavaScript to CEL times.

const UNITS = ['millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']

export function unitOf(name: string): string {
  const unit = name.toLowerCase().replace(/s$/, '')
  if (UNITS.includes(unit)) return unit
  throw new NotConvertible(`"${name}" is not a unit of time`)
}

const LUXON: Record<string, string> = {
  ...{
    yyyy: 'yyyy',
    yy: 'yy',
    y: 'yyyy',
    LLLL: 'MMMM',
    MMMM: 'MMMM',
    LLL: 'MMM',
    MMM: 'MMM',
    LL: 'MM',
    MM: 'MM',
    L: 'M',
    M: 'M',
  },
  ...{
    dd: 'dd',
    d: 'd',
    cccc: 'EEEE',
    EEEE: 'EEEE',
    ccc: 'EEE',
    EEE: 'EEE',
    HH: 'HH',
    H: 'H',
    hh: 'hh',
    h: 'h',
    a: 'a',
  },
  ...{ mm: 'mm', ss: 'ss', SSS: 'SSS', ZZ: 'xxx' },
}
const MOMENT: Record<string, string> = {
  ...LUXON,
  YYYY: 'yyyy',
  YY: 'yy',
  DD: 'dd',
  D: 'd',
  dddd: 'EEEE',
  ddd: 'EEE',
  A: 'a',
  Z: 'xxx',
}

/** Converts a pattern of Luxon or moment to a pattern of our time functions. */
export function patternOf(pattern: string, style: 'luxon' | 'moment' = 'luxon'): string {
  const known = style === 'luxon' ? LUXON : MOMENT
  return pattern.replace(/'[^']*'|\[[^\]]*\]|([A-Za-z])\1*/g, (token: string) => {
    if (token.startsWith("'")) return token
    if (token.startsWith('[')) return `'${token.slice(1, -1)}'`
    const ours = known[token]
    if (ours === undefined) throw new NotConvertible(`the date pattern has "${token}"`)
    return ours
  })
}

export const NOW = celOut('now()', 'time')
export const TODAY = celOut('now().startOf("day")', 'time')
const EPOCH = 'timestamp("1970-01-01T00:00:00Z")'

/** Converts a value that may be a time, or a text that contains a time, to a time. */
export const asTime = (of: Out): Out => (of.type === 'time' ? of : celOut(`timestamp(${textOf(of)})`, 'time'))

export const formatted = (time: Out, pattern: string): Out => {
  if (pattern === 'x') return celOut(`string(${millis(time).cel})`, 'text')
  if (pattern === 'X') return celOut(`string(${seconds(time).cel})`, 'text')
  return celOut(`${time.cel}.format(${quote(patternOf(pattern))}${zoneOf(time)})`, 'text')
}

/** Returns the zone as an additional argument of a time method. */
const zoneOf = ({ zone }: Out): string => (zone === undefined ? '' : `, ${zone}`)
const timeIn = (cel: string, { zone }: Out): Out => ({ ...celOut(cel, 'time'), ...(zone !== undefined && { zone }) })

const millis = (time: Out): Out => celOut(`${time.cel}.difference(${EPOCH}, "millisecond")`, 'number')
const seconds = (time: Out): Out => celOut(`math.floor(${time.cel}.difference(${EPOCH}, "second"))`, 'number')

const PARTS: Record<string, (cel: string, zone: string) => string> = {
  year: (cel, zone) => `${cel}.getFullYear(${zone})`,
  month: (cel, zone) => `(${cel}.getMonth(${zone}) + 1)`,
  day: (cel, zone) => `(${cel}.getDayOfMonth(${zone}) + 1)`,
  hour: (cel, zone) => `${cel}.getHours(${zone})`,
  minute: (cel, zone) => `${cel}.getMinutes(${zone})`,
  second: (cel, zone) => `${cel}.getSeconds(${zone})`,
  weekday: (cel, zone) => `((${cel}.getDayOfWeek(${zone}) + 6) % 7 + 1)`,
}

export function timeMember(time: Out, key: string): Out {
  if (key === 'ts') return millis(time)
  const part = PARTS[key]
  if (!part) throw new NotConvertible(`it reads "${key}" of a time`)
  return celOut(part(time.cel, time.zone ?? ''), 'number')
}

const literal = (js: Js | undefined): string | undefined =>
  js?.kind === 'literal' && typeof js.value === 'string' ? js.value : undefined

/** Converts `{days: 1, hours: 2}`, or `1, 'days'`, to calls of `add`. */
function moved(time: Out, sign: '' | '-', args: Js[], convert: (js: Js) => Out): Out {
  const [first, second] = args
  const amount = (js: Js): string => (sign === '' ? convert(js).cel : `-(${convert(js).cel})`)
  const steps: [Js, string][] =
    first?.kind === 'object'
      ? first.entries.map(({ key, value }) => [value, unitOf(key)])
      : first && literal(second) !== undefined
        ? [[first, unitOf(literal(second)!)]]
        : []
  if (steps.length === 0) throw new NotConvertible('the unit of a change of time is computed')
  return timeIn(
    steps.reduce((cel, [js, unit]) => `${cel}.add(${amount(js)}, ${quote(unit)}${zoneOf(time)})`, time.cel),
    time,
  )
}

/** Converts a method of a time; returns undefined if the method is not a time method. */
export function timeMethod(time: Out, name: string, args: Js[], convert: (js: Js) => Out): Out | undefined {
  const pattern = literal(args[0])
  switch (name) {
    case 'toFormat':
    case 'format':
      if (pattern === undefined) throw new NotConvertible('the pattern of a date is computed')
      return formatted(time, pattern)
    case 'toISO':
    case 'toISOString':
    case 'toJSON':
    case 'toString':
      if (time.zone !== undefined) return formatted(time, "yyyy-MM-dd'T'HH:mm:ss.SSSZZ")
      return celOut(`string(${time.cel})`, 'text')
    case 'toISODate':
      return formatted(time, 'yyyy-MM-dd')
    case 'toISOTime':
      return formatted(time, 'HH:mm:ss.SSS')
    case 'plus':
      return moved(time, '', args, convert)
    case 'minus':
      return moved(time, '-', args, convert)
    case 'startOf':
    case 'beginningOf':
      return timeIn(`${time.cel}.startOf(${quote(unitOf(pattern ?? 'week'))}${zoneOf(time)})`, time)
    case 'endOf': {
      const unit = quote(unitOf(pattern ?? 'month'))
      const zone = zoneOf(time)
      return timeIn(`${time.cel}.startOf(${unit}${zone}).add(1, ${unit}${zone}).add(-1, "millisecond")`, time)
    }
    case 'toMillis':
    case 'getTime':
    case 'valueOf':
      return millis(time)
    case 'toSeconds':
    case 'toUnixInteger':
      return seconds(time)
    case 'toUTC':
      return celOut(time.cel, 'time')
    case 'toJSDate':
    case 'toDateTime':
    case 'toLocal':
      return time
    case 'setZone':
      if (!args[0] || (pattern !== undefined && /^(utc|gmt|local|default)$/i.test(pattern)))
        return celOut(time.cel, 'time')
      return { ...time, zone: pattern === undefined ? textOf(convert(args[0])) : quote(zoneNamed(pattern)) }
    case 'diff':
      return difference(time, args, convert)
    case 'getFullYear':
    case 'getMonth':
    case 'getHours':
    case 'getMinutes':
    case 'getSeconds':
      return celOut(`${time.cel}.${name}()`, 'number')
    case 'getDate':
      return celOut(`(${time.cel}.getDayOfMonth() + 1)`, 'number')
    case 'getDay':
      return celOut(`${time.cel}.getDayOfWeek()`, 'number')
    default:
      return undefined
  }
}

/** Converts `UTC+2` and `+0200` to `+02:00`; any other text is the name of a zone. */
function zoneNamed(name: string): string {
  const [, sign, hours, minutes] = /^(?:utc|gmt)?([+-])(\d{1,2}):?(\d\d)?$/i.exec(name.trim()) ?? []
  if (sign !== undefined && hours !== undefined) return `${sign}${hours.padStart(2, '0')}:${minutes ?? '00'}`
  if (!/^[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+)*$/.test(name))
    throw new NotConvertible(`"${name.slice(0, 40)}" is not a time zone`)
  return name
}

function difference(time: Out, args: Js[], convert: (js: Js) => Out): Out {
  const unit = literal(args[1])
  if (!args[0] || unit === undefined) throw new NotConvertible('a time difference names no unit')
  const of = unitOf(unit)
  const amount = celOut(`${time.cel}.difference(${asTime(convert(args[0])).cel}, ${quote(of)})`, 'number')
  return { ...amount, fields: { [`${of}s`]: amount, [of]: amount } }
}

/** Converts `DateTime.now()`, `DateTime.fromISO(x)` and similar calls. */
export function luxonCall(name: string, args: Js[], convert: (js: Js) => Out): Out {
  if (name === 'now' || name === 'local' || name === 'utc') {
    if (args.length > 0 && name !== 'utc' && name !== 'now') throw new NotConvertible('a time is built from parts')
    return NOW
  }
  if (args[0] && name === 'fromISO') return asTime(convert(args[0]))
  if (args[0] && name === 'fromJSDate') return asTime(convert(args[0]))
  if (args[0] && name === 'fromMillis') return celOut(`${EPOCH}.add(${convert(args[0]).cel}, "millisecond")`, 'time')
  if (args[0] && name === 'fromSeconds') return celOut(`${EPOCH}.add(${convert(args[0]).cel}, "second")`, 'time')
  const pattern = literal(args[1])
  if (args[0] && name === 'fromFormat' && pattern !== undefined)
    return celOut(`timestamp.parse(${textOf(convert(args[0]))}, ${quote(patternOf(pattern))})`, 'time')
  throw new NotConvertible(`DateTime.${name} has no counterpart`)
}
