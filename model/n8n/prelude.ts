import { TIME } from './prelude-time.ts'

// The environment of n8n code and expressions, as text that is added before them in the sandbox. Each part is added
// only if the code names something in it.

/** `Buffer` over typed arrays: utf8, base64, hex, latin1. */
const BUFFER = `class Buffer extends Uint8Array {
  static from(value, encoding = 'utf8') {
    if (typeof value !== 'string') {
      const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value?.type === 'Buffer' ? value.data : value
      const copy = new Buffer(bytes.length)
      copy.set(bytes)
      return copy
    }
    const kind = String(encoding).toLowerCase()
    if (kind === 'hex') return Buffer.from(value.match(/../g)?.map((pair) => parseInt(pair, 16)) ?? [])
    if (kind.startsWith('base64')) return Buffer.from([...atob(value.replaceAll('-', '+').replaceAll('_', '/').replace(/[^A-Za-z0-9+/]/g, ''))].map((sign) => sign.charCodeAt(0)))
    if (kind === 'latin1' || kind === 'binary' || kind === 'ascii') return Buffer.from([...value].map((sign) => sign.charCodeAt(0) & 255))
    return Buffer.from(new TextEncoder().encode(value))
  }
  static alloc(size, fill = 0) { return new Buffer(size).fill(fill) }
  static concat(list) { return Buffer.from(list.flatMap((part) => [...part])) }
  static isBuffer(value) { return value instanceof Buffer }
  static byteLength(value, encoding) { return typeof value === 'string' ? Buffer.from(value, encoding).length : value.byteLength }
  toString(encoding = 'utf8') {
    const kind = String(encoding).toLowerCase()
    if (kind === 'hex') return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('')
    const signs = () => Array.from(this, (byte) => String.fromCharCode(byte)).join('')
    if (kind === 'base64') return btoa(signs())
    if (kind === 'base64url') return btoa(signs()).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    if (kind === 'latin1' || kind === 'binary' || kind === 'ascii') return signs()
    return new TextDecoder().decode(this)
  }
  toJSON() { return { type: 'Buffer', data: [...this] } }
  equals(other) { return this.toString('hex') === Buffer.from(other).toString('hex') }
  slice(from, to) { return Buffer.from(Uint8Array.prototype.slice.call(this, from, to)) }
}
`

