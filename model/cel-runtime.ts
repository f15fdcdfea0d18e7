// What a CEL program uses while it runs: values, comparisons, and the budget that stops excessive work.

import type { Json, JsonObject } from './definition.ts'
import { ExpressionFailure } from './expression-failure.ts'
import { isForbiddenKey } from './json.ts'
import { MAX_VALUE_SIZE } from './size.ts'

export class Duration {
  readonly ms: number
  constructor(ms: number) {
    this.ms = ms
  }
}

/** About 10,000 years in milliseconds, the limit of CEL. */
const MAX_DURATION = 315_576_000_000_000

export function durationOf(ms: number): Duration {
  if (!(Math.abs(ms) <= MAX_DURATION)) throw failure('the duration is out of range')
  return new Duration(ms)
}

/** A value that may be absent: the result of `a?.b`. */
export class Optional {
  readonly value: CelValue | undefined
  constructor(value: CelValue | undefined) {
    this.value = value
  }
}

export const NONE = new Optional(undefined)

export type CelValue = Json | Date | Duration | Optional | CelValue[] | { [key: string]: CelValue }

/**
 * The time and the place of an evaluation. It is stored with the execution, so that a repeated evaluation returns the
 * same values: `now` in milliseconds, and the seed from which `uuid()` derives the nth id.
 */
export type Moment = { readonly now: number; readonly seed: string; ids: number }
export const momentOf = (now: number, seed: string): Moment => ({ now, seed, ids: 0 })

/**
 * The steps that an evaluation may still take, about 30 ns each: a condition blocks the thread for at most 5 ms, all
 * values of a node together for at most 15 ms. Larger work belongs in a transform or code node, which do not run on
 * this thread. `size`: the number of JSON characters that the values may still have together.
 */
export type Budget = { steps: number; size: number }
export const CONDITION_STEPS = 150_000
export const VALUES_STEPS = 500_000
export const conditionBudget = (): Budget => ({ steps: CONDITION_STEPS, size: MAX_VALUE_SIZE })
export const valuesBudget = (): Budget => ({ steps: VALUES_STEPS, size: MAX_VALUE_SIZE })
const MAX_TEXT = 1024 * 1024

export class BudgetExceeded extends ExpressionFailure {}

export class Run {
  readonly variables: object
  readonly slots: CelValue[] = []
  readonly moment: Moment | undefined
  private readonly budget: Budget

  constructor(variables: object, budget: Budget, moment?: Moment) {
    this.variables = variables
    this.budget = budget
    this.moment = moment
  }

  spend(steps: number): void {
    this.budget.steps -= steps
    if (this.budget.steps < 0) {
      throw new BudgetExceeded(
        'expression_too_costly',
        'the expression does too much work; use a transform or code node',
      )
    }
  }

  /** Charges the length of a text that the expression creates, so that repeated doubling cannot fill the memory. */
  text(value: string): string {
    if (value.length > MAX_TEXT)
      throw new BudgetExceeded('expression_too_large', 'the expression creates a text that is too long')
    this.spend(value.length >> 3)
    return value
  }
}

export const failure = (message: string): ExpressionFailure => new ExpressionFailure('expression_failed', message)

export function typeOf(value: CelValue): string {
  if (value === null) return 'null_type'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'string') return 'string'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Date) return 'timestamp'
  if (value instanceof Duration) return 'duration'
  if (value instanceof Optional) return 'optional_type'
  return 'map'
}

export const isMap = (value: CelValue): value is { [key: string]: CelValue } => typeOf(value) === 'map'

export function readKey(target: CelValue, key: CelValue): CelValue | undefined {
  if (Array.isArray(target)) {
    if (typeof key !== 'number') throw failure(`a list is read by number, not by ${typeOf(key)}`)
    return Number.isInteger(key) && key >= 0 && key < target.length ? target[key] : undefined
  }
  if (!isMap(target)) throw failure(`"${clip(key)}" cannot be read from a ${typeOf(target)}`)
  const name = mapKey(key)
  return Object.hasOwn(target, name) ? target[name] : undefined
}

export function mapKey(key: CelValue): string {
  if (typeof key !== 'string' && typeof key !== 'number' && typeof key !== 'boolean') {
    throw failure(`a ${typeOf(key)} cannot be a key`)
  }
  const name = String(key)
  if (isForbiddenKey(name)) throw failure(`"${name}" is not allowed as a key`)
  return name
}

const clip = (key: CelValue): string => String(key).slice(0, 60)

export function equal(run: Run, a: CelValue, b: CelValue): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    run.spend(a.length === b.length ? 1 + (a.length >> 4) : 1)
    return a === b
  }
  run.spend(1)
  if (a === b) return true
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  if (a instanceof Duration && b instanceof Duration) return a.ms === b.ms
  if (a instanceof Optional && b instanceof Optional) {
    if (a.value === undefined || b.value === undefined) return a.value === b.value
    return equal(run, a.value, b.value)
  }
  run.spend(3)
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equal(run, item, b[index] as CelValue))
  }
  if (a === null || b === null || !isMap(a) || !isMap(b)) return false
  const keys = Object.keys(a)
  run.spend(keys.length)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(run, a[key] as CelValue, b[key] as CelValue))
  )
}

export function compare(run: Run, a: CelValue, b: CelValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN
  if (typeof a === 'string' && typeof b === 'string') {
    run.spend(Math.min(a.length, b.length) >> 4)
    return a < b ? -1 : a > b ? 1 : 0
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime()
  if (a instanceof Duration && b instanceof Duration) return a.ms - b.ms
  throw failure(`a ${typeOf(a)} cannot be compared with a ${typeOf(b)}`)
}

/**
 * Converts the result to JSON. Each value of the result costs a step, because shared parts multiply when they are
 * serialized: `[x, x]` nested thirty times is a billion elements. Values taken unchanged from the scope stay shared.
 */
export function toJson(run: Run, value: CelValue, depth = 0): Json {
  run.spend(1)
  if (depth > 64) throw failure('the result is nested too deeply')
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw failure('the result is not a finite number')
    return value
  }
  if (typeof value === 'string') {
    run.spend(value.length >> 3)
    return value.isWellFormed() ? value : value.toWellFormed()
  }
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Duration) return `${value.ms / 1000}s`
  if (value instanceof Optional) return value.value === undefined ? null : toJson(run, value.value, depth)
  run.spend(4)
  if (Array.isArray(value)) return value.map((item) => toJson(run, item, depth + 1))
  const result: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') continue
    run.spend(key.length >> 3)
    result[key] = toJson(run, item as CelValue, depth + 1)
  }
  return result
}
