// The steps of a compiled expression. Each step spends its cost before it does its work.

import type { CelFunction } from './cel-function.ts'
import { invalid, place } from './cel-lexer.ts'
import { truth } from './cel-macros.ts'
import { OPERATIONS, type Operation } from './cel-operators.ts'
import { optionalOf, readOptional } from './cel-optional.ts'
import {
  BudgetExceeded,
  type CelValue,
  Duration,
  failure,
  mapKey,
  Optional,
  type Run,
  readKey,
  typeOf,
} from './cel-runtime.ts'
import { ExpressionFailure } from './expression-failure.ts'

export type Step = (run: Run) => CelValue

export const literal =
  (value: CelValue): Step =>
  () =>
    value

export function access(target: Step, key: Step): Step {
  return (run) => {
    run.spend(1)
    const name = key(run)
    const from = target(run)
    // After a `?.`, all further fields are optional too.
    if (from instanceof Optional) return readOptional(from, name)
    const value = readKey(from, name)
    if (value === undefined)
      throw failure(`no such key: ${String(name).slice(0, 60)}; check with has() or read it with ?.`)
    return value
  }
}

export function optionalAccess(target: Step, key: Step): Step {
  return (run) => {
    run.spend(1)
    const name = key(run)
    return readOptional(target(run), name)
  }
}

export function listOf(items: Step[], optional: ReadonlySet<number>): Step {
  if (optional.size === 0) {
    return (run) => {
      run.spend(items.length + 1)
      return items.map((item) => item(run))
    }
  }
  return (run) => {
    run.spend(items.length + 1)
    const result: CelValue[] = []
    for (const [index, item] of items.entries()) {
      const value = optional.has(index) ? optionalOf(item(run)).value : item(run)
      if (value !== undefined) result.push(value)
    }
    return result
  }
}

export function mapOf(entries: [Step, Step][], optional: ReadonlySet<number>): Step {
  return (run) => {
    run.spend(entries.length + 1)
    const result: { [key: string]: CelValue } = {}
    for (const [index, [key, value]] of entries.entries()) {
      const name = mapKey(key(run))
      const given = optional.has(index) ? optionalOf(value(run)).value : value(run)
      if (given !== undefined) result[name] = given
    }
    return result
  }
}

export function choose(condition: Step, yes: Step, no: Step): Step {
  return (run) => {
    run.spend(1)
    return truth(condition(run)) ? yes(run) : no(run)
  }
}

/**
 * Evaluates `&&` or `||` as CEL specifies: an operand that decides the result wins over a failure of the other operand.
 * A spent budget is never ignored.
 */
export function logical(deciding: boolean, left: Step, right: Step): Step {
  return (run) => {
    run.spend(1)
    let first: ExpressionFailure | undefined
    try {
      if (truth(left(run)) === deciding) return deciding
    } catch (error) {
      if (!(error instanceof ExpressionFailure) || error instanceof BudgetExceeded) throw error
      first = error
    }
    if (truth(right(run)) === deciding) return deciding
    if (first) throw first
    return !deciding
  }
}

export const not =
  (value: Step): Step =>
  (run) => {
    run.spend(1)
    return !truth(value(run))
  }

export const negate =
  (value: Step): Step =>
  (run) => {
    run.spend(1)
    const operand = value(run)
    if (typeof operand === 'number') return -operand
    if (operand instanceof Duration) return new Duration(-operand.ms)
    throw failure(`a ${typeOf(operand)} cannot be negated`)
  }

export function binary(op: string, left: Step, right: Step): Step {
  const operate = OPERATIONS.get(op) as Operation
  return (run) => {
    run.spend(1)
    return operate(run, left(run), right(run))
  }
}

export function invoke(target: CelFunction, name: string, args: Step[], start: number): Step {
  if (!target.arity.includes(args.length)) throw invalid(`${name}() has the wrong number of arguments${place(start)}`)
  return (run) => {
    run.spend(1)
    return target.call(
      run,
      args.map((arg) => arg(run)),
    )
  }
}
