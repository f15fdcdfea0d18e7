// How the macros process the items of a list or a map after their bodies are compiled.

import { sorted } from './cel-lists.ts'
import { BudgetExceeded, type CelValue, failure, isMap, mapKey, type Run, typeOf } from './cel-runtime.ts'
import { ExpressionFailure } from './expression-failure.ts'

export function truth(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  throw failure(`true or false is expected, not a ${typeOf(value)}`)
}

/** One iteration: its key (the position in a list, or the key of a map) and its value. */
export type Turn = readonly [key: CelValue, value: CelValue]
type Each = (run: Run, turns: Turn[], body: (turn: Turn) => CelValue, test: (turn: Turn) => boolean) => CelValue

/**
 * `names` is the number of variables that the macro binds. The expressions after the variables are the body or, if
 * `test` is true and there are two of them, a condition and the body.
 */
export type Macro = { names: 1 | 2; test: boolean; each: Each }

const itemOf = ([, value]: Turn): CelValue => value
const holding = (turns: Turn[], body: (turn: Turn) => CelValue): Turn[] => turns.filter((turn) => truth(body(turn)))

const one = (each: Each, test = false): Macro => ({ names: 1, test, each })
const two = (each: Each, test = false): Macro => ({ names: 2, test, each })

const all: Each = (_run, turns, body) => quantify(false, body, turns)
const exists: Each = (_run, turns, body) => quantify(true, body, turns)
const existsOne: Each = (_run, turns, body) => holding(turns, body).length === 1
const list: Each = (_run, turns, body, test) => turns.filter(test).map(body)

const map: Each = (_run, turns, body, test) => {
  const result: { [key: string]: CelValue } = {}
  for (const turn of turns) if (test(turn)) result[mapKey(turn[0])] = body(turn)
  return result
}

const mapEntries: Each = (run, turns, body, test) => {
  const result: { [key: string]: CelValue } = {}
  for (const turn of turns) {
    if (!test(turn)) continue
    const entry = body(turn)
    if (!isMap(entry)) throw failure(`a map is expected, not a ${typeOf(entry)}`)
    const entries = Object.entries(entry)
    run.spend(entries.length)
    for (const [key, value] of entries) {
      if (Object.hasOwn(result, key)) throw failure(`the key "${key.slice(0, 60)}" comes twice`)
      result[mapKey(key)] = value
    }
  }
  return result
}

const group: Each = (_run, turns, body) => {
  const result: { [key: string]: CelValue[] } = {}
  for (const turn of turns) {
    const key = mapKey(body(turn))
    if (!Object.hasOwn(result, key)) result[key] = []
    result[key]?.push(turn[1])
  }
  return result
}

const sortBy: Each = (run, turns, body) => sorted(run, turns.map(itemOf), turns.map(body))

/** Macros by name; macros with the same name differ in the number of variables they bind. */
export const MACROS: ReadonlyMap<string, readonly Macro[]> = new Map<string, readonly Macro[]>([
  ['all', [one(all), two(all)]],
  ['exists', [one(exists), two(exists)]],
  ['exists_one', [one(existsOne), two(existsOne)]],
  ['existsOne', [one(existsOne), two(existsOne)]],
  ['filter', [one((_run, turns, body) => holding(turns, body).map(itemOf))]],
  ['map', [one(list, true)]],
  ['group', [one(group)]],
  ['sortBy', [one(sortBy)]],
  ['transformList', [two(list, true)]],
  ['transformMap', [two(map, true)]],
  ['transformMapEntry', [two(mapEntries, true)]],
])

export const macroFor = (name: string, args: number): Macro | undefined =>
  MACROS.get(name)?.find(({ names, test }) => args === names + 1 || (test && args === names + 2))

function quantify(deciding: boolean, step: (turn: Turn) => CelValue, turns: Turn[]): boolean {
  let first: ExpressionFailure | undefined
  for (const turn of turns) {
    try {
      if (truth(step(turn)) === deciding) return deciding
    } catch (error) {
      if (!(error instanceof ExpressionFailure) || error instanceof BudgetExceeded) throw error
      first ??= error
    }
  }
  if (first) throw first
  return !deciding
}
