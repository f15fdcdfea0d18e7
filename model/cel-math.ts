import { type CelFunction, number, table, whole } from './cel-function.ts'
import { type CelValue, failure, type Run } from './cel-runtime.ts'

const anyNumberOf = [1, 2, 3, 4, 5, 6, 7, 8] as const

const of = (compute: (value: number) => number | boolean): CelFunction => ({
  arity: [1],
  call: (_run, args) => compute(number(args[0])),
})

/**
 * Computes on 64-bit integers in two's complement, as CEL specifies; a result that a JSON number cannot represent
 * exactly is a failure.
 */
const bits = (compute: (a: bigint, b: bigint) => bigint): CelFunction => ({
  arity: [2],
  call: (_run, args) => fromBits(compute(BigInt(whole(args[0])), BigInt(whole(args[1])))),
})

function fromBits(value: bigint): number {
  const result = Number(BigInt.asIntN(64, value))
  if (Number.isSafeInteger(result)) return result
  throw failure('the result is larger than a JSON number can hold exactly')
}

function shift(by: bigint, move: (by: bigint) => bigint): bigint {
  if (by < 0n) throw failure('a shift cannot be negative')
  return by > 63n ? 0n : move(by)
}

const halfAwayFromZero = (value: number): number => Math.sign(value) * Math.round(Math.abs(value))

/** The functions called as `math.floor(x)`. */
export const MATH = table({
  floor: of(Math.floor),
  ceil: of(Math.ceil),
  round: of(halfAwayFromZero),
  trunc: of(Math.trunc),
  abs: of(Math.abs),
  sign: of(Math.sign),
  sqrt: of((value) => (value < 0 ? Number.NaN : Math.sqrt(value))),
  isNaN: of(Number.isNaN),
  isFinite: of(Number.isFinite),
  isInf: of((value) => Math.abs(value) === Number.POSITIVE_INFINITY),
  bitAnd: bits((a, b) => a & b),
  bitOr: bits((a, b) => a | b),
  bitXor: bits((a, b) => a ^ b),
  bitNot: { arity: [1], call: (_run, args) => fromBits(~BigInt(whole(args[0]))) },
  bitShiftLeft: bits((a, b) => shift(b, (by) => a << by)),
  bitShiftRight: bits((a, b) => shift(b, (by) => BigInt.asUintN(64, a) >> by)),
  greatest: { arity: anyNumberOf, call: (run, args) => extreme(run, args, (a, b) => a > b) },
  least: { arity: anyNumberOf, call: (run, args) => extreme(run, args, (a, b) => a < b) },
})

function extreme(run: Run, args: CelValue[], better: (a: number, b: number) => boolean): number {
  const values = args.length === 1 && Array.isArray(args[0]) ? args[0] : args
  run.spend(values.length)
  if (values.length === 0) throw failure('the list is empty')
  return values.map(number).reduce((best, value) => (better(value, best) ? value : best))
}
