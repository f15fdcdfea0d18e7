// What `all`, `exists`, `exists_one`, `filter` and `map` do with the items of a list once their bodies are compiled.

import { BudgetExceeded, type CelValue, failure, typeOf } from './cel-runtime.ts'
import { ExpressionFailure } from './expression-failure.ts'

export function truth(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  throw failure(`true or false is expected, not a ${typeOf(value)}`)
}

type Each = (step: (item: CelValue) => CelValue, items: CelValue[], filter: (item: CelValue) => boolean) => CelValue
export type Macro = { arity: readonly number[]; each: Each }

export const MACROS: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ['all', { arity: [2], each: (step, items) => quantify(false, step, items) }],
  ['exists', { arity: [2], each: (step, items) => quantify(true, step, items) }],
  ['exists_one', { arity: [2], each: (step, items) => items.filter((item) => truth(step(item))).length === 1 }],
  ['filter', { arity: [2], each: (step, items) => items.filter((item) => truth(step(item))) }],
  ['map', { arity: [2, 3], each: (step, items, filter) => items.filter(filter).map(step) }],
])

function quantify(deciding: boolean, step: (item: CelValue) => CelValue, items: CelValue[]): boolean {
  let first: ExpressionFailure | undefined
  for (const item of items) {
    try {
      if (truth(step(item)) === deciding) return deciding
    } catch (error) {
      if (!(error instanceof ExpressionFailure) || error instanceof BudgetExceeded) throw error
      first ??= error
    }
  }
  if (first) throw first
  return !deciding
}