/** Synchronous MD5, SHA-1 and SHA-256; the sandbox's own \`crypto\` is asynchronous. */
const HASH = `const rotate = (value, by) => (value << by) | (value >>> (32 - by))
const padded = (bytes, isBig) => {
  const size = ((bytes.length + 8) >> 6) + 1
  const words = new Uint32Array(size * 16)
  const put = (at, byte) => { words[at >> 2] |= byte << (isBig ? 24 - (at % 4) * 8 : (at % 4) * 8) }
  bytes.forEach((byte, at) => put(at, byte))
  put(bytes.length, 128)
  words[size * 16 - (isBig ? 1 : 2)] = bytes.length * 8
  words[size * 16 - (isBig ? 2 : 1)] = Math.floor(bytes.length / 536870912)
  return words
}
const bytesOf = (words, isBig) => [...words].flatMap((word) => [24, 16, 8, 0].map((by) => (word >>> (isBig ? by : 24 - by)) & 255))
const md5 = (bytes) => {
  const words = padded(bytes, false)
  const turns = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
  let state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
  for (let block = 0; block < words.length; block += 16) {
    let [a, b, c, d] = state
    for (let at = 0; at < 64; at += 1) {
      const round = at >> 4
      const mixed = [() => (b & c) | (~b & d), () => (d & b) | (~d & c), () => b ^ c ^ d, () => c ^ (b | ~d)][round]()
      const word = words[block + [at, (5 * at + 1) % 16, (3 * at + 5) % 16, (7 * at) % 16][round]]
      const sum = (a + mixed + Math.floor(Math.abs(Math.sin(at + 1)) * 4294967296) + word) | 0
      ;[a, d, c, b] = [d, c, b, (b + rotate(sum, turns[round][at % 4])) | 0]
    }
    state = state.map((value, at) => (value + [a, b, c, d][at]) | 0)
  }
  return bytesOf(state, false)
}
const sha1 = (bytes) => {
  const words = padded(bytes, true)
  let state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
  for (let block = 0; block < words.length; block += 16) {
    const w = [...words.slice(block, block + 16)]
    for (let at = 16; at < 80; at += 1) w[at] = rotate(w[at - 3] ^ w[at - 8] ^ w[at - 14] ^ w[at - 16], 1)
    let [a, b, c, d, e] = state
    for (let at = 0; at < 80; at += 1) {
      const [mixed, constant] = at < 20 ? [(b & c) | (~b & d), 0x5a827999] : at < 40 ? [b ^ c ^ d, 0x6ed9eba1] : at < 60 ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc] : [b ^ c ^ d, 0xca62c1d6]
      ;[a, b, c, d, e] = [(rotate(a, 5) + mixed + e + constant + w[at]) | 0, a, rotate(b, 30), c, d]
    }
    state = state.map((value, at) => (value + [a, b, c, d, e][at]) | 0)
  }
  return bytesOf(state, true)
}
const primes = Array.from({ length: 312 }, (_, at) => at).filter((one) => one > 1 && ![2, 3, 5, 7, 11, 13, 17].some((by) => one !== by && one % by === 0))
const fraction = (value) => ((value - Math.floor(value)) * 4294967296) | 0
const sha256 = (bytes) => {
  const words = padded(bytes, true)
  let state = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))
  const constants = primes.slice(0, 64).map((prime) => fraction(Math.cbrt(prime)))
  for (let block = 0; block < words.length; block += 16) {
    const w = [...words.slice(block, block + 16)]
    for (let at = 16; at < 64; at += 1) {
      const [x, y] = [w[at - 15], w[at - 2]]
      w[at] = (w[at - 16] + (rotate(x, 25) ^ rotate(x, 14) ^ (x >>> 3)) + w[at - 7] + (rotate(y, 15) ^ rotate(y, 13) ^ (y >>> 10))) | 0
    }
    let [a, b, c, d, e, f, g, h] = state
    for (let at = 0; at < 64; at += 1) {
      const one = (h + (rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7)) + ((e & f) ^ (~e & g)) + constants[at] + w[at]) | 0
      const two = ((rotate(a, 30) ^ rotate(a, 19) ^ rotate(a, 10)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
    }
    state = state.map((value, at) => (value + [a, b, c, d, e, f, g, h][at]) | 0)
  }
  return bytesOf(state, true)
}
const hashNamed = (name) => {
  const found = { md5, sha1, sha256 }[String(name).toLowerCase().replace('-', '')]
  if (!found) throw new Error('the hash "' + name + '" is not available')
  return found
}
const toBytes = (value, encoding) => [...(typeof value === 'string' ? Buffer.from(value, encoding) : value)]
const hasher = (finish) => {
  const parts = []
  const made = { update: (value, encoding) => (parts.push(...toBytes(value, encoding)), made), digest: (encoding) => { const whole = Buffer.from(finish(parts)); return encoding ? whole.toString(encoding) : whole } }
  return made
}
const randomBytes = (size) => Buffer.from(Array.from({ length: size }, () => Math.floor(Math.random() * 256)))
const nodeCrypto = {
  createHash: (name) => hasher(hashNamed(name)),
  createHmac: (name, key) => {
    const hash = hashNamed(name)
    const given = toBytes(key)
    const block = Array.from({ length: 64 }, (_, at) => (given.length > 64 ? hash(given) : given)[at] ?? 0)
    return hasher((bytes) => hash([...block.map((byte) => byte ^ 92), ...hash([...block.map((byte) => byte ^ 54), ...bytes])]))
  },
  randomBytes,
  randomInt: (from, to) => (to === undefined ? Math.floor(Math.random() * from) : from + Math.floor(Math.random() * (to - from))),
  randomUUID: () => {
    const text = randomBytes(16).toString('hex')
    return text.slice(0, 8) + '-' + text.slice(8, 12) + '-4' + text.slice(13, 16) + '-a' + text.slice(17, 20) + '-' + text.slice(20)
  },
}
`

