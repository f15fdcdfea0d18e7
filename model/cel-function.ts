import { type CelValue, failure, type Run, typeOf } from './cel-runtime.ts'

/** `args[0]` is the receiver of a method. `moment`: the function needs the time and place of its evaluation. */
export type CelFunction = { arity: readonly number[]; call(run: Run, args: CelValue[]): CelValue; moment?: true }

export type FunctionTable = ReadonlyMap<string, CelFunction>

export const table = (functions: Record<string, CelFunction>): FunctionTable => new Map(Object.entries(functions))

export function text(value: CelValue | undefined): string {
  if (typeof value === 'string') return value
  throw failure(`a text is expected, not a ${typeOf(value as CelValue)}`)
}

export function number(value: CelValue | undefined): number {
  if (typeof value === 'number') return value
  throw failure(`a number is expected, not a ${typeOf(value as CelValue)}`)
}

export function whole(value: CelValue | undefined): number {
  const given = number(value)
  if (Number.isSafeInteger(given)) return given
  throw failure('a whole number is expected')
}

export function list(value: CelValue | undefined): CelValue[] {
  if (Array.isArray(value)) return value
  throw failure(`a list is expected, not a ${typeOf(value as CelValue)}`)
}
