// The functions of CEL that expressions may call. A closed table: a name that is not here does not compile.

import { BudgetExceeded, type CelValue, Duration, failure, isMap, type Run, typeOf } from './cel-runtime.ts'
import { compilePattern } from './pattern.ts'

/** `args[0]` is the receiver of a method. */
export type CelFunction = { arity: readonly number[]; call(run: Run, args: CelValue[]): CelValue }

function text(value: CelValue | undefined): string {
  if (typeof value === 'string') return value
  throw failure(`a text is expected, not a ${typeOf(value as CelValue)}`)
}

function number(value: CelValue | undefined): number {
  if (typeof value === 'number') return value
  throw failure(`a number is expected, not a ${typeOf(value as CelValue)}`)
}

function list(value: CelValue | undefined): CelValue[] {
  if (Array.isArray(value)) return value
  throw failure(`a list is expected, not a ${typeOf(value as CelValue)}`)
}

function position(value: CelValue | undefined, length: number): number {
  const index = number(value)
  if (Number.isInteger(index) && index >= 0 && index <= length) return index
  throw failure(`position ${index} is outside the text`)
}

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
  throw failure('the text is not a number')
}

function toBool(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  const source = text(value)
  if (source === 'true') return true
  if (source === 'false') return false
  throw failure('the text is neither "true" nor "false"')
}

