// The binary operators. Numbers are doubles; a text can be concatenated only with a text.

import {
  type CelValue,
  compare,
  Duration,
  durationOf,
  equal,
  failure,
  isMap,
  mapKey,
  type Run,
  typeOf,
} from './cel-runtime.ts'
import { validDate } from './cel-time.ts'

export type Operation = (run: Run, a: CelValue, b: CelValue) => CelValue

const arithmetic =
  (op: string, compute: (a: number, b: number) => number): Operation =>
  (_run, a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return compute(a, b)
    throw failure(`${typeOf(a)} ${op} ${typeOf(b)} is not defined`)
  }

function add(run: Run, a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (typeof a === 'string' && typeof b === 'string') {
    run.spend((a.length + b.length) >> 3)
    return run.text(a + b)
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    run.spend(a.length + b.length)
    return [...a, ...b]
  }
  if (a instanceof Date && b instanceof Duration) return validDate(a.getTime() + b.ms)
  if (a instanceof Duration && b instanceof Date) return validDate(b.getTime() + a.ms)
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.ms + b.ms)
  throw failure(`${typeOf(a)} + ${typeOf(b)} is not defined; use string() to join a number to a text`)
}

function subtract(_run: Run, a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (a instanceof Date && b instanceof Date) return durationOf(a.getTime() - b.getTime())
  if (a instanceof Date && b instanceof Duration) return validDate(a.getTime() - b.ms)
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.ms - b.ms)
  throw failure(`${typeOf(a)} - ${typeOf(b)} is not defined`)
}

function isIn(run: Run, item: CelValue, collection: CelValue): boolean {
  if (Array.isArray(collection)) return collection.some((other) => equal(run, item, other))
  if (isMap(collection)) return Object.hasOwn(collection, mapKey(item))
  throw failure(`"in" needs a list or a map, not a ${typeOf(collection)}`)
}

function nonZero(value: number): number {
  if (value === 0) throw failure('division by zero')
  return value
}

export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['+', add],
  ['-', subtract],
  ['*', arithmetic('*', (a, b) => a * b)],
  ['/', arithmetic('/', (a, b) => a / nonZero(b))],
  ['%', arithmetic('%', (a, b) => a % nonZero(b))],
  ['==', equal],
  ['!=', (run, a, b) => !equal(run, a, b)],
  ['<', (run, a, b) => compare(run, a, b) < 0],
  ['<=', (run, a, b) => compare(run, a, b) <= 0],
  ['>', (run, a, b) => compare(run, a, b) > 0],
  ['>=', (run, a, b) => compare(run, a, b) >= 0],
  ['in', isIn],
])
