import { type CelFunction, list, number, table, whole } from './cel-function.ts'
import { type CelValue, compare, Duration, failure, NONE, Optional, type Run, toJson, typeOf } from './cel-runtime.ts'
import { stableText } from './json-schema-values.ts'

/** Spends the maximum number of comparisons before the sort starts. */
export function sorted(run: Run, items: CelValue[], keys: CelValue[] = items): CelValue[] {
  run.spend(items.length * Math.ceil(Math.log2(items.length + 1)) + items.length)
  const order = keys.map((_, index) => index)
  order.sort((a, b) => compare(run, keys[a] as CelValue, keys[b] as CelValue))
  return order.map((index) => items[index] as CelValue)
}

function distinct(run: Run, items: CelValue[]): CelValue[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    // A time and its text are two different values.
    const key = `${typeOf(item)}:${stableText(toJson(run, item), (steps) => run.spend(steps))}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function flatten(run: Run, items: CelValue[], depth: number): CelValue[] {
  if (depth < 0) throw failure('a depth cannot be negative')
  const result: CelValue[] = []
  const visit = (from: CelValue[], left: number): void => {
    run.spend(from.length + 1)
    for (const item of from) {
      if (Array.isArray(item) && left > 0) visit(item, left - 1)
      else result.push(item)
    }
  }
  visit(items, Math.min(depth, 64))
  return result
}

function zip(run: Run, a: CelValue[], b: CelValue[]): CelValue[] {
  const length = Math.min(a.length, b.length)
  run.spend(length * 3)
  return Array.from({ length }, (_, at) => [a[at] as CelValue, b[at] as CelValue])
}

function sum(run: Run, items: CelValue[]): CelValue {
  run.spend(items.length)
  if (!(items[0] instanceof Duration)) return items.reduce<number>((total, item) => total + number(item), 0)
  return new Duration(
    items.reduce<number>((total, item) => {
      if (!(item instanceof Duration)) throw failure(`a duration is expected, not a ${typeOf(item)}`)
      return total + item.ms
    }, 0),
  )
}

function average(run: Run, items: CelValue[]): CelValue {
  if (items.length === 0) throw failure('the list is empty')
  const total = sum(run, items)
  return total instanceof Duration ? new Duration(total.ms / items.length) : (total as number) / items.length
}

function best(run: Run, items: CelValue[], sign: number): CelValue {
  if (items.length === 0) throw failure('the list is empty')
  run.spend(items.length)
  // Checks that the only item of a list can be compared, as in a longer list.
  compare(run, items[0] as CelValue, items[0] as CelValue)
  return items.reduce((found, item) => (sign * compare(run, item, found) > 0 ? item : found))
}

function slice(run: Run, items: CelValue[], args: CelValue[]): CelValue[] {
  const part = items.slice(whole(args[1]), args.length > 2 ? whole(args[2]) : undefined)
  run.spend(part.length)
  return part
}

const maybe = (value: CelValue | undefined): Optional => (value === undefined ? NONE : new Optional(value))

const of = (compute: (run: Run, items: CelValue[]) => CelValue): CelFunction => ({
  arity: [1],
  call: (run, args) => compute(run, list(args[0])),
})

export const LIST_METHODS = table({
  sum: of(sum),
  avg: of(average),
  min: of((run, items) => best(run, items, -1)),
  max: of((run, items) => best(run, items, 1)),
  sort: of((run, items) => sorted(run, items)),
  distinct: of(distinct),
  first: of((_run, items) => maybe(items[0])),
  last: of((_run, items) => maybe(items.at(-1))),
  slice: { arity: [2, 3], call: (run, args) => slice(run, list(args[0]), args) },
  zip: { arity: [2], call: (run, args) => zip(run, list(args[0]), list(args[1])) },
  flatten: {
    arity: [1, 2],
    call: (run, args) => flatten(run, list(args[0]), args.length > 1 ? whole(args[1]) : 1),
  },
})

/** The functions called as `lists.range(3)`. */
export const LISTS = table({
  range: {
    arity: [1],
    call: (run, args) => {
      const length = Math.max(0, whole(args[0]))
      run.spend(length)
      return Array.from({ length }, (_, index) => index)
    },
  },
})