/** The methods that n8n adds to texts, numbers, lists, objects and times in expressions. */
const METHODS = `const addMethods = (prototype, methods) => {
  for (const [name, value] of Object.entries(methods)) if (!(name in prototype)) Object.defineProperty(prototype, name, { value, writable: true, configurable: true })
}
const isBlank = (value) => value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
addMethods(String.prototype, {
  toNumber() { return Number(this) }, toInt() { return parseInt(this, 10) }, toFloat() { return parseFloat(this) },
  toBoolean() { return !['', '0', 'false', 'no'].includes(String(this).toLowerCase()) },
  toDateTime() { return DateTime.from(String(this)) }, toDate() { return new Date(String(this)) },
  parseJson() { return JSON.parse(String(this)) }, toJsonString() { return JSON.stringify(String(this)) },
  isEmpty() { return this.length === 0 }, isNotEmpty() { return this.length > 0 },
  isEmail() { return /^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$/.test(this) }, isUrl() { return URL.canParse(String(this)) }, isDomain() { return /^([\\w-]+\\.)+[a-z]{2,}$/i.test(this) }, isNumeric() { return this.trim() !== '' && !Number.isNaN(Number(this)) },
  extractEmail() { return /[^\\s@<>"']+@[^\\s@<>"']+\\.[^\\s@<>"',;]+/.exec(this)?.[0] }, extractUrl() { return /https?:\\/\\/[^\\s"'<>]+/.exec(this)?.[0] },
  extractDomain() { return /(?:https?:\\/\\/)?(?:[^@\\/]+@)?([\\w.-]+\\.[a-z]{2,})/i.exec(this)?.[1] }, extractUrlPath() { return new URL(String(this)).pathname },
  toTitleCase() { return this.replace(/\\S+/g, (word) => word[0].toUpperCase() + word.slice(1).toLowerCase()) }, toSentenceCase() { return this.slice(0, 1).toUpperCase() + this.slice(1).toLowerCase() },
  toSnakeCase() { return this.trim().replace(/([a-z])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_').toLowerCase() },
  removeTags() { return this.replace(/<[^>]*>/g, '') }, removeMarkdown() { return this.replace(/[*_~\`#>]+/g, '').replace(/!?\\[([^\\]]*)\\]\\([^)]*\\)/g, '$1') },
  replaceSpecialChars() { return this.normalize('NFD').replace(/[\\u0300-\\u036f]/g, '') }, quote(mark = '"') { return mark + this.replaceAll(mark, '\\\\' + mark) + mark },
  urlEncode() { return encodeURIComponent(this) }, urlDecode() { return decodeURIComponent(this) },
  base64Encode() { return Buffer.from(String(this)).toString('base64') }, base64Decode() { return Buffer.from(String(this), 'base64').toString() },
  hash(name = 'md5') { return nodeCrypto.createHash(name).update(String(this)).digest('hex') }, length_() { return this.length },
})
addMethods(Number.prototype, {
  round(digits = 0) { return Math.round(this * 10 ** digits) / 10 ** digits }, floor() { return Math.floor(this) }, ceil() { return Math.ceil(this) }, abs() { return Math.abs(this) },
  isEven() { return this % 2 === 0 }, isOdd() { return Math.abs(this % 2) === 1 }, isInteger() { return Number.isInteger(Number(this)) }, isEmpty() { return false }, isNotEmpty() { return true },
  toNumber() { return Number(this) }, toInt() { return Math.trunc(this) }, toFloat() { return Number(this) }, toBoolean() { return Number(this) !== 0 },
  toDateTime(unit = 'ms') { return unit === 's' ? DateTime.fromSeconds(Number(this)) : DateTime.fromMillis(Number(this)) },
  format() { return String(this).replace(/\\B(?=(\\d{3})+(?!\\d))/, ',') },
})
addMethods(Boolean.prototype, { isEmpty() { return false }, isNotEmpty() { return true }, toBoolean() { return Boolean(this.valueOf()) }, toNumber() { return Number(this) }, toInt() { return Number(this) } })
addMethods(Date.prototype, { toDateTime() { return DateTime.fromJSDate(this) }, format(pattern) { return DateTime.fromJSDate(this).toFormat(pattern) }, plus(...given) { return DateTime.fromJSDate(this).plus(...given) }, minus(...given) { return DateTime.fromJSDate(this).minus(...given) } })
addMethods(Array.prototype, {
  first() { return this[0] }, last() { return this.at(-1) }, isEmpty() { return this.length === 0 }, isNotEmpty() { return this.length > 0 },
  unique(...keys) { const of = (one) => JSON.stringify(keys.length === 0 ? one : keys.map((key) => one?.[key])); const seen = new Set(); return this.filter((one) => !seen.has(of(one)) && seen.add(of(one))) },
  removeDuplicates(...keys) { return this.unique(...keys) }, compact() { return this.filter((one) => !isBlank(one)) },
  pluck(...keys) { return this.map((one) => (keys.length === 1 ? one?.[keys[0]] : Object.fromEntries(keys.map((key) => [key, one?.[key]])))) },
  sum() { return this.reduce((total, one) => total + Number(one), 0) }, average() { return this.length === 0 ? 0 : this.sum() / this.length }, max() { return Math.max(...this.map(Number)) }, min() { return Math.min(...this.map(Number)) },
  chunk(size) { return Array.from({ length: Math.ceil(this.length / size) }, (_, at) => this.slice(at * size, at * size + size)) },
  append(...more) { return [...this, ...more] }, union(other) { return [...this, ...other].unique() }, intersection(other) { return this.filter((one) => other.some((two) => JSON.stringify(two) === JSON.stringify(one))) },
  difference(other) { return this.filter((one) => !other.some((two) => JSON.stringify(two) === JSON.stringify(one))) }, randomItem() { return this[Math.floor(Math.random() * this.length)] },
  smartJoin(key, value) { return Object.fromEntries(this.map((one) => [one[key], one[value]])) }, renameKeys(...names) { return this.map((one) => Object.fromEntries(Object.entries(one).map(([key, value]) => [names.includes(key) ? names[names.indexOf(key) + 1] : key, value]))) },
  toJsonString() { return JSON.stringify(this) },
})
addMethods(Object.prototype, {
  isEmpty() { return Object.keys(this).length === 0 }, isNotEmpty() { return Object.keys(this).length > 0 }, hasField(name) { return Object.hasOwn(this, name) }, removeField(name) { const { [name]: _, ...rest } = this; return rest },
  keepFieldsContaining(text) { return Object.fromEntries(Object.entries(this).filter(([, value]) => String(value).includes(text))) }, removeFieldsContaining(text) { return Object.fromEntries(Object.entries(this).filter(([, value]) => !String(value).includes(text))) },
  compact() { return Object.fromEntries(Object.entries(this).filter(([, value]) => !isBlank(value))) }, merge(other) { return { ...other, ...this } },
  urlEncode() { return new URLSearchParams(this).toString() }, toJsonString() { return JSON.stringify(this) },
})
const $if = (test, yes, no) => (test ? yes : no)
const $ifEmpty = (value, other) => (isBlank(value) ? other : value)
const $max = Math.max
const $min = Math.min
const $not = (value) => !value
`