function timestamp(value: CelValue): Date {
  if (value instanceof Date) return value
  const source = typeof value === 'number' ? value * 1000 : text(value)
  const ok =
    typeof source === 'number' || /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(source)
  const date = new Date(source)
  if (ok && !Number.isNaN(date.getTime())) return date
  throw failure('timestamp() takes an RFC 3339 time or seconds since 1970')
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function duration(value: CelValue): Duration {
  if (value instanceof Duration) return value
  const source = text(value)
  const parts = /^-?(\d{1,12}(\.\d{1,9})?(ms|s|m|h)){1,4}$/.test(source) ? source.matchAll(/([\d.]+)(ms|s|m|h)/g) : []
  let ms = 0
  let found = false
  for (const part of parts) {
    ms += Number(part[1]) * (UNITS[part[2] as string] as number)
    found = true
  }
  if (!found) throw failure('duration() takes a text such as "90s" or "1h30m"')
  return new Duration(source.startsWith('-') ? -ms : ms)
}

function matches(run: Run, subject: string, source: string): boolean {
  const pattern = compilePattern(source)
  if (typeof pattern === 'string') throw failure(pattern)
  run.spend(pattern.cost(subject))
  const result = pattern.test(subject)
  if (result === undefined) throw new BudgetExceeded('expression_too_costly', 'the text is too long for this pattern')
  return result
}

function join(run: Run, items: CelValue[], separator: string): string {
  let length = 0
  for (const item of items) length += text(item).length + separator.length
  run.spend(items.length + (length >> 3))
  return run.text(items.join(separator))
}

function replace(run: Run, source: string, search: string, by: string): string {
  if (search === '') throw failure('replace() needs a text to look for')
  run.spend(searchCost(source, search))
  const found = source.split(search).length - 1
  run.spend((found * by.length) >> 3)
  return run.text(source.replaceAll(search, () => by))
}

const date = (read: (value: Date) => number) => (_run: Run, args: CelValue[]) => {
  if (args[0] instanceof Date) return read(args[0])
  throw failure(`a timestamp is expected, not a ${typeOf(args[0] as CelValue)}`)
}

const timePart = (ofDate: (value: Date) => number, msPerUnit: number) => (run: Run, args: CelValue[]) =>
  args[0] instanceof Duration ? Math.trunc(args[0].ms / msPerUnit) : date(ofDate)(run, args)

/** Looking for a long text in a long text is quadratic at worst (the engine's tables cover 250 characters). */
const searchCost = (source: string, search: string): number =>
  (source.length >> 3) + Math.ceil((source.length * search.length) / 4096)

const searching = (run: Run, args: CelValue[], find: (source: string, search: string) => CelValue): CelValue => {
  const source = text(args[0])
  const search = text(args[1])
  run.spend(searchCost(source, search))
  return find(source, search)
}

const dayOfYear = (value: Date): number =>
  Math.floor((value.getTime() - Date.UTC(value.getUTCFullYear(), 0, 1)) / 86_400_000)

const one = [1] as const
const two = [2] as const

export const FUNCTIONS: ReadonlyMap<string, CelFunction> = new Map(
  Object.entries<CelFunction>({
    size: { arity: one, call: (run, [value]) => size(run, value as CelValue) },
    string: { arity: one, call: (_run, [value]) => toText(value as CelValue) },
    double: { arity: one, call: (_run, [value]) => toNumber(value as CelValue) },
    int: { arity: one, call: (_run, [value]) => Math.trunc(toNumber(value as CelValue)) },
    bool: { arity: one, call: (_run, [value]) => toBool(value as CelValue) },
    dyn: { arity: one, call: (_run, [value]) => value as CelValue },
    type: { arity: one, call: (_run, [value]) => typeOf(value as CelValue) },
    timestamp: { arity: one, call: (_run, [value]) => timestamp(value as CelValue) },
    duration: { arity: one, call: (_run, [value]) => duration(value as CelValue) },
  }),
)

export const METHODS: ReadonlyMap<string, CelFunction> = new Map(
  Object.entries<CelFunction>({
    size: { arity: one, call: (run, [value]) => size(run, value as CelValue) },
    contains: { arity: two, call: (run, args) => searching(run, args, (source, search) => source.includes(search)) },
    startsWith: {
      arity: two,
      call: (run, args) => searching(run, args, (source, search) => source.startsWith(search)),
    },
    endsWith: { arity: two, call: (run, args) => searching(run, args, (source, search) => source.endsWith(search)) },
    indexOf: { arity: two, call: (run, args) => searching(run, args, (source, search) => source.indexOf(search)) },
    lastIndexOf: {
      arity: two,
      call: (run, args) => searching(run, args, (source, search) => source.lastIndexOf(search)),
    },
    matches: { arity: two, call: (run, args) => matches(run, text(args[0]), text(args[1])) },
    lowerAscii: { arity: one, call: (run, args) => run.text(text(args[0]).toLowerCase()) },
    upperAscii: { arity: one, call: (run, args) => run.text(text(args[0]).toUpperCase()) },
    trim: { arity: one, call: (run, args) => run.text(text(args[0]).trim()) },
    substring: {
      arity: [2, 3],
      call: (run, args) => {
        const source = text(args[0])
        const start = position(args[1], source.length)
        return run.text(source.substring(start, args.length > 2 ? position(args[2], source.length) : undefined))
      },
    },
    replace: { arity: [3], call: (run, args) => replace(run, text(args[0]), text(args[1]), text(args[2])) },
    split: {
      arity: two,
      call: (run, args) => {
        const source = text(args[0])
        const separator = text(args[1])
        run.spend(source.length + searchCost(source, separator))
        return source.split(separator)
      },
    },
    join: { arity: [1, 2], call: (run, args) => join(run, list(args[0]), args.length > 1 ? text(args[1]) : '') },
    getFullYear: { arity: one, call: date((value) => value.getUTCFullYear()) },
    getMonth: { arity: one, call: date((value) => value.getUTCMonth()) },
    getDate: { arity: one, call: date((value) => value.getUTCDate()) },
    getDayOfMonth: { arity: one, call: date((value) => value.getUTCDate() - 1) },
    getDayOfWeek: { arity: one, call: date((value) => value.getUTCDay()) },
    getDayOfYear: { arity: one, call: date(dayOfYear) },
    getHours: { arity: one, call: timePart((value) => value.getUTCHours(), 3_600_000) },
    getMinutes: { arity: one, call: timePart((value) => value.getUTCMinutes(), 60_000) },
    getSeconds: { arity: one, call: timePart((value) => value.getUTCSeconds(), 1_000) },
    getMilliseconds: { arity: one, call: timePart((value) => value.getUTCMilliseconds(), 1) },
  }),
)

const anyNumberOf = [1, 2, 3, 4, 5, 6, 7, 8] as const

/** Called as `math.floor(x)`. */
export const MATH: ReadonlyMap<string, CelFunction> = new Map(
  Object.entries<CelFunction>({
    floor: { arity: one, call: (_run, args) => Math.floor(number(args[0])) },
    ceil: { arity: one, call: (_run, args) => Math.ceil(number(args[0])) },
    round: { arity: one, call: (_run, args) => Math.round(number(args[0])) },
    abs: { arity: one, call: (_run, args) => Math.abs(number(args[0])) },
    greatest: { arity: anyNumberOf, call: (run, args) => extreme(run, args, (a, b) => a > b) },
    least: { arity: anyNumberOf, call: (run, args) => extreme(run, args, (a, b) => a < b) },
  }),
)

function extreme(run: Run, args: CelValue[], better: (a: number, b: number) => boolean): number {
  const values = args.length === 1 && Array.isArray(args[0]) ? args[0] : args
  run.spend(values.length)
  if (values.length === 0) throw failure('the list is empty')
  return values.map(number).reduce((best, value) => (better(value, best) ? value : best))
}
