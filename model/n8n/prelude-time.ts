// The part of Luxon that templates use, for code in the sandbox. The sandbox has no time zone data, so the common zones
// are listed here with today's rules. The text is added before code that names one of its classes.

export const TIME = `const TIME_UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond']
const UNIT_MS = { week: 6048e5, day: 864e5, hour: 36e5, minute: 6e4, second: 1e3, millisecond: 1 }
const MONTH_NAMES = 'January February March April May June July August September October November December'.split(' ')
const DAY_NAMES = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')
const unitOf = (name) => {
  const unit = String(name).toLowerCase().replace(/s$/, '')
  if (!TIME_UNITS.includes(unit)) throw new Error('"' + name + '" is not a unit of time')
  return unit
}
const sundayOf = (year, month, count) => {
  const first = new Date(Date.UTC(year, month, 1)).getUTCDay()
  const last = new Date(Date.UTC(year, month + 1, 0))
  return count < 0 ? last.getUTCDate() - last.getUTCDay() : 1 + ((7 - first) % 7) + (count - 1) * 7
}
const isSummer = (rule, base, ms) => {
  const year = new Date(ms).getUTCFullYear()
  if (rule === 'eu') return ms >= Date.UTC(year, 2, sundayOf(year, 2, -1), 1) && ms < Date.UTC(year, 9, sundayOf(year, 9, -1), 1)
  if (rule === 'us') return ms >= Date.UTC(year, 2, sundayOf(year, 2, 2), 2) - base * 6e4 && ms < Date.UTC(year, 10, sundayOf(year, 10, 1), 1) - base * 6e4
  if (rule === 'au') return !(ms >= Date.UTC(year, 3, sundayOf(year, 3, 1), 2) - base * 6e4 && ms < Date.UTC(year, 9, sundayOf(year, 9, 1), 2) - base * 6e4)
  return false
}
const ZONES = {}
for (const [rule, minutes, names] of [
  ['us', -300, 'America/New_York America/Toronto America/Detroit US/Eastern EST5EDT'], ['us', -360, 'America/Chicago US/Central America/Winnipeg'], ['us', -420, 'America/Denver US/Mountain America/Edmonton'],
  ['us', -480, 'America/Los_Angeles US/Pacific America/Vancouver America/Tijuana'], ['us', -240, 'America/Halifax'], ['', -420, 'America/Phoenix'], ['', -360, 'America/Mexico_City America/Costa_Rica America/Guatemala'],
  ['', -300, 'America/Bogota America/Lima America/Panama America/Guayaquil EST'], ['', -240, 'America/Caracas America/La_Paz America/Puerto_Rico America/Santo_Domingo'], ['', -180, 'America/Sao_Paulo America/Argentina/Buenos_Aires America/Buenos_Aires America/Montevideo America/Fortaleza America/Bahia'],
  ['eu', 0, 'Europe/London Europe/Dublin Europe/Lisbon'], ['eu', 60, 'Europe/Berlin Europe/Paris Europe/Madrid Europe/Rome Europe/Amsterdam Europe/Brussels Europe/Vienna Europe/Zurich Europe/Stockholm Europe/Oslo Europe/Copenhagen Europe/Prague Europe/Warsaw Europe/Budapest Europe/Belgrade Europe/Zagreb Europe/Ljubljana Europe/Bratislava Europe/Luxembourg CET'],
  ['eu', 120, 'Europe/Athens Europe/Helsinki Europe/Kiev Europe/Kyiv Europe/Bucharest Europe/Sofia Europe/Riga Europe/Vilnius Europe/Tallinn'], ['', 180, 'Europe/Istanbul Europe/Moscow Europe/Minsk Asia/Riyadh Asia/Kuwait Asia/Baghdad Asia/Qatar Africa/Nairobi'], ['', 60, 'Africa/Lagos Africa/Algiers Africa/Tunis'],
  ['', 120, 'Africa/Johannesburg Africa/Maputo Africa/Tripoli'], ['', 0, 'Africa/Accra Africa/Abidjan Atlantic/Reykjavik'], ['', 240, 'Asia/Dubai Asia/Muscat Asia/Baku'], ['', 300, 'Asia/Karachi Asia/Tashkent'], ['', 330, 'Asia/Kolkata Asia/Calcutta Asia/Colombo'], ['', 345, 'Asia/Kathmandu'],
  ['', 360, 'Asia/Dhaka'], ['', 420, 'Asia/Bangkok Asia/Jakarta Asia/Ho_Chi_Minh Asia/Saigon'], ['', 480, 'Asia/Singapore Asia/Shanghai Asia/Hong_Kong Asia/Taipei Asia/Manila Asia/Kuala_Lumpur Australia/Perth'], ['', 540, 'Asia/Tokyo Asia/Seoul'],
  ['au', 600, 'Australia/Sydney Australia/Melbourne Australia/Hobart'], ['', 600, 'Australia/Brisbane'],
]) for (const name of names.split(' ')) ZONES[name.toLowerCase()] = { rule, minutes }
/** The minutes by which the zone is ahead of UTC at this time. The table has the rules in effect since 2023. */
const offsetOf = (zone, ms = Date.now()) => {
  const text = String(zone ?? 'utc')
  if (/^(utc|gmt|z|local|default|system|etc\\/utc)$/i.test(text)) return 0
  const found = /^(?:utc|gmt)?([+-])(\\d{1,2})(?::?(\\d\\d))?$/i.exec(text)
  if (found) return (found[1] === '-' ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3] ?? 0))
  const named = ZONES[text.toLowerCase()]
  if (!named) throw new Error('the time zone "' + text + '" is not known in code')
  return named.minutes + (isSummer(named.rule, named.minutes, ms) ? 60 : 0)
}
const pad = (value, width = 2) => String(Math.abs(value)).padStart(width, '0')
const partsOf = (given) => Object.fromEntries(Object.entries(given).map(([key, value]) => [key, Number(value)]))
class Duration {
  constructor(values) { this.values = values }
  static fromObject(values) { return new Duration(Object.fromEntries(Object.entries(values).map(([key, value]) => [unitOf(key) + 's', Number(value)]))) }
  static fromMillis(ms) { return Duration.fromObject({ milliseconds: ms }) }
  get years() { return this.values.years ?? 0 }
  get quarters() { return this.values.quarters ?? 0 }
  get months() { return this.values.months ?? 0 }
  get weeks() { return this.values.weeks ?? 0 }
  get days() { return this.values.days ?? 0 }
  get hours() { return this.values.hours ?? 0 }
  get minutes() { return this.values.minutes ?? 0 }
  get seconds() { return this.values.seconds ?? 0 }
  get milliseconds() { return this.values.milliseconds ?? 0 }
  toMillis() { return Object.entries(this.values).reduce((sum, [key, value]) => sum + value * (UNIT_MS[unitOf(key)] ?? { month: 30, quarter: 91, year: 365 }[unitOf(key)] * 864e5), 0) }
  valueOf() { return this.toMillis() }
  as(unit) { return this.toMillis() / (UNIT_MS[unitOf(unit)] ?? { month: 30, quarter: 91, year: 365 }[unitOf(unit)] * 864e5) }
  shiftTo(...units) {
    let rest = this.toMillis()
    const values = {}
    for (const unit of TIME_UNITS.filter((one) => units.some((name) => unitOf(name) === one))) {
      const size = UNIT_MS[unit] ?? { month: 30, quarter: 91, year: 365 }[unit] * 864e5
      const isLast = unitOf(units.at(-1)) === unit
      values[unit + 's'] = isLast ? rest / size : Math.trunc(rest / size)
      rest -= isLast ? rest : values[unit + 's'] * size
    }
    return new Duration(values)
  }
  toObject() { return { ...this.values } }
  toFormat(pattern) {
    let rest = Math.abs(this.toMillis())
    const found = {}
    for (const [letter, size] of [['d', 864e5], ['h', 36e5], ['m', 6e4], ['s', 1e3], ['S', 1]]) {
      if (!pattern.includes(letter)) continue
      found[letter] = Math.floor(rest / size)
      rest -= found[letter] * size
    }
    return pattern.replace(/([dhmsS])\\1*/g, (token) => pad(found[token[0]], token.length))
  }
  toISO() { return this.toJSON() }
  toJSON() {
    const { years, months, days, weeks, hours, minutes, seconds } = this
    return 'P' + (years ? years + 'Y' : '') + (months ? months + 'M' : '') + (weeks ? weeks + 'W' : '') + (days ? days + 'D' : '') + (hours || minutes || seconds ? 'T' : '') + (hours ? hours + 'H' : '') + (minutes ? minutes + 'M' : '') + (seconds ? seconds + 'S' : '')
  }
  toString() { return this.toJSON() }
}
class DateTime {
  constructor(ms, offset = 0, zone) {
    this.ts = ms
    this.zone = zone
    this.offset = zone === undefined || Number.isNaN(ms) ? offset : offsetOf(zone, ms)
  }
  static now() { return new DateTime(Date.now()) }
  static local(...parts) { return DateTime.utc(...parts) }
  static utc(...parts) {
    const numbers = parts.filter((part) => typeof part === 'number')
    if (numbers.length === 0) return DateTime.now()
    const [year, month = 1, day = 1, ...rest] = numbers
    return new DateTime(Date.UTC(year, month - 1, day, ...rest))
  }
  static fromISO(text, options) {
    const whole = String(text).trim()
    const week = /^(\\d{4})-W(\\d\\d)(?:-(\\d))?$/.exec(whole)
    if (week) return DateTime.utc(Number(week[1]), 1, 4).startOf('week').plus({ weeks: Number(week[2]) - 1, days: Number(week[3] ?? 1) - 1 })
    const offset = /(?:[+-]\\d\\d:?\\d\\d|[+-]\\d\\d)$/.exec(whole.slice(10))
    const isLocal = !offset && !/z$/i.test(whole)
    const plain = /^\\d{4}-\\d\\d-\\d\\d$/.test(whole) ? whole + 'T00:00:00' : whole.replace(' ', 'T')
    const ms = Date.parse(isLocal ? plain + 'Z' : plain)
    if (options?.zone === undefined || Number.isNaN(ms)) return new DateTime(ms)
    return isLocal ? new DateTime(ms, 0, options.zone).at(ms) : new DateTime(ms, 0, options.zone)
  }
  static fromJSDate(date) { return new DateTime(new Date(date).getTime()) }
  static fromMillis(ms) { return new DateTime(Number(ms)) }
  static fromSeconds(seconds) { return new DateTime(Number(seconds) * 1e3) }
  static fromSQL(text, options) { return DateTime.fromISO(String(text).replace(' ', 'T'), options) }
  static fromRFC2822(text) { return new DateTime(Date.parse(text)) }
  static fromHTTP(text) { return new DateTime(Date.parse(text)) }
  static fromObject(values) {
    const { year = new Date().getUTCFullYear(), month = 1, day = 1, hour = 0, minute = 0, second = 0, millisecond = 0 } = partsOf(values)
    return new DateTime(Date.UTC(year, month - 1, day, hour, minute, second, millisecond))
  }
  static fromFormat(text, pattern, options) {
    const names = []
    const source = pattern.replace(/'([^']*)'|([A-Za-z])\\2*|[^A-Za-z']/g, (token, quoted) => {
      if (quoted !== undefined) return quoted.replace(/[.*+?^$()|[\\]\\\\{}]/g, '\\\\$&')
      if (!/^[A-Za-z]/.test(token)) return token.replace(/[.*+?^$()|[\\]\\\\{}]/g, '\\\\$&')
      names.push(token)
      if (/^(LLLL|MMMM|LLL|MMM|cccc|EEEE|ccc|EEE|a)$/.test(token)) return '([A-Za-z.]+)'
      if (/^Z/.test(token)) return '(Z|[+-]\\\\d\\\\d:?\\\\d\\\\d)'
      return token === 'yyyy' ? '(\\\\d{4})' : token === 'SSS' ? '(\\\\d{3})' : token.length > 1 ? '(\\\\d{2})' : '(\\\\d{1,4})'
    })
    const found = new RegExp('^' + source + '$', 'i').exec(String(text).trim())
    if (!found) return new DateTime(NaN)
    const part = { year: new Date().getUTCFullYear(), month: 1, day: 1, hour: 0, minute: 0, second: 0, ms: 0, offset: options?.zone === undefined ? 0 : offsetOf(options.zone), half: '' }
    for (const [at, token] of names.entries()) {
      const value = found[at + 1]
      if (/^y/.test(token)) part.year = token === 'yy' ? 2000 + Number(value) : Number(value)
      else if (/^(L|M)/.test(token)) part.month = token.length > 2 ? MONTH_NAMES.findIndex((name) => name.slice(0, 3).toLowerCase() === value.slice(0, 3).toLowerCase()) + 1 : Number(value)
      else if (/^d/.test(token)) part.day = Number(value)
      else if (/^[Hh]/.test(token)) part.hour = Number(value)
      else if (/^m/.test(token)) part.minute = Number(value)
      else if (/^s/.test(token)) part.second = Number(value)
      else if (/^S/.test(token)) part.ms = Number(value)
      else if (token === 'a') part.half = value.toLowerCase()
      else if (/^Z/.test(token)) part.offset = offsetOf(value)
    }
    if (part.half.startsWith('p') && part.hour < 12) part.hour += 12
    if (part.half.startsWith('a') && part.hour === 12) part.hour = 0
    return new DateTime(Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second, part.ms) - part.offset * 6e4, part.offset)
  }
  static isDateTime(value) { return value instanceof DateTime }
  static max(...times) { return times.reduce((a, b) => (b.ts > a.ts ? b : a)) }
  static min(...times) { return times.reduce((a, b) => (b.ts < a.ts ? b : a)) }
  get shown() { return new Date(this.ts + this.offset * 6e4) }
  get isValid() { return !Number.isNaN(this.ts) }
  get invalidReason() { return this.isValid ? null : 'unparsable' }
  get invalidExplanation() { return this.invalidReason }
  get year() { return this.shown.getUTCFullYear() }
  get month() { return this.shown.getUTCMonth() + 1 }
  get day() { return this.shown.getUTCDate() }
  get hour() { return this.shown.getUTCHours() }
  get minute() { return this.shown.getUTCMinutes() }
  get second() { return this.shown.getUTCSeconds() }
  get millisecond() { return this.shown.getUTCMilliseconds() }
  get weekday() { return this.shown.getUTCDay() || 7 }
  get quarter() { return Math.ceil(this.month / 3) }
  get ordinal() { return Math.floor((Date.UTC(this.year, this.month - 1, this.day) - Date.UTC(this.year, 0, 1)) / 864e5) + 1 }
  get daysInMonth() { return new Date(Date.UTC(this.year, this.month, 0)).getUTCDate() }
  get monthLong() { return MONTH_NAMES[this.month - 1] }
  get monthShort() { return this.monthLong.slice(0, 3) }
  get weekdayLong() { return DAY_NAMES[this.weekday - 1] }
  get weekdayShort() { return this.weekdayLong.slice(0, 3) }
  get weekNumber() {
    const thursday = new Date(Date.UTC(this.year, this.month - 1, this.day + 4 - this.weekday))
    return Math.ceil(((thursday - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 864e5 + 1) / 7)
  }
  get weekYear() { return new Date(Date.UTC(this.year, this.month - 1, this.day + 4 - this.weekday)).getUTCFullYear() }
  get zoneName() { return this.offset === 0 ? 'UTC' : 'UTC' + this.offsetText.replace(':00', '') }
  get offsetText() { return (this.offset < 0 ? '-' : '+') + pad(Math.trunc(this.offset / 60)) + ':' + pad(this.offset % 60) }
  at(shownMs) {
    const near = new DateTime(shownMs - this.offset * 6e4, this.offset, this.zone)
    return near.offset === this.offset ? near : new DateTime(shownMs - near.offset * 6e4, near.offset, this.zone)
  }
  set(values) {
    const now = { year: this.year, month: this.month, day: this.day, hour: this.hour, minute: this.minute, second: this.second, millisecond: this.millisecond }
    for (const [key, value] of Object.entries(values)) if (unitOf(key) in now) now[unitOf(key)] = Number(value)
    const moved = values.weekday === undefined ? 0 : Number(values.weekday) - this.weekday
    return this.at(Date.UTC(now.year, now.month - 1, now.day + moved, now.hour, now.minute, now.second, now.millisecond))
  }
  move(given, unit, sign) {
    const values = given instanceof Duration ? given.values : typeof given === 'object' && given !== null ? given : { [unit ?? 'milliseconds']: given }
    let time = this
    for (const [key, value] of Object.entries(values)) {
      const name = unitOf(key)
      const amount = sign * Number(value)
      if (name === 'day' || name === 'week') {
        time = time.at(time.shown.getTime() + amount * UNIT_MS[name])
        continue
      }
      if (UNIT_MS[name]) {
        time = new DateTime(time.ts + amount * UNIT_MS[name], time.offset, time.zone)
        continue
      }
      const months = amount * { month: 1, quarter: 3, year: 12 }[name]
      const first = Date.UTC(time.year, time.month - 1 + months, 1)
      const last = new Date(Date.UTC(new Date(first).getUTCFullYear(), new Date(first).getUTCMonth() + 1, 0)).getUTCDate()
      time = time.at(first + (Math.min(time.day, last) - 1) * 864e5 + time.hour * 36e5 + time.minute * 6e4 + time.second * 1e3 + time.millisecond)
    }
    return time
  }
  plus(given, unit) { return this.move(given, unit, 1) }
  minus(given, unit) { return this.move(given, unit, -1) }
  startOf(name) {
    const unit = unitOf(name)
    const { year, month, day, hour, minute, second } = this
    if (unit === 'week') return this.at(Date.UTC(year, month - 1, day - this.weekday + 1))
    if (unit === 'quarter') return this.at(Date.UTC(year, (this.quarter - 1) * 3, 1))
    const parts = [year, month - 1, day, hour, minute, second].slice(0, { year: 1, month: 2, day: 3, hour: 4, minute: 5, second: 6 }[unit])
    return unit === 'millisecond' ? this : this.at(Date.UTC(parts[0], ...[parts[1] ?? 0, parts[2] ?? 1], ...parts.slice(3)))
  }
  endOf(unit) { return this.startOf(unit).plus({ [unitOf(unit) + 's']: 1 }).minus({ milliseconds: 1 }) }
  beginningOf(unit = 'week') { return this.startOf(unit) }
  endOfMonth() { return this.endOf('month') }
  diff(other, unit = 'milliseconds') {
    const units = [unit].flat()
    const to = DateTime.from(other)
    const last = unitOf(units.at(-1))
    if (units.length === 1 && !UNIT_MS[last]) {
      const size = { month: 1, quarter: 3, year: 12 }[last]
      const whole = Math.trunc(((this.year - to.year) * 12 + this.month - to.month) / size)
      const near = to.plus({ months: whole * size })
      const count = (this.ts - near.ts) * (this.ts - to.ts) < 0 ? whole - Math.sign(this.ts - to.ts) : whole
      const from = to.plus({ months: count * size })
      const next = to.plus({ months: (count + (this.ts >= to.ts ? 1 : -1)) * size })
      return new Duration({ [last + 's']: count + (this.ts - from.ts) / Math.abs(next.ts - from.ts || 1) })
    }
    return new Duration({ milliseconds: this.ts - to.ts }).shiftTo(...units)
  }
  diffNow(unit) { return this.diff(DateTime.now(), unit) }
  diffTo(other, unit = 'days') { return DateTime.from(other).diff(this, unit).as([unit].flat().at(-1)) }
  diffToNow(unit) { return this.diffTo(DateTime.now(), unit) }
  static from(value) {
    if (value instanceof DateTime) return value
    if (value instanceof Date) return new DateTime(value.getTime())
    if (typeof value === 'number') return new DateTime(value)
    const iso = DateTime.fromISO(value)
    return iso.isValid ? iso : new DateTime(Date.parse(String(value)))
  }
  isBetween(a, b) { return this.ts > DateTime.from(a).ts && this.ts < DateTime.from(b).ts }
  isWeekend() { return this.weekday > 5 }
  hasSame(other, unit) { return this.startOf(unit).ts === new DateTime(other.ts, this.offset).startOf(unit).ts }
  equals(other) { return this.ts === other?.ts }
  extract(unit = 'week') { return unit === 'week' || unit === 'weekNumber' ? this.weekNumber : this[unitOf(unit)] }
  setZone(zone) { return new DateTime(this.ts, offsetOf(zone, this.ts), zone) }
  toUTC() { return new DateTime(this.ts) }
  toLocal() { return this }
  setLocale() { return this }
  reconfigure() { return this }
  toJSDate() { return new Date(this.ts) }
  toDateTime() { return this }
  toMillis() { return this.ts }
  toSeconds() { return this.ts / 1e3 }
  toUnixInteger() { return Math.floor(this.ts / 1e3) }
  valueOf() { return this.ts }
  toObject() { const { year, month, day, hour, minute, second, millisecond } = this; return { year, month, day, hour, minute, second, millisecond } }
  toISO(options) {
    if (!this.isValid) return null
    const text = this.toFormat("yyyy-MM-dd'T'HH:mm:ss") + (options?.suppressMilliseconds && this.millisecond === 0 ? '' : '.' + pad(this.millisecond, 3))
    return text + (options?.includeOffset === false ? '' : this.offset === 0 ? 'Z' : this.offsetText)
  }
  toISODate() { return this.toFormat('yyyy-MM-dd') }
  toISOTime() { return this.toFormat('HH:mm:ss.SSSZZ') }
  toISOWeekDate() { return this.weekYear + '-W' + pad(this.weekNumber) + '-' + this.weekday }
  toSQL() { return this.toFormat('yyyy-MM-dd HH:mm:ss.SSS ZZ') }
  toSQLDate() { return this.toISODate() }
  toRFC2822() { return this.toFormat('ccc, dd LLL yyyy HH:mm:ss ZZZ') }
  toHTTP() { return new Date(this.ts).toUTCString() }
  toString() { return this.toISO() ?? 'Invalid DateTime' }
  toJSON() { return this.toISO() }
  toRelative() {
    const ms = this.ts - Date.now()
    const [unit, size] = [['year', 365 * 864e5], ['month', 30 * 864e5], ['week', 6048e5], ['day', 864e5], ['hour', 36e5], ['minute', 6e4]].find(([, one]) => Math.abs(ms) >= one) ?? ['second', 1e3]
    const count = Math.floor(Math.abs(ms) / size)
    const text = count + ' ' + unit + (count === 1 ? '' : 's')
    return ms < 0 ? text + ' ago' : 'in ' + text
  }
  format(pattern) { return this.toFormat(pattern) }
  toFormat(pattern) {
    const hour12 = this.hour % 12 || 12
    const tokens = {
      yyyy: pad(this.year, 4), y: String(this.year), yy: pad(this.year % 100), LLLL: this.monthLong, MMMM: this.monthLong, LLL: this.monthShort, MMM: this.monthShort,
      LL: pad(this.month), MM: pad(this.month), L: String(this.month), M: String(this.month), dd: pad(this.day), d: String(this.day), cccc: this.weekdayLong,
      EEEE: this.weekdayLong, ccc: this.weekdayShort, EEE: this.weekdayShort, c: String(this.weekday), E: String(this.weekday), HH: pad(this.hour), H: String(this.hour), hh: pad(hour12),
      h: String(hour12), a: this.hour < 12 ? 'AM' : 'PM', mm: pad(this.minute), m: String(this.minute), ss: pad(this.second), s: String(this.second),
      SSS: pad(this.millisecond, 3), S: String(this.millisecond), o: String(this.ordinal), ooo: pad(this.ordinal, 3), q: String(this.quarter), W: String(this.weekNumber), WW: pad(this.weekNumber), kkkk: String(this.weekYear),
      Z: (this.offset < 0 ? '-' : '+') + Math.abs(Math.trunc(this.offset / 60)), ZZ: this.offsetText, ZZZ: this.offsetText.replace(':', ''), z: this.zoneName, X: String(this.toUnixInteger()), x: String(this.ts),
      T: pad(this.hour) + ':' + pad(this.minute), TT: pad(this.hour) + ':' + pad(this.minute) + ':' + pad(this.second), t: hour12 + ':' + pad(this.minute) + (this.hour < 12 ? ' AM' : ' PM'), D: this.month + '/' + this.day + '/' + this.year,
      DD: this.monthShort + ' ' + this.day + ', ' + this.year, DDD: this.monthLong + ' ' + this.day + ', ' + this.year, DDDD: this.weekdayLong + ', ' + this.monthLong + ' ' + this.day + ', ' + this.year,
    }
    return pattern.replace(/'([^']*)'|([A-Za-z])\\2*/g, (token, quoted) => quoted ?? tokens[token] ?? token)
  }
  toLocaleString(format) {
    const { monthLong, monthShort, day, month, year } = this
    if (format?.preset === 'FULL') return monthLong + ' ' + day + ', ' + year
    if (format?.preset === 'MED') return monthShort + ' ' + day + ', ' + year
    if (format?.preset === 'TIME') return this.toFormat('t')
    return month + '/' + day + '/' + year
  }
  static DATE_FULL = { preset: 'FULL' }
  static DATE_MED = { preset: 'MED' }
  static DATE_SHORT = { preset: 'SHORT' }
  static TIME_SIMPLE = { preset: 'TIME' }
}
const Interval = { fromDateTimes: (start, end) => ({ start, end, length: (unit = 'milliseconds') => DateTime.from(end).diff(DateTime.from(start), unit).as(unit), contains: (time) => time >= start && time < end, toDuration: (unit) => DateTime.from(end).diff(DateTime.from(start), unit) }) }
const $now = DateTime.now()
const $today = $now.startOf('day')
`