/** Formats numbers and dates as in the United States, the default for code that names no language. */
const LOCALE = `const grouped = (value, options = {}) => {
  const isMoney = options.style === 'currency'
  const most = options.maximumFractionDigits ?? Math.max(options.minimumFractionDigits ?? 0, isMoney ? 2 : options.style === 'percent' ? 0 : 3)
  const least = options.minimumFractionDigits ?? (isMoney ? Math.min(2, most) : 0)
  let [whole, part = ''] = Math.abs(options.style === 'percent' ? value * 100 : value).toFixed(most).split('.')
  while (part.length > least && part.endsWith('0')) part = part.slice(0, -1)
  if (options.useGrouping !== false) whole = whole.replace(/\\B(?=(\\d{3})+(?!\\d))/g, ',')
  const sign = isMoney ? ({ USD: '$', EUR: '€', GBP: '£', INR: '₹', JPY: '¥', BRL: 'R$' }[options.currency] ?? options.currency + ' ') : ''
  return (value < 0 ? '-' : '') + sign + whole + (part === '' ? '' : '.' + part) + (options.style === 'percent' ? '%' : '')
}
/** The thousands and decimal separators, and the format of numeric dates. */
const LANGUAGES = { en: [',', '.'], de: ['.', ',', 'D.M.Y'], es: ['.', ',', 'D/M/Y'], it: ['.', ',', 'D/M/Y'], pt: ['.', ',', 'DD/MM/Y'], fr: ['\\u202f', ',', 'DD/MM/Y'], nl: ['.', ',', 'D-M-Y'], id: ['.', ',', 'D/M/Y'], tr: ['.', ',', 'DD.MM.Y'] }
const languageOf = (given) => [given].flat()[0]?.toLowerCase() ?? 'en-us'
Number.prototype.toLocaleString = function (language, options = {}) {
  if (!Number.isFinite(Number(this))) return String(this)
  const [thousands, decimal] = LANGUAGES[languageOf(language).slice(0, 2)] ?? LANGUAGES.en
  const text = grouped(Number(this), thousands === ',' ? options : { ...options, style: options.style === 'currency' ? undefined : options.style, ...(options.style === 'currency' && { minimumFractionDigits: options.minimumFractionDigits ?? 2, maximumFractionDigits: options.maximumFractionDigits ?? 2 }) })
  const own = thousands === ',' ? text : text.replace(/[.,]/g, (sign) => (sign === ',' ? thousands : decimal))
  if (thousands === ',' || options.style !== 'currency') return own
  const sign = { USD: '$', EUR: '€', GBP: '£', BRL: 'R$', IDR: 'Rp' }[options.currency] ?? options.currency
  return /^(pt|nl|id)/.test(languageOf(language)) ? sign + '\\u00a0' + own : own + '\\u00a0' + sign
}
/** Formats numeric dates only: names of months are English. */
const inDigits = (date, language, options, kinds) => {
  const shape = languageOf(language) === 'en-gb' ? 'DD/MM/Y' : LANGUAGES[languageOf(language).slice(0, 2)]?.[2]
  if (shape === undefined) return undefined
  const zoned = options?.timeZone === undefined ? date : new Date(date.getTime() + offsetOf(options.timeZone, date.getTime()) * 6e4)
  const two = (value) => String(value).padStart(2, '0')
  const isLong = options?.day === '2-digit' || options?.month === '2-digit'
  const day = shape.replace(/D+|M+|Y/g, (part) => (part === 'Y' ? zoned.getUTCFullYear() : part[0] === 'D' ? (part.length > 1 || isLong ? two(zoned.getUTCDate()) : zoned.getUTCDate()) : part.length > 1 || isLong ? two(zoned.getUTCMonth() + 1) : zoned.getUTCMonth() + 1))
  const hasTime = kinds.includes('time') || options?.hour !== undefined
  const clock = two(zoned.getUTCHours()) + ':' + two(zoned.getUTCMinutes()) + (options?.hour !== undefined && options?.second === undefined ? '' : ':' + two(zoned.getUTCSeconds()))
  const hasDate = kinds.includes('date') || options?.day !== undefined
  return [hasDate ? day : '', hasTime ? clock : ''].filter(Boolean).join(languageOf(language).startsWith('fr') ? ' ' : ', ')
}
const dateText = (time, options, kinds) => {
  if (Number.isNaN(time.getTime())) return 'Invalid Date'
  const given = { ...options }
  const date = given.timeZone === undefined ? time : new Date(time.getTime() + offsetOf(given.timeZone, time.getTime()) * 6e4)
  const plain = !['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second', 'dateStyle', 'timeStyle'].some((key) => given[key] !== undefined)
  if (plain && kinds.includes('date')) Object.assign(given, { year: 'numeric', month: 'numeric', day: 'numeric' })
  if (plain && kinds.includes('time')) Object.assign(given, { hour: 'numeric', minute: '2-digit', second: '2-digit' })
  const months = 'January February March April May June July August September October November December'.split(' ')
  const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
  if (given.dateStyle) Object.assign(given, { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' } }[given.dateStyle])
  if (given.timeStyle) Object.assign(given, { hour: 'numeric', minute: '2-digit' }, given.timeStyle === 'short' ? {} : { second: '2-digit' })
  const two = (value, kind) => (kind === '2-digit' ? String(value).padStart(2, '0').slice(-2) : String(value))
  const isWord = given.month === 'long' || given.month === 'short'
  const month = given.month === undefined ? '' : isWord ? (given.month === 'long' ? months[date.getUTCMonth()] : months[date.getUTCMonth()].slice(0, 3)) : two(date.getUTCMonth() + 1, given.month)
  const day = given.day === undefined ? '' : two(date.getUTCDate(), given.day)
  const year = given.year === undefined ? '' : two(date.getUTCFullYear(), given.year)
  const weekday = given.weekday === undefined ? '' : given.weekday === 'long' ? days[date.getUTCDay()] : days[date.getUTCDay()].slice(0, 3)
  const calendar = isWord ? [month + (day && ' ' + day), year].filter(Boolean).join(day ? ', ' : ' ') : [month, day, year].filter(Boolean).join('/')
  const is24 = given.hour12 === false || given.hourCycle === 'h23'
  const hour = given.hour === undefined ? '' : is24 ? String(date.getUTCHours()).padStart(2, '0') : two(date.getUTCHours() % 12 || 12, given.hour)
  const clock = [hour, given.minute === undefined ? '' : String(date.getUTCMinutes()).padStart(2, '0'), given.second === undefined ? '' : String(date.getUTCSeconds()).padStart(2, '0')].filter(Boolean).join(':')
  return [[weekday, calendar].filter(Boolean).join(', '), clock === '' ? '' : clock + (hour === '' || is24 ? '' : date.getUTCHours() < 12 ? ' AM' : ' PM')].filter(Boolean).join(', ')
}
Date.prototype.toLocaleDateString = function (language, options) { return inDigits(this, language, options, ['date']) ?? dateText(this, options, ['date']) }
Date.prototype.toLocaleTimeString = function (language, options) { return inDigits(this, language, options, ['time']) ?? dateText(this, options, ['time']) }
Date.prototype.toLocaleString = function (language, options) { return inDigits(this, language, options, ['date', 'time']) ?? dateText(this, options, ['date', 'time']) }
`

