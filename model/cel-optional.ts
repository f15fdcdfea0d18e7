import { type CelFunction, table } from './cel-function.ts'
import { type CelValue, failure, isMap, NONE, Optional, readKey, typeOf } from './cel-runtime.ts'

export function optionalOf(value: CelValue | undefined): Optional {
  if (value instanceof Optional) return value
  throw failure(`an optional value is expected, not a ${typeOf(value as CelValue)}; read a field with ?.`)
}

/** Reads a key of a value or an optional. A key that is absent, or a target that is absent or null, gives no value. */
export function readOptional(target: CelValue, key: CelValue): Optional {
  const from = target instanceof Optional ? target.value : target
  if (from === undefined || from === null) return NONE
  const found = readKey(from, key)
  return found === undefined ? NONE : new Optional(found)
}

function isZero(value: CelValue): boolean {
  if (value instanceof Optional) return value.value === undefined
  if (Array.isArray(value)) return value.length === 0
  if (isMap(value)) return Object.keys(value).length === 0
  return value === null || value === false || value === 0 || value === ''
}

/** As CEL specifies: null is a value. */
const orValue: CelFunction = {
  arity: [2],
  call: (_run, args) => {
    const { value } = optionalOf(args[0])
    return value === undefined ? (args[1] as CelValue) : value
  },
}

/** As usual with JSON: null counts as absent. */
const orElse: CelFunction = {
  arity: [2],
  call: (_run, args) => optionalOf(args[0]).value ?? (args[1] as CelValue),
}

/** The functions called as `optional.of(x)`. */
export const OPTIONAL = table({
  of: { arity: [1], call: (_run, args) => new Optional(args[0]) },
  none: { arity: [0], call: () => NONE },
  ofNonZeroValue: {
    arity: [1],
    call: (_run, args) => (isZero(args[0] as CelValue) ? NONE : new Optional(args[0])),
  },
  unwrap: { arity: [1], call: (run, args) => unwrapped(run, args[0]) },
})

const unwrapped = (run: { spend(steps: number): void }, value: CelValue | undefined): CelValue => {
  if (!Array.isArray(value)) throw failure('a list of optional values is expected')
  run.spend(value.length)
  return value.flatMap((item) => {
    const { value: inner } = optionalOf(item)
    return inner === undefined ? [] : [inner]
  })
}

export const OPTIONAL_METHODS = table({
  hasValue: { arity: [1], call: (_run, args) => optionalOf(args[0]).value !== undefined },
  value: {
    arity: [1],
    call: (_run, args) => {
      const { value } = optionalOf(args[0])
      if (value === undefined) throw failure('the optional value is absent')
      return value
    },
  },
  or: {
    arity: [2],
    call: (_run, args) => {
      const given = optionalOf(args[0])
      return given.value === undefined ? optionalOf(args[1]) : given
    },
  },
  orValue,
  orElse,
  unwrapOpt: { arity: [1], call: (run, args) => unwrapped(run, args[0]) },
})
