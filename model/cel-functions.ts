// The functions of CEL that expressions may call. The table is closed: a name that is not in it does not compile.

import { DIGESTS, ENCODINGS_BY_NAME } from './cel-encodings.ts'
import { type CelFunction, type FunctionTable, number, table, text } from './cel-function.ts'
import { LIST_METHODS, LISTS } from './cel-lists.ts'
import { MATH } from './cel-math.ts'
import { OPTIONAL, OPTIONAL_METHODS } from './cel-optional.ts'
import { type CelValue, Duration, durationOf, failure, isMap, type Run, typeOf } from './cel-runtime.ts'
import { formatMethod, REGEX, STRINGS, TEXT_METHODS } from './cel-text.ts'
import {
  addTime,
  DATE_PARTS,
  DURATION_PARTS,
  dateOf,
  difference,
  durationPart,
  formatTime,
  inZone,
  parseTime,
  startOf,
  validDate,
  zoneOf,
} from './cel-time.ts'
import { hasFormat } from './json-schema-format.ts'

function size(run: Run, value: CelValue): number {
  if (typeof value === 'string') {
    run.spend(value.length >> 3)
    let count = 0
    for (const _ of value) count += 1
    return count
  }
  if (Array.isArray(value)) return value.length
  if (isMap(value)) {
    const keys = Object.keys(value).length
    run.spend(keys >> 2)
    return keys
  }
  throw failure(`a ${typeOf(value)} has no size`)
}

function toText(value: CelValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Duration) return `${value.ms / 1000}s`
  throw failure(`a ${typeOf(value)} has no text form`)
}

function toNumber(value: CelValue): number {
  if (typeof value === 'number') return value
  if (value instanceof Date) return value.getTime() / 1000
  const source = text(value).trim()
  if (/^[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})(e[+-]?\d{1,3})?$/i.test(source)) return Number(source)
  if (/^[+-]?(infinity|inf)$|^nan$/i.test(source)) {
    return /nan/i.test(source)
      ? Number.NaN
      : source.startsWith('-')
        ? Number.NEGATIVE_INFINITY
        : Number.POSITIVE_INFINITY
  }
  throw failure('the text is not a number')
}

function toUnsigned(value: CelValue): number {
  const number = Math.trunc(toNumber(value))
  if (number < 0) throw failure('the number is negative')
  return number
}

const TRUE = new Set(['true', 't', '1', 'True', 'TRUE'])
const FALSE = new Set(['false', 'f', '0', 'False', 'FALSE'])

function toBool(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  const source = text(value)
  if (TRUE.has(source)) return true
  if (FALSE.has(source)) return false
  throw failure('the text is neither "true" nor "false"')
}

/** `Date` alone reads 30 February as 2 March, and 24:00 as the next day. */
const isTime = (source: string): boolean =>
  /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(source) &&
  hasFormat('date', source.slice(0, 10))

function timestamp(value: CelValue): Date {
  if (value instanceof Date) return value
  const source = typeof value === 'number' ? value * 1000 : text(value)
  const ok = typeof source === 'number' || isTime(source)
  const date = new Date(source)
  if (ok && !Number.isNaN(date.getTime())) return validDate(date.getTime())
  throw failure('timestamp() takes an RFC 3339 time or seconds since 1970')
}

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
function duration(value: CelValue): Duration {
  if (value instanceof Duration) return value
  const source = text(value)
  const isOne = /^-?(\d{1,12}(\.\d{1,9})?(ns|us|ms|s|m|h)){1,6}$/.test(source)
  const parts = isOne ? source.matchAll(/([\d.]+)(ns|us|ms|s|m|h)/g) : []
  let ms = 0
  let found = false
  for (const part of parts) {
    ms += Number(part[1]) * (UNITS[part[2] as string] as number)
    found = true
  }
  if (!found) throw failure('duration() takes a text such as "90s" or "1h30m"')
  return durationOf(source.startsWith('-') ? -ms : ms)
}

function now(run: Run): Date {
  if (!run.moment) throw failure('now() is not available here')
  return new Date(run.moment.now)
}

const part = (name: string): CelFunction => {
  const read = DATE_PARTS[name] as (local: Date) => number
  const msPerUnit = DURATION_PARTS[name]
  return {
    arity: [1, 2],
    call: (run, args) =>
      msPerUnit !== undefined && args[0] instanceof Duration
        ? durationPart(args[0], msPerUnit)
        : read(inZone(run, dateOf(args[0]), zoneOf(args[1]))),
  }
}

const unit = (value: CelValue | undefined): string => text(value)

const TIME_METHODS = table({
  ...Object.fromEntries(Object.keys(DATE_PARTS).map((name) => [name, part(name)])),
  /** On a text: inserts the values of a list. On a time: formats the time by a pattern, in a zone. */
  format: {
    arity: [1, 2, 3],
    call: (run, args) =>
      typeof args[0] === 'string' && args.length === 2
        ? formatMethod(run, args[0], args[1])
        : formatTime(run, dateOf(args[0]), text(args[1] ?? "yyyy-MM-dd'T'HH:mm:ssXXX"), zoneOf(args[2])),
  },
  startOf: { arity: [2, 3], call: (run, args) => startOf(run, dateOf(args[0]), unit(args[1]), zoneOf(args[2])) },
  add: {
    arity: [3, 4],
    call: (run, args) => addTime(run, dateOf(args[0]), number(args[1]), unit(args[2]), zoneOf(args[3])),
  },
  difference: {
    arity: [3, 4],
    call: (run, args) => difference(run, dateOf(args[0]), dateOf(args[1]), unit(args[2]), zoneOf(args[3])),
  },
})

const of = (compute: (value: CelValue, run: Run) => CelValue): CelFunction => ({
  arity: [1],
  call: (run, [value]) => compute(value as CelValue, run),
})

export const FUNCTIONS: FunctionTable = table({
  size: of((value, run) => size(run, value)),
  string: of(toText),
  double: of(toNumber),
  int: of((value) => Math.trunc(toNumber(value))),
  uint: of(toUnsigned),
  bool: of(toBool),
  dyn: of((value) => value),
  type: of(typeOf),
  timestamp: of(timestamp),
  duration: of(duration),
  matches: TEXT_METHODS.get('matches') as CelFunction,
  now: { arity: [0], call: now, moment: true },
  ...DIGESTS,
})

export const METHODS: FunctionTable = new Map([
  ['size', of((value, run) => size(run, value))],
  ...TEXT_METHODS,
  ...LIST_METHODS,
  ...TIME_METHODS,
  ...OPTIONAL_METHODS,
])

/** Functions with a namespace, called as `math.floor(x)`. */
export const NAMESPACES: ReadonlyMap<string, FunctionTable> = new Map<string, FunctionTable>([
  ['math', MATH],
  ['strings', STRINGS],
  ['regex', REGEX],
  ['lists', LISTS],
  ['optional', OPTIONAL],
  [
    'timestamp',
    table({
      parse: {
        arity: [2, 3],
        call: (run, args) => parseTime(run, text(args[0]), text(args[1]), zoneOf(args[2])),
      },
    }),
  ],
  ...Object.entries(ENCODINGS_BY_NAME),
])