type Part = { names: RegExp; text: string; needs?: readonly Part[] }

const buffer: Part = { names: /\bBuffer\b/, text: BUFFER }
const hash: Part = {
  names: /\b(?:createHash|createHmac|randomUUID|randomBytes|randomInt|nodeCrypto)\b/,
  text: HASH,
  needs: [buffer],
}
const time: Part = { names: /\b(?:DateTime|Duration|Interval|\$now|\$today|luxon)\b|\$(?:now|today)\b/, text: TIME }
const locale: Part = { names: /\btoLocale(?:Date|Time)?String\b/, text: LOCALE, needs: [time] }
const methods: Part = { names: /./, text: METHODS, needs: [buffer, hash, time] }

/** Returns the parts that a source needs, each once, in an order in which each part is defined before its use. */
export function preludeOf(source: string, isExpression = false): string {
  const wanted = new Set<Part>()
  const want = (part: Part): void => {
    for (const one of part.needs ?? []) want(one)
    wanted.add(part)
  }
  for (const part of [buffer, hash, time, locale]) if (part.names.test(source)) want(part)
  // Code that does not declare its own `crypto` means Node's `crypto`.
  const isGlobal = wanted.has(hash) && !/\b(?:const|let|var)\s+crypto\b|crypto\.subtle/.test(source)
  if (isExpression && METHOD_NAMES.test(source)) want(methods)
  return `${[...wanted].map(({ text }) => text).join('')}${isGlobal ? 'const crypto = nodeCrypto\n' : ''}`
}

/** Methods and functions that exist only in n8n expressions. */
const METHOD_NAMES =
  /\$(?:if|ifEmpty|max|min|not)\b|\.(?:toNumber|toInt|toFloat|toBoolean|toDateTime|toDate|parseJson|toJsonString|isEmpty|isNotEmpty|isEmail|isUrl|isDomain|isNumeric|extract\w+|toTitleCase|toSentenceCase|toSnakeCase|remove\w+|replaceSpecialChars|quote|url(?:En|De)code|base64(?:En|De)code|hash|round|floor|ceil|abs|isEven|isOdd|isInteger|format|first|last|unique|compact|pluck|sum|average|max|min|chunk|append|union|intersection|difference|randomItem|smartJoin|renameKeys|hasField|keepFieldsContaining|merge|plus|minus|toFormat)\(/
